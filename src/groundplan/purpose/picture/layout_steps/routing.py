"""Route the edges: curves between columns, straight lines through lanes, and below the cards if they lead back.

A curve stays in the gap between two columns, and a lane is free of cards; so no edge crosses a card.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.layout_steps.columns import Ends, Sizes
from groundplan.purpose.picture.layout_steps.lanes import Lanes

PORTS_APART_MAX = 12.0  # between edges that enter one card
PORT_INSET = 8.0  # from the corners of a card
BACK_DISTANCE = 10.0  # between an edge that leads back and its cards
BACK_SPREAD = 2.5
BACK_SPREADS = 8

Point = tuple[float, float]


class ColumnSpans(NamedTuple):
    """The positions of the columns."""

    lefts: list[float]
    rights: list[float]
    width: float


class EdgeRoute(NamedTuple):
    """The route of an edge: its points, connected by curves that are horizontal at both ends, or straight lines."""

    points: list[Point]
    is_back: bool


def route_edges(
    stage: ColumnSpans, lanes: Lanes, middles: Sequence[float], edges: Sequence[Ends], sizes: Sizes, height: float
) -> tuple[list[EdgeRoute], float]:
    """Return the route of every edge, and the lowest point of those that lead back."""
    ports = _assign_ports(lanes, middles, edges, sizes)
    routes: list[EdgeRoute] = []
    backward = 0
    depth = height
    for number, (source, target) in enumerate(edges):
        passed = lanes.passing[number]
        first, last = lanes.columns[source], lanes.columns[target]
        start = (stage.lefts[first] + sizes.widths[source], middles[source])
        end = (stage.lefts[last], ports[number])
        if passed is None:
            depth = height + BACK_DISTANCE + tokens.BACK_LANE * (backward + 1)
            aside = BACK_DISTANCE + BACK_SPREAD * (backward % BACK_SPREADS)
            right, left = stage.rights[first] + aside, end[0] - aside
            points = [start, (right, start[1]), (right, depth), (left, depth), (left, end[1]), end]
            backward += 1
        else:
            points = [start]
            if start[0] < stage.rights[first]:
                points.append((stage.rights[first], start[1]))  # past wider cards in its column
            for lane in passed:
                column = lanes.columns[lane]
                points += [(stage.lefts[column], middles[lane]), (stage.rights[column], middles[lane])]
            points.append(end)
        routes.append(EdgeRoute([(round(x, 1), round(y, 1)) for x, y in points], passed is None))
    return routes, depth


def _assign_ports(lanes: Lanes, middles: Sequence[float], edges: Sequence[Ends], sizes: Sizes) -> list[float]:
    """Return the height at which every edge enters its card, ordered by its origin."""
    coming: dict[int, list[tuple[float, int]]] = {}
    for number, (source, target) in enumerate(edges):
        passed = lanes.passing[number]
        # An edge that leads back comes from below.
        before = float("inf") if passed is None else middles[passed[-1] if passed else source]
        coming.setdefault(target, []).append((before, number))
    found = [0.0] * len(edges)
    for target, several in coming.items():
        room = sizes.heights[target] - 2 * PORT_INSET
        apart = min(PORTS_APART_MAX, room / len(several))
        top = middles[target] - apart * (len(several) - 1) / 2
        for place, (_, number) in enumerate(sorted(several)):
            found[number] = top + apart * place
    return found
