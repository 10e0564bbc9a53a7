"""Observations by stable key, in recording order. They never change."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.purpose.dates import to_last_instant
from groundplan.purpose.model import AssumptionStatus


class Measurement(NamedTuple):
    """A measurement of an indicator."""

    rev: int
    n: int
    indicator: str
    value: float
    as_of: str
    source: str | None
    note: str | None
    recorded_at: str
    recorded_by: str


class Review(NamedTuple):
    """A review of an assumption."""

    rev: int
    n: int
    assumption: str
    status: AssumptionStatus
    reason: str
    evidence: str | None
    recorded_at: str
    recorded_by: str


class Waiver(NamedTuple):
    """An owner accepts a failing check until a day. Without refs it covers the check as a whole."""

    rev: int
    n: int
    code: str
    refs: list[str]
    reason: str
    owner: str
    due: str
    recorded_at: str
    recorded_by: str


class Decision(NamedTuple):
    """A decision, its rationale, and the keys it is about."""

    rev: int
    n: int
    text: str
    rationale: str
    about: list[str]
    outcome: str | None
    recorded_at: str
    recorded_by: str


class Observations(NamedTuple):
    """The observations up to some moment, each kind in recording order."""

    measurements: list[Measurement]
    reviews: list[Review]
    waivers: list[Waiver]
    decisions: list[Decision]

    def get_statuses(self) -> dict[str, AssumptionStatus]:
        """Return the status of each assumption by its latest review. A missing assumption is untested."""
        return {review.assumption: review.status for review in self.reviews}

    def get_latest_measurements(self) -> dict[str, Measurement]:
        """Return the newest measurement of each indicator. A day counts as its end; ties go to the last recorded."""
        found: dict[str, Measurement] = {}
        for one in self.measurements:
            before = found.get(one.indicator)
            if before is None or to_last_instant(one.as_of) >= to_last_instant(before.as_of):
                found[one.indicator] = one
        return found
