"""A work node as callers see it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.row import WorkNodeRow
from groundplan.work.links.shown_links import ShownLink
from groundplan.work.shown_fields import EVIDENCE_MAX, add_claim_properties, add_hold_property

EVIDENCE_SHOWN_MAX = 20  # the newest of one node in an answer with a cap; its history has all of them
TRIMMABLE_FIELDS = (
    "evidence",
    "context_links",
    "properties",
    "state",
)  # what a long answer drops from a node, in this order

sql = load_queries(__file__)


class Evidence(Struct):
    """A reference that shows what was done, or that helps the next reader."""

    type: str
    ref: str
    agent: str | UnsetType = UNSET
    timestamp: str | UnsetType = UNSET


class WorkNode(Struct, kw_only=True):
    """A node in full. A lean one omits empty and bookkeeping fields."""

    id: str
    rev: int | UnsetType = UNSET
    parent: str | UnsetType = UNSET
    summary: str
    resolved: bool
    state: Any = UNSET
    properties: dict[str, Any] | UnsetType = UNSET
    context_links: list[str] | UnsetType = UNSET
    serves: list[ShownLink] | UnsetType = UNSET  # this and the next three: only where a node is read by itself
    rests_on: list[ShownLink] | UnsetType = UNSET
    supports: list[ShownLink] | UnsetType = UNSET
    refutes: list[ShownLink] | UnsetType = UNSET
    evidence: list[Evidence] | UnsetType = UNSET
    evidence_total: int | UnsetType = UNSET  # set when there are more than are listed
    created_at: str | UnsetType = UNSET
    updated_at: str | UnsetType = UNSET
    created_by: str | UnsetType = UNSET


class NodeSummary(Struct):
    """The id and summary of a node."""

    id: str
    summary: str


class WorkCounts(Struct):
    """Numbers of nodes by state. `total` includes the root."""

    total: int
    resolved: int
    unresolved: int
    blocked: int
    actionable: int


class EvidenceRow(Struct):
    """One stored entry of evidence."""

    node_n: int
    k: int
    type: str
    ref: str
    agent: str
    at: str


def load_nodes(tx: Transaction, ns: Iterable[int], *, lean: bool, project_id: str | None = None) -> dict[int, WorkNode]:
    """Return nodes by number, from the current project or from one that is being created (`project_id`)."""
    numbers = to_json_array(ns)
    rows = tx.all(sql.nodes, WorkNodeRow, project_id=project_id or tx.project.id, ns=numbers)
    evidence = load_evidence(tx, numbers) if any(row.evidence_total for row in rows) else {}
    return {row.n: _to_node(row, evidence.get(row.n, []), now=tx.now, lean=lean) for row in rows}


def load_best(tx: Transaction, ns: Iterable[int], *, at_most: int) -> list[NodeSummary]:
    """Return the ids and summaries of some nodes, the best first."""
    return tx.all(sql.best_of_nodes, NodeSummary, project_id=tx.project.id, ns=to_json_array(ns), at_most=at_most)


def build_node(tx: Transaction, row: WorkNodeRow, *, lean: bool) -> WorkNode:
    """Return a node of the current project from its row."""
    evidence = load_evidence(tx, f"[{row.n}]").get(row.n, []) if row.evidence_total else []
    return _to_node(row, evidence, now=tx.now, lean=lean)


def _to_node(row: WorkNodeRow, evidence: list[Evidence], *, now: str, lean: bool) -> WorkNode:
    properties: dict[str, Any] = msgspec.json.decode(row.properties) if row.properties != "{}" else {}
    add_claim_properties(properties, row, now=now)
    add_hold_property(properties, row)
    links: list[str] = msgspec.json.decode(row.context_links) if row.context_links != "[]" else []
    node = WorkNode(id=row.id, summary=row.summary, resolved=row.resolved)
    if row.parent is not None:
        node.parent = row.parent
    if row.state is not None:
        node.state = msgspec.json.decode(row.state)
    if row.evidence_total > len(evidence):
        node.evidence_total = row.evidence_total
    node.evidence = format_evidence(evidence, lean=lean)
    if lean:
        node.properties = properties or UNSET
        node.context_links = links or UNSET
        return node
    node.rev, node.properties, node.context_links = row.rev, properties, links
    node.created_at, node.updated_at, node.created_by = row.created_at, row.updated_at, row.created_by
    return node


def format_evidence(evidence: list[Evidence], *, lean: bool) -> list[Evidence] | UnsetType:
    """Return evidence for an answer; lean omits agent and timestamp, and the whole list if it is empty."""
    if not lean:
        return evidence
    return [Evidence(entry.type, entry.ref) for entry in evidence] or UNSET


def load_evidence(tx: Transaction, numbers: str) -> dict[int, list[Evidence]]:
    """Return the newest evidence of the nodes in `numbers`, a JSON array, oldest first; all of it without a cap."""
    at_most = EVIDENCE_SHOWN_MAX if tx.budget.is_limited else EVIDENCE_MAX
    found: dict[int, list[Evidence]] = {}
    for row in tx.all(sql.newest_evidence, EvidenceRow, project_id=tx.project.id, ns=numbers, at_most=at_most):
        found.setdefault(row.node_n, []).append(Evidence(row.type, row.ref, row.agent, row.at))
    return found


def add_evidence(tx: Transaction, rows: Iterable[EvidenceRow]) -> None:
    """Append evidence to nodes."""
    tx.run_many(sql.add_evidence, [{"project_id": tx.project.id, **msgspec.structs.asdict(row)} for row in rows])
