"""Move a node and everything below it under another parent."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.kernel.audit import changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.cycles import CycleDetected, Loop, is_ancestor
from groundplan.work.engine.kinds import blocks_descendants, get_feature_of_children
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.root import ROOT_N
from groundplan.work.engine.row import WorkNodeRow, fetch_node
from groundplan.work.events import WorkOp

sql = load_queries(__file__)


class RootNotAllowed(RuleViolated):
    """The root is the project itself and cannot be moved, merged or dropped."""

    code = "root_stays"
    contract_code = "INVALID_OPERATION"

    def __init__(self, verb: str) -> None:
        super().__init__(f"the root of a project cannot be {verb}; name a node below it")


def move(tx: Transaction, readiness: Readiness, node: WorkNodeRow, parent: WorkNodeRow, *, decision: str | None) -> str:
    """Move a node under another parent and return the result in words.

    Raises:
        RootNotAllowed: the node is the root.
        CycleDetected: the new parent is below the node, or a node would wait for itself.
    """
    if node.n == ROOT_N:
        raise RootNotAllowed("moved")
    if parent.depth >= node.depth and is_ancestor(tx, node.n, depth=node.depth, descendant=parent.n):
        raise CycleDetected(Loop([node.id, parent.id, node.id]), hint=f"; {parent.id} is below {node.id}")
    if node.parent_n == parent.n:
        return f"already under {parent.id}"
    assert node.parent_n is not None  # noqa: S101 - only the root has none
    before = fetch_node(tx, node.parent_n)
    below = tx.scalars(sql.descendants, project_id=tx.project.id, n=node.n)
    reparent(tx, readiness, [node.n], below, before, parent)
    tx.record(WorkOp.MOVED, node.id, changed("parent", before.id, parent.id), decision=decision)
    return f"moved under {parent.id}"


def reparent(
    tx: Transaction,
    readiness: Readiness,
    ns: Sequence[int],
    descendants: Sequence[int],
    before: WorkNodeRow,
    after: WorkNodeRow,
) -> None:
    """Move nodes and their `descendants` under another parent, and update depth, feature and readiness."""
    project_id = tx.project.id
    readiness.check_for_loops(ns)
    readiness.snapshot([*ns, before.n, after.n])
    open_count = len(tx.all(sql.open_nodes_among, project_id=project_id, ns=to_json_array(ns)))
    if open_count:
        readiness.remove_open_children(before.n, open_count)
    tx.run(sql.set_parent, project_id=project_id, ns=to_json_array(ns), parent_n=after.n)
    moved = [*ns, *descendants]
    depth_change = after.depth - before.depth
    if depth_change:
        tx.run(sql.shift_depth, project_id=project_id, ns=to_json_array(moved), by=depth_change)
    left, entered = get_feature_of_children(before), get_feature_of_children(after)
    if left != entered:
        readiness.snapshot(moved)  # each node moves to the counts of another feature
        tx.run(sql.set_feature, project_id=project_id, ns=to_json_array(moved), before=left, after=entered)
        readiness.check_for_loops(() if entered is None else (entered,))  # what it waits for now blocks the moved nodes
    readiness.adjust_blocked_above(
        moved, by=count_blockers_for_children(tx, after) - count_blockers_for_children(tx, before)
    )
    if open_count:
        readiness.add_open_children({after.n: open_count})
    if left != entered and tx.one_or_none(sql.has_started_node, project_id=project_id, ns=to_json_array(moved)):
        readiness.start_feature(entered)


def count_blockers_for_children(tx: Transaction, node: WorkNodeRow) -> int:
    """Return how many nodes, this one included, block the children of a node."""
    return node.blocked_above + (node.waits and blocks_descendants(tx, node.kind))
