"""Get a project, a feature or a task with its contents and task counts, or list containers."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import Budget
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.work.containers.answers import OneContainer, compute_next_offset, load_container_into
from groundplan.work.containers.container import Feature, Task, load_containers
from groundplan.work.containers.counts import TaskCounts, count_feature_tasks, count_project_tasks
from groundplan.work.containers.refs import SearchScope, resolve_container, resolve_container_project, resolve_project
from groundplan.work.containers.requests import LIMIT, ContainerId, ContainerType, Limit, Offset, StringList
from groundplan.work.containers.search import ContainerMatches, ContainerPage, SearchContainers, find_matches, search


class QueryOverview(Struct, rename="camel", forbid_unknown_fields=True):
    """A container and a page of its contents; without an id, a page of containers of one type."""

    container_type: ContainerType
    id: ContainerId | None = None
    status: str | None = None
    priority: str | None = None
    tags: StringList | None = None
    project_id: Name | None = None
    feature_id: ContainerId | None = None
    limit: Limit = LIMIT
    offset: Offset = 0


class FeatureLine(Struct, rename="camel"):
    """A feature in the overview of its project."""

    id: str
    name: str
    status: str
    priority: str | None
    is_blocked: bool
    version: int
    task_counts: TaskCounts


class TaskLine(Struct, rename="camel"):
    """A task in the overview of its feature."""

    id: str
    title: str
    status: str
    priority: str | None
    complexity: int | None
    is_blocked: bool
    version: int


class ContainerOverview(OneContainer, kw_only=True):
    """A container with a page of its contents."""

    task_counts: TaskCounts | UnsetType = UNSET
    features: list[FeatureLine] | UnsetType = UNSET
    tasks: list[TaskLine] | UnsetType = UNSET
    next_offset: int | UnsetType = UNSET  # of the next page; unset after the last


def overview(tx: Transaction, request: QueryOverview) -> ContainerPage | ContainerOverview:
    """Return a container with its contents; without an id, a page of containers of one type.

    Raises:
        NotFound: the container or the feature does not exist.
    """
    if request.id is None:
        listing = _build_listing(request, request.container_type)
        listing.feature_id = request.feature_id
        return search(tx, listing)
    _refuse_list_filters(request)
    node = resolve_container(tx, request.container_type, request.id)
    answer = ContainerOverview()
    load_container_into(answer, tx, node.n)
    if request.container_type is ContainerType.PROJECT:
        answer.task_counts = count_project_tasks(tx, tx.project.id)
        places = find_matches(tx, _build_listing(request, ContainerType.FEATURE), SearchScope([tx.project.id]))
        answer.features = _compute_lines_budget(tx).take_rows(_build_feature_lines(tx, places), at_least=1)
        answer.next_offset = compute_next_offset(request.offset, len(answer.features), places.total)
    elif request.container_type is ContainerType.FEATURE:
        answer.task_counts = count_feature_tasks(tx, tx.project.id, [node.n])[node.n]
        places = find_matches(tx, _build_listing(request, ContainerType.TASK), SearchScope([tx.project.id], node.n))
        answer.tasks = _compute_lines_budget(tx).take_rows(_build_task_lines(tx, places), at_least=1)
        answer.next_offset = compute_next_offset(request.offset, len(answer.tasks), places.total)
    return answer


def _refuse_list_filters(request: QueryOverview) -> None:
    """Reject filters that do not apply to the contents of a single container."""
    refused = {"project_id": "projectId", "feature_id": "featureId"}
    if request.container_type is ContainerType.TASK:  # a task has no contents to filter
        refused |= {"status": "status", "priority": "priority", "tags": "tags"}
    for name, wire in refused.items():
        if getattr(request, name) is not None:
            raise invalid_argument((wire,), "filters a list, and id names one container; leave one of them out")


def _build_listing(request: QueryOverview, container_type: ContainerType) -> SearchContainers:
    return SearchContainers(
        container_type,
        status=request.status,
        priority=request.priority,
        tags=request.tags,
        limit=request.limit,
        offset=request.offset,
    )


def _build_feature_lines(tx: Transaction, locations: ContainerMatches) -> list[FeatureLine]:
    ns = [n for _, n in locations.locations]
    containers = load_containers(tx, tx.project.id, ns)
    counts = count_feature_tasks(tx, tx.project.id, ns)
    lines = []
    for n in ns:
        if isinstance(it := containers[n], Feature):
            lines.append(FeatureLine(it.id, it.name, it.status, it.priority, _is_blocked(it), it.version, counts[n]))
    return lines


def _build_task_lines(tx: Transaction, locations: ContainerMatches) -> list[TaskLine]:
    ns = [n for _, n in locations.locations]
    containers = load_containers(tx, tx.project.id, ns)
    lines = []
    for n in ns:
        if isinstance(task := containers[n], Task):
            complexity = task.complexity
            lines.append(
                TaskLine(task.id, task.title, task.status, task.priority, complexity, _is_blocked(task), task.version)
            )
    return lines


def _is_blocked(container: Feature | Task) -> bool:
    return bool(container.blocked_by) or container.blocked_above is True


def _compute_lines_budget(tx: Transaction) -> Budget:
    """Return the budget of the listed rows. Trimming may drop texts of the container, but no rows of the page."""
    return tx.budget.share(6, of=10)


def _locate_overview(tx: Transaction, request: QueryOverview) -> str | None:
    if request.id is not None:
        return resolve_container_project(tx, request.container_type, request.id)
    return resolve_project(tx, request.project_id, request.feature_id)


OVERVIEW = declare(
    overview,
    name="container.overview",
    summary="With id: what is in it, and how much is done; else a list.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=_locate_overview,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("query_container", Group.CONTAINERS, "overview"),
    command=Command(
        ("task", "overview"),
        arguments=("id",),
        names={"project_id": "project", "feature_id": "feature", "tags": "tag"},
        fixed={"container_type": "task"},
    ),
    aliases=(
        Command(
            ("feature", "overview"),
            arguments=("id",),
            names={"project_id": "project", "tags": "tag"},
            fixed={"container_type": "feature"},
            without=("feature_id",),
        ),
        Command(
            ("project", "overview"),
            arguments=("id",),
            names={"tags": "tag"},
            fixed={"container_type": "project"},
            without=("project_id", "feature_id"),
        ),
    ),
    http=Route("GET", "/projects/{project}/work/overview/{containerType}s", without=("id",)),
    other_routes=(
        Route("GET", "/projects/{project}/work/{containerType}s/{id}/overview", without=("projectId",)),
        Route("GET", "/organization/work/overview/{containerType}s", without=("id",)),
    ),
)
