"""What is answered about several sections."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct, field

from groundplan.kernel.budget import Cut, Drop, LeftOut, Trimming
from groundplan.work.containers.sections.section import TRIMMED, Section


class Sections(Struct, rename="camel"):
    """Sections in their order, and how many they are."""

    trimming: ClassVar[Trimming] = Trimming(*(Drop(f"sections[].{part}") for part in TRIMMED), Cut(("sections",)))

    sections: list[Section]
    count: int
    left_out: LeftOut = field(name="left_out", default=UNSET)
