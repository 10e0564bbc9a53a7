"""Block a task or a feature: make it depend on others, or put it on hold with a reason."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.input_gate.composite_types import missing_argument
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.work.containers.answers import OneContainer, load_container_into
from groundplan.work.containers.container import HOLD
from groundplan.work.containers.dependencies.manage import refuse_container_cycle
from groundplan.work.containers.refs import find_any_container, resolve_container_project
from groundplan.work.containers.requests import (
    IDS_MAX,
    ContainerId,
    ContainerType,
    Reason,
    Version,
    WorkflowType,
    parse_list,
)
from groundplan.work.containers.workflow.transitions import NoSuchStep, find_at_version
from groundplan.work.engine.cycles import WaitingMoments
from groundplan.work.engine.edges import DEPENDS_ON, add_edge
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.row import WorkNodeRow, fetch_node
from groundplan.work.engine.statuses import get_status
from groundplan.work.events import WorkOp

BlockedBy = Annotated[str | list[str], Meta(extra_json_schema={"type": ["array", "string"]})]

sql = load_queries(__file__)


class Block(Struct, rename="camel", forbid_unknown_fields=True):
    """A task or a feature, and its new blockers: ids, or NO_OP with a reason for a hold."""

    container_type: WorkflowType
    id: ContainerId
    version: Version
    blocked_by: BlockedBy
    blocked_reason: Reason | None = None
    op_id: OpId = field(name="op_id", default=None)


class BlockAnswer(OneContainer, rename="camel", kw_only=True):
    """The added blockers, and the number of all blockers."""

    added_blockers: list[str]
    total_blockers: int


def block(tx: Transaction, request: Block) -> BlockAnswer:
    """Block a task or a feature.

    Raises:
        NotFound: it or one of the blockers does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        NoSuchStep: it is resolved.
        CycleDetected: it would wait for itself.
        MixedProjects: a blocker belongs to another project.
    """
    node = find_at_version(tx, request.container_type, request.id, version=request.version)
    status = get_status(node, now=tx.now)
    if node.resolved:
        raise NoSuchStep(node, status, "so it cannot be blocked")
    ids, holds = parse_blockers(request.blocked_by)
    reason = (request.blocked_reason or "").strip() or None
    if holds and reason is None:
        raise missing_argument("blockedReason", (), expected=f"the reason for the hold, which {HOLD} requires")
    readiness = Readiness(tx, decision=None)
    readiness.snapshot([node.n])
    was_waiting = node.waits
    changes, added = _add_dependencies(tx, readiness, node, ids)
    if holds and node.held_reason != reason:
        changes.append(changed("held_reason", node.held_reason, reason))
        added += [HOLD] if node.held_reason is None else []
    # A reason lasts as long as the dependencies it was given for: a first new dependency clears an old reason.
    sets_reason = bool(ids) and not holds and (reason is not None or not node.open_deps)
    if sets_reason and reason != node.blocked_reason:
        changes.append(changed("blocked_reason", node.blocked_reason, reason))
    node = _save_node(tx, node, changes)
    if not was_waiting and node.held_reason is not None and not node.open_deps:
        readiness.propagate_waiting(node.n, node.kind)
    readiness.settle()
    answer = BlockAnswer(added_blockers=added, total_blockers=node.open_deps + (node.held_reason is not None))
    load_container_into(answer, tx, node.n)
    return answer


def parse_blockers(value: str | list[str]) -> tuple[list[str], bool]:
    """Parse the blockers into ids and whether a hold is among them.

    Raises:
        Invalid: the list is empty.
    """
    texts = parse_list(value, ("blockedBy",), items_max=IDS_MAX, chars_max=255)
    if not texts:
        raise invalid_argument(("blockedBy",), f"is empty; send ids, or {HOLD} for a hold")
    return [text for text in texts if text != HOLD], HOLD in texts


def _add_dependencies(
    tx: Transaction, readiness: Readiness, node: WorkNodeRow, refs: list[str]
) -> tuple[list[Change], list[str]]:
    """Add dependencies to a node, and return the changes and the ids of new dependencies."""
    moments = WaitingMoments(tx)
    changes: list[Change] = []
    added: list[str] = []
    for ref in refs:
        other = find_any_container(tx, ref, field="blockedBy")
        refuse_container_cycle(moments, node, other, field="blockedBy")
        if add_edge(tx, node.n, DEPENDS_ON, other.n):
            moments.add(node.n, other.n)
            changes.append(changed(DEPENDS_ON, None, other.id))
            added.append(other.id)
            if not other.resolved:
                readiness.adjust_open_dependencies([node.n], by=1)
    return changes, added


def _save_node(tx: Transaction, node: WorkNodeRow, changes: list[Change]) -> WorkNodeRow:
    """Store the changed hold and reason of a node with a new revision, and return the node."""
    node = fetch_node(tx, node.n)
    if not changes:
        return node
    for change in changes:
        if change.field in ("held_reason", "blocked_reason"):
            setattr(node, change.field, change.after)
    tx.run_with_record(sql.update_node_status, node, project_id=tx.project.id)
    fields = {change.field for change in changes}
    op = WorkOp.CONNECTED if DEPENDS_ON in fields else WorkOp.HELD if "held_reason" in fields else WorkOp.UPDATED
    tx.record(op, node.id, *changes)
    return node


OPERATION = Operation(
    name="container.block",
    summary="Add blockers by id, or NO_OP: a hold with a reason.",
    permission=Permission.WORK_CONNECT,
    effect=Effect.WRITE,
    input=Block,
    output=BlockAnswer,
    handler=block,
    project=lambda tx, request: resolve_container_project(tx, ContainerType(request.container_type), request.id),
    tool=Tool("block", Group.CONTAINERS),
    command=Command(
        ("task", "block"), arguments=("id",), names={"blocked_reason": "reason"}, fixed={"container_type": "task"}
    ),
    aliases=(
        Command(
            ("feature", "block"),
            arguments=("id",),
            names={"blocked_reason": "reason"},
            fixed={"container_type": "feature"},
        ),
    ),
    http=Route("POST", "/projects/{project}/work/{containerType}s/{id}/block"),
)
