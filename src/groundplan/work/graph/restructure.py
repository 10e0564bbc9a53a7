"""Replan: move, merge and drop nodes, in order, all of it or nothing."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.drop import drop
from groundplan.work.engine.merge import merge
from groundplan.work.engine.move import move
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.refs import find_node_in_project, resolve_node_project
from groundplan.work.engine.row import WorkNodeRow, fetch_node
from groundplan.work.engine.side_effects import SideEffects, add_side_effects
from groundplan.work.requests import Decision, EvidenceRef, NodeRef

OPERATIONS_MAX = 100


class Move(Struct, forbid_unknown_fields=True, tag_field="op", tag="move"):
    """Hang a node under another parent."""

    node_id: NodeRef
    new_parent: NodeRef


class Merge(Struct, forbid_unknown_fields=True, tag_field="op", tag="merge"):
    """Let the target absorb the source."""

    source: NodeRef
    target: NodeRef


class Drop(Struct, forbid_unknown_fields=True, tag_field="op", tag="drop"):
    """Give a node up, with everything below it."""

    node_id: NodeRef
    reason: EvidenceRef


class Restructure(Struct, forbid_unknown_fields=True):
    """Changes to the structure of one project."""

    operations: Annotated[list[Move | Merge | Drop], Meta(min_length=1, max_length=OPERATIONS_MAX)]
    decision: Decision | None = None
    op_id: OpId = None


class OperationResult(Struct):
    """What came of one operation."""

    op: str
    node_id: str
    result: str


class Restructured(SideEffects, kw_only=True):
    """What was done, and what came of it."""

    applied: int
    details: list[OperationResult]


def restructure(tx: Transaction, request: Restructure) -> Restructured:
    """Move, merge and drop nodes.

    Raises:
        NotFound: there is no such node here.
        MixedProjects: the nodes are of several projects.
        CycleDetected: a node would lie below itself, or wait for itself.
        CannotMerge: the two are one node, or one lies above the other.
        ClaimedByAnother: the project enforces claims and somebody else holds a node.
        AlreadyResolved: there is nothing left to drop.
        RootNotAllowed: the root can be neither moved nor merged nor dropped.
    """
    readiness = Readiness(tx, decision=request.decision)
    details = []
    for operation in request.operations:
        match operation:
            case Move():
                node = _node(tx, operation.node_id)
                result = move(tx, readiness, node, _node(tx, operation.new_parent), decision=request.decision)
                details.append(OperationResult("move", node.id, result))
            case Merge():
                node = _node(tx, operation.source)
                result = merge(tx, readiness, node, _node(tx, operation.target), decision=request.decision)
                details.append(OperationResult("merge", node.id, result))
            case Drop():
                node = _node(tx, operation.node_id)
                result = drop(tx, readiness, node, operation.reason, decision=request.decision)
                details.append(OperationResult("drop", node.id, result))
    return add_side_effects(Restructured(applied=len(details), details=details), tx, readiness, [])


def _node(tx: Transaction, ref: str) -> WorkNodeRow:
    return fetch_node(tx, find_node_in_project(tx, ref).n)


def locate(tx: Transaction, request: Restructure) -> str:
    """The project of the first node; the others must be in it too."""
    first = request.operations[0]
    return resolve_node_project(tx, first.source if isinstance(first, Merge) else first.node_id)


OPERATION = Operation(
    name="work.restructure",
    summary="Move, merge or drop nodes with all below them.",
    permission=Permission.WORK_RESTRUCTURE,
    effect=Effect.DESTROY,
    input=Restructure,
    output=Restructured,
    handler=restructure,
    project=locate,
    tool=Tool("graph_restructure", Group.WORK),
    command=Command(("work", "restructure")),
)
