"""How healthy a version is, from its content, what was observed and what other slices say."""

from __future__ import annotations

from typing import NamedTuple

from groundplan import questions
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.analysis.health_metrics import Bands, Health, bands_of, health_of, metrics_of
from groundplan.purpose.dates import until
from groundplan.purpose.model import Content, NodeType
from groundplan.purpose.observing.observed import Observations
from groundplan.purpose.outside import context_facts
from groundplan.purpose.version import latest_published


class Told(NamedTuple):
    """What health is told beside content and observations."""

    now: str
    required_facts_unset: int | None
    work: tuple[int, int] | None


def health_at(tx: Transaction, content: Content, observed: Observations, *, as_of: str | None) -> Health:
    """The health of some content now, or as of a day."""
    return health_of(content, observed, **_told(tx, as_of)._asdict())


def bands_at(tx: Transaction, content: Content, observed: Observations, *, as_of: str | None) -> Bands:
    """The bands alone, which need no walk through the theory."""
    return bands_of(metrics_of(content, observed, **_told(tx, as_of)._asdict()))


def _told(tx: Transaction, as_of: str | None) -> Told:
    if as_of is not None:
        return Told(until(as_of), None, None)  # what other slices said on that day, nobody can tell
    context = context_facts(tx)
    unset = len(context.required_unset) if context and context.run else None
    return Told(tx.now, unset, _work(tx))


def _work(tx: Transaction) -> tuple[int, int] | None:
    """How much open work there is, and how much of it traces to a goal of the published version."""
    if not questions.work_aligned.can_be_answered:
        return None
    published = latest_published(tx)
    if published is None:
        return None
    from groundplan.purpose.content import read_content  # only where there is somebody to ask

    goals = [node.key for node in read_content(tx, published.id).of_type(NodeType.GOAL)]
    found = questions.work_aligned(tx, goals)
    return found.open, found.aligned
