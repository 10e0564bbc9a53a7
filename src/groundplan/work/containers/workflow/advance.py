"""Advance a task or a feature to the next step of its pipeline."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.completion_hints import GraphHints, build_graph_hints
from groundplan.work.containers.blockers import Blockers, load_blockers
from groundplan.work.containers.pipeline import find_step_after, load_pipelines
from groundplan.work.containers.refs import get_container_type, resolve_container_project
from groundplan.work.containers.requests import ContainerId, ContainerType, Version, WorkflowType
from groundplan.work.containers.workflow.transitions import (
    NoSuchStep,
    TransitionAnswer,
    build_transition_answer,
    change_status,
    find_at_version,
)
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.row import WorkNodeRow
from groundplan.work.engine.statuses import ACTIVE, TERMINAL, get_status, is_claim_live
from groundplan.work.events import WorkOp

BLOCKERS_NAMED_MAX = 5  # in the message; the details list more


class Blocked(RuleViolated):
    """The task or feature is blocked."""

    code = "blocked"
    contract_code = "BLOCKED"

    def __init__(self, node: WorkNodeRow, blockers: Blockers) -> None:
        problems = []
        why = f" ({blockers.reason})" if blockers.reason else ""
        if blockers.ids:
            more = f" and {blockers.total - BLOCKERS_NAMED_MAX} more" if blockers.total > BLOCKERS_NAMED_MAX else ""
            problems.append(
                f"waits for {', '.join(blockers.ids[:BLOCKERS_NAMED_MAX])}{more}{'' if blockers.is_held else why}"
            )
        if blockers.is_held:
            problems.append(f"is on hold{why}")
        if blockers.blocked_ancestors:
            problems.append(f"is held back by {', '.join(blockers.blocked_ancestors)} above it")
        super().__init__(
            f"{get_container_type(node)} {node.id} {' and '.join(problems)}; finish the blockers or unblock it first",
            id=node.id,
            blockedBy=blockers.all,
            blockedByTotal=blockers.total,
            blockedReason=blockers.reason,
            blockedAbove=blockers.blocked_ancestors,
        )


class Advance(Struct, rename="camel", forbid_unknown_fields=True):
    """A task or a feature, and the version that the caller read."""

    container_type: WorkflowType
    id: ContainerId
    version: Version
    op_id: OpId = field(name="op_id", default=None)


class Advanced(TransitionAnswer, kw_only=True):
    """The transition, with reminders if it completed a task."""

    graph_hints: GraphHints | UnsetType = UNSET


def advance(tx: Transaction, request: Advance) -> Advanced:
    """Move to the next step of the pipeline; a task that another actor left ACTIVE is claimed and stays ACTIVE.

    Raises:
        NotFound: the task or feature does not exist.
        StaleVersion: its version changed; `currentVersion` is the new one.
        NoSuchStep: it is at the end of its pipeline.
        Blocked: it or one of its ancestors is blocked.
        UnresolvedChildren: the step closes it, but it has open children.
    """
    node = find_at_version(tx, request.container_type, request.id, version=request.version)
    status = get_status(node, now=tx.now)
    to = (
        status
        if _is_left_by_another(tx, node)
        else find_step_after(load_pipelines(tx).of(request.container_type), status)
    )
    if to is None:
        raise NoSuchStep(node, status, "after which there is no step")
    if node.waits or node.blocked_above:
        raise Blocked(node, load_blockers(tx, node))
    readiness = Readiness(tx, decision=None)
    transition = change_status(tx, readiness, node, to=to, op=WorkOp.ADVANCED)
    answer = build_transition_answer(tx, readiness, node, transition, Advanced)
    if to in TERMINAL and request.container_type is WorkflowType.TASK:
        answer.graph_hints = build_graph_hints()
    return answer


def _is_left_by_another(tx: Transaction, node: WorkNodeRow) -> bool:
    """Return whether another actor started the task and the claim lapsed; then advancing only takes over the claim."""
    is_lapsed = not is_claim_live(node.claimed_by, node.claimed_until, now=tx.now)
    return node.status == ACTIVE and node.claimed_by not in (None, tx.actor.id) and is_lapsed


OPERATION = Operation(
    name="container.advance",
    summary="Next step of its pipeline; ACTIVE claims, CLOSED resolves.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    input=Advance,
    output=Advanced,
    handler=advance,
    project=lambda tx, request: resolve_container_project(tx, ContainerType(request.container_type), request.id),
    tool=Tool("advance", Group.CONTAINERS),
    command=Command(("task", "advance"), arguments=("id",), fixed={"container_type": "task"}),
    aliases=(Command(("feature", "advance"), arguments=("id",), fixed={"container_type": "feature"}),),
    http=Route("POST", "/projects/{project}/work/{containerType}s/{id}/advance"),
)
