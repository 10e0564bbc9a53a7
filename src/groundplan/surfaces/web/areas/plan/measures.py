"""Measures: the indicators with their numbers over time, the assumptions with their reviews, and open questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from groundplan.briefing.inbox.item import InboxKind
from groundplan.purpose.model import AssumptionStatus, IndicatorDirection
from groundplan.purpose.observing.read import MeasurementView, ReviewView
from groundplan.purpose.open import IndicatorView
from groundplan.surfaces.web.areas.inbox import InboxEntry, build_entry
from groundplan.surfaces.web.areas.plan.line_chart import LineChart, Measured, build_chart, format_number
from groundplan.surfaces.web.areas.plan.theory import PlacedAssumption, TheoryItems
from groundplan.surfaces.web.areas.plan.view import PlanView, PlanVisit
from groundplan.surfaces.web.areas.work import host_of

ROWS = 60  # indicators on one page, and assumptions
SHOWN_MAX = 50  # measurements in the table of one indicator, the latest first
STATUSES = [one.value for one in AssumptionStatus if one is not AssumptionStatus.UNTESTED]


class IndicatorCard(NamedTuple):
    """An indicator with its measurements, the latest first."""

    one: IndicatorView
    of: str  # the title of what it measures
    link: str
    chart: LineChart | None
    measurements: Sequence[MeasurementView]
    progress: str  # from the baseline to the target, in words
    is_selected: bool


class ReviewedAssumption(NamedTuple):
    """An assumption with its latest review."""

    key: str
    placed: PlacedAssumption
    on: str  # the title of what it is about
    link: str
    review: ReviewView | None
    is_due: bool
    is_selected: bool


class Recorded(NamedTuple):
    """What was recorded, by the key that it is about, oldest first."""

    measurements: Mapping[str, list[MeasurementView]]
    reviews: Mapping[str, list[ReviewView]]


def read_measures(plan: PlanVisit, theory: TheoryItems) -> Mapping[str, Any]:
    """Return the indicators and assumptions of the version, with what was recorded about them."""
    recorded = read_recorded(plan)
    cards = [_make_card(plan, theory, one, recorded) for one in theory.indicators.values()]
    rows = [_make_row(plan, theory, key, recorded) for key in theory.assumptions]
    rows.sort(key=lambda row: (not row.is_due, row.placed.one.review_by or "9999"))
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


def read_recorded(plan: PlanVisit) -> Recorded:
    """Return everything that was measured and reviewed, up to the day that the page shows."""
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
            return Recorded(measurements, reviews)
        asked["cursor"] = page.next_cursor


def draw_indicator(one: IndicatorView, measurements: Sequence[MeasurementView]) -> LineChart | None:
    """Return the chart of an indicator; None without measurements."""
    points = [Measured(measured.as_of, measured.value) for measured in measurements]
    return build_chart(points, baseline=one.baseline, target=one.target, unit=one.unit or "")


def list_questions(plan: PlanVisit) -> list[InboxEntry]:
    """Return the questions that wait for a decision, each with the form that answers it."""
    items = plan.visit.waiting.items
    return [build_entry(plan.visit, item) for item in items if item.kind is InboxKind.REQUEST]


def _make_card(plan: PlanVisit, theory: TheoryItems, one: IndicatorView, recorded: Recorded) -> IndicatorCard:
    found = sorted(recorded.measurements.get(one.key, ()), key=lambda measured: measured.as_of)
    return IndicatorCard(
        one,
        theory.describe(one.node),
        plan.link(one.key),
        draw_indicator(one, found),
        found[::-1][:SHOWN_MAX],
        _describe_progress(one, found[-1].value if found else None),
        plan.visit.query.get("record") == one.key,
    )


def _describe_progress(one: IndicatorView, latest: float | None) -> str:
    """Return how far an indicator is on its way, in words; nothing if that cannot be said."""
    if latest is None or one.target is None:
        return ""
    is_falling = one.direction is IndicatorDirection.DECREASE
    if (latest <= one.target) if is_falling else (latest >= one.target):
        return "target reached"
    if one.baseline is None or one.baseline == one.target:
        return ""
    share = (latest - one.baseline) / (one.target - one.baseline)
    return (
        "no progress yet" if share <= 0 else f"{min(share, 0.999):.0%} of the way" if share >= 0.005 else "just begun"
    )


def _make_row(plan: PlanVisit, theory: TheoryItems, key: str, recorded: Recorded) -> ReviewedAssumption:
    placed = theory.assumptions[key]
    reviews = recorded.reviews.get(key)
    due = placed.one.review_by or ""
    return ReviewedAssumption(
        key,
        placed,
        theory.describe(placed.on),
        plan.link(key),
        reviews[-1] if reviews else None,
        bool(due) and due < (plan.as_of or plan.today) and not _is_reviewed_since(reviews, due),
        plan.visit.query.get("review") == key,
    )


def _is_reviewed_since(reviews: Sequence[ReviewView] | None, day: str) -> bool:
    return bool(reviews) and any(one.at[: len(day)] >= day for one in reviews or ())


def _select(rows: Sequence[Any], page: int) -> Sequence[Any]:
    """Return the rows of a page; a selected row is always among them."""
    shown = rows[(page - 1) * ROWS : page * ROWS]
    return [*(row for row in rows if row.is_selected and row not in shown), *shown]


def _read_page_number(text: str) -> int:
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 5 else 1


VIEW = PlanView("measures", "Measures", "4", "plan_measures.html", read_measures, frozenset({"purpose.record"}))
