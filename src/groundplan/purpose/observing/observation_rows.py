"""What was observed beside the versions: by stable keys, in the order in which it was recorded, never changed."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.purpose.dates import to_last_instant
from groundplan.purpose.model import AssumptionStatus


class Measurement(NamedTuple):
    """What an indicator showed."""

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
    """What somebody found about an assumption."""

    rev: int
    n: int
    assumption: str
    status: AssumptionStatus
    reason: str
    evidence: str | None
    recorded_at: str
    recorded_by: str


class Waiver(NamedTuple):
    """Somebody answers for a check that fails, until a day. Without refs it is for the check as a whole."""

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
    """What was decided, why, and about what."""

    rev: int
    n: int
    text: str
    rationale: str
    about: list[str]
    outcome: str | None
    recorded_at: str
    recorded_by: str


class Observations(NamedTuple):
    """Everything observed up to some moment, each sort in the order of recording."""

    measurements: list[Measurement]
    reviews: list[Review]
    waivers: list[Waiver]
    decisions: list[Decision]

    def statuses(self) -> dict[str, AssumptionStatus]:
        """What the latest review of each assumption found; an assumption that is not here is untested."""
        return {review.assumption: review.status for review in self.reviews}

    def latest(self) -> dict[str, Measurement]:
        """The newest measurement of each indicator. A day counts as its end; of one moment the last one recorded."""
        found: dict[str, Measurement] = {}
        for one in self.measurements:
            before = found.get(one.indicator)
            if before is None or to_last_instant(one.as_of) >= to_last_instant(before.as_of):
                found[one.indicator] = one
        return found
