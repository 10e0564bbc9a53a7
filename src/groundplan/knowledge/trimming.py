"""What answers about knowledge give up when they are too long: whole parts, the least needed first."""

from __future__ import annotations

from groundplan.kernel.budget import DropField

PARTS = ("changelog", "related_atoms", "related_molecules", "freshness", "knowledge", "paths", "matched_paths")


def drop_parts(*holders: str) -> tuple[DropField, ...]:
    """Declare that each part goes from all these atoms and molecules before the next part goes from any."""
    return tuple(DropField(f"{holder}.{part}") for part in PARTS for holder in holders)
