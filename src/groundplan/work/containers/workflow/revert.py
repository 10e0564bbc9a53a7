"""Move a task or a feature one step back in its pipeline, which reopens a closed one."""

from __future__ import annotations

from msgspec import Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.pipeline import find_step_before, load_pipelines
from groundplan.work.containers.refs import resolve_container_project
from groundplan.work.containers.requests import ContainerId, ContainerType, Version, WorkflowType
from groundplan.work.containers.workflow.transitions import (
    NoSuchStep,
    TransitionAnswer,
    build_transition_answer,
    change_status,
    find_at_version,
)
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.statuses import NEW, get_status
from groundplan.work.events import WorkOp


class Revert(Struct, rename="camel", forbid_unknown_fields=True):
    """A task or a feature, and the version that the caller read."""

    container_type: WorkflowType
    id: ContainerId
    version: Version
    op_id: OpId = field(name="op_id", default=None)


def revert(tx: Transaction, request: Revert) -> TransitionAnswer:
    """Move a task or a feature one step back.

    Raises:
        NotFound: the task or feature does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        NoSuchStep: it is new or terminated.
    """
    node = find_at_version(tx, request.container_type, request.id, version=request.version)
    status = get_status(node, now=tx.now)
    to = find_step_before(load_pipelines(tx).of(request.container_type), status)
    if to is None:
        raise NoSuchStep(node, status, "which is the first step" if status == NEW else "which is outside the pipeline")
    readiness = Readiness(tx, decision=None)
    transition = change_status(tx, readiness, node, to=to, op=WorkOp.REVERTED)
    return build_transition_answer(tx, readiness, node, transition, TransitionAnswer)


OPERATION = Operation(
    name="container.revert",
    summary="One step back; reopens what was closed.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    input=Revert,
    output=TransitionAnswer,
    handler=revert,
    project=lambda tx, request: resolve_container_project(tx, ContainerType(request.container_type), request.id),
    tool=Tool("revert", Group.CONTAINERS),
    command=Command(("task", "revert"), arguments=("id",), fixed={"container_type": "task"}),
    aliases=(Command(("feature", "revert"), arguments=("id",), fixed={"container_type": "feature"}),),
    http=Route("POST", "/projects/{project}/work/{containerType}s/{id}/revert"),
)
