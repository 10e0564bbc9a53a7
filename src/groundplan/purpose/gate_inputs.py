"""The inputs of a gate besides the content: observations, facts from other slices and the database, and the day.

For a published version they are those at its publication: the observations recorded before it, and the outside facts
stored with it. So its gates always give the same result. With `as_of` the observations are those known on that day.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from groundplan import providers
from groundplan.kernel.input_gate.types import get_decoder
from groundplan.kernel.links import LinkType, list_links_to
from groundplan.kernel.store.live_catalog import check_row_security
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.dates import get_day
from groundplan.purpose.gates.result import ContextFacts, ExternalFacts
from groundplan.purpose.model import Content, NodeType
from groundplan.purpose.observing.observation_rows import Observations
from groundplan.purpose.observing.read_observations import Cutoff, read_version_observations
from groundplan.purpose.tables import TABLES
from groundplan.purpose.version import VersionRow

sql = load_queries(__file__)


class GateInputs(NamedTuple):
    """The inputs of a gate besides the content."""

    observations: Observations
    external_facts: ExternalFacts
    today: str


def read_gate_inputs(tx: Transaction, row: VersionRow, content: Content, *, as_of: str | None = None) -> GateInputs:
    """Return the gate inputs of a version: current for a draft, those at publication otherwise, or as of a day."""
    if row.published_at is None:
        observed = read_version_observations(tx, content, Cutoff(as_of=as_of))
        # The outside facts of another day are not known.
        outside = (
            read_external_facts(tx, content) if as_of is None else ExternalFacts(row_security=_check_row_security(tx))
        )
        return GateInputs(observed, outside, get_day(as_of or tx.now))
    outside = get_decoder(ExternalFacts).decode(tx.scalar(sql.published_external_facts, version_id=row.id))
    known = Cutoff(before_rev=row.published_rev) if as_of is None else Cutoff(as_of=as_of)
    return GateInputs(read_version_observations(tx, content, known), outside, get_day(as_of or row.published_at))


def read_external_facts(tx: Transaction, content: Content) -> ExternalFacts:
    """Return the current facts from other slices and the database."""
    return ExternalFacts(
        read_context_facts(tx),
        _count_serving_work(tx, content),
        _check_row_security(tx),
        find_refuting_evidence(tx, content.assumptions) or None,
    )


def read_context_facts(tx: Transaction) -> ContextFacts | None:
    """Return the facts in force, or None if the context slice is not connected."""
    if not providers.context_in_force.is_connected:
        return None
    found = providers.context_in_force(tx, None)
    return ContextFacts() if found is None else ContextFacts(found.run_id, found.is_partial, found.required_unset)


def find_refuting_evidence(tx: Transaction, assumptions: Collection[str]) -> dict[str, int]:
    """Return the revision of the latest evidence of work that refutes each assumption, by its key."""
    if not assumptions:
        return {}
    found: dict[str, int] = {}
    for link in list_links_to(tx, LinkType.REFUTES, assumptions):
        found[link.target] = max(link.rev, found.get(link.target, 0))
    return found


def _check_row_security(tx: Transaction) -> list[str] | None:
    return check_row_security(tx, [table.name for table in TABLES])


def _count_serving_work(tx: Transaction, content: Content) -> dict[str, int] | None:
    """Return the number of work nodes that serve each activity, or None if the work slice is not connected."""
    if not providers.find_work_serving.is_connected:
        return None
    keys = [node.key for node in content.list_nodes_of_type(NodeType.ACTIVITY)]
    serving = providers.find_work_serving(tx, keys)
    return {key: len(serving.get(key, ())) for key in keys}
