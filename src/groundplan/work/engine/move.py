"""Move a node and everything below it under another parent."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.kernel.audit import changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.cycles import CycleDetected, Loop
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.row import WorkNodeRow, fetch_node
from groundplan.work.events import WorkOp
from groundplan.work.kinds import FEATURE, ROOT_N

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
    if readiness.positions.is_above(node, parent):
        raise CycleDetected(Loop([node.id, parent.id, node.id]), hint=f"; {parent.id} is below {node.id}")
    if node.parent_n == parent.n:
        return f"already under {parent.id}"
    assert node.parent_n is not None  # noqa: S101 - only the root has none
    before = fetch_node(tx, node.parent_n)
    reparent(tx, readiness, [node.n], before, parent)
    tx.record(WorkOp.MOVED, node.id, changed("parent", before.id, parent.id), decision=decision)
    return f"moved under {parent.id}"


def reparent(tx: Transaction, readiness: Readiness, ns: Sequence[int], before: WorkNodeRow, after: WorkNodeRow) -> None:
    """Move children of a node, with everything below them, under another parent."""
    project_id = tx.project.id
    left, entered = (_find_feature_of_children(readiness, parent) for parent in (before, after))
    readiness.check_for_loops(ns)
    readiness.snapshot([*ns, before.n, after.n])
    open_count = len(tx.all(sql.open_nodes_among, project_id=project_id, ns=to_json_array(ns)))
    if open_count:
        readiness.remove_open_children(before.n, open_count)
    tx.run(sql.set_parent, project_id=project_id, ns=to_json_array(ns), parent_n=after.n)
    readiness.positions.mark_stale(ns)
    if left != entered and entered is not None:
        readiness.check_for_loops([entered])  # what it waits for now blocks the moved nodes
    if open_count:
        readiness.add_open_children({after.n: open_count})
    readiness.start_entered_feature(ns, entered if left != entered else None)


def _find_feature_of_children(readiness: Readiness, parent: WorkNodeRow) -> int | None:
    """Return the nearest feature above the children of a node, or None."""
    return parent.n if parent.kind == FEATURE else readiness.positions.get(parent).feature_n
