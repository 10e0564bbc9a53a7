"""Drop a node: resolve it and every open node below it as work that will not be done."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.audit import changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.claims import enforce_claims
from groundplan.work.engine.kinds import DROPPED
from groundplan.work.engine.move import RootNotAllowed
from groundplan.work.engine.node import EvidenceRow, add_evidence
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.root import ROOT_N
from groundplan.work.engine.row import WorkNodeRow
from groundplan.work.events import WorkOp

sql = load_queries(__file__)


class OpenNodeRow(Struct):
    """An open node with its parent, its claim and its amount of evidence."""

    n: int
    id: str
    parent_n: int | None
    claimed_by: str | None
    claimed_until: str | None
    evidence_total: int


class AlreadyResolved(RuleViolated):
    """A resolved node cannot be dropped."""

    code = "already_resolved"
    contract_code = "INVALID_OPERATION"

    def __init__(self, node: WorkNodeRow) -> None:
        super().__init__(f"node {node.id} is already resolved; reopen it before you drop it", node_id=node.id)


def find_open_subtree(tx: Transaction, node: WorkNodeRow) -> list[int]:
    """Return the numbers of a node and of every open node below it."""
    return [row.n for row in _load_open_rows(tx, node)]


def _load_open_rows(tx: Transaction, node: WorkNodeRow) -> list[OpenNodeRow]:
    return tx.all(sql.open_subtree, OpenNodeRow, project_id=tx.project.id, n=node.n)


def drop(tx: Transaction, readiness: Readiness, node: WorkNodeRow, reason: str, *, decision: str | None) -> str:
    """Resolve a node and every open node below it with the reason as evidence, and return the result in words.

    Raises:
        RootNotAllowed: the node is the root; archive the project instead.
        AlreadyResolved: the node is resolved.
        ClaimedByAnother: the project enforces claims and another actor has claimed one of the nodes.
    """
    if node.n == ROOT_N:
        raise RootNotAllowed("dropped")
    if node.resolved:  # and so is everything below it
        raise AlreadyResolved(node)
    rows = _load_open_rows(tx, node)
    ns = [row.n for row in rows]
    for row in rows:
        enforce_claims(tx, row.id, row.claimed_by, row.claimed_until)
    readiness.snapshot(ns)
    tx.run(sql.resolve_nodes, project_id=tx.project.id, ns=to_json_array(ns), outcome=DROPPED)
    add_evidence(tx, [EvidenceRow(row.n, row.evidence_total + 1, DROPPED, reason, tx.actor.id, tx.now) for row in rows])
    changes = (
        changed("resolved", False, True),
        changed("outcome", None, DROPPED),
        changed("evidence", None, [{"type": DROPPED, "ref": reason}]),
    )
    for row in rows:
        tx.record(WorkOp.DROPPED, row.id, *changes, decision=decision)
    readiness.propagate_resolved({row.n: row.parent_n for row in rows})
    return "dropped" if len(ns) == 1 else f"dropped with {len(ns) - 1} below"
