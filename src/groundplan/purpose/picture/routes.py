"""The routes of edges: curves between columns, straight lines through lanes, and lines around the cards.

A curve stays in the gap between two columns, and a lane is free of cards; so no edge crosses a card. An edge that leads
back runs up or down beside its source, along above or below all cards, and to its target:

        ┌──────────────┐     A card has one track on a side, however many edges lead back from it or to it. The edges
target ◂┘   source ────┘     of a card with several of them share a line above or below the bands, whichever is
target ◂┐      source ─┐     nearer. Tracks and shared lines have their own room, so no edge hugs a card, a band or
        └──────────────┘     another edge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.columns import Ends, Lanes, Sizes

PORTS_APART_MAX = 12.0  # between edges that enter one card
PORT_INSET = 8.0  # from the corners of a card

Point = tuple[float, float]


class ColumnSpans(NamedTuple):
    """The positions of the columns, and whether a band begins or ends at their sides."""

    lefts: list[float]
    rights: list[float]
    begins_band: list[bool]
    ends_band: list[bool]
    width: float


class EdgeRoute(NamedTuple):
    """The route of an edge: its points, joined by straight lines, or by curves that are horizontal at both ends."""

    points: list[Point]
    is_back: bool


class BackEdgeEnds(NamedTuple):
    """The cards of each column at which back edges start, and the cards at which they end.

    A start has a track on its right, an end one on its left.
    """

    starts: list[list[int]]
    ends: list[list[int]]


def collect_back_edge_ends(lanes: Lanes, edges: Sequence[Ends], columns: int) -> BackEdgeEnds:
    """Return the cards at the ends of back edges, by column."""
    leaving: list[dict[int, None]] = [{} for _ in range(columns)]
    entering: list[dict[int, None]] = [{} for _ in range(columns)]
    for (source, target), passed in zip(edges, lanes.passing, strict=True):
        if passed is None:
            leaving[lanes.columns[source]][source] = None
            entering[lanes.columns[target]][target] = None
    return BackEdgeEnds([[*cards] for cards in leaving], [[*cards] for cards in entering])


def compute_track_room(count: int, *, is_band_edge: bool) -> float:
    """Return the width of some tracks beside a column, with the distance from its cards."""
    return (_get_distance(is_band_edge=is_band_edge) + tokens.TRACK * (count - 1)) if count else 0.0


def _get_distance(*, is_band_edge: bool) -> float:
    return tokens.BAND_PAD + tokens.TRACK_DISTANCE if is_band_edge else tokens.TRACK_DISTANCE_INSIDE


class Positions(NamedTuple):
    """The columns, the centres of cards and lanes, and the upper and lower end of the bands."""

    spans: ColumnSpans
    middles: Sequence[float]
    top: float
    height: float


def route_edges(
    positions: Positions, lanes: Lanes, back: BackEdgeEnds, edges: Sequence[Ends], sizes: Sizes
) -> tuple[list[EdgeRoute], float, float]:
    """Return the route of every edge, and the highest and the lowest point of the back edges."""
    spans, middles = positions.spans, positions.middles
    ports = _assign_ports(lanes, middles, edges, sizes)
    returns = _route_returns(positions, lanes, back, edges, sizes, ports)
    routes: list[EdgeRoute] = []
    for number, (source, target) in enumerate(edges):
        passed = lanes.passing[number]
        if passed is None:
            points = returns[number]
        else:
            first, last = lanes.columns[source], lanes.columns[target]
            points = [(spans.lefts[first] + sizes.widths[source], middles[source])]
            if points[0][0] < spans.rights[first]:
                points.append((spans.rights[first], middles[source]))  # past wider cards in its column
            for lane in passed:
                column = lanes.columns[lane]
                points += [(spans.lefts[column], middles[lane]), (spans.rights[column], middles[lane])]
            points.append((spans.lefts[last], ports[number]))
        routes.append(EdgeRoute([(round(x, 1), round(y, 1)) for x, y in points], passed is None))
    heights = [points[2][1] for points in returns.values()]
    return routes, min([positions.top, *heights]), max([positions.height, *heights])


def _route_returns(
    positions: Positions, lanes: Lanes, back: BackEdgeEnds, edges: Sequence[Ends], sizes: Sizes, ports: Sequence[float]
) -> dict[int, list[Point]]:
    """Return the points of every back edge by its number."""
    spans, middles = positions.spans, positions.middles
    backward = [number for number, passed in enumerate(lanes.passing) if passed is None]
    ends = [edges[number] for number in backward]
    lines = _choose_lines(ends, middles, positions.height)
    ways: dict[int, float] = {}
    for pair, line in zip(ends, lines, strict=True):
        for card in pair:
            way = middles[card] if line.is_above else positions.height - middles[card]
            ways[card] = max(way, ways.get(card, way))
    right_of: dict[int, float] = {}
    left_of: dict[int, float] = {}
    for column, cards in enumerate(back.starts):
        for card, distance in _place_tracks(cards, ways, is_band_edge=spans.ends_band[column]).items():
            right_of[card] = spans.rights[column] + distance
    for column, cards in enumerate(back.ends):
        for card, distance in _place_tracks(cards, ways, is_band_edge=spans.begins_band[column]).items():
            left_of[card] = spans.lefts[column] - distance
    rows = _assign_rows(lines, [left_of[target] for _, target in ends], [right_of[source] for source, _ in ends])
    above, below = positions.top - tokens.TRACK_DISTANCE, positions.height + tokens.BAND_PAD + tokens.TRACK_DISTANCE
    points: dict[int, list[Point]] = {}
    for number, (source, target), line, row in zip(backward, ends, lines, rows, strict=True):
        along = above - tokens.BACK_LANE * row if line.is_above else below + tokens.BACK_LANE * row
        right, left = right_of[source], left_of[target]
        start = (spans.lefts[lanes.columns[source]] + sizes.widths[source], middles[source])
        end = (spans.lefts[lanes.columns[target]], ports[number])
        points[number] = [start, (right, start[1]), (right, along), (left, along), (left, end[1]), end]
    return points


def _place_tracks(cards: Sequence[int], ways: Mapping[int, float], *, is_band_edge: bool) -> dict[int, float]:
    """Return the distance of each card's track from its column. Long tracks are outside, so that few tracks cross."""
    first = _get_distance(is_band_edge=is_band_edge)
    shortest_first = sorted(cards, key=lambda card: (ways[card], card))
    return {card: first + tokens.TRACK * place for place, card in enumerate(shortest_first)}


