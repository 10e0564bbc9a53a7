"""The sort orders of nodes, with paging.

A position holds the sort keys of a node. The cursor carries it, so that the next page begins after it, whatever was
added, removed or changed in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import inf
from typing import Any

from msgspec import Struct

from groundplan.kernel.cursors import CursorValue, InvalidCursor
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.graph.search.filters import NodeSearch, Source
from groundplan.work.kinds import PRIORITY_ABSENT

Position = Mapping[str, Any]

COSTS_OF_A_MATCH = 4  # to fetch and sort a match of the text index takes as long as to look at so many nodes in order
LOOKED_AT_SPREAD = 2  # matches are not spread evenly

sql = load_queries(__file__)


class Sort(StrEnum):
    """The sort orders that callers may choose."""

    READINESS = "readiness"  # actionable nodes, best first, then the rest in the same order
    DEPTH = "depth"  # from the top down
    RECENT = "recent"  # the latest change first
    CREATED = "created"  # the oldest node first


class Order(Struct, frozen=True):
    """A sort order: its start position and its queries."""

    start: Position  # before every node
    project_query: Query
    chosen_query: Query


ORDERS: Mapping[Sort, Order] = {
    Sort.READINESS: Order(
        {"after_ready": True, "after_priority": inf, "after_depth": 0, "after_changed_rev": 0, "after_n": 0},
        sql.unready_nodes,
        sql.chosen_by_rank,
    ),
    Sort.DEPTH: Order({"after_depth": -1, "after_n": 0}, sql.by_depth, sql.chosen_by_depth),
    Sort.RECENT: Order({"after_changed_rev": 2**53, "after_n": 0}, sql.by_change, sql.chosen_by_change),
    Sort.CREATED: Order({"after_n": 0}, sql.by_creation, sql.chosen_by_creation),
}


def fetch_page(
    tx: Transaction, search: NodeSearch, sort: Sort, position: Position, *, at_most: int
) -> tuple[list[int], int | None]:
    """Return the numbers of the nodes after a position, and how many there are in all if that costs nothing extra."""
    order = ORDERS[sort]
    asked = {**search.parameters, **position}
    if sort is Sort.READINESS and search.source is Source.PROJECT:
        return _fetch_ready_first(tx, asked, at_most=at_most), None
    if search.source is Source.PROJECT:
        return tx.scalars(order.project_query, **asked, at_most=at_most), None
    if sort is Sort.READINESS and search.matches_max is not None and position["after_ready"]:
        found, total = _fetch_ready_with_text(tx, search, asked, at_most=at_most)
        if found:
            return found, total
    rows = tx.all(order.chosen_query, **asked, at_most=at_most)
    return [n for n, _ in rows], next((counted for _, counted in rows), 0)


def _fetch_ready_with_text(
    tx: Transaction, search: NodeSearch, asked: Mapping[str, Any], *, at_most: int
) -> tuple[list[int], int | None]:
    """Return the page of a search for nothing but a text if the best ready nodes fill it, and how many have the text.

    For a frequent text this is faster than to fetch and sort every match.
    """
    total: int | None = None
    looked_at = _compute_looked_at(search.last_n, search.matches_max or 0, at_most=at_most)
    if looked_at is not None:
        total = count_total(tx, search)
        looked_at = _compute_looked_at(search.last_n, total, at_most=at_most)
    if looked_at is None:
        return [], total
    rows = tx.all(sql.ready_nodes_with_text, **asked, looked_at=looked_at)
    is_full = sum(is_unclaimed for _, is_unclaimed in rows) >= at_most
    return [n for n, _ in rows[:at_most]] if is_full else [], total


def _compute_looked_at(last_n: int, matches: float, *, at_most: int) -> int | None:
    """Return how many ready nodes to look at to meet so many matches; None if fetching every match costs less."""
    looked_at = int(LOOKED_AT_SPREAD * at_most * last_n / matches) if matches else 0
    return looked_at if 0 < looked_at <= matches * COSTS_OF_A_MATCH else None


def _fetch_ready_first(tx: Transaction, parameters: Mapping[str, Any], *, at_most: int) -> list[int]:
    found: list[int] = []
    behind_ready: Mapping[str, Any] = parameters
    if parameters["after_ready"]:
        if not (parameters["resolved"] or parameters["is_blocked"] or parameters["is_ready"] is False):
            found = tx.scalars(sql.ready_nodes, **parameters, at_most=at_most)
        behind_ready = {**parameters, **ORDERS[Sort.READINESS].start}
    if len(found) < at_most and not parameters["is_ready"]:
        found += tx.scalars(sql.unready_nodes, **behind_ready, at_most=at_most - len(found))
    return found


def count_total(tx: Transaction, search: NodeSearch) -> int:
    """Return the number of nodes on all pages."""
    if search.total is not None:
        return search.total
    query = sql.count_in_project if search.source is Source.PROJECT else sql.count_of_chosen
    if search.matches_max is not None:
        query = sql.count_matches
    return int(tx.scalar(query, **search.parameters))


def to_cursor(position: Position) -> list[CursorValue]:
    """Return a position as the values of a cursor."""
    return [None if value == PRIORITY_ABSENT else value for value in position.values()]


def from_cursor(sort: Sort, values: Sequence[CursorValue]) -> Position:
    """Return the position in the values of a cursor."""
    if len(values) != len(ORDERS[sort].start):
        raise InvalidCursor
    position = dict(zip(ORDERS[sort].start, values, strict=True))
    if sort is Sort.READINESS:
        position["after_ready"] = bool(position["after_ready"])
        position["after_priority"] = (
            PRIORITY_ABSENT if position["after_priority"] is None else position["after_priority"]
        )
    return position
