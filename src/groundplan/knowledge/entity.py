"""What atoms and molecules share: their columns, and the parts that answers drop when they are too long."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.answers import DropField

# The parts that an answer drops, the least needed first.
PARTS = ("changelog", "related_atoms", "related_molecules", "freshness", "knowledge", "paths", "matched_paths")


class EntityRow(Struct):
    """The shared columns of a stored atom or molecule."""

    id: str
    created_by_task_id: str
    created_at: str
    created_by: str
    name: str
    version: int
    last_task_id: str
    updated_at: str
    updated_by: str
    knowledge: str


def drop_parts(*holders: str) -> tuple[DropField, ...]:
    """Return rules that drop a part from all holders before they drop the next part from any."""
    return tuple(DropField(f"{holder}.{part}") for part in PARTS for holder in holders)
