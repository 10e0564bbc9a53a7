"""Dependencies and relations between tasks and features: create, delete, list and replace them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import NextStep, NotFound, RuleViolated
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.work.containers.fields import IDS_MAX, ContainerId, ContainerType, WorkflowType, parse_list
from groundplan.work.containers.refs import (
    find_any_container,
    get_container_type,
    resolve_container,
    resolve_container_project,
)
from groundplan.work.containers.views import load_blockers, to_container_type
from groundplan.work.events import WorkOp
from groundplan.work.kinds import ROOT_N, get_status
from groundplan.work.nodes import DEPENDS_ON, RELATES_TO, WorkNodeRow, add_edge, fetch_node, remove_edge, touch
from groundplan.work.readiness import Readiness
from groundplan.work.waiting.cycles import CycleDetected, Loop, WaitingMoments

CYCLE_HINT = "; leave this dependency out, or remove another one of the cycle first"
DEPENDENCIES_SHOWN_MAX = 100


sql = load_queries(__file__)


class DependencyType(StrEnum):
    """The type of a dependency. BLOCKS is the reverse of depends_on in the graph dialect."""

    BLOCKS = "BLOCKS"
    RELATES_TO = "RELATES_TO"


EDGE_TYPES = {DependencyType.BLOCKS: DEPENDS_ON, DependencyType.RELATES_TO: RELATES_TO}


# --- Create and delete one ---


class DependencyExists(RuleViolated):
    """The dependency already exists."""

    code = "already_connected"
    contract_code = "INVALID_OPERATION"

    def __init__(self, type_: DependencyType, source: WorkNodeRow, target: WorkNodeRow) -> None:
        message = f"dependency {source.id} {type_} {target.id} already exists"
        super().__init__(message, field="toId", fromId=source.id, toId=target.id)


class ManageDependency(Struct, rename="camel", forbid_unknown_fields=True):
    """A dependency: `fromId` blocks `toId` or is related to it; or the id of a dependency from an earlier answer."""

    id: str | None = None
    from_id: ContainerId | None = None
    to_id: ContainerId | None = None
    container_type: WorkflowType | None = None
    type: DependencyType = DependencyType.BLOCKS
    op_id: OpId = field(name="op_id", default=None)


class DependencyAnswer(Struct, rename="camel"):
    """The dependency and, if it blocks, all current blockers of its target."""

    id: str
    type: DependencyType
    operation: str
    from_id: str
    to_id: str
    blocked_by: list[str] | UnsetType = UNSET
    target_type: ContainerType | UnsetType = UNSET
    from_entity_type: ContainerType | UnsetType = UNSET
    to_entity_type: ContainerType | UnsetType = UNSET


def create_dependency(tx: Transaction, request: ManageDependency) -> DependencyAnswer:
    """Create a dependency between two containers.

    Raises:
        NotFound: one of them does not exist.
        MixedProjects: they belong to different projects.
        CycleDetected: one would wait for itself.
        DependencyExists: the dependency already exists.
    """
    source, target = _resolve_ends(tx, request)
    kind = _get_type(request)
    begins, ends = (target, source) if kind is DependencyType.BLOCKS else (source, target)
    readiness = Readiness(tx, decision=None)
    moments = WaitingMoments(tx)
    if kind is DependencyType.BLOCKS:
        refuse_container_cycle(moments, begins, ends, field=_get_argument_name(request, "toId"))
    elif source.n == target.n:
        raise CycleDetected(Loop([source.id, source.id]), hint=CYCLE_HINT, field=_get_argument_name(request, "toId"))
    is_related = kind is DependencyType.RELATES_TO and tx.one_or_none(
        sql.is_related, project_id=tx.project.id, a_n=source.n, b_n=target.n
    )
    if is_related or not add_edge(tx, begins.n, EDGE_TYPES[kind], ends.n):
        raise DependencyExists(kind, source, target)
    if kind is DependencyType.BLOCKS:
        moments.add(begins.n, ends.n)
    _record_change(tx, readiness, WorkOp.CONNECTED, begins, EDGE_TYPES[kind], None, ends)
    return _build_answer(tx, "create", kind, source, target)


def delete_dependency(tx: Transaction, request: ManageDependency) -> DependencyAnswer:
    """Delete a dependency between two containers.

    Raises:
        NotFound: one of them or the dependency does not exist.
    """
    source, target = _resolve_ends(tx, request)
    kind = _get_type(request)
    begins, ends = (target, source) if kind is DependencyType.BLOCKS else (source, target)
    readiness = Readiness(tx, decision=None)
    if not remove_edge(tx, begins.n, EDGE_TYPES[kind], ends.n):
        # RELATES_TO has no direction, so the edge may be stored the other way round.
        begins, ends = ends, begins
        if kind is DependencyType.BLOCKS or not remove_edge(tx, begins.n, EDGE_TYPES[kind], ends.n):
            end = {"id": target.id, "containerType": get_container_type(target).value}
            step = NextStep("container.dependencies", "lists its dependencies", end)
            raise NotFound("dependency", _build_id(kind, source, target), next_steps=step)
    _record_change(tx, readiness, WorkOp.DISCONNECTED, begins, EDGE_TYPES[kind], ends, None)
    return _build_answer(tx, "delete", kind, source, target)


def _record_change(
    tx: Transaction,
    readiness: Readiness,
    op: WorkOp,
    begins: WorkNodeRow,
    type_: str,
    before: WorkNodeRow | None,
    after: WorkNodeRow | None,
) -> None:
    readiness.snapshot([begins.n])
    touch(tx, begins.n)
    tx.record(op, begins.id, changed(type_, before and before.id, after and after.id))
    end = after or before
    if type_ == DEPENDS_ON and end is not None and not end.resolved:
        readiness.adjust_open_dependencies([begins.n], by=1 if after else -1)
    readiness.settle()


def _build_answer(
    tx: Transaction, operation: str, kind: DependencyType, source: WorkNodeRow, target: WorkNodeRow
) -> DependencyAnswer:
    answer = DependencyAnswer(_build_id(kind, source, target), kind, operation, source.id, target.id)
    if kind is DependencyType.BLOCKS:
        answer.blocked_by = load_blockers(tx, fetch_node(tx, target.n)).all
        answer.target_type = get_container_type(target)
    else:
        answer.from_entity_type, answer.to_entity_type = get_container_type(source), get_container_type(target)
    return answer


def _build_id(kind: DependencyType, source: WorkNodeRow, target: WorkNodeRow) -> str:
    return f"{source.id}:{target.id}:{kind}"


def _parse_refs(request: ManageDependency) -> tuple[str, str]:
    """Return the refs of both ends in the request."""
    if request.id is not None:
        for name, wire in {"from_id": "fromId", "to_id": "toId"}.items():
            if getattr(request, name) is not None:
                raise invalid_argument((wire,), "and id exclude each other; send only one of them")
        parts = request.id.split(":")
        if len(parts) != 3 or parts[2] not in DependencyType.__members__:
            raise invalid_argument(("id",), "is not a dependency id; send fromId and toId, or an id from an answer")
        return parts[0], parts[1]
    if request.from_id is None:
        raise missing_argument("fromId", (), expected="the container that blocks toId or is related to it")
    if request.to_id is None:
        raise missing_argument("toId", (), expected="the container that fromId blocks or is related to")
    return request.from_id, request.to_id


def _get_type(request: ManageDependency) -> DependencyType:
    return request.type if request.id is None else DependencyType(request.id.rpartition(":")[2])


def _resolve_ends(tx: Transaction, request: ManageDependency) -> tuple[WorkNodeRow, WorkNodeRow]:
    source_ref, target_ref = _parse_refs(request)
    source = find_any_container(tx, source_ref, field=_get_argument_name(request, "fromId"))
    target = find_any_container(tx, target_ref, field=_get_argument_name(request, "toId"))
    for end, name in ((source, "fromId"), (target, "toId")):
        if get_container_type(end) is ContainerType.PROJECT:
            wrong = "is a project, which has no dependencies; name a task or a feature"
            raise invalid_argument((_get_argument_name(request, name),), wrong)
    if request.container_type is not None and get_container_type(target).value != request.container_type.value:
        hint = f"it is a {get_container_type(target)}"
        raise NotFound(request.container_type, target_ref, hint=hint, field=_get_argument_name(request, "toId"))
    return source, target


def _get_argument_name(request: ManageDependency, name: str) -> str:
    """Return the name of the argument that has an end."""
    return name if request.id is None else "id"


def _resolve_project(tx: Transaction, request: ManageDependency) -> str:
    """Return the project of the first end. The second end must belong to it, too."""
    return resolve_container_project(
        tx, ContainerType.TASK, _parse_refs(request)[0], field=_get_argument_name(request, "fromId")
    )


def refuse_container_cycle(moments: WaitingMoments, waiting: WorkNodeRow, awaited: WorkNodeRow, *, field: str) -> None:
    """Raise CycleDetected if a dependency of `waiting` on `other` would close a loop."""
    moment_loop = moments.find_loop_closed_by(waiting.n, awaited.n)
    if moment_loop is not None:
        loop = moments.describe(moment_loop)
        raise CycleDetected(loop, hint=None if loop.uses_tree else CYCLE_HINT, field=field)


# --- Set the relations of a container, in whichever direction they are stored ---


def set_relations(tx: Transaction, node: WorkNodeRow, refs: Sequence[str] | str) -> list[Change]:
    """Replace the relations of a container. Return the changes for the event."""
    after: dict[int, str] = {}
    for ref in parse_list(refs, ("relatedTo",), items_max=IDS_MAX, chars_max=255):
        related = find_any_container(tx, ref, field="relatedTo")
        if related.n in (node.n, ROOT_N):
            which = "the container itself" if related.n == node.n else "the project"
            raise invalid_argument(("relatedTo",), f"names {which}; name other tasks and features")
        after[related.n] = related.id
    node_key = {"project_id": tx.project.id, "n": node.n}
    before: dict[int, str] = dict(tx.all(sql.related_numbers, **node_key))
    if len(before) > IDS_MAX:  # more than the caller can have seen
        wrong = f"would replace {len(before)} relations, the limit is {IDS_MAX}"
        relation = {"fromId": node.id, "type": "RELATES_TO"}
        steps = (
            NextStep("dependency.create", "adds single ones", relation, ("toId",)),
            NextStep("dependency.delete", "removes single ones", relation, ("toId",)),
        )
        raise invalid_argument(("relatedTo",), wrong, code="too_many", next_steps=steps, limit=IDS_MAX)
    if after.keys() == before.keys():
        return []
    for n, other_id in before.items():
        if n not in after:
            _remove_relation(tx, node, n, other_id)
    for n in after:
        if n not in before:
            add_edge(tx, node.n, RELATES_TO, n)
    return [changed(RELATES_TO, [before[n] for n in sorted(before)], [after[n] for n in sorted(after)])]


def _remove_relation(tx: Transaction, node: WorkNodeRow, other_n: int, other_id: str) -> None:
    remove_edge(tx, node.n, RELATES_TO, other_n)
    # An edge that is stored from the other end is a change of the other container too.
    if remove_edge(tx, other_n, RELATES_TO, node.n):
        touch(tx, other_n)
        tx.record(WorkOp.DISCONNECTED, other_id, changed(RELATES_TO, node.id, None))


# --- List ---


class DependencyDirection(StrEnum):
    """The dependencies to list: of the container itself, of others on it, or both."""

    DEPENDENCIES = "dependencies"
    DEPENDENTS = "dependents"
    BOTH = "both"


class QueryDependencies(Struct, rename="camel", forbid_unknown_fields=True):
    """A task or a feature, and the direction of the dependencies."""

    id: ContainerId
    container_type: WorkflowType
    direction: DependencyDirection = DependencyDirection.BOTH


class ContainerDependency(Struct, rename="camel"):
    """A dependency, with the container at its other end."""

    id: str
    container_type: ContainerType
    title: str
    status: str
    type: DependencyType


class Dependencies(Struct, rename="camel", kw_only=True):
    """Dependencies and dependents, oldest first. Related containers are in both lists."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("dependencies", "dependents")))

    id: str
    container_type: WorkflowType
    direction: DependencyDirection
    dependencies: list[ContainerDependency] | UnsetType = UNSET
    dependents: list[ContainerDependency] | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)


