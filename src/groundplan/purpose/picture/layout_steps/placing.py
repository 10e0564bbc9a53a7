"""Place the elements of each column vertically, as near to their neighbours as order and space allow.

Each column is a separate problem: elements should be level with their neighbours, must keep their order and distance,
and must stay inside the picture. Pooling adjacent elements (isotonic regression) solves it exactly in one pass. A few
rounds through the columns in both directions make the whole picture converge.
"""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.layout_steps.lanes import Lanes
from groundplan.purpose.picture.layout_steps.ordering import Order

ROUNDS = 24
ROUNDS_BY_ELEMENTS = ((1_500, 4), (600, 12))  # above so many elements; later rounds move little
# The weight of a level link by how many of its ends are lanes: a wavy edge is worse than a card that is not level with
# another.
STRAIGHTNESS_WEIGHTS = (1.0, 2.0, 8.0)
OTHER_SIDE_WEIGHT = 0.35
HEIGHT_SLACK = 1.04


def place_elements(lanes: Lanes, order: Order, heights: Sequence[float]) -> tuple[list[float], float]:
    """Return the centre of every element, and the height of the picture. `heights` are those of the cards."""
    tall = [*heights, *([float(tokens.LANE_HEIGHT)] * (lanes.total - lanes.cards))]
    offsets = [_compute_offsets(column, tall, lanes.cards) for column in order]
    packed = [offsets[at][-1] + tall[column[-1]] / 2 for at, column in enumerate(order)]
    height = HEIGHT_SLACK * max(packed, default=0)
    causes, effects = _collect_neighbours(lanes)
    middles = [0.0] * lanes.total
    for at, column in enumerate(order):
        for offset, one in zip(offsets[at], column, strict=True):
            middles[one] = offset + (height - packed[at]) / 2
    rounds = next((fewer for elements, fewer in ROUNDS_BY_ELEMENTS if lanes.total > elements), ROUNDS)
    for round_ in range(rounds):
        goes_right = bool(round_ % 2)
        for at in range(len(order)) if goes_right else range(len(order) - 1, -1, -1):
            column = order[at]
            wanted, weights = [], []
            for one in column:
                # The side from which the round comes is fixed; the other side only has a small weight.
                settled, other = (causes[one], effects[one]) if goes_right else (effects[one], causes[one])
                pull = weight = 0.0
                for near, strength in settled:
                    pull += middles[near] * strength
                    weight += strength
                for near, strength in other:
                    pull += middles[near] * strength * OTHER_SIDE_WEIGHT
                    weight += strength * OTHER_SIDE_WEIGHT
                wanted.append(pull / weight if weight else middles[one])
                weights.append(weight or 1.0)
            for one, middle in zip(
                column, _pool_positions(wanted, offsets[at], weights, height - packed[at]), strict=True
            ):
                middles[one] = middle
    return middles, height


def compute_packed_height(lanes: Lanes, columns: int, heights: Sequence[float]) -> float:
    """Return the minimum height of the tallest column."""
    tall = [0.0] * columns
    for one in range(lanes.total):
        is_card = one < lanes.cards
        room = heights[one] + tokens.CARD_GAP if is_card else tokens.LANE_HEIGHT + tokens.LANE_GAP
        tall[lanes.columns[one]] += room
    return max(tall, default=0.0)


def _collect_neighbours(lanes: Lanes) -> tuple[list[list[tuple[int, float]]], list[list[tuple[int, float]]]]:
    """Return the neighbours of every element on the left and on the right, with weights."""
    causes: list[list[tuple[int, float]]] = [[] for _ in range(lanes.total)]
    effects: list[list[tuple[int, float]]] = [[] for _ in range(lanes.total)]
    for source, target in lanes.links:
        strength = STRAIGHTNESS_WEIGHTS[(source >= lanes.cards) + (target >= lanes.cards)]
        effects[source].append((target, strength))
        causes[target].append((source, strength))
    return causes, effects


def _compute_offsets(column: Sequence[int], tall: Sequence[float], cards: int) -> list[float]:
    """Return the centres of a tightly packed column, from 0."""
    found: list[float] = []
    edge = 0.0
    before_is_card = False
    for place, one in enumerate(column):
        is_card = one < cards
        if place:
            edge += tokens.CARD_GAP if is_card and before_is_card else tokens.LANE_GAP
        found.append(edge + tall[one] / 2)
        edge += tall[one]
        before_is_card = is_card
    return found


def _pool_positions(
    wanted: Sequence[float], offsets: Sequence[float], weights: Sequence[float], room: float
) -> list[float]:
    """Return the positions nearest to the wanted ones that keep order, distance and bounds."""
    pools: list[tuple[float, float, int]] = []  # mean shift, weight, count
    for want, offset, weight in zip(wanted, offsets, weights, strict=True):
        mean, heavy, count = want - offset, weight, 1
        while pools and pools[-1][0] > mean:
            other, other_weight, other_count = pools.pop()
            mean = (mean * heavy + other * other_weight) / (heavy + other_weight)
            heavy += other_weight
            count += other_count
        pools.append((mean, heavy, count))
    shifts = [min(max(mean, 0.0), room) for mean, _, count in pools for _ in range(count)]
    return [shift + offset for shift, offset in zip(shifts, offsets, strict=True)]
