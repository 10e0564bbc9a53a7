"""The parts that answers about knowledge drop when they are too long, the least needed first."""

from __future__ import annotations

from groundplan.kernel.budget import DropField

PARTS = ("changelog", "related_atoms", "related_molecules", "freshness", "knowledge", "paths", "matched_paths")


def drop_parts(*holders: str) -> tuple[DropField, ...]:
    """Return rules that drop a part from all holders before they drop the next part from any."""
    return tuple(DropField(f"{holder}.{part}") for part in PARTS for holder in holders)