class _DependencyRow(Struct):
    id: str
    kind: str | None
    summary: str
    type: str
    resolved: bool
    outcome: str | None
    status: str | None
    claimed_by: str | None
    claimed_until: str | None
    total: int


def list_dependencies(tx: Transaction, request: QueryDependencies) -> Dependencies:
    """Return the dependencies of a task or a feature.

    Raises:
        NotFound: the task or feature does not exist.
    """
    node = resolve_container(tx, ContainerType(request.container_type), request.id)
    answer = Dependencies(id=node.id, container_type=request.container_type, direction=request.direction)
    left_out = {}
    if request.direction is not DependencyDirection.DEPENDENTS:
        answer.dependencies, left_out["dependencies"] = _load_ends(tx, sql.dependencies_of_container, node)
    if request.direction is not DependencyDirection.DEPENDENCIES:
        answer.dependents, left_out["dependents"] = _load_ends(tx, sql.dependents_of_container, node)
    answer.left_out = {name: count for name, count in left_out.items() if count} or UNSET
    return answer


def _load_ends(tx: Transaction, query: Query, node: WorkNodeRow) -> tuple[list[ContainerDependency], int]:
    """Return the first containers of a query, and the number of the others."""
    ends = tx.all(query, _DependencyRow, project_id=tx.project.id, n=node.n, at_most=DEPENDENCIES_SHOWN_MAX)
    dependencies = [
        ContainerDependency(
            end.id,
            to_container_type(end.kind),
            end.summary,
            get_status(end, now=tx.now),
            DependencyType.BLOCKS if end.type == "depends_on" else DependencyType.RELATES_TO,
        )
        for end in ends
    ]
    return dependencies, ends[0].total - len(ends) if ends else 0


# --- Operations ---

CREATE = declare(
    create_dependency,
    name="dependency.create",
    summary="Make fromId block toId (BLOCKS) or relate to it (RELATES_TO).",
    permission=Permission.WORK_CONNECT,
    effect=Effect.WRITE,
    project=_resolve_project,
    tool=Tool("manage_dependency", Group.CONTAINERS, "create"),
    http=Route("POST", "/projects/{project}/work/dependencies"),
)
DELETE = declare(
    delete_dependency,
    name="dependency.delete",
    summary="Delete a dependency.",
    permission=Permission.WORK_CONNECT,
    effect=Effect.WRITE,
    project=_resolve_project,
    tool=Tool("manage_dependency", Group.CONTAINERS, "delete"),
    http=Route("DELETE", "/projects/{project}/work/dependencies"),
)
LIST = declare(
    list_dependencies,
    name="container.dependencies",
    summary="Dependencies and dependents of one container.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_container_project(tx, ContainerType(request.container_type), request.id),
    tool=Tool("query_dependencies", Group.CONTAINERS),
    http=Route("GET", "/projects/{project}/work/{containerType}s/{id}/dependencies"),
)
