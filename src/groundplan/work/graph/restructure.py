"""Restructure a project: move, merge and drop nodes in order; all operations or none."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import MixedProjects, NextStep
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.drop import drop
from groundplan.work.engine.merge import merge
from groundplan.work.engine.move import move
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.refs import find_node, find_node_in_project, resolve_node_project
from groundplan.work.engine.row import WorkNodeRow, fetch_node, is_claimed_by_another
from groundplan.work.graph.side_effects import SideEffects, add_side_effects
from groundplan.work.graph.update import is_same_json
from groundplan.work.requests import Decision, EvidenceRef, NodeRef
from groundplan.work.warnings import Warnings, join_names

OPERATIONS_MAX = 100


class Move(Struct, forbid_unknown_fields=True, tag_field="op", tag="move"):
    """Move a node under another parent."""

    node_id: NodeRef
    new_parent: NodeRef


class Merge(Struct, forbid_unknown_fields=True, tag_field="op", tag="merge"):
    """Merge the source into the target."""

    source: NodeRef
    target: NodeRef


class Drop(Struct, forbid_unknown_fields=True, tag_field="op", tag="drop"):
    """Drop a node and everything below it."""

    node_id: NodeRef
    reason: EvidenceRef


class Restructure(Struct, forbid_unknown_fields=True):
    """Changes to the structure of one project."""

    operations: Annotated[list[Move | Merge | Drop], Meta(min_length=1, max_length=OPERATIONS_MAX)]
    lean: bool | None = None
    decision: Decision | None = None
    op_id: OpId = None


class OperationResult(Struct):
    """The result of one operation."""

    op: str
    node_id: str
    result: str


class Restructured(SideEffects, kw_only=True):
    """The operations that were applied, and their side effects."""

    applied: int
    details: list[OperationResult]


def restructure(tx: Transaction, request: Restructure) -> Restructured:
    """Move, merge and drop nodes.

    Raises:
        NotFound: the project has no such node.
        MixedProjects: the nodes are in several projects; a node never changes its project.
        CycleDetected: a node would be below itself, or wait for itself.
        CannotMerge: the nodes are the same, one is above the other, or only one is a feature.
        ClaimedByAnother: the project enforces claims and another actor has claimed a node.
        AlreadyResolved: a node to drop is resolved.
        RootNotAllowed: a node to move, merge or drop is the root.
    """
    readiness = Readiness(tx, decision=request.decision)
    warnings = Warnings()
    details = []
    first = _first_node(request)
    for operation in request.operations:
        match operation:
            case Move():
                node = _fetch(tx, operation.node_id, beside=first)
                parent = _fetch_destination(tx, operation.new_parent, node)
                result = move(tx, readiness, node, parent, decision=request.decision)
                details.append(OperationResult("move", node.id, result))
            case Merge():
                node = _fetch(tx, operation.source, beside=first)
                target = _fetch_destination(tx, operation.target, node)
                _warn_about_properties(warnings, node, target)
                if is_claimed_by_another(tx, node.claimed_by, node.claimed_until):
                    warnings.add_ended_claims({node.id: str(node.claimed_by)}, verb="merged")
                result = merge(tx, readiness, node, target, decision=request.decision)
                details.append(OperationResult("merge", node.id, result))
            case Drop():
                node = _fetch(tx, operation.node_id, beside=first)
                result = drop(tx, readiness, node, operation.reason, decision=request.decision)
                details.append(OperationResult("drop", node.id, result))
    return add_side_effects(Restructured(applied=len(details), details=details), tx, readiness, warnings)


def _warn_about_properties(warnings: Warnings, source: WorkNodeRow, target: WorkNodeRow) -> None:
    """Warn about the properties of a source that the target does not take over."""
    kept = target.properties_value
    lost = [name for name, value in source.properties_value.items() if not is_same_json(value, kept.get(name))]
    if lost:
        warnings.add(source.id, f"its properties {join_names(lost)} are not taken over by {target.id}")


def _fetch(tx: Transaction, ref: str, *, beside: str) -> WorkNodeRow:
    return fetch_node(tx, find_node_in_project(tx, ref, beside=beside).n)


def _fetch_destination(tx: Transaction, ref: str, node: WorkNodeRow) -> WorkNodeRow:
    """Return the node under which, or into which, a node of this project goes."""
    found = find_node(tx, ref)
    if found.project_id != tx.project.id:
        raise MixedProjects(
            f"node {node.id} is in project {tx.project.id} and node {found.id} is in project {found.project_id}; "
            "a node never changes its project",
            next_steps=(
                NextStep("work.plan", "plans it there", {"project": str(found.project_id)}),
                NextStep("work.restructure", "drops it here"),
                NextStep("work.update", "resolves it here"),
            ),
            nodes=[node.id, found.id],
            projects=[str(tx.project.id), str(found.project_id)],  # the encoder needs plain str
        )
    return fetch_node(tx, found.n)


def locate(tx: Transaction, request: Restructure) -> str:
    """Return the project of the first node; the others must be in the same project."""
    return resolve_node_project(tx, _first_node(request))


def _first_node(request: Restructure) -> str:
    first = request.operations[0]
    return first.source if isinstance(first, Merge) else first.node_id


OPERATION = declare(
    restructure,
    name="work.restructure",
    summary="Move, merge or drop nodes with all below them.",
    permission=Permission.WORK_RESTRUCTURE,
    effect=Effect.DESTROY,
    project=locate,
    tool=Tool("graph_restructure", Group.WORK),
    command=Command(("work", "restructure")),
    http=Route("POST", "/projects/{project}/work/restructure"),
)
