"""Unblock a task or a feature: remove dependencies, or end its hold."""

from __future__ import annotations

from msgspec import Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.answers import OneContainer, load_container_into
from groundplan.work.containers.blockers import load_blockers
from groundplan.work.containers.container import HOLD
from groundplan.work.containers.refs import find_any_container, get_container_type, resolve_container_project
from groundplan.work.containers.requests import ContainerId, ContainerType, Version, WorkflowType
from groundplan.work.containers.workflow.block import BlockedBy, parse_blockers
from groundplan.work.containers.workflow.transitions import find_at_version
from groundplan.work.engine.edges import DEPENDS_ON, remove_edge
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.row import WorkNodeRow, fetch_node
from groundplan.work.events import WorkOp

sql = load_queries(__file__)


class NotBlockedBy(RuleViolated):
    """The named blocker does not block the task or feature."""

    code = "not_blocked_by"
    contract_code = "INVALID_OPERATION"

    def __init__(self, node: WorkNodeRow, blocker: str) -> None:
        problem = "is not on hold" if blocker == HOLD else f"does not wait for {blocker}"
        this = {"containerType": get_container_type(node).value, "id": node.id}
        super().__init__(
            f"{get_container_type(node)} {node.id} {problem}",
            next_steps=NextStep("container.workflow_state", "lists its blockers", this),
            field="blockedBy",
            id=node.id,
            blocker=blocker,
        )


class Unblock(Struct, rename="camel", forbid_unknown_fields=True):
    """A task or a feature, and the blockers to remove: ids, or NO_OP for its hold."""

    container_type: WorkflowType
    id: ContainerId
    version: Version
    blocked_by: BlockedBy
    op_id: OpId = field(name="op_id", default=None)


class UnblockAnswer(OneContainer, rename="camel", kw_only=True):
    """The removed blockers, and those that remain."""

    removed_blockers: list[str]
    remaining_blockers: list[str]
    is_fully_unblocked: bool  # no ancestor is blocked either


def unblock(tx: Transaction, request: Unblock) -> UnblockAnswer:
    """Remove blockers of a task or a feature.

    Raises:
        NotFound: it or one of the blockers does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        NotBlockedBy: one of the blockers does not block it.
    """
    node = find_at_version(tx, request.container_type, request.id, version=request.version)
    ids, holds = parse_blockers(request.blocked_by)
    if holds and node.held_reason is None:
        raise NotBlockedBy(node, HOLD)
    readiness = Readiness(tx, decision=None)
    readiness.snapshot([node.n])
    changes, removed = _remove_blockers(tx, readiness, node, ids)
    node = fetch_node(tx, node.n)
    if holds:
        removed.append(HOLD)
        changes.append(changed("held_reason", node.held_reason, None))
        node.held_reason = None
    if not node.open_deps and node.blocked_reason is not None:
        changes.append(changed("blocked_reason", node.blocked_reason, None))
        node.blocked_reason = None
    tx.run_with_record(sql.update_node_status, node, project_id=tx.project.id)
    tx.record(WorkOp.DISCONNECTED if ids else WorkOp.UNHELD, node.id, *changes)
    if holds and not node.open_deps:
        readiness.propagate_waiting(node.n, node.kind)
    readiness.settle()
    left = load_blockers(tx, node)
    answer = UnblockAnswer(
        removed_blockers=removed,
        remaining_blockers=left.all,
        is_fully_unblocked=not left.all and not node.blocked_above,
    )
    load_container_into(answer, tx, node.n)
    return answer


def _remove_blockers(
    tx: Transaction, readiness: Readiness, node: WorkNodeRow, refs: list[str]
) -> tuple[list[Change], list[str]]:
    changes: list[Change] = []
    removed: list[str] = []
    for ref in refs:
        other = find_any_container(tx, ref, field="blockedBy")
        if not remove_edge(tx, node.n, DEPENDS_ON, other.n):
            raise NotBlockedBy(node, other.id)
        changes.append(changed(DEPENDS_ON, other.id, None))
        removed.append(other.id)
        if not other.resolved:
            readiness.adjust_open_dependencies([node.n], by=-1)
    return changes, removed


OPERATION = Operation(
    name="container.unblock",
    summary="Remove blockers by id; NO_OP ends its hold.",
    permission=Permission.WORK_CONNECT,
    effect=Effect.WRITE,
    input=Unblock,
    output=UnblockAnswer,
    handler=unblock,
    project=lambda tx, request: resolve_container_project(tx, ContainerType(request.container_type), request.id),
    tool=Tool("unblock", Group.CONTAINERS),
    command=Command(("task", "unblock"), arguments=("id",), fixed={"container_type": "task"}),
    aliases=(Command(("feature", "unblock"), arguments=("id",), fixed={"container_type": "feature"}),),
    http=Route("POST", "/projects/{project}/work/{containerType}s/{id}/unblock"),
)
