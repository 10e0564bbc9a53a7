"""Move a node, with everything below it, under another parent."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.kernel.audit import changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.cycles import (
    CycleDetected,
    depends_on_ancestor,
    ids,
    is_ancestor,
    loop_through,
    waits_through_tree,
)
from groundplan.work.engine.kinds import feature_below, passes_on
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.root import ROOT_N
from groundplan.work.engine.row import NodeRow, fetch
from groundplan.work.events import Op

sql = load_queries(__file__)


class RootStays(RuleViolated):
    """The root is the project itself."""

    code = "root_stays"
    contract_code = "INVALID_OPERATION"

    def __init__(self, verb: str) -> None:
        super().__init__(f"the root of a project cannot be {verb}; name a node below it")


def move(tx: Transaction, readiness: Readiness, node: NodeRow, parent: NodeRow, *, decision: str | None) -> str:
    """Give a node another parent; what was done, in words.

    Raises:
        RootStays: it is the root.
        CycleDetected: the new parent lies below the node, or something below would wait for itself.
    """
    if node.n == ROOT_N:
        raise RootStays("moved")
    if parent.depth >= node.depth and is_ancestor(tx, node.n, depth=node.depth, of=parent.n):
        raise CycleDetected([node.id, parent.id, node.id], hint=f"; {parent.id} lies below {node.id}")
    if node.parent_n == parent.n:
        return f"already under {parent.id}"
    assert node.parent_n is not None  # noqa: S101 - only the root has none
    before = fetch(tx, node.parent_n)
    refuse_waiting_for_above(tx, node.n, parent)
    below = tx.scalars(sql.below, project_id=tx.project.id, n=node.n)
    reparent(tx, readiness, [node.n], below, before, parent)
    tx.record(Op.MOVED, node.id, changed("parent", before.id, parent.id), decision=decision)
    if waits_through_tree(tx) and (looped := loop_through(tx, [node.n, parent.n])):
        raise CycleDetected(looped)
    return f"moved under {parent.id}"


def refuse_waiting_for_above(tx: Transaction, n: int, parent: NodeRow) -> None:
    """Raises CycleDetected when a node or something below it depends on the parent it shall get, or on one above."""
    found = tx.one_or_none(sql.waits_for_above, project_id=tx.project.id, n=n, parent_n=parent.n)
    if found is not None:
        raise depends_on_ancestor(*ids(tx, found))


def reparent(
    tx: Transaction, readiness: Readiness, ns: Sequence[int], below: Sequence[int], before: NodeRow, after: NodeRow
) -> None:
    """Hang nodes with all that is below them under another parent; depth and readiness of everything follow."""
    project_id = tx.project.id
    readiness.look_at([*ns, before.n, after.n])
    opened = len(tx.all(sql.open_among, project_id=project_id, ns=listed(ns)))
    if opened:
        readiness.children_lost(before.n, opened)
    tx.run(sql.set_parent, project_id=project_id, ns=listed(ns), parent_n=after.n)
    moved = [*ns, *below]
    deeper = after.depth - before.depth
    if deeper:
        tx.run(sql.deepen, project_id=project_id, ns=listed(moved), by=deeper)
    left, entered = feature_below(before), feature_below(after)
    if left != entered:
        readiness.look_at(moved)  # each of them is counted elsewhere from now on
        tx.run(sql.set_feature, project_id=project_id, ns=listed(moved), before=left, after=entered)
    readiness.hold_back(moved, by=held_below(tx, after) - held_below(tx, before))
    if opened:
        readiness.children_added({after.n: opened})
    if left != entered and tx.one_or_none(sql.begun_among, project_id=project_id, ns=listed(moved)):
        readiness.begun(entered)


def held_below(tx: Transaction, node: NodeRow) -> int:
    """By how many nodes, this one included, the children of a node are held back."""
    return node.blocked_above + (node.waits and passes_on(tx, node.kind))
