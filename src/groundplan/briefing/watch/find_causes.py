"""What makes marks: assumptions in doubt and changed facts.

An assumption is in doubt as `purpose/observing/records.py` says. A fact has changed if its value differs from the one
that was in force when a node was linked to it, or later, when a decision was recorded about the fact or about that
node. So a decision clears a mark, until something newer happens.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from groundplan.context.runs.changed_facts import ChangedFact, FactSince, find_changed_facts
from groundplan.kernel.links import Link, LinkType, list_links_from, list_links_of_type
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.observing.read import (
    NO_CUTOFF,
    list_assumptions_in_doubt,
    read_decisions,
    read_latest_reviews,
)
from groundplan.purpose.observing.records import DoubtStatus, Observations, find_doubts

NO_LIMIT = 2**53


class FactStatus(StrEnum):
    """What happened to a fact."""

    CHANGED = "changed"
    REMOVED = "removed"


class Cause(NamedTuple):
    """An assumption in doubt, or a changed fact with the links of the nodes that rest on its former value."""

    kind: Literal["assumption", "fact"]
    ref: str
    status: DoubtStatus | FactStatus
    rev: int
    at: str
    links: list[Link]
    before: dict[str, Any]  # the former values of the fact, by the node that rests on it

    @property
    def word(self) -> str:
        """The status in the words of a review: an assumption that evidence refutes is refuted."""
        return DoubtStatus.REFUTED if self.status is DoubtStatus.REFUTING_EVIDENCE else self.status


def find_causes(tx: Transaction, resting: Iterable[str] | None = None) -> list[Cause]:
    """Return what makes marks in the current project, the latest first; of facts, those that some nodes rest on."""
    reviewed = list_assumptions_in_doubt(tx)
    refutes = list_links_of_type(tx, LinkType.REFUTES, at_most=NO_LIMIT)
    if resting is None:
        rests_on = list_links_of_type(tx, LinkType.RESTS_ON, at_most=NO_LIMIT)
    else:
        rests_on = [link for link in list_links_from(tx, resting) if link.type is LinkType.RESTS_ON]
    if not reviewed and not refutes and not rests_on:
        return []
    reviews = read_latest_reviews(tx, sorted({*reviewed, *(link.target for link in refutes)}))
    observations = Observations([], list(reviews.values()), [], read_decisions(tx, NO_CUTOFF))
    causes = [*_find_doubtful(observations, refutes), *_find_changed(tx, observations, rests_on)]
    return sorted(causes, key=lambda one: (-one.rev, one.kind, one.ref))


def _find_doubtful(observations: Observations, refutes: Iterable[Link]) -> Iterable[Cause]:
    latest: dict[str, Link] = {}
    for link in refutes:
        if link.target not in latest or link.rev > latest[link.target].rev:
            latest[link.target] = link
    reviewed_at = {review.assumption: review.recorded_at for review in observations.reviews}
    for key, doubt in find_doubts(observations, {key: link.rev for key, link in latest.items()}).items():
        at = latest[key].created_at if doubt.status is DoubtStatus.REFUTING_EVIDENCE else reviewed_at[key]
        yield Cause("assumption", key, doubt.status, doubt.rev, at, [], {})


def _find_changed(tx: Transaction, observations: Observations, rests_on: list[Link]) -> Iterable[Cause]:
    decided = observations.get_decided_revs()
    facts = [
        FactSince(link.target, max(link.rev, decided.get(link.target, 0), decided.get(link.source, 0)))
        for link in rests_on
    ]
    changes = find_changed_facts(tx, set(facts))
    found: dict[str, list[tuple[ChangedFact, Link]]] = {}
    for fact, link in zip(facts, rests_on, strict=True):
        if fact in changes:
            found.setdefault(fact.pointer, []).append((changes[fact], link))
    for pointer, several in found.items():
        first = min((change for change, _ in several), key=lambda change: change.rev)
        status = FactStatus.REMOVED if first.is_removed else FactStatus.CHANGED
        before = {link.source: change.before for change, link in several}
        yield Cause("fact", pointer, status, first.rev, first.at, [link for _, link in several], before)
