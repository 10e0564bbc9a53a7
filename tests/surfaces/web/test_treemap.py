"""A treemap divides an area without gaps or overlaps, by proportion."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.surfaces.web.areas.coverage import Rectangle, lay_out

AREA = Rectangle(10, 20, 1000, 470)
sizes = st.lists(st.integers(1, 20_000), min_size=1, max_size=60).map(lambda some: sorted(some, reverse=True))


def get_overlap(one: Rectangle, other: Rectangle) -> float:
    """Return how far two rectangles reach into each other."""
    wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return min(wide, high)


@given(sizes)
def test_areas_are_proportional_to_sizes(some: list[int]) -> None:
    placed = lay_out(some, AREA)

    for size, one in zip(some, placed, strict=True):
        assert one.width * one.height == pytest.approx(size / sum(some) * AREA.width * AREA.height, rel=1e-6)


@given(sizes)
def test_rectangles_stay_inside_and_do_not_overlap(some: list[int]) -> None:
    placed = lay_out(some, AREA)

    for one in placed:
        assert one.x >= AREA.x - 1e-6
        assert one.y >= AREA.y - 1e-6
        assert one.x + one.width <= AREA.x + AREA.width + 1e-6
        assert one.y + one.height <= AREA.y + AREA.height + 1e-6
    assert max((get_overlap(one, other) for one, other in combinations(placed, 2)), default=0) <= 1e-6


def test_rectangles_are_nearly_square() -> None:
    ratios = [max(one.width / one.height, one.height / one.width) for one in lay_out([1] * 30, AREA)]

    assert max(ratios) < 2


def test_an_area_of_nothing_has_rectangles_of_nothing() -> None:
    assert lay_out([3, 1], Rectangle(0, 0, 0, 5)) == [Rectangle(0, 0, 0, 0)] * 2
    assert lay_out([], AREA) == []
    assert Rectangle(0, 0, 3, 3).shrink(margin=2, top=9) == Rectangle(2, 11, 0, 0)
