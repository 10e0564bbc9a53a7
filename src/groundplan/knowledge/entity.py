"""One atom or molecule, told after it was written."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.atom import Atom
from groundplan.knowledge.lightening import lighten
from groundplan.knowledge.molecule import Molecule


class OneEntity(Struct):
    """The atom or molecule as it is now."""

    atom: Atom | UnsetType = UNSET
    molecule: Molecule | UnsetType = UNSET


def shown(tx: Transaction, changed: OneEntity) -> OneEntity:
    """What was written, as far as it fits into the answer: a change must not fail for being told about."""
    lighten(tx, changed, [changed.atom or changed.molecule])
    return changed
