"""A work node as callers see it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.row import WorkNodeRow

EVIDENCE_SHOWN_MAX = 20  # of one node in one answer, the newest; history has them all
TRIMMABLE_FIELDS = (
    "evidence",
    "context_links",
    "properties",
    "state",
)  # what an answer gives up of a node, in this order

sql = load_queries(__file__)


class Evidence(Struct):
    """Something that shows what was done, or helps whoever comes next."""

    type: str
    ref: str
    agent: str | UnsetType = UNSET
    timestamp: str | UnsetType = UNSET


class WorkNode(Struct, kw_only=True):
    """All of a node. A lean one has no empty and no bookkeeping fields."""

    id: str
    rev: int | UnsetType = UNSET
    parent: str | UnsetType = UNSET
    summary: str
    resolved: bool
    state: Any = UNSET
    properties: dict[str, Any] | UnsetType = UNSET
    context_links: list[str] | UnsetType = UNSET
    evidence: list[Evidence] | UnsetType = UNSET
    evidence_total: int | UnsetType = UNSET  # when there are more than are shown
    created_at: str | UnsetType = UNSET
    updated_at: str | UnsetType = UNSET
    created_by: str | UnsetType = UNSET


class NodeSummary(Struct):
    """A node by name."""

    id: str
    summary: str


class WorkCounts(Struct):
    """How much there is to do. `total` counts the root."""

    total: int
    resolved: int
    unresolved: int
    blocked: int
    actionable: int


class EvidenceRow(Struct):
    """One piece of evidence, as it is stored."""

    node_n: int
    k: int
    type: str
    ref: str
    agent: str
    at: str


def load_nodes(tx: Transaction, ns: Iterable[int], *, lean: bool, project_id: str | None = None) -> dict[int, WorkNode]:
    """Nodes by their numbers, of the project entered, or of one that is just being made."""
    numbers = to_json_array(ns)
    rows = tx.all(sql.nodes, WorkNodeRow, project_id=project_id or tx.project.id, ns=numbers)
    evidence = evidence_of(tx, numbers) if any(row.evidence_total for row in rows) else {}
    return {row.n: _node(row, evidence.get(row.n, []), now=tx.now, lean=lean) for row in rows}


def build_node(tx: Transaction, row: WorkNodeRow, *, lean: bool) -> WorkNode:
    """A node of the project entered."""
    evidence = evidence_of(tx, f"[{row.n}]").get(row.n, []) if row.evidence_total else []
    return _node(row, evidence, now=tx.now, lean=lean)


def _node(row: WorkNodeRow, evidence: list[Evidence], *, now: str, lean: bool) -> WorkNode:
    properties: dict[str, Any] = msgspec.json.decode(row.properties) if row.properties != "{}" else {}
    add_claim_properties(properties, row, now=now)
    if row.held_reason is not None and not row.resolved:
        properties["_hold"] = row.held_reason
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
    """Evidence as it is shown; of a lean node without who and when, and not at all where there is none."""
    if not lean:
        return evidence
    return [Evidence(one.type, one.ref) for one in evidence] or UNSET


class ClaimFields(Protocol):
    """A row that says who has claimed its node."""

    @property
    def claimed_by(self) -> str | None: ...
    @property
    def claimed_at(self) -> str | None: ...
    @property
    def claimed_until(self) -> str | None: ...


def add_claim_properties(properties: dict[str, Any], row: ClaimFields, *, now: str) -> None:
    """Put a claim that still holds among the properties of its node."""
    if row.claimed_by is not None and (row.claimed_until is None or row.claimed_until > now):
        properties["_claimed_by"], properties["_claimed_at"] = row.claimed_by, row.claimed_at
        if row.claimed_until is None:
            properties["_held"] = True


def evidence_of(tx: Transaction, numbers: str) -> dict[int, list[Evidence]]:
    """The newest evidence of some nodes (a JSON array of their numbers), oldest first."""
    found: dict[int, list[Evidence]] = {}
    for row in tx.all(
        sql.newest_evidence, EvidenceRow, project_id=tx.project.id, ns=numbers, at_most=EVIDENCE_SHOWN_MAX
    ):
        found.setdefault(row.node_n, []).append(Evidence(row.type, row.ref, row.agent, row.at))
    return found


def add_evidence(tx: Transaction, rows: Iterable[EvidenceRow]) -> None:
    """Append evidence to nodes."""
    tx.many(sql.add_evidence, [{"project_id": tx.project.id, **msgspec.structs.asdict(row)} for row in rows])
