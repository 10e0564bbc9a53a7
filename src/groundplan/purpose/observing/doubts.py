"""Which assumptions are in doubt, and since when. Computed from reviews, the evidence of work, and decisions.

An assumption is in doubt if its latest review says that it is at risk or refuted, or if newer evidence of work refutes
it. A decision about it that is not older settles the doubt, until something newer happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from groundplan.purpose.model import AssumptionStatus
from groundplan.purpose.observing.observation_rows import Observations


class DoubtStatus(StrEnum):
    """What makes an assumption doubtful, the most serious first."""

    REFUTED = "refuted"  # its latest review
    REFUTING_EVIDENCE = "refuting_evidence"  # evidence of work
    AT_RISK = "at_risk"  # its latest review


class Doubt(NamedTuple):
    """The most serious reason to doubt an assumption, and the revision in which it was recorded."""

    status: DoubtStatus
    rev: int


_BY_REVIEW = {
    AssumptionStatus.REFUTED: DoubtStatus.REFUTED,
    AssumptionStatus.AT_RISK: DoubtStatus.AT_RISK,
}
_SERIOUSNESS = list(DoubtStatus)


def find_doubts(observations: Observations, refuting: Mapping[str, int]) -> dict[str, Doubt]:
    """Return the unsettled doubts by assumption; `refuting` has the revision of the latest evidence against each."""
    reviews = {review.assumption: review for review in observations.reviews}
    decided = observations.get_decided_revs()
    doubts: dict[str, list[Doubt]] = {}
    for key, review in reviews.items():
        if review.status in _BY_REVIEW:
            doubts.setdefault(key, []).append(Doubt(_BY_REVIEW[review.status], review.rev))
    for key, rev in refuting.items():
        if key not in reviews or rev > reviews[key].rev:
            doubts.setdefault(key, []).append(Doubt(DoubtStatus.REFUTING_EVIDENCE, rev))
    unsettled = {key: [one for one in several if one.rev > decided.get(key, -1)] for key, several in doubts.items()}
    return {
        key: min(several, key=lambda one: _SERIOUSNESS.index(one.status))
        for key, several in unsettled.items()
        if several
    }
