"""Drop work: a node and everything open below it will not be done."""

from __future__ import annotations

from groundplan.kernel.audit import changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.claiming import check_free
from groundplan.work.events import Op
from groundplan.work.kinds import DROPPED
from groundplan.work.move import RootStays
from groundplan.work.readiness import Readiness
from groundplan.work.root import ROOT_N
from groundplan.work.row import NodeRow

sql = load_queries(__file__)


class AlreadyResolved(RuleViolated):
    """There is nothing left to drop."""

    code = "already_resolved"
    contract_code = "INVALID_OPERATION"

    def __init__(self, node: NodeRow) -> None:
        super().__init__(f"node {node.id} is resolved already; reopen it first if it shall be dropped", node_id=node.id)


def open_below(tx: Transaction, node: NodeRow) -> list[int]:
    """A node and everything open below it, which is what dropping it ends."""
    return [row[0] for row in tx.all(sql.open_below, project_id=tx.project.id, n=node.n)]


def drop(tx: Transaction, readiness: Readiness, node: NodeRow, reason: str, *, decision: str | None) -> str:
    """Resolve a node and everything open below it, each with the reason as its evidence; what was done, in words.

    Raises:
        RootStays: it is the root; a project is archived instead.
        AlreadyResolved: nothing of it is open.
        ClaimedByAnother: the project enforces claims and somebody else holds a part of it.
    """
    if node.n == ROOT_N:
        raise RootStays("dropped")
    if node.resolved:  # and so is everything below it
        raise AlreadyResolved(node)
    rows = tx.all(sql.open_below, project_id=tx.project.id, n=node.n)
    ns = [row[0] for row in rows]
    for _, node_id, _, claimed_by, claimed_until, _ in rows:
        check_free(tx, node_id, claimed_by, claimed_until)
    readiness.look_at(ns)
    tx.run(sql.resolve_nodes, project_id=tx.project.id, ns=listed(ns), outcome=DROPPED)
    evidence = {"project_id": tx.project.id, "type": DROPPED, "ref": reason, "agent": tx.actor.id, "at": tx.now}
    tx.many(sql.add_evidence, [{**evidence, "node_n": n, "k": k + 1} for n, *_, k in rows])
    changes = (
        changed("resolved", False, True),
        changed("outcome", None, DROPPED),
        changed("evidence", None, [{"type": DROPPED, "ref": reason}]),
    )
    for _, node_id, *_ in rows:
        tx.record(Op.DROPPED, node_id, *changes, decision=decision)
    readiness.closed({row[0]: row[2] for row in rows})
    return "dropped" if len(ns) == 1 else f"dropped with {len(ns) - 1} below"
