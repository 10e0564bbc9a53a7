"""List the dependencies and dependents of a task or a feature."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.answers import to_container_type
from groundplan.work.containers.dependencies.manage import DependencyType
from groundplan.work.containers.refs import resolve_container, resolve_container_project
from groundplan.work.containers.requests import ContainerId, ContainerType, WorkflowType
from groundplan.work.kinds import get_status
from groundplan.work.nodes import WorkNodeRow

DEPENDENCIES_SHOWN_MAX = 100

sql = load_queries(__file__)


class DependencyDirection(StrEnum):
    """The dependencies to list: its own, those of others on it, or both."""

    DEPENDENCIES = "dependencies"
    DEPENDENTS = "dependents"
    BOTH = "both"


class QueryDependencies(Struct, rename="camel", forbid_unknown_fields=True):
    """A task or a feature, and the direction of the dependencies."""

    id: ContainerId
    container_type: WorkflowType
    direction: DependencyDirection = DependencyDirection.BOTH


class ContainerDependency(Struct, rename="camel"):
    """The other end of a dependency."""

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
    """Return the first containers that the query finds, and how many more exist."""
    ends = tx.all(query, _DependencyRow, project_id=tx.project.id, n=node.n, at_most=DEPENDENCIES_SHOWN_MAX)
    found = [
        ContainerDependency(
            end.id,
            to_container_type(end.kind),
            end.summary,
            get_status(end, now=tx.now),
            DependencyType.BLOCKS if end.type == "depends_on" else DependencyType.RELATES_TO,
        )
        for end in ends
    ]
    return found, ends[0].total - len(ends) if ends else 0


LIST = declare(
    list_dependencies,
    name="container.dependencies",
    summary="Dependencies and dependents of one container.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_container_project(tx, ContainerType(request.container_type), request.id),
    tool=Tool("query_dependencies", Group.CONTAINERS),
    command=Command(("task", "dependencies"), arguments=("id",), fixed={"container_type": "task"}),
    aliases=(Command(("feature", "dependencies"), arguments=("id",), fixed={"container_type": "feature"}),),
    http=Route("GET", "/projects/{project}/work/{containerType}s/{id}/dependencies"),
)
