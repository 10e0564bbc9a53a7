"""Get the next task to work on: new and unclaimed, by priority, then lower complexity, then age."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.container import Task, load_containers
from groundplan.work.containers.refs import resolve_project, resolve_scope
from groundplan.work.containers.requests import ContainerId, get_priority_range

sql = load_queries(__file__)


class NextTask(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope, a project, a feature or all visible projects, and an optional priority."""

    project_id: Name | None = None
    feature_id: ContainerId | None = None
    priority: str | None = None


class _FreeTask(Struct):
    priority: float
    complexity: int
    created_at: str
    n: int


def next_task(tx: Transaction, request: NextTask) -> Task | None:
    """Return the best task that is neither claimed nor blocked, if there is one.

    Raises:
        NotFound: the feature does not exist.
    """
    place = resolve_scope(tx, request.feature_id)
    least, below = get_priority_range(request.priority)
    found: list[tuple[float, int, str, str, int]] = []
    for project_id in place.project_ids:
        asked = {"project_id": project_id, "least": least, "below": below}
        if place.feature_n is None:
            rows = tx.all(sql.next_tasks, _FreeTask, **asked)
        else:
            rows = tx.all(sql.next_tasks_of_feature, _FreeTask, **asked, feature_n=place.feature_n)
        if rows:  # within a project the lower number is older, whatever the clock said
            best = min(rows, key=lambda row: (-row.priority, row.complexity, row.n))
            found.append((-best.priority, best.complexity, best.created_at, project_id, best.n))
    if not found:
        return None
    *_, project_id, n = min(found)
    task = load_containers(tx, project_id, [n])[n]
    assert isinstance(task, Task)  # noqa: S101 - a ready node is neither the root nor a feature
    return task


NEXT_TASK = declare(
    next_task,
    name="container.next_task",
    summary="Best free NEW task: priority, complexity, age.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_project(tx, request.project_id, request.feature_id),
    without_project=Permission.PROJECT_LIST,
    tool=Tool("get_next_task", Group.CONTAINERS),
    command=Command(("task", "next"), names={"project_id": "project", "feature_id": "feature"}),
    http=Route("GET", "/projects/{project}/work/next-task"),
    other_routes=(Route("GET", "/organization/work/next-task"),),
)
