"""Drop a node: resolve it and every open node below it as work that will not be done."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from groundplan.kernel.audit import changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import Row, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.claims import enforce_claims
from groundplan.work.engine.move import RootNotAllowed
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.row import WorkNodeRow
from groundplan.work.events import WorkOp
from groundplan.work.kinds import DROPPED, ROOT_N

sql = load_queries(__file__)


class AlreadyResolved(RuleViolated):
    """A resolved node cannot be dropped."""

    code = "already_resolved"
    contract_code = "INVALID_OPERATION"

    def __init__(self, node: WorkNodeRow) -> None:
        super().__init__(f"node {node.id} is already resolved; reopen it before you drop it", node_id=node.id)


class ClaimRow(NamedTuple):
    """A live claim of another actor."""

    n: int
    id: str
    claimed_by: str
    claimed_until: str | None


def find_open_subtree(tx: Transaction, node: WorkNodeRow) -> list[int]:
    """Return the numbers of a node and of every open node below it."""
    return [n for n, _, _ in _load_open_rows(tx, node)]


def _load_open_rows(tx: Transaction, node: WorkNodeRow) -> list[Row]:
    """Return the number, id and parent of a node and of every open node below it."""
    return tx.all(sql.open_subtree, project_id=tx.project.id, n=node.n)


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
    parents = {n: parent_n for n, _, parent_n in rows}
    _end_claims(tx, readiness, parents)
    place = {"project_id": tx.project.id, "ns": to_json_array(parents)}
    readiness.snapshot(parents)
    tx.run(sql.resolve_nodes, **place, outcome=DROPPED)
    tx.run(sql.add_evidence_to_all, **place, type=DROPPED, ref=reason)
    changes = (
        changed("resolved", False, True),
        changed("outcome", None, DROPPED),
        changed("evidence", None, [{"type": DROPPED, "ref": reason}]),
    )
    # In the order of the index by subject: in any other one, most events are put on a page that is not in memory.
    below = sorted(node_id for n, node_id, _ in rows if n != node.n)
    tx.record_each(WorkOp.DROPPED, [node.id, *below], *changes, decision=decision)
    readiness.propagate_resolved(parents)
    return "dropped" if len(rows) == 1 else f"dropped with {len(rows) - 1} below"


def _end_claims(tx: Transaction, readiness: Readiness, ns: Container[int]) -> None:
    """Note whose claims end with these nodes, or raise ClaimedByAnother when the project enforces claims."""
    # All live claims of others are fewer than the nodes of a large drop, and an index has them.
    for claim in sorted(tx.all(sql.live_claims_of_others, ClaimRow, project_id=tx.project.id)):
        if claim.n in ns:
            enforce_claims(tx, claim.id, claim.claimed_by, claim.claimed_until)
            readiness.ended_claims[claim.id] = claim.claimed_by
