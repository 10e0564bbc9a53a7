"""Route the edges: curves between columns, straight lines through lanes, and round the cards if they lead back.

A curve stays in the gap between two columns, and a lane is free of cards; so no edge crosses a card.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.layout_steps.columns import Ends, Sizes
from groundplan.purpose.picture.layout_steps.lanes import Lanes
from groundplan.purpose.picture.layout_steps.returns import Tracks, assign_rows, choose_trunks, place_tracks

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
    """The route of an edge: its points, connected by curves that are horizontal at both ends, or straight lines."""

    points: list[Point]
    is_back: bool


class Stage(NamedTuple):
    """Where the elements are: the columns, the middles of cards and lanes, and the upper and lower end of the bands."""

    spans: ColumnSpans
    middles: Sequence[float]
    top: float
    height: float


def route_edges(
    stage: Stage, lanes: Lanes, tracks: Tracks, edges: Sequence[Ends], sizes: Sizes
) -> tuple[list[EdgeRoute], float, float]:
    """Return the route of every edge, and the highest and the lowest point of those that lead back."""
    spans, middles = stage.spans, stage.middles
    ports = _assign_ports(lanes, middles, edges, sizes)
    returns = _route_returns(stage, lanes, tracks, edges, sizes, ports)
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
    return routes, min([stage.top, *heights]), max([stage.height, *heights])


def _route_returns(
    stage: Stage, lanes: Lanes, tracks: Tracks, edges: Sequence[Ends], sizes: Sizes, ports: Sequence[float]
) -> dict[int, list[Point]]:
    """Return the points of every edge that leads back, by its number."""
    spans, middles = stage.spans, stage.middles
    backward = [number for number, passed in enumerate(lanes.passing) if passed is None]
    ends = [edges[number] for number in backward]
    trunks = choose_trunks(ends, middles, stage.height)
    ways: dict[int, float] = {}
    for pair, is_above in zip(ends, trunks.is_above, strict=True):
        for card in pair:
            way = middles[card] if is_above else stage.height - middles[card]
            ways[card] = max(way, ways.get(card, way))
    right_of: dict[int, float] = {}
    left_of: dict[int, float] = {}
    for column, cards in enumerate(tracks.leaving):
        for card, distance in place_tracks(cards, ways, is_band_edge=spans.ends_band[column]).items():
            right_of[card] = spans.rights[column] + distance
    for column, cards in enumerate(tracks.entering):
        for card, distance in place_tracks(cards, ways, is_band_edge=spans.begins_band[column]).items():
            left_of[card] = spans.lefts[column] - distance
    rows = assign_rows(trunks, [left_of[target] for _, target in ends], [right_of[source] for source, _ in ends])
    above, below = stage.top - tokens.TRACK_DISTANCE, stage.height + tokens.BAND_PAD + tokens.TRACK_DISTANCE
    found: dict[int, list[Point]] = {}
    for number, (source, target), is_above, row in zip(backward, ends, trunks.is_above, rows, strict=True):
        along = above - tokens.BACK_LANE * row if is_above else below + tokens.BACK_LANE * row
        right, left = right_of[source], left_of[target]
        start = (spans.lefts[lanes.columns[source]] + sizes.widths[source], middles[source])
        end = (spans.lefts[lanes.columns[target]], ports[number])
        found[number] = [start, (right, start[1]), (right, along), (left, along), (left, end[1]), end]
    return found


def _assign_ports(lanes: Lanes, middles: Sequence[float], edges: Sequence[Ends], sizes: Sizes) -> list[float]:
    """Return the height at which every edge enters its card, by its origin. Those that lead back enter together."""
    coming: dict[int, dict[int, float]] = {}  # by card: the height from which each edge comes
    last = [passed[-1] if passed else source for (source, _), passed in zip(edges, lanes.passing, strict=True)]
    back = -1  # stands for all edges that lead back: they come from below
    for number, (_, target) in enumerate(edges):
        is_back = lanes.passing[number] is None
        origin = back if is_back else number
        coming.setdefault(target, {})[origin] = float("inf") if is_back else middles[last[number]]
    height_of: dict[tuple[int, int], float] = {}
    for target, several in coming.items():
        room = sizes.heights[target] - 2 * PORT_INSET
        apart = min(PORTS_APART_MAX, room / len(several))
        top = middles[target] - apart * (len(several) - 1) / 2
        for place, origin in enumerate(sorted(several, key=lambda one: (several[one], one))):
            height_of[target, origin] = top + apart * place
    return [
        height_of[target, back if lanes.passing[number] is None else number] for number, (_, target) in enumerate(edges)
    ]
