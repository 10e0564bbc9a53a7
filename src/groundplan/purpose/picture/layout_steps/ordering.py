"""Order the elements of each column so that few edges cross.

Uses the method of Sugiyama: start with the order of a walk back from the goals, then sort every column by the positions
of its neighbours, from left to right and back, and keep the best order found. In small pictures, adjacent elements are
then swapped as long as that reduces crossings.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import pairwise

from groundplan.purpose.picture.layout_steps.lanes import Lanes

SWEEPS = 12
SWEEPS_LARGE = 3
LARGE = 1_500  # elements
SWAP_ROUNDS = 6

Order = list[list[int]]


def order_elements(lanes: Lanes, columns: int) -> Order:
    """Return the elements of every column from top to bottom."""
    causes: list[list[int]] = [[] for _ in range(lanes.total)]
    effects: list[list[int]] = [[] for _ in range(lanes.total)]
    for source, target in lanes.links:
        effects[source].append(target)
        causes[target].append(source)
    order = _order_by_walk(lanes, columns, causes)
    is_large = lanes.total > LARGE
    best, fewest = order, _count_crossings(order, effects)
    for sweep in range(SWEEPS_LARGE if is_large else SWEEPS):
        if not fewest:
            break
        order = _sweep(order, effects, causes, to_the_right=bool(sweep % 2))
        crossings = _count_crossings(order, effects)
        if crossings < fewest:
            best, fewest = order, crossings
    if not is_large and fewest:
        best = [list(column) for column in best]
        for _ in range(SWAP_ROUNDS):
            if not _swap_neighbours(best, causes, effects):
                break
    return best


def _order_by_walk(lanes: Lanes, columns: int, causes: list[list[int]]) -> Order:
    """Return the order of a depth-first walk from the right."""
    rightmost = sorted(range(lanes.total), key=lambda one: (-lanes.columns[one], one))
    found: dict[int, None] = {}
    for start in rightmost:
        waiting = [start]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found[one] = None
                waiting += reversed(causes[one])
    order: Order = [[] for _ in range(columns)]
    for one in found:
        order[lanes.columns[one]].append(one)
    return order


def _sweep(order: Order, effects: list[list[int]], causes: list[list[int]], *, to_the_right: bool) -> Order:
    """Sort every column by the median of its neighbours on the side from which the sweep comes."""
    neighbours = causes if to_the_right else effects
    swept = [list(column) for column in order]
    places = _places(order)
    for column in swept if to_the_right else reversed(swept):
        middles = {
            one: sum([places[near] for near in neighbours[one]]) / len(neighbours[one])
            if neighbours[one]
            else places[one]
            for one in column
        }
        column.sort(key=middles.__getitem__)
        _number(column, places)
    return swept


def _places(order: Order) -> dict[int, float]:
    places: dict[int, float] = {}
    for column in order:
        _number(column, places)
    return places


def _number(column: Sequence[int], places: dict[int, float]) -> None:
    # Columns have different lengths and are centred on each other.
    middle = (len(column) - 1) / 2
    for place, one in enumerate(column):
        places[one] = place - middle


def _count_crossings(order: Order, effects: list[list[int]]) -> int:
    """Return the number of crossing pairs of links."""
    count = 0
    for column, following in pairwise(order):
        place = {one: number for number, one in enumerate(following)}
        seen: list[int] = []
        for one in column:
            ends = sorted(place[end] for end in effects[one])
            for end in ends:
                count += len(seen) - bisect_left(seen, end + 1)
            for end in ends:
                insort(seen, end)
    return count


def _swap_neighbours(order: Order, causes: list[list[int]], effects: list[list[int]]) -> bool:
    """Swap adjacent elements where that reduces crossings; return whether any were swapped."""
    places = _places(order)
    any_swapped = False
    for column in order:
        for place in range(len(column) - 1):
            upper, lower = column[place], column[place + 1]
            now = other = 0
            for near in (causes, effects):
                ups = [places[one] for one in near[upper]]
                downs = [places[one] for one in near[lower]]
                now += sum([up > down for up in ups for down in downs])
                other += sum([up < down for up in ups for down in downs])
            if other < now:
                column[place], column[place + 1] = lower, upper
                places[lower], places[upper] = places[upper], places[lower]
                any_swapped = True
    return any_swapped
