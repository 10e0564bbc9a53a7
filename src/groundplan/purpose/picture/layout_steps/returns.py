"""Lines that lead back: up or down beside their source, along above or below all cards, and to their target.

        ┌──────────────┐     A card has one track on a side, however many lines lead back from it or to it. The lines
target ◂┘   source ────┘     of a card with several of them share a trunk, above or below the bands, whichever is
target ◂┐      source ─┐     nearer. Tracks and trunks have their own room, so no line hugs a card, a band or
        └──────────────┘     another line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.layout_steps.columns import Ends
from groundplan.purpose.picture.layout_steps.lanes import Lanes

Hub = tuple[str, int]  # "from" or "to", and the card


class Tracks(NamedTuple):
    """The cards of each column that have a track on their right, and those that have one on their left."""

    leaving: list[list[int]]
    entering: list[list[int]]


def collect_tracks(lanes: Lanes, edges: Sequence[Ends], columns: int) -> Tracks:
    """Return the cards from which or to which edges lead back, by column."""
    leaving: list[dict[int, None]] = [{} for _ in range(columns)]
    entering: list[dict[int, None]] = [{} for _ in range(columns)]
    for (source, target), passed in zip(edges, lanes.passing, strict=True):
        if passed is None:
            leaving[lanes.columns[source]][source] = None
            entering[lanes.columns[target]][target] = None
    return Tracks([[*cards] for cards in leaving], [[*cards] for cards in entering])


def compute_track_room(count: int, *, is_band_edge: bool) -> float:
    """Return the width that some tracks need beside a column, with the distance from its cards."""
    return (_get_distance(is_band_edge=is_band_edge) + tokens.TRACK * (count - 1)) if count else 0.0


def place_tracks(cards: Sequence[int], ways: Mapping[int, float], *, is_band_edge: bool) -> dict[int, float]:
    """Return the distance of each card's track from its column. A long way is outside, so that few tracks cross."""
    first = _get_distance(is_band_edge=is_band_edge)
    shortest_first = sorted(cards, key=lambda one: (ways[one], one))
    return {one: first + tokens.TRACK * place for place, one in enumerate(shortest_first)}


def _get_distance(*, is_band_edge: bool) -> float:
    return tokens.BAND_PAD + tokens.TRACK_DISTANCE if is_band_edge else tokens.TRACK_DISTANCE_INSIDE


class Trunks(NamedTuple):
    """The trunk of every edge that leads back: the card it belongs to, and whether it is above the bands."""

    hubs: list[Hub]
    is_above: list[bool]


def choose_trunks(backward: Sequence[Ends], middles: Sequence[float], height: float) -> Trunks:
    """Return the trunk of every edge that leads back. A trunk is above if its cards are nearer to the top."""
    degrees = Counter([("from", source) for source, _ in backward] + [("to", target) for _, target in backward])
    hubs: list[Hub] = [
        max(("to", target), ("from", source), key=lambda end: degrees[end])  # of equals, what several lead to
        for source, target in backward
    ]
    cards: dict[Hub, set[int]] = {}
    for hub, ends in zip(hubs, backward, strict=True):
        cards.setdefault(hub, set()).update(ends)
    is_above = {hub: sum(middles[one] for one in several) < height / 2 * len(several) for hub, several in cards.items()}
    return Trunks(hubs, [is_above[hub] for hub in hubs])


def assign_rows(trunks: Trunks, lefts: Sequence[float], rights: Sequence[float]) -> list[int]:
    """Return the row of every edge's trunk, from the positions of its tracks.

    Short trunks are nearer to the bands than long ones, and trunks that do not meet share a row.
    """
    spans: dict[tuple[bool, Hub], tuple[float, float]] = {}
    for hub, is_above, left, right in zip(*trunks, lefts, rights, strict=True):
        before = spans.get((is_above, hub), (left, right))
        spans[is_above, hub] = min(before[0], left), max(before[1], right)
    rows: dict[bool, list[list[tuple[float, float]]]] = {True: [], False: []}
    row_of: dict[Hub, int] = {}
    for (is_above, hub), (left, right) in sorted(spans.items(), key=lambda one: (one[1][1] - one[1][0], one[0])):
        side = rows[is_above]
        free = (
            row
            for row, there in enumerate(side)
            if all(right + tokens.TRACK < begin or end + tokens.TRACK < left for begin, end in there)
        )
        row = next(free, len(side))
        if row == len(side):
            side.append([])
        side[row].append((left, right))
        row_of[hub] = row
    return [row_of[hub] for hub in trunks.hubs]
