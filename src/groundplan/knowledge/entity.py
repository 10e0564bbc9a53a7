"""The answer of operations that write an atom or a molecule."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.budget import Trimming
from groundplan.knowledge.atom import Atom
from groundplan.knowledge.molecule import Molecule
from groundplan.knowledge.trimming import drop_parts


class WrittenKnowledge(Struct):
    """The written atom or molecule."""

    trimming: ClassVar[Trimming] = Trimming(*drop_parts("atom", "molecule"))

    atom: Atom | UnsetType = UNSET
    molecule: Molecule | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET
