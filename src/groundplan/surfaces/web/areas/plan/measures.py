"""Measures: indicators with charts of their values, assumptions with reviews, and open questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from msgspec import UNSET

from groundplan.briefing.inbox import InboxKind
from groundplan.purpose.dates import get_day
from groundplan.purpose.model import AssumptionStatus, IndicatorDirection
from groundplan.purpose.observing.read import MeasurementView, ReviewView
from groundplan.purpose.open import IndicatorView
from groundplan.surfaces.web.areas.inbox import InboxEntry, build_entry
from groundplan.surfaces.web.areas.plan.plan_visit import PlanView, PlanVisit
from groundplan.surfaces.web.areas.plan.theory import PlacedAssumption, TheoryItems
from groundplan.surfaces.web.areas.work import host_of

ROWS = 60  # indicators on one page, and assumptions
SHOWN_MAX = 50  # measurements in the table of one indicator, the latest first
STATUSES = [status.value for status in AssumptionStatus if status is not AssumptionStatus.UNTESTED]
WIDTH, HEIGHT = 220, 64
MARGIN = 6
POINTS_MAX = 120  # more than pixels show; the first and the last of equal steps are kept


class IndicatorCard(NamedTuple):
    """An indicator with its measurements, newest first."""

    indicator: IndicatorView
    of: str  # the title of what it measures
    link: str
    chart: LineChart | None
    measurements: Sequence[MeasurementView]
    progress: str  # from the baseline to the target, in words
    is_selected: bool


class AssumptionRow(NamedTuple):
    """An assumption with its latest review."""

    key: str
    placed: PlacedAssumption
    on: str  # the title of what it is about
    link: str
    review: ReviewView | None
    is_due: bool
    is_selected: bool


class Observations(NamedTuple):
    """The recorded measurements and reviews by key, oldest first."""

    measurements: Mapping[str, list[MeasurementView]]
    reviews: Mapping[str, list[ReviewView]]


def read_measures(plan: PlanVisit, theory: TheoryItems) -> Mapping[str, Any]:
    """Return the values of the view Measures: indicators with measurements, and assumptions with reviews."""
    recorded = read_observations(plan)
    cards = [_make_card(plan, theory, indicator, recorded) for indicator in theory.indicators.values()]
    rows = [_make_row(plan, theory, key, recorded) for key in theory.assumptions]
    rows.sort(key=lambda row: (not row.is_due, row.placed.assumption.review_by or "9999"))
    page = _read_page_number(plan.visit.query.get("page", ""))
    return {
        "cards": _select(cards, page),
        "assumptions": _select(rows, page),
        "page": page,
        "pages": max(1, -(-max(len(cards), len(rows)) // ROWS)),
        "indicator_total": len(cards),
        "assumption_total": len(rows),
        "waiting": () if plan.as_of else list_questions(plan),
        "statuses": STATUSES,
        "format_number": format_number,
        "host_of": host_of,
    }


def read_observations(plan: PlanVisit) -> Observations:
    """Return all measurements and reviews up to the day of the page."""
    measurements: dict[str, list[MeasurementView]] = {}
    reviews: dict[str, list[ReviewView]] = {}
    asked: dict[str, Any] = {"as_of": plan.as_of} if plan.as_of else {}
    while True:
        page = plan.visit.call("purpose.observations", detail="observations", **asked)
        for measurement in page.measurements:
            measurements.setdefault(measurement.indicator, []).append(measurement)
        for review in page.reviews:
            reviews.setdefault(review.assumption, []).append(review)
        if page.next_cursor is UNSET:
            return Observations(measurements, reviews)
        asked["cursor"] = page.next_cursor


def draw_indicator(indicator: IndicatorView, measurements: Sequence[MeasurementView]) -> LineChart | None:
    """Return the chart of an indicator; None if it has no measurements."""
    points = [DayValue(measured.as_of, measured.value) for measured in measurements]
    return build_chart(points, baseline=indicator.baseline, target=indicator.target, unit=indicator.unit or "")


def list_questions(plan: PlanVisit) -> list[InboxEntry]:
    """Return the questions that wait for a decision, each with the form for the answer."""
    items = plan.visit.waiting.items
    return [build_entry(plan.visit, item) for item in items if item.kind is InboxKind.REQUEST]


def _make_card(plan: PlanVisit, theory: TheoryItems, indicator: IndicatorView, recorded: Observations) -> IndicatorCard:
    measurements = sorted(recorded.measurements.get(indicator.key, ()), key=lambda measured: measured.as_of)
    return IndicatorCard(
        indicator,
        theory.describe(indicator.node),
        plan.link(indicator.key),
        draw_indicator(indicator, measurements),
        measurements[::-1][:SHOWN_MAX],
        _describe_progress(indicator, measurements[-1].value if measurements else None),
        plan.visit.query.get("record") == indicator.key,
    )


def _describe_progress(indicator: IndicatorView, latest: float | None) -> str:
    """Return the progress from baseline to target in words; empty if it is not known."""
    if latest is None or indicator.target is None:
        return ""
    is_falling = indicator.direction is IndicatorDirection.DECREASE
    if (latest <= indicator.target) if is_falling else (latest >= indicator.target):
        return "target reached"
    if indicator.baseline is None or indicator.baseline == indicator.target:
        return ""
    share = (latest - indicator.baseline) / (indicator.target - indicator.baseline)
    return (
        "no progress yet" if share <= 0 else f"{min(share, 0.999):.0%} of the way" if share >= 0.005 else "just begun"
    )


def _make_row(plan: PlanVisit, theory: TheoryItems, key: str, recorded: Observations) -> AssumptionRow:
    placed = theory.assumptions[key]
    reviews = recorded.reviews.get(key)
    due = placed.assumption.review_by or ""
    return AssumptionRow(
        key,
        placed,
        theory.describe(placed.on),
        plan.link(key),
        reviews[-1] if reviews else None,
        bool(due) and due < (plan.as_of or plan.today) and not _is_reviewed_since(reviews, due),
        plan.visit.query.get("review") == key,
    )


def _is_reviewed_since(reviews: Sequence[ReviewView] | None, day: str) -> bool:
    return bool(reviews) and any(review.at[: len(day)] >= day for review in reviews or ())


def _select(rows: Sequence[Any], page: int) -> Sequence[Any]:
    """Return the rows of a page. The selected row is always included."""
    shown = rows[(page - 1) * ROWS : page * ROWS]
    return [*(row for row in rows if row.is_selected and row not in shown), *shown]


def _read_page_number(text: str) -> int:
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 5 else 1


class DayValue(NamedTuple):
    """A value on a day."""

    day: str
    value: float


class Dot(NamedTuple):
    """A measurement as a point of the chart."""

    x: float
    y: float
    words: str


class LineChart(NamedTuple):
    """The shapes of a chart. The baseline and the target are None if the indicator has none."""

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
    """Return the chart of measurements, which are given oldest first; None if there are none."""
    if not points:
        return None
    ordered = _thin_out(sorted(points, key=lambda point: point.day))
    values = [point.value for point in ordered] + [level for level in (baseline, target) if level is not None]
    low, high = min(values), max(values)
    days = [date.fromisoformat(get_day(point.day)).toordinal() for point in ordered]

    def scale(value: float, least: float, most: float, size: int) -> float:
        inner = size - 2 * MARGIN
        # Halves first: the difference of two large numbers can be too large for a number.
        share = 0.5 if most == least else (value / 2 - least / 2) / (most / 2 - least / 2)
        return round(MARGIN + share * inner, 1)

    dots = [
        Dot(
            scale(day, days[0], days[-1], WIDTH),
            HEIGHT - scale(point.value, low, high, HEIGHT),
            f"{get_day(point.day)}: {format_number(point.value, unit)}",
        )
        for point, day in zip(ordered, days, strict=True)
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
    """Return a number as text for people, with its unit."""
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


VIEW = PlanView("measures", "Measures", "4", "plan_measures.html", read_measures, frozenset({"purpose.record"}))
