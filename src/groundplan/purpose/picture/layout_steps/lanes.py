"""Lanes in which edges pass the columns between their ends. A lane takes up room in a column like a card.

All edges of one node share a lane in each column they pass, so a node with five effects has one line until they part.
An edge that does not lead to the right has no lane: it runs below everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from groundplan.purpose.picture.layout_steps.columns import Ends

Link = tuple[int, int]  # two elements in neighbouring columns, from left to right


class Lanes(NamedTuple):
    """Elements by number: the cards first, then the lanes."""

    columns: list[int]  # of every element
    links: list[Link]  # each once
    passing: list[list[int] | None]  # the lanes of every edge; None for one that leads back
    cards: int

    @property
    def total(self) -> int:
        return len(self.columns)


def assign_lanes(columns: Sequence[int], edges: Sequence[Ends], bundles: Sequence[bool]) -> Lanes:
    """Return the lanes that edges need, given the columns of cards. Edges of one card share lanes within a bundle."""
    column_of = list(columns)
    lane_at: dict[tuple[int, int, bool], int] = {}  # by card and column
    links: dict[Link, None] = {}
    passing: list[list[int] | None] = []
    for (source, target), bundle in zip(edges, bundles, strict=True):
        first, last = columns[source], columns[target]
        if last <= first:
            passing.append(None)
            continue
        taken: list[int] = []
        here = source
        for column in range(first + 1, last):
            lane = lane_at.get((source, column, bundle))
            if lane is None:
                lane = lane_at[source, column, bundle] = len(column_of)
                column_of.append(column)
            links[here, lane] = None
            taken.append(lane)
            here = lane
        links[here, target] = None
        passing.append(taken)
    return Lanes(column_of, list(links), passing, len(columns))