class _SharedLine(NamedTuple):
    """A line above or below the bands that the back edges of a card share."""

    is_above: bool
    end: str  # "from" or "to"
    card: int


def _choose_lines(backward: Sequence[Ends], middles: Sequence[float], height: float) -> list[_SharedLine]:
    """Return the line of every back edge. It is above if its cards are nearer to the top."""
    degrees = Counter([("from", source) for source, _ in backward] + [("to", target) for _, target in backward])
    hubs = [
        max(("to", target), ("from", source), key=lambda end: degrees[end])  # of equals, what several lead to
        for source, target in backward
    ]
    cards: dict[tuple[str, int], set[int]] = {}
    for hub, ends in zip(hubs, backward, strict=True):
        cards.setdefault(hub, set()).update(ends)
    is_above = {
        hub: sum(middles[card] for card in hub_cards) < height / 2 * len(hub_cards) for hub, hub_cards in cards.items()
    }
    return [_SharedLine(is_above[hub], *hub) for hub in hubs]


def _assign_rows(lines: Sequence[_SharedLine], lefts: Sequence[float], rights: Sequence[float]) -> list[int]:
    """Return the row of every back edge's line, by the positions of its tracks.

    Short lines are nearer to the bands than long ones, and lines that do not meet share a row.
    """
    spans: dict[_SharedLine, tuple[float, float]] = {}
    for line, left, right in zip(lines, lefts, rights, strict=True):
        before = spans.get(line, (left, right))
        spans[line] = min(before[0], left), max(before[1], right)
    rows: dict[bool, list[list[tuple[float, float]]]] = {True: [], False: []}
    row_of: dict[_SharedLine, int] = {}
    for line, (left, right) in sorted(spans.items(), key=lambda item: (item[1][1] - item[1][0], item[0])):
        side = rows[line.is_above]
        free = (
            row
            for row, there in enumerate(side)
            if all(right + tokens.TRACK < begin or end + tokens.TRACK < left for begin, end in there)
        )
        row = next(free, len(side))
        if row == len(side):
            side.append([])
        side[row].append((left, right))
        row_of[line] = row
    return [row_of[line] for line in lines]


def _assign_ports(lanes: Lanes, middles: Sequence[float], edges: Sequence[Ends], sizes: Sizes) -> list[float]:
    """Return the height at which every edge enters its card, by its origin. Back edges enter together."""
    coming: dict[int, dict[int, float]] = {}  # by card: the height from which each edge comes
    last = [passed[-1] if passed else source for (source, _), passed in zip(edges, lanes.passing, strict=True)]
    back = -1  # stands for all edges that lead back: they come from below
    for number, (_, target) in enumerate(edges):
        is_back = lanes.passing[number] is None
        origin = back if is_back else number
        coming.setdefault(target, {})[origin] = float("inf") if is_back else middles[last[number]]
    height_of: dict[tuple[int, int], float] = {}
    for target, heights in coming.items():
        room = sizes.heights[target] - 2 * PORT_INSET
        apart = min(PORTS_APART_MAX, room / len(heights))
        top = middles[target] - apart * (len(heights) - 1) / 2
        for place, origin in enumerate(sorted(heights, key=lambda key: (heights[key], key))):
            height_of[target, origin] = top + apart * place
    return [
        height_of[target, back if lanes.passing[number] is None else number] for number, (_, target) in enumerate(edges)
    ]
