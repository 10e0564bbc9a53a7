"""Terminate a task or a feature with its open descendants, as WILL_NOT_IMPLEMENT."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.budget import CutLists, Trimming
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.answers import Entity, OneContainer, Transition, load_dependents
from groundplan.work.containers.refs import resolve_container_project
from groundplan.work.containers.requests import ContainerId, ContainerType, Reason, Version, WorkflowType
from groundplan.work.containers.workflow.transitions import (
    UNBLOCKED_LISTS,
    TransitionAnswer,
    complete_answer,
    find_at_version,
    list_closed_features,
)
from groundplan.work.engine.drop import drop, find_open_subtree
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.statuses import WILL_NOT_IMPLEMENT, get_status

DEFAULT_REASON = "terminated"  # recorded as evidence if the caller gives no reason


class Terminate(Struct, rename="camel", forbid_unknown_fields=True):
    """A task or a feature, the version that the caller read, and why it will not be implemented."""

    container_type: WorkflowType
    id: ContainerId
    version: Version
    reason: Reason | None = None
    op_id: OpId = field(name="op_id", default=None)


class Terminated(TransitionAnswer, kw_only=True):
    """The terminated container and its dependents. They are unblocked without the result that they waited for."""

    trimming: ClassVar[Trimming] = Trimming(
        *OneContainer.trimming, CutLists((*UNBLOCKED_LISTS, "affected_dependents", "feature_affected_dependents"))
    )

    reason: str | UnsetType = UNSET
    affected_dependents: list[Entity]
    affected_dependents_total: int | UnsetType = UNSET  # if more than the listed ones exist
    feature_affected_dependents: list[Entity] | UnsetType = UNSET  # dependents of a feature that ended with it


def terminate(tx: Transaction, request: Terminate) -> Terminated:
    """Terminate a task or a feature and its open descendants.

    Raises:
        NotFound: the task or feature does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        AlreadyResolved: it is closed or terminated.
        ClaimedByAnother: the project enforces claims and another actor has claimed a part of it.
    """
    node = find_at_version(tx, request.container_type, request.id, version=request.version)
    before = get_status(node, now=tx.now)
    reason = (request.reason or "").strip()
    ended = find_open_subtree(tx, node)
    readiness = Readiness(tx, decision=None)
    drop(tx, readiness, node, reason or DEFAULT_REASON, decision=None)
    ended += readiness.auto_resolved_parents
    affected = load_dependents(tx, ended)
    answer = Terminated(
        transition=Transition(before, WILL_NOT_IMPLEMENT),
        pipeline_position=None,
        reason=reason or UNSET,
        affected_dependents=affected.listed,
        affected_dependents_total=affected.total,
        feature_affected_dependents=load_dependents(tx, list_closed_features(tx, readiness)).listed or UNSET,
    )
    return complete_answer(tx, readiness, node, answer, ended=ended)


OPERATION = Operation(
    name="container.terminate",
    summary="End as WILL_NOT_IMPLEMENT, with everything open below it.",
    permission=Permission.WORK_RESTRUCTURE,
    effect=Effect.DESTROY,
    input=Terminate,
    output=Terminated,
    handler=terminate,
    project=lambda tx, request: resolve_container_project(tx, ContainerType(request.container_type), request.id),
    tool=Tool("terminate", Group.CONTAINERS),
    command=Command(("task", "terminate"), arguments=("id",), fixed={"container_type": "task"}),
    aliases=(Command(("feature", "terminate"), arguments=("id",), fixed={"container_type": "feature"}),),
    http=Route("POST", "/projects/{project}/work/{containerType}s/{id}/terminate"),
)
