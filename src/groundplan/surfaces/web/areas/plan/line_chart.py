"""A small line chart of the measurements of an indicator, with its baseline and target, as shapes for a template."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from groundplan.purpose.dates import get_day

WIDTH, HEIGHT = 220, 64
MARGIN = 6
POINTS_MAX = 120  # more than pixels show; the first and the last of equal steps are kept


class DayValue(NamedTuple):
    """A value on a day."""

    day: str
    value: float


class Dot(NamedTuple):
    """A measurement in the picture."""

    x: float
    y: float
    words: str


class LineChart(NamedTuple):
    """The shapes of a chart. A baseline or target that the indicator lacks is None."""

    width: int
    height: int
    line: str  # of a polyline
    dots: Sequence[Dot]
    baseline_y: float | None
    target_y: float | None
    words: str  # the chart in one sentence


def build_chart(
    points: Sequence[DayValue], *, baseline: float | None = None, target: float | None = None, unit: str = ""
) -> LineChart | None:
    """Return the chart of some measurements, oldest first; None if there are none."""
    if not points:
        return None
    ordered = _thin_out(sorted(points, key=lambda one: one.day))
    values = [one.value for one in ordered] + [one for one in (baseline, target) if one is not None]
    low, high = min(values), max(values)
    days = [date.fromisoformat(get_day(one.day)).toordinal() for one in ordered]

    def scale(value: float, least: float, most: float, size: int) -> float:
        inner = size - 2 * MARGIN
        # Halves first: the difference of two large numbers can be too large for a number.
        share = 0.5 if most == least else (value / 2 - least / 2) / (most / 2 - least / 2)
        return round(MARGIN + share * inner, 1)

    dots = [
        Dot(
            scale(day, days[0], days[-1], WIDTH),
            HEIGHT - scale(one.value, low, high, HEIGHT),
            f"{get_day(one.day)}: {format_number(one.value, unit)}",
        )
        for one, day in zip(ordered, days, strict=True)
    ]
    return LineChart(
        WIDTH,
        HEIGHT,
        " ".join(f"{dot.x},{dot.y}" for dot in dots),
        dots,
        None if baseline is None else HEIGHT - scale(baseline, low, high, HEIGHT),
        None if target is None else HEIGHT - scale(target, low, high, HEIGHT),
        _describe(ordered, baseline, target, unit),
    )


def format_number(value: float, unit: str = "") -> str:
    """Return a number as people write it, with its unit."""
    text = f"{value:,.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:,.6g}"
    return f"{text} {unit}".strip()


def _thin_out(points: Sequence[DayValue]) -> list[DayValue]:
    if len(points) <= POINTS_MAX:
        return list(points)
    step = (len(points) - 1) / (POINTS_MAX - 1)
    return [points[round(number * step)] for number in range(POINTS_MAX)]


def _describe(points: Sequence[DayValue], baseline: float | None, target: float | None, unit: str) -> str:
    last = points[-1]
    parts = [f"{format_number(last.value, unit)} on {get_day(last.day)}"]
    if len(points) > 1:
        first = points[0]
        parts.insert(0, f"from {format_number(first.value, unit)} on {get_day(first.day)} to")
    goals = [
        f"{name} {format_number(value, unit)}"
        for name, value in (("baseline", baseline), ("target", target))
        if value is not None
    ]
    return " ".join(parts) + (f"; {', '.join(goals)}" if goals else "")
