"""The answer of operations that return several sections."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct, field

from groundplan.kernel.budget import CutLists, DropField, LeftOut, Trimming
from groundplan.work.containers.sections.section import TRIMMABLE_FIELDS, Section


class Sections(Struct, rename="camel"):
    """Sections in order, and their number."""

    trimming: ClassVar[Trimming] = Trimming(
        *(DropField(f"sections[].{part}") for part in TRIMMABLE_FIELDS), CutLists(("sections",))
    )

    sections: list[Section]
    count: int
    left_out: LeftOut = field(name="left_out", default=UNSET)
