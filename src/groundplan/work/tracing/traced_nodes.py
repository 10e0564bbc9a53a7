"""Work nodes on the line to the purpose, and the counts of their subtrees."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.kinds import is_claim_live

sql = load_queries(__file__)


class TracedNode(NamedTuple):
    """A work node and its state."""

    n: int
    id: str
    summary: str
    kind: str | None
    resolved: bool
    outcome: str | None
    claimed_by: str | None
    claimed_until: str | None
    parent_n: int | None

    def get_holder(self, *, now: str) -> str | None:
        """Return who holds a live claim on it."""
        return self.claimed_by if is_claim_live(self.claimed_by, self.claimed_until, now=now) else None


class SubtreeCounts(NamedTuple):
    """The nodes of a subtree, with its root, by state. Dropped nodes are not among the resolved."""

    start_n: int
    total: int
    resolved: int
    dropped: int
    claimed: int


class TracedEvidence(NamedTuple):
    """Evidence in the subtree of a node, the node that has it, and the number of all entries in the subtree."""

    start_n: int
    id: str
    type: str
    ref: str
    total: int


def load_traced_nodes(tx: Transaction, ns: Iterable[int]) -> dict[int, TracedNode]:
    """Return nodes by number, in order of creation."""
    rows = tx.all(sql.traced_nodes, TracedNode, project_id=tx.project.id, ns=to_json_array(ns))
    return {row.n: row for row in rows}


def load_path_to_root(tx: Transaction, n: int) -> list[TracedNode]:
    """Return a node and its ancestors, the nearest first."""
    return tx.all(sql.path_to_root, TracedNode, project_id=tx.project.id, n=n)


def load_first_children(tx: Transaction, n: int, *, at_most: int) -> tuple[list[TracedNode], int]:
    """Return the first children of a node, and the number of the others."""
    rows = tx.all(sql.traced_children, TracedNode, project_id=tx.project.id, n=n, at_most=at_most)
    if len(rows) < at_most:
        return rows, 0
    return rows, tx.scalar(sql.count_children, project_id=tx.project.id, n=n) - len(rows)


def count_subtrees(tx: Transaction, starts: Collection[int], stops: Collection[int] = ()) -> dict[int, SubtreeCounts]:
    """Return the counts of the subtrees of some nodes, without the subtrees of `stops` inside them."""
    if not starts:
        return {}
    rows = tx.all(
        sql.subtree_counts,
        SubtreeCounts,
        project_id=tx.project.id,
        starts=to_json_array(starts),
        stops=to_json_array(stops),
    )
    return {row.start_n: row for row in rows}


def load_evidence_below(
    tx: Transaction, starts: Collection[int], stops: Collection[int] = (), *, of_each: int
) -> dict[int, list[TracedEvidence]]:
    """Return the newest evidence in the subtrees of some nodes, oldest first, without the subtrees of `stops`."""
    if not starts:
        return {}
    rows = tx.all(
        sql.evidence_below,
        TracedEvidence,
        project_id=tx.project.id,
        starts=to_json_array(starts),
        stops=to_json_array(stops),
        of_each=of_each,
    )
    return _group_evidence(rows)


def load_evidence_of_nodes(
    tx: Transaction, starts: Collection[int], *, of_each: int
) -> dict[int, list[TracedEvidence]]:
    """Return the newest evidence of some nodes themselves, oldest first."""
    parameters = {"project_id": tx.project.id, "starts": to_json_array(starts), "of_each": of_each}
    return _group_evidence(tx.all(sql.evidence_of_nodes, TracedEvidence, **parameters)) if starts else {}


def _group_evidence(rows: Iterable[TracedEvidence]) -> dict[int, list[TracedEvidence]]:
    found: dict[int, list[TracedEvidence]] = {}
    for row in rows:
        found.setdefault(row.start_n, []).append(row)
    return found


def find_dropped(tx: Transaction, ns: Collection[int]) -> set[int]:
    """Return those of some nodes that were dropped."""
    return set(tx.scalars(sql.dropped_among, project_id=tx.project.id, ns=to_json_array(ns))) if ns else set()
