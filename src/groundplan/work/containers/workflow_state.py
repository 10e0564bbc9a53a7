"""Get the status of a task or a feature, its next and previous steps, and its blockers."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.blockers import load_blockers
from groundplan.work.containers.container import RELATED_SHOWN_MAX
from groundplan.work.containers.pipeline import find_step_after, find_step_before, format_position, load_pipelines
from groundplan.work.containers.refs import resolve_container, resolve_container_project
from groundplan.work.containers.requests import ContainerId, ContainerType, WorkflowType
from groundplan.work.kinds import TERMINAL, get_status

sql = load_queries(__file__)


class QueryState(Struct, rename="camel", forbid_unknown_fields=True):
    """A task or a feature."""

    container_type: WorkflowType
    id: ContainerId


class WorkflowState(Struct, rename="camel", kw_only=True):
    """The workflow state of a task or a feature. Operations that change the status need its `version`."""

    container_type: WorkflowType
    id: str
    version: int
    current_status: str
    next_status: str | None
    prev_status: str | None
    is_terminal: bool
    is_blocked: bool
    blocked_by: list[str]
    blocked_by_total: int | UnsetType = UNSET  # if more than the listed ones exist
    blocked_reason: str | None
    blocked_above: list[str] | UnsetType = UNSET  # blocked ancestors
    pipeline_position: str | None
    pipeline: list[str]
    related_entities: list[str]


def get_workflow_state(tx: Transaction, request: QueryState) -> WorkflowState:
    """Return the workflow state of a task or a feature.

    Raises:
        NotFound: the task or feature does not exist.
    """
    node = resolve_container(tx, ContainerType(request.container_type), request.id)
    steps = load_pipelines(tx).of(request.container_type)
    status = get_status(node, now=tx.now)
    is_terminal = status in TERMINAL
    place = {"project_id": tx.project.id, "ns": to_json_array([node.n])}
    related = [other for _, other, _ in tx.all(sql.related_of, **place, at_most=RELATED_SHOWN_MAX)]
    state = WorkflowState(
        container_type=request.container_type,
        id=node.id,
        version=node.rev,
        current_status=status,
        next_status=find_step_after(steps, status),
        prev_status=find_step_before(steps, status),
        is_terminal=is_terminal,
        is_blocked=not is_terminal and (node.waits or node.blocked_above > 0),
        blocked_by=[],
        blocked_reason=None,
        pipeline_position=format_position(steps, status),
        pipeline=list(steps),
        related_entities=related,
    )
    if state.is_blocked:
        blockers = load_blockers(tx, node)
        state.blocked_by = blockers.all
        state.blocked_by_total = blockers.total if blockers.total > len(blockers.all) else UNSET
        state.blocked_reason = blockers.reason
        state.blocked_above = blockers.blocked_ancestors or UNSET
    return state


STATE = declare(
    get_workflow_state,
    name="container.workflow_state",
    summary="Status, next and previous step, blockers.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_container_project(tx, ContainerType(request.container_type), request.id),
    tool=Tool("query_workflow_state", Group.CONTAINERS),
    command=Command(("task", "state"), arguments=("id",), fixed={"container_type": "task"}),
    aliases=(Command(("feature", "state"), arguments=("id",), fixed={"container_type": "feature"}),),
    http=Route("GET", "/projects/{project}/work/{containerType}s/{id}/workflow"),
)
