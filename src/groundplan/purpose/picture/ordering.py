"""The order of elements in each column, which avoids crossings, and their heights, which avoid steep edges.

The order uses the method of Sugiyama: start with the order of a walk back from the goals, then sort every column by the
positions of its neighbours, from left to right and back, swap adjacent elements where that helps, and keep the best
order found. Parts that nothing connects are ordered one by one and put below each other, so their edges never cross.

For the heights each column is a separate problem: elements should be level with their neighbours, must keep their order
and distance, and must stay inside the picture. Pooling adjacent elements (isotonic regression) solves it exactly in one
pass. A few rounds through the columns in both directions make the whole picture converge.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from groundplan.purpose.graph.graph import find_connected_parts
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.columns import Lanes

SWEEPS = 16
SWEEPS_LARGE = 3
SWEEPS_PER_SWAP = 2
FRUITLESS_MAX = 5  # sweeps without a better order
LARGE = 1_500  # elements
SEVERAL_STARTS_MAX = 400  # elements of a part
SWAP_ROUNDS = 6
SWAPS_PER_COLUMN = 4  # passes

Order = list[list[int]]


class _Graph(NamedTuple):
    """The left and right neighbours of every element, and its column."""

    causes: list[list[int]]
    effects: list[list[int]]
    columns: list[int]
    width: int  # in columns

    @property
    def total(self) -> int:
        return len(self.columns)

    @property
    def is_large(self) -> bool:
        return len(self.columns) > LARGE


def order_elements(lanes: Lanes, columns: int) -> Order:
    """Return the elements of every column from top to bottom."""
    causes: list[list[int]] = [[] for _ in range(lanes.total)]
    effects: list[list[int]] = [[] for _ in range(lanes.total)]
    for source, target in lanes.links:
        effects[source].append(target)
        causes[target].append(source)
    graph = _Graph(causes, effects, lanes.columns, columns)
    order: Order = [[] for _ in range(columns)]
    neighbours = {element: [*causes[element], *effects[element]] for element in range(lanes.total)}
    for part in find_connected_parts(neighbours):
        for column, elements in zip(order, _order_part(part, graph), strict=True):
            column.extend(elements)
    return order


def _order_part(part: list[int], graph: _Graph) -> Order:
    """Return the elements of one connected part by column, in the best order that several starting orders lead to."""
    if graph.is_large:
        return _improve(_order_by_walk(part, graph, from_right=True), graph)[0]
    starts = [_order_by_walk(part, graph, from_right=True)]
    if len(part) <= SEVERAL_STARTS_MAX:
        starts.append(_order_by_walk(part, graph, from_right=False))
        starts.append(_order_by_number(part, graph))
    best: Order = []
    fewest = -1
    for start in starts:
        order, crossings = _improve(start, graph)
        if fewest < 0 or crossings < fewest:
            best, fewest = order, crossings
        if not fewest:
            break
    return best


def _improve(order: Order, graph: _Graph) -> tuple[Order, int]:
    """Sort the columns in both directions repeatedly. Return the best order and its number of crossings."""
    best, fewest = order, _count_crossings(order, graph.effects)
    places = [0.0] * graph.total
    fruitless = 0
    for sweep in range(SWEEPS_LARGE if graph.is_large else SWEEPS):
        if not fewest or fruitless >= FRUITLESS_MAX:
            break
        order = _sweep(order, graph, places, to_the_right=bool(sweep % 2))
        if not graph.is_large and sweep % SWEEPS_PER_SWAP == SWEEPS_PER_SWAP - 1:
            _swap_neighbours(order, graph, places)
        crossings = _count_crossings(order, graph.effects)
        fruitless += 1
        if crossings < fewest:
            best, fewest, fruitless = order, crossings, 0
    if not graph.is_large and fewest:
        best = [list(column) for column in best]
        for _ in range(SWAP_ROUNDS):
            if not _swap_neighbours(best, graph, places):
                break
        fewest = _count_crossings(best, graph.effects)
    return best, fewest


def _order_by_walk(part: list[int], graph: _Graph, *, from_right: bool) -> Order:
    """Return the order of a depth-first walk from the last column to the first, or in the other direction."""
    sign, onward = (-1, graph.causes) if from_right else (1, graph.effects)
    visited: dict[int, None] = {}
    for start in sorted(part, key=lambda element: (sign * graph.columns[element], element)):
        waiting = [start]
        while waiting:
            element = waiting.pop()
            if element not in visited:
                visited[element] = None
                waiting += reversed(onward[element])
    return _split_by_column(visited, graph)


def _order_by_number(part: list[int], graph: _Graph) -> Order:
    return _split_by_column(sorted(part), graph)


def _split_by_column(elements: Iterable[int], graph: _Graph) -> Order:
    order: Order = [[] for _ in range(graph.width)]
    for element in elements:
        order[graph.columns[element]].append(element)
    return order


def _sweep(order: Order, graph: _Graph, places: list[float], *, to_the_right: bool) -> Order:
    """Sort every column by the mean position of its neighbours on the side where the sweep began."""
    neighbours = graph.causes if to_the_right else graph.effects
    swept = [list(column) for column in order]
    _number_all(order, places)
    for column in swept if to_the_right else reversed(swept):
        middles = {}
        for element in column:
            near = neighbours[element]
            if not near:
                middles[element] = places[element]
            elif len(near) == 1:
                middles[element] = places[near[0]]
            else:
                middles[element] = sum([places[neighbour] for neighbour in near]) / len(near)
        column.sort(key=middles.__getitem__)
        _number(column, places)
    return swept


def _number_all(order: Order, places: list[float]) -> None:
    for column in order:
        _number(column, places)


def _number(column: Sequence[int], places: list[float]) -> None:
    # Columns have different lengths and are centred on each other.
    place = -(len(column) - 1) / 2
    for element in column:
        places[element] = place
        place += 1


def _count_crossings(order: Order, effects: list[list[int]]) -> int:
    """Return the number of crossing pairs of links."""
    count = 0
    for column, following in pairwise(order):
        if not column or not following:
            continue
        place = {element: number for number, element in enumerate(following)}
        ends_above: list[int] = []
        for element in column:
            near = effects[element]
            if len(near) == 1:
                end = place[near[0]]
                at = bisect_right(ends_above, end)
                count += len(ends_above) - at
                ends_above.insert(at, end)
                continue
            ends = [place[end] for end in near]
            for end in ends:
                count += len(ends_above) - bisect_right(ends_above, end)
            for end in ends:
                insort(ends_above, end)
    return count


def _swap_neighbours(order: Order, graph: _Graph, places: list[float]) -> bool:
    """Swap adjacent elements if that reduces crossings. Return False if none were swapped."""
    _number_all(order, places)
    any_swapped = False
    for column in order:
        if len(column) == 1:
            continue
        sides = [
            {element: sorted([places[neighbour] for neighbour in near[element]]) for element in column}
            for near in (graph.causes, graph.effects)
        ]
        for _ in range(SWAPS_PER_COLUMN):
            is_changed = False
            for place in range(len(column) - 1):
                upper, lower = column[place], column[place + 1]
                gain = 0
                for side in sides:
                    ups, downs = side[upper], side[lower]
                    # Most neighbours are in order already.
                    if ups and downs and ups[-1] > downs[0]:
                        gain += sum([(up > down) - (up < down) for up in ups for down in downs])
                    elif ups and downs:
                        gain -= len(ups) * len(downs) - (ups[-1] == downs[0])
                if gain > 0:
                    column[place], column[place + 1] = lower, upper
                    is_changed = any_swapped = True
            if not is_changed:
                break
        _number(column, places)
    return any_swapped


ROUNDS = 24
ROUNDS_BY_ELEMENTS = ((1_500, 4), (600, 12))  # above so many elements; later rounds move little
# The weight of a level link by how many of its ends are lanes: a wavy edge is worse than a card that is not level with
# another.
STRAIGHTNESS_WEIGHTS = (1.0, 2.0, 8.0)
OTHER_SIDE_WEIGHT = 0.35
HEIGHT_SLACK = 1.04


def place_elements(lanes: Lanes, order: Order, heights: Sequence[float]) -> tuple[list[float], float]:
    """Return the centre of every element, and the height of the picture. `heights` has the heights of the cards."""
    tall = [*heights, *([float(tokens.LANE_HEIGHT)] * (lanes.total - lanes.cards))]
    offsets = [_compute_offsets(column, tall, lanes.cards) for column in order]
    packed = [offsets[at][-1] + tall[column[-1]] / 2 for at, column in enumerate(order)]
    height = HEIGHT_SLACK * max(packed, default=0)
    causes, effects = _collect_neighbours(lanes)
    middles = [0.0] * lanes.total
    for at, column in enumerate(order):
        for offset, element in zip(offsets[at], column, strict=True):
            middles[element] = offset + (height - packed[at]) / 2
    rounds = next((fewer for elements, fewer in ROUNDS_BY_ELEMENTS if lanes.total > elements), ROUNDS)
    for round_ in range(rounds):
        goes_right = bool(round_ % 2)
        for at in range(len(order)) if goes_right else range(len(order) - 1, -1, -1):
            column = order[at]
            wanted, weights = [], []
            for element in column:
                # The side from which the round comes is fixed; the other side only has a small weight.
                settled, opposite = (
                    (causes[element], effects[element]) if goes_right else (effects[element], causes[element])
                )
                pull = weight = 0.0
                for near, strength in settled:
                    pull += middles[near] * strength
                    weight += strength
                for near, strength in opposite:
                    pull += middles[near] * strength * OTHER_SIDE_WEIGHT
                    weight += strength * OTHER_SIDE_WEIGHT
                wanted.append(pull / weight if weight else middles[element])
                weights.append(weight or 1.0)
            for element, middle in zip(
                column, _pool_positions(wanted, offsets[at], weights, height - packed[at]), strict=True
            ):
                middles[element] = middle
    return middles, height


def compute_min_column_height(lanes: Lanes, columns: int, heights: Sequence[float]) -> float:
    """Return the minimum height of the tallest column."""
    tall = [0.0] * columns
    for element in range(lanes.total):
        is_card = element < lanes.cards
        room = heights[element] + tokens.CARD_GAP if is_card else tokens.LANE_HEIGHT + tokens.LANE_GAP
        tall[lanes.columns[element]] += room
    return max(tall, default=0.0)


def _collect_neighbours(lanes: Lanes) -> tuple[list[list[tuple[int, float]]], list[list[tuple[int, float]]]]:
    """Return the left and right neighbours of every element, with weights."""
    causes: list[list[tuple[int, float]]] = [[] for _ in range(lanes.total)]
    effects: list[list[tuple[int, float]]] = [[] for _ in range(lanes.total)]
    for source, target in lanes.links:
        strength = STRAIGHTNESS_WEIGHTS[(source >= lanes.cards) + (target >= lanes.cards)]
        effects[source].append((target, strength))
        causes[target].append((source, strength))
    return causes, effects


def _compute_offsets(column: Sequence[int], tall: Sequence[float], cards: int) -> list[float]:
    """Return the centres of the elements of a tightly packed column that begins at 0."""
    centres: list[float] = []
    edge = 0.0
    before_is_card = False
    for place, element in enumerate(column):
        is_card = element < cards
        if place:
            edge += tokens.CARD_GAP if is_card and before_is_card else tokens.LANE_GAP
        centres.append(edge + tall[element] / 2)
        edge += tall[element]
        before_is_card = is_card
    return centres


def _pool_positions(
    wanted: Sequence[float], offsets: Sequence[float], weights: Sequence[float], room: float
) -> list[float]:
    """Return the positions nearest to the wanted ones that keep the order, the distances and the bounds."""
    pools: list[tuple[float, float, int]] = []  # mean shift, weight, count
    for want, offset, weight in zip(wanted, offsets, weights, strict=True):
        mean, heavy, count = want - offset, weight, 1
        while pools and pools[-1][0] > mean:
            last_mean, last_weight, last_count = pools.pop()
            mean = (mean * heavy + last_mean * last_weight) / (heavy + last_weight)
            heavy += last_weight
            count += last_count
        pools.append((mean, heavy, count))
    shifts = [min(max(mean, 0.0), room) for mean, _, count in pools for _ in range(count)]
    return [shift + offset for shift, offset in zip(shifts, offsets, strict=True)]
