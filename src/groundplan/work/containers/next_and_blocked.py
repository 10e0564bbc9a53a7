"""The next task or feature to work on, and blocked ones, in one project or in all projects of the caller."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import DropField, Trimming
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.fields import LIMIT_MAX, ContainerId, Limit, Offset, get_priority_range
from groundplan.work.containers.refs import SearchScope, resolve_project, resolve_scope
from groundplan.work.containers.views import (
    Container,
    Feature,
    Task,
    compute_next_offset,
    load_containers,
    load_containers_at,
)

sql = load_queries(__file__)


# --- Next: tasks by priority, lower complexity and age; features that are active before new ones ---


class NextTask(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope (a project, a feature or all visible projects) and an optional priority."""

    project_id: Name | None = None
    feature_id: ContainerId | None = None
    priority: str | None = None


class _FreeTask(Struct):
    priority: float
    complexity: int
    created_at: str
    n: int


def next_task(tx: Transaction, request: NextTask) -> Task | None:
    """Return the best task that is neither claimed nor blocked, or none.

    Raises:
        NotFound: the feature does not exist.
    """
    scope = resolve_scope(tx, request.feature_id)
    least, below = get_priority_range(request.priority)
    candidates: list[tuple[float, int, str, str, int]] = []
    for project_id in scope.project_ids:
        parameters = {"project_id": project_id, "least": least, "below": below}
        if scope.feature_n is None:
            rows = tx.all(sql.next_tasks, _FreeTask, **parameters)
        else:
            rows = tx.all(sql.next_tasks_of_feature, _FreeTask, **parameters, feature_n=scope.feature_n)
        if rows:  # within a project the lower number is older, whatever the clock said
            best = min(rows, key=lambda row: (-row.priority, row.complexity, row.n))
            candidates.append((-best.priority, best.complexity, best.created_at, project_id, best.n))
    if not candidates:
        return None
    *_, project_id, n = min(candidates)
    task = load_containers(tx, project_id, [n])[n]
    assert isinstance(task, Task)  # noqa: S101 - a ready node is neither the root nor a feature
    return task


