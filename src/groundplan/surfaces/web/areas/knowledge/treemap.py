"""A treemap: rectangles whose areas are proportional to sizes, as square as possible, without overlaps or gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Rectangle(NamedTuple):
    """A rectangle of the picture."""

    x: float
    y: float
    width: float
    height: float

    def shrink(self, *, margin: float, top: float = 0.0) -> Rectangle:
        """Return the rectangle inside, after a margin on all sides and a strip at the top; never a negative one."""
        width = max(self.width - 2 * margin, 0.0)
        height = max(self.height - 2 * margin - top, 0.0)
        return Rectangle(self.x + margin, self.y + margin + top, width, height)


def lay_out(sizes: Sequence[float], within: Rectangle) -> list[Rectangle]:
    """Return a rectangle for each size, in their order; the sizes must be positive, the largest first.

    Sizes are taken into a strip along the shorter side as long as this makes its rectangles more square; then the rest
    of the area is divided in the same way.
    """
    whole = sum(sizes)
    if not whole or not within.width or not within.height:
        return [Rectangle(within.x, within.y, 0.0, 0.0) for _ in sizes]
    areas = [size / whole * within.width * within.height for size in sizes]
    placed: list[Rectangle] = []
    rest, first = within, 0
    while first < len(areas):
        side = min(rest.width, rest.height)
        last = first + 1
        while last < len(areas) and _get_worst(areas[first : last + 1], side) <= _get_worst(areas[first:last], side):
            last += 1
        strip, rest = _place_strip(areas[first:last], rest, is_last=last == len(areas))
        placed += strip
        first = last
    return placed


def _get_worst(areas: Sequence[float], side: float) -> float:
    """Return the largest ratio of sides in a strip along a side. The areas are sorted, so it is that of an end."""
    thickness = sum(areas) / side
    if not thickness:
        return 0.0
    return max(max(area / thickness**2, thickness**2 / area) for area in (areas[0], areas[-1]))


def _place_strip(areas: Sequence[float], rest: Rectangle, *, is_last: bool) -> tuple[list[Rectangle], Rectangle]:
    """Return the rectangles of a strip along the shorter side, and what is left of the area."""
    is_column = rest.width >= rest.height
    side, depth = (rest.height, rest.width) if is_column else (rest.width, rest.height)
    # The last strip takes what is left, so that rounding leaves no gap.
    thickness = depth if is_last else min(sum(areas) / side, depth)
    placed, at = [], 0.0
    for area in areas:
        length = area / sum(areas) * side
        if is_column:
            placed.append(Rectangle(rest.x, rest.y + at, thickness, length))
        else:
            placed.append(Rectangle(rest.x + at, rest.y, length, thickness))
        at += length
    if is_column:
        return placed, Rectangle(rest.x + thickness, rest.y, rest.width - thickness, rest.height)
    return placed, Rectangle(rest.x, rest.y + thickness, rest.width, rest.height - thickness)
