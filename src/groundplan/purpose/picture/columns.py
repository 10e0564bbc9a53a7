"""The columns of cards, and the lanes in which edges pass the columns between their ends.

Bands stand from left to right, and inside a band causes stand left of their effects. A band has as many columns as its
longest chain of edges on one level; cycles are opened so that few edges lead back. A chain that is too long continues
in the first column, like text on the next line. Bands that are too tall for a page get more columns.

A lane takes up room in a column like a card. All edges of one node share a lane in each column they pass, so a node
with five effects has one line until they part. An edge that does not lead to the right has no lane: it runs around the
cards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from groundplan.purpose.picture.tokens import BANDS, CardType

ATTEMPTS = 12
ATTEMPTS_LARGE = 3
LARGE = 120  # cards
SIFT_ROUNDS = 3
SIFTED_MAX = 200  # cards of a band; more would take too long
CHAIN_COLUMNS_MAX = 16  # otherwise a plan with hundreds of steps on one level would be far too wide

Ends = tuple[int, int]


class Columns(NamedTuple):
    """The cards of each column by number, and the band of each column."""

    of: list[int]
    bands: list[CardType]  # by column


class Sizes(NamedTuple):
    """The types, widths and heights of cards before their placement, by number."""

    types: Sequence[CardType]
    widths: Sequence[float]
    heights: Sequence[float]


def generate_columns(sizes: Sizes, causes: Sequence[Ends]) -> Iterator[Columns]:
    """Yield column assignments for the causal edges: first without split bands, then with fewer cards per column."""
    members = {band: [number for number, type_ in enumerate(sizes.types) if type_ is band] for band in BANDS}
    inside = {band: _break_cycles(members[band], _select_inner_edges(members[band], causes)) for band in BANDS}
    is_reached = {target for _, target in causes}
    rows = max(map(len, members.values()), default=0)
    is_large = len(sizes.types) > LARGE
    for _ in range(ATTEMPTS_LARGE if is_large else ATTEMPTS):
        ranked = [(band, _assign_ranks(members[band], inside[band], is_reached, rows)) for band in BANDS]
        yield _join_bands(len(sizes.types), ranked)
        rows = rows // 2 if is_large else rows * 4 // 5
        if rows < 1:
            return


def _select_inner_edges(members: list[int], causes: Sequence[Ends]) -> list[Ends]:
    here = set(members)
    return [ends for ends in causes if ends[0] in here and ends[1] in here and ends[0] != ends[1]]


def _break_cycles(members: list[int], edges: list[Ends]) -> list[Ends]:
    """Return the edges without those that point back in the best order of cards that was found."""
    place = {number: index for index, number in enumerate(_order_causes_first(members, edges))}
    return [(source, target) for source, target in edges if place[source] < place[target]]


def _order_causes_first(members: list[int], edges: list[Ends]) -> list[int]:
    """Return the cards in an order in which few edges point back.

    The method of Eades, Lin and Smyth: what nothing leads to goes first, what leads nowhere goes last; of the rest, the
    card that leads to more than leads to it goes first. Then each card moves to its best position.
    """
    out: dict[int, set[int]] = {number: set() for number in members}
    into: dict[int, set[int]] = {number: set() for number in members}
    for source, target in edges:
        out[source].add(target)
        into[target].add(source)
    left_out = {number: len(out[number]) for number in members}
    left_into = {number: len(into[number]) for number in members}
    remaining = dict.fromkeys(members)
    starts = [number for number in members if not left_into[number]]
    ends = [number for number in members if not left_out[number]]
    first: list[int] = []
    last: list[int] = []
    while remaining:
        if not starts and not ends:
            starts.append(max(remaining, key=lambda card: left_out[card] - left_into[card]))
        side, number = (first, starts.pop(0)) if starts else (last, ends.pop(0))
        if number not in remaining:
            continue
        side.append(number)
        del remaining[number]
        for neighbour in out[number]:
            left_into[neighbour] -= 1
            if not left_into[neighbour]:
                starts.append(neighbour)
        for neighbour in into[number]:
            left_out[neighbour] -= 1
            if not left_out[neighbour]:
                ends.append(neighbour)
    order = first + last[::-1]
    if len(order) <= SIFTED_MAX:
        for _ in range(SIFT_ROUNDS):
            if not _sift(order, out, into):
                break
    return order


def _sift(order: list[int], out: dict[int, set[int]], into: dict[int, set[int]]) -> bool:
    """Move every card to the position at which fewest edges point back. Return False if none moved."""
    any_moved = False
    for number in list(order):
        if not out[number] or not into[number]:
            continue
        at = order.index(number)
        del order[at]
        # Behind a cause one edge less leads back, behind an effect one more.
        back = len(into[number])
        counts = [back]
        for passed in order:
            back += (passed in out[number]) - (passed in into[number])
            counts.append(back)
        best = min(range(len(counts)), key=counts.__getitem__)
        if counts[best] >= counts[at]:
            best = at
        any_moved |= best != at
        order.insert(best, number)
    return any_moved


def _assign_ranks(members: list[int], edges: list[Ends], is_reached: set[int], rows_max: int) -> dict[int, int]:
    """Return the column of each card in its band: after its causes, and with room in the column."""
    before: dict[int, list[int]] = {number: [] for number in members}
    after: dict[int, list[int]] = {number: [] for number in members}
    for source, target in edges:
        before[target].append(source)
        after[source].append(target)
    order = _sort_topologically(members, before, after)
    ranks: dict[int, int] = {}
    counts: dict[int, int] = {}
    for number in order:
        column = max((ranks[cause] + 1 for cause in before[number]), default=0)
        if column >= CHAIN_COLUMNS_MAX:
            column = 0
        while counts.get(column, 0) >= rows_max:
            column += 1
        ranks[number] = column
        counts[column] = counts.get(column, 0) + 1
    # A card without causes is placed next to its effects, so that no other edge has to pass it.
    last = max(ranks.values(), default=0)
    for number in reversed(order):
        if number in is_reached:
            continue
        column = min((ranks[effect] - 1 for effect in after[number]), default=last)
        while column > ranks[number] and counts.get(column, 0) >= rows_max:
            column -= 1
        if column > ranks[number]:
            counts[ranks[number]] -= 1
            counts[column] = counts.get(column, 0) + 1
            ranks[number] = column
    return ranks


def _sort_topologically(
    members: list[int], before: Mapping[int, list[int]], after: Mapping[int, list[int]]
) -> list[int]:
    """Sort causes before effects. Otherwise the order is kept."""
    waits_for = {number: len(before[number]) for number in members}
    ready = [number for number in members if not waits_for[number]]
    order: list[int] = []
    while ready:
        order += ready
        released = []
        for number in ready:
            for effect in after[number]:
                waits_for[effect] -= 1
                if not waits_for[effect]:
                    released.append(effect)
        ready = sorted(released)
    return order


def _join_bands(count: int, ranked: list[tuple[CardType, dict[int, int]]]) -> Columns:
    """Number the columns across all bands, without empty ones."""
    of = [0] * count
    bands: list[CardType] = []
    for band, ranks in ranked:
        used = {rank: place for place, rank in enumerate(sorted(set(ranks.values())))}
        for number, rank in ranks.items():
            of[number] = len(bands) + used[rank]
        bands += [band] * len(used)
    return Columns(of, bands)


Link = tuple[int, int]  # two elements in neighbouring columns, from left to right


class Lanes(NamedTuple):
    """The elements by number. Cards come before lanes."""

    columns: list[int]  # of every element
    links: list[Link]  # each once
    passing: list[list[int] | None]  # the lanes of every edge; None for one that leads back
    cards: int

    @property
    def total(self) -> int:
        return len(self.columns)


def assign_lanes(columns: Sequence[int], edges: Sequence[Ends], bundles: Sequence[bool]) -> Lanes:
    """Return the lanes for edges, given the columns of cards. Edges of one card share lanes within a bundle."""
    column_of = list(columns)
    lane_at: dict[tuple[int, int, bool], int] = {}  # by card and column
    links: dict[Link, None] = {}
    passing: list[list[int] | None] = []
    for (source, target), bundle in zip(edges, bundles, strict=True):
        first, last = columns[source], columns[target]
        if last <= first:
            passing.append(None)
            continue
        lanes: list[int] = []
        here = source
        for column in range(first + 1, last):
            lane = lane_at.get((source, column, bundle))
            if lane is None:
                lane = lane_at[source, column, bundle] = len(column_of)
                column_of.append(column)
            links[here, lane] = None
            lanes.append(lane)
            here = lane
        links[here, target] = None
        passing.append(lanes)
    return Lanes(column_of, list(links), passing, len(columns))
