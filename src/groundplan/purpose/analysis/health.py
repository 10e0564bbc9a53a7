"""Compute the health of a version from its content, observations and facts of other slices."""

from __future__ import annotations

from typing import NamedTuple

from groundplan import providers
from groundplan.kernel.links import LinkType, list_links_of_type
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.analysis.health_metrics import Bands, Health, classify_metrics, compute_health, compute_metrics
from groundplan.purpose.dates import to_last_instant
from groundplan.purpose.gates.run import read_context_facts
from groundplan.purpose.model import Content, NodeType
from groundplan.purpose.observing.observation_rows import Observations
from groundplan.purpose.versions.versions import VersionRow, find_latest_published


class HealthInputs(NamedTuple):
    """The inputs of health besides content and observations."""

    now: str
    required_facts_unset: int | None
    work: tuple[int, int] | None


def read_health(tx: Transaction, content: Content, observations: Observations, *, as_of: str | None) -> Health:
    """Return the health of some content, now or as of a day."""
    return compute_health(content, observations, **_read_health_inputs(tx, as_of)._asdict())


def read_bands(tx: Transaction, content: Content, observations: Observations, *, as_of: str | None) -> Bands:
    """Return only the bands, which need no graph search."""
    return classify_metrics(compute_metrics(content, observations, **_read_health_inputs(tx, as_of)._asdict()))


def _read_health_inputs(tx: Transaction, as_of: str | None) -> HealthInputs:
    if as_of is not None:
        return HealthInputs(to_last_instant(as_of), None, None)  # the facts of other slices on that day are not known
    context = read_context_facts(tx)
    unset = len(context.required_unset) if context and context.run else None
    return HealthInputs(tx.now, unset, _count_aligned_work(tx))


def _count_aligned_work(tx: Transaction) -> tuple[int, int] | None:
    """Return the number of open work nodes, and how many of them trace to a goal of the published version."""
    if not providers.count_aligned_work.is_connected:
        return None
    published = find_latest_published(tx)
    if published is None:
        return None
    has_links = bool(list_links_of_type(tx, LinkType.SERVES, at_most=1))
    found = providers.count_aligned_work(tx, _list_leading_to_goals(tx, published) if has_links else [])
    return found.open, found.aligned


def _list_leading_to_goals(tx: Transaction, row: VersionRow) -> list[str]:
    """Return the keys of the goals of a version and of all nodes that lead to one."""
    # Loaded only if some work serves a purpose node.
    from groundplan.purpose.content import read_content
    from groundplan.purpose.graph.causal_graph import build_causal_graph
    from groundplan.purpose.graph.indexed_graph import find_leading_to

    causal = build_causal_graph(read_content(tx, row.id))
    return causal.to_keys(sorted(find_leading_to(causal.graph, causal.list_numbers(NodeType.GOAL))))