class NextFeature(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope (a project or all visible projects) and an optional priority."""

    project_id: Name | None = None
    priority: str | None = None


class _OpenFeature(Struct):
    is_new: bool
    priority: float
    created_at: str
    n: int


def next_feature(tx: Transaction, request: NextFeature) -> Feature | None:
    """Return the best feature that is not blocked, or none."""
    scope = resolve_scope(tx)
    least, below = get_priority_range(request.priority)
    candidates = []
    for project_id in scope.project_ids:
        rows = tx.all(sql.next_features, _OpenFeature, project_id=project_id, least=least, below=below)
        if rows:  # within a project the lower number is older, whatever the clock said
            best = min(rows, key=lambda row: (row.is_new, -row.priority, row.n))
            candidates.append((best.is_new, -best.priority, best.created_at, project_id, best.n))
    if not candidates:
        return None
    *_, project_id, n = min(candidates)
    feature = load_containers(tx, project_id, [n])[n]
    assert isinstance(feature, Feature)  # noqa: S101 - the query returns only features
    return feature


# --- Blocked ---


class QueryBlockedTasks(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope: a project, a feature, or all visible projects."""

    project_id: Name | None = None
    feature_id: ContainerId | None = None
    limit: Limit = LIMIT_MAX
    offset: Offset = 0


class QueryBlockedFeatures(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope: a project, or all visible projects."""

    project_id: Name | None = None
    limit: Limit = LIMIT_MAX
    offset: Offset = 0


class BlockedTasks(Struct, rename="camel"):
    """A page of blocked tasks, highest priority first, and their total number."""

    trimming: ClassVar[Trimming] = Trimming(DropField("items[].description"), DropField("items[].summary"))

    items: list[Task]
    count: int
    next_offset: int | UnsetType = UNSET  # of the next page; unset after the last


class BlockedFeatures(Struct, rename="camel"):
    """A page of blocked features, highest priority first, and their total number."""

    trimming: ClassVar[Trimming] = Trimming(DropField("items[].description"), DropField("items[].summary"))

    items: list[Feature]
    count: int
    next_offset: int | UnsetType = UNSET  # of the next page; unset after the last


class _BlockedRow(Struct):
    priority: float
    created_at: str
    n: int
    total: int


def blocked_tasks(tx: Transaction, request: QueryBlockedTasks) -> BlockedTasks:
    """Return the blocked tasks of a project, of a feature, or of all projects of the caller.

    Raises:
        NotFound: the feature does not exist.
    """
    containers, count = _list_blocked(tx, request, resolve_scope(tx, request.feature_id), is_feature=False)
    items = [item for item in containers if isinstance(item, Task)]
    return BlockedTasks(items, count, compute_next_offset(request.offset, len(items), count))


def blocked_features(tx: Transaction, request: QueryBlockedFeatures) -> BlockedFeatures:
    """Return the blocked features of a project or of all projects of the caller."""
    containers, count = _list_blocked(tx, request, resolve_scope(tx), is_feature=True)
    items = [item for item in containers if isinstance(item, Feature)]
    return BlockedFeatures(items, count, compute_next_offset(request.offset, len(items), count))


def _list_blocked(
    tx: Transaction, request: QueryBlockedTasks | QueryBlockedFeatures, scope: SearchScope, *, is_feature: bool
) -> tuple[list[Container], int]:
    """Return a page of blocked containers that fits the answer, and the number of all blocked containers."""
    positions = []
    count = 0
    page_end = request.offset + request.limit
    for project_id in scope.project_ids:
        parameters = {"project_id": project_id, "is_feature": is_feature, "feature_n": scope.feature_n}
        rows = tx.all(sql.blocked_containers, _BlockedRow, **parameters, at_most=page_end)
        count += rows[0].total if rows else 0
        positions += [(-row.priority, row.created_at, row.n, project_id) for row in rows]
    # The rows of one project are already in order; there the lower number is older, whatever the clock said.
    best = (positions if len(scope.project_ids) == 1 else sorted(positions))[request.offset : page_end]
    containers = load_containers_at(tx, [(project_id, n) for *_, n, project_id in best])
    frame = BlockedTasks([], count, next_offset=count)
    return tx.budget.reserve(frame).take_rows(containers, at_least=1), count


# --- Operations ---

NEXT_TASK = declare(
    next_task,
    name="container.next_task",
    summary="Best free NEW task: priority, complexity, age.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_project(tx, request.project_id, request.feature_id),
    without_project=Permission.PROJECT_LIST,
    tool=Tool("get_next_task", Group.CONTAINERS),
    http=Route("GET", "/projects/{project}/work/next-task"),
    other_routes=(Route("GET", "/organization/work/next-task"),),
)
NEXT_FEATURE = declare(
    next_feature,
    name="container.next_feature",
    summary="Feature to continue with: ACTIVE, then NEW.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("get_next_feature", Group.CONTAINERS),
    http=Route("GET", "/projects/{project}/work/next-feature"),
    other_routes=(Route("GET", "/organization/work/next-feature"),),
)
BLOCKED_TASKS = declare(
    blocked_tasks,
    name="container.blocked_tasks",
    summary="Blocked tasks with their blockers.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_project(tx, request.project_id, request.feature_id),
    without_project=Permission.PROJECT_LIST,
    tool=Tool("get_blocked_tasks", Group.CONTAINERS),
    http=Route("GET", "/projects/{project}/work/blocked-tasks"),
    other_routes=(Route("GET", "/organization/work/blocked-tasks"),),
)
BLOCKED_FEATURES = declare(
    blocked_features,
    name="container.blocked_features",
    summary="Blocked features with their blockers.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("get_blocked_features", Group.CONTAINERS),
    http=Route("GET", "/projects/{project}/work/blocked-features"),
    other_routes=(Route("GET", "/organization/work/blocked-features"),),
)
