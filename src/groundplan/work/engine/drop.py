"""Drop work: a node and everything open below it will not be done."""

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
    """An open node, its parent, who holds it, and how much evidence it has."""

    n: int
    id: str
    parent_n: int | None
    claimed_by: str | None
    claimed_until: str | None
    evidence_total: int


class AlreadyResolved(RuleViolated):
    """There is nothing left to drop."""

    code = "already_resolved"
    contract_code = "INVALID_OPERATION"

    def __init__(self, node: WorkNodeRow) -> None:
        super().__init__(f"node {node.id} is resolved already; reopen it first if it shall be dropped", node_id=node.id)


def find_open_subtree(tx: Transaction, node: WorkNodeRow) -> list[int]:
    """A node and everything open below it, which is what dropping it ends."""
    return [row.n for row in _open_rows(tx, node)]


def _open_rows(tx: Transaction, node: WorkNodeRow) -> list[OpenNodeRow]:
    return tx.all(sql.open_subtree, OpenNodeRow, project_id=tx.project.id, n=node.n)


def drop(tx: Transaction, readiness: Readiness, node: WorkNodeRow, reason: str, *, decision: str | None) -> str:
    """Resolve a node and everything open below it, each with the reason as its evidence; what was done, in words.

    Raises:
        RootNotAllowed: it is the root; a project is archived instead.
        AlreadyResolved: nothing of it is open.
        ClaimedByAnother: the project enforces claims and somebody else holds a part of it.
    """
    if node.n == ROOT_N:
        raise RootNotAllowed("dropped")
    if node.resolved:  # and so is everything below it
        raise AlreadyResolved(node)
    rows = _open_rows(tx, node)
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
    readiness.closed({row.n: row.parent_n for row in rows})
    return "dropped" if len(ns) == 1 else f"dropped with {len(ns) - 1} below"
