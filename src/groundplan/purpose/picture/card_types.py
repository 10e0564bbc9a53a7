"""What a card can stand for: a purpose node, several of them, or work that serves one."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from groundplan.purpose.model import LEVELS, NodeType


class WorkType(StrEnum):
    """The type of cards for work."""

    WORK = "WORK"


CardType = NodeType | WorkType

# From left to right: work, then causes before effects.
BANDS: tuple[CardType, ...] = (WorkType.WORK, *sorted(LEVELS, key=LEVELS.__getitem__))


class WorkSubject(NamedTuple):
    """A work node on a card."""

    key: str
    title: str
    owner: str | None = None  # who holds it
    description: str | None = None
    node_type: WorkType = WorkType.WORK


class GroupSubject(NamedTuple):
    """Several nodes of one type on a card."""

    key: str
    title: str
    node_type: NodeType
    group: str  # the id that opens the group
    keys: tuple[str, ...]  # of the nodes
    owner: str | None = None
    description: str | None = None

    @property
    def size(self) -> int:
        """How many nodes the card stands for."""
        return len(self.keys)
