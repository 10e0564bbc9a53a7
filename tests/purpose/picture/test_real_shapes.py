"""Plans with the shapes of real ones are laid out without overlaps, and with fewer crossings than before."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.layout import Layout, compute_layout
from tests.purpose.picture.layout_checks import A_HAIR, count_crossings, find_lines_over_cards, find_overlaps
from tests.purpose.picture.real_shapes import Plan, make_cyclic, make_large, make_scattered

Maker = Callable[[int], Plan]

SEEDS = (1, 2, 3)
# The crossings of the same plans with the layout of commit 866ae6d, before parts were ordered one by one, cycles were
# opened at few edges, edges that lead back shared their ways, and unlinked cards had a tray: `count_crossings` of its
# `compute_layout(cards, edges, edges)`, for each seed.
CROSSINGS_BEFORE: dict[Maker, tuple[int, ...]] = {
    make_large: (1121, 967, 1021),
    make_cyclic: (4107, 3314, 3408),
    make_scattered: (7, 9, 8),
}
CROSSINGS_SHARE_MAX = 0.8
DISTANCE_MIN = 8.0  # of a line that leads back, from cards and from the sides of bands


def lay_out(plan: Plan) -> Layout:
    return compute_layout(plan.cards, plan.edges, plan.edges, None, True)


@pytest.mark.parametrize("make", CROSSINGS_BEFORE)
def test_no_cards_overlap_no_line_is_over_a_card_and_fewer_lines_cross(make: Maker) -> None:
    layouts = [lay_out(make(seed)) for seed in SEEDS]

    assert [find_overlaps(layout) for layout in layouts] == [[]] * len(SEEDS)
    assert [find_lines_over_cards(layout) for layout in layouts] == [[]] * len(SEEDS)
    # Together, because one of the small plans has no crossing that could be avoided.
    assert sum(map(count_crossings, layouts)) <= CROSSINGS_SHARE_MAX * sum(CROSSINGS_BEFORE[make])


def test_the_checks_find_what_they_look_for() -> None:
    layout = lay_out(make_scattered(1))
    keys = [*layout.boxes]
    moved = layout._replace(boxes={**layout.boxes, keys[0]: layout.boxes[keys[1]]})
    name = next(iter(layout.routes))
    start, end = layout.boxes[name.source], layout.boxes[name.target]
    over = layout.routes[name]._replace(points=[(start.x, start.middle), (end.x + end.width, end.middle)], is_back=True)
    crossed = layout._replace(routes={**layout.routes, name: over})

    assert find_overlaps(moved) == [(keys[0], keys[1])]
    assert (name, name.target) in find_lines_over_cards(
        crossed._replace(routes={name: over._replace(points=[(end.x + 5, end.middle), over.points[1]])})
    )
    assert count_crossings(crossed) > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_lines_that_lead_back_share_their_ways_and_keep_away_from_cards_bands_and_each_other(seed: int) -> None:
    layout = lay_out(make_cyclic(seed))

    backward = {name: route.points for name, route in layout.routes.items() if route.is_back}
    columns = {box.x for box in layout.boxes.values()}
    sides = {side for band in layout.bands for side in (band.x, band.x + band.width)}
    uprights = {x for points in backward.values() for x in (points[1][0], points[3][0])}
    levels = sorted({points[2][1] for points in backward.values()})
    assert len(levels) < len(backward) / 2
    assert all(lower - upper >= tokens.BACK_LANE - 0.2 for upper, lower in pairwise(levels))
    assert all(abs(level - edge) >= DISTANCE_MIN for level in levels for edge in (-layout.header, layout.height))
    for x in uprights:
        assert all(abs(x - side) >= DISTANCE_MIN for side in sides)
        assert all(not left - DISTANCE_MIN < x < left + tokens.CARD.width + DISTANCE_MIN for left in columns)
    assert all(right - left >= tokens.TRACK - 0.2 for left, right in pairwise(sorted(uprights)))
    for card in {name.target for name in backward}:
        assert len({points[3][0] for name, points in backward.items() if name.target == card}) == 1
    for card in {name.source for name in backward}:
        assert len({points[1][0] for name, points in backward.items() if name.source == card}) == 1


def test_cards_that_nothing_links_are_in_a_tray_and_do_not_stretch_the_bands() -> None:
    plan = make_scattered(1)
    linked = {end for name in plan.edges for end in name[:2]}
    layout = lay_out(plan)

    assert layout.tray is not None
    assert set(layout.tray.keys) == plan.cards.keys() - linked
    assert all(layout.boxes[key].y >= layout.tray.y for key in layout.tray.keys)
    assert all(layout.boxes[key].y + layout.boxes[key].height <= layout.height + A_HAIR for key in linked)
    assert layout.depth == layout.tray.y + layout.tray.height
    alone = lay_out(Plan({key: plan.cards[key] for key in plan.cards if key in linked}, plan.edges))
    assert layout.bands == alone.bands
    assert layout.height == alone.height


def test_a_plan_without_any_link_has_no_tray() -> None:
    assert lay_out(Plan(make_scattered(1).cards, [])).tray is None
