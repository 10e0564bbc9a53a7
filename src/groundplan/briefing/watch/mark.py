"""A mark: an assumption in doubt or a changed fact, and what depends on it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

# What is said of an assumption or a fact, by its status: the same words everywhere.
PREDICATES = {
    "refuted": "is refuted",
    "refuting_evidence": "is refuted",
    "at_risk": "is at risk",
    "changed": "is changed",
    "removed": "is removed",
}


class MarkOutline(NamedTuple):
    """A mark without what depends on it."""

    kind: Literal["assumption", "fact"]
    ref: str
    status: str
    since: str
    text: str | None
    path: list[str]


class WatchMark(Struct, kw_only=True):
    """What depends on an assumption in doubt or on a changed fact.

    `purpose` and `edges` are what follows from it. `work` is the open work for these and for what leads to it; it lists
    some ids, and `work_total` counts all. `work_paths` has the way from each listed node to the assumption or the fact.
    """

    kind: Literal["assumption", "fact"]
    ref: str  # the key of the assumption, or the pointer of the fact
    status: str  # as in DoubtStatus or FactStatus
    rev: int  # the revision of the project that made the mark
    since: str  # its time
    text: str | None = None  # the text of the assumption
    purpose: list[str]
    edges: list[str]
    path: list[str]  # from the assumption or the fact to a goal
    work: list[str] = []
    work_total: int = 0
    work_paths: dict[str, list[str]] = {}

    @property
    def word(self) -> str:
        """The status in the words of a review: an assumption that evidence refutes is refuted."""
        return "refuted" if self.status == "refuting_evidence" else self.status
