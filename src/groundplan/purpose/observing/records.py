"""Observations by stable key, in the order of recording, and the doubts about assumptions that follow from them.

Observations never change. An assumption is in doubt if its latest review says that it is at risk or refuted, or if
newer evidence of work refutes it. A decision about it that is not older settles the doubt, until something newer
happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
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
    """The acceptance of a failing check until a day, by an owner. Without refs it covers the check as a whole."""

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
    """A decision, its rationale, and its subjects: keys, edges, pointers of facts, and ids of work nodes."""

    rev: int
    n: int
    text: str
    rationale: str
    about: list[str]
    outcome: str | None
    supersedes_rev: int | None
    supersedes_n: int | None
    answers_rev: int | None
    answers_n: int | None
    recorded_at: str
    recorded_by: str
    superseded_by: str | None = None  # the id of the decision that replaced it

    @property
    def id(self) -> str:
        """The id of the decision."""
        return format_record_id(self.rev, self.n)


class DecisionRequest(NamedTuple):
    """A question that waits for a decision."""

    rev: int
    n: int
    question: str
    about: list[str]
    asked_of: str | None
    recorded_at: str
    recorded_by: str
    answered_by: str | None = None  # the id of the decision that answered it

    @property
    def id(self) -> str:
        """The id of the request."""
        return format_record_id(self.rev, self.n)


def format_record_id(rev: int, n: int) -> str:
    """Return the id of a decision or a request, which is `rev.n` of its record."""
    return f"{rev}.{n}"


class Observations(NamedTuple):
    """The observations up to some moment. Each kind is in the order of recording."""

    measurements: list[Measurement]
    reviews: list[Review]
    waivers: list[Waiver]
    decisions: list[Decision]

    def get_statuses(self) -> dict[str, AssumptionStatus]:
        """Return the status of each assumption from its latest review. An assumption without a review is left out."""
        return {review.assumption: review.status for review in self.reviews}

    def get_decided_revs(self) -> dict[str, int]:
        """Return the revision of the latest decision about each subject. Superseded decisions are ignored."""
        return {
            ref: decision.rev for decision in self.decisions if decision.superseded_by is None for ref in decision.about
        }

    def get_latest_measurements(self) -> dict[str, Measurement]:
        """Return the newest measurement of each indicator. A day means its end; of equal times the last one counts."""
        latest: dict[str, Measurement] = {}
        for measurement in self.measurements:
            before = latest.get(measurement.indicator)
            if before is None or to_last_instant(measurement.as_of) >= to_last_instant(before.as_of):
                latest[measurement.indicator] = measurement
        return latest


class DoubtStatus(StrEnum):
    """The reason of a doubt about an assumption, the most serious first."""

    REFUTED = "refuted"  # its latest review
    REFUTING_EVIDENCE = "refuting_evidence"  # evidence of work
    AT_RISK = "at_risk"  # its latest review


class Doubt(NamedTuple):
    """The most serious reason to doubt an assumption, and the revision of its record."""

    status: DoubtStatus
    rev: int


_BY_REVIEW = {
    AssumptionStatus.REFUTED: DoubtStatus.REFUTED,
    AssumptionStatus.AT_RISK: DoubtStatus.AT_RISK,
}
_SERIOUSNESS = list(DoubtStatus)


def find_doubts(observations: Observations, refuting: Mapping[str, int]) -> dict[str, Doubt]:
    """Return the unsettled doubts by assumption. `refuting` has the revision of the latest evidence against each."""
    reviews = {review.assumption: review for review in observations.reviews}
    decided = observations.get_decided_revs()
    doubts: dict[str, list[Doubt]] = {}
    for key, review in reviews.items():
        if review.status in _BY_REVIEW:
            doubts.setdefault(key, []).append(Doubt(_BY_REVIEW[review.status], review.rev))
    for key, rev in refuting.items():
        if key not in reviews or rev > reviews[key].rev:
            doubts.setdefault(key, []).append(Doubt(DoubtStatus.REFUTING_EVIDENCE, rev))
    unsettled = {
        key: [doubt for doubt in key_doubts if doubt.rev > decided.get(key, -1)] for key, key_doubts in doubts.items()
    }
    return {
        key: min(key_doubts, key=lambda doubt: _SERIOUSNESS.index(doubt.status))
        for key, key_doubts in unsettled.items()
        if key_doubts
    }
