"""How many tasks there are at each status, of a project and of its features: counted as they change, not when asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from msgspec import Struct

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.pipeline import pipelines_of
from groundplan.work.engine.statuses import ACTIVE, CLOSED, NEW, WILL_NOT_IMPLEMENT

sql = load_queries(__file__)


class TaskCounts(Struct, rename="camel"):
    """How many tasks there are, and how many at each status that some have."""

    total: int
    by_status: dict[str, int]


class _Tasks(Struct):
    tasks: int
    tasks_closed: int
    tasks_dropped: int


class _TasksOfFeature(_Tasks):
    n: int


def counts_of_project(tx: Transaction, project_id: str) -> TaskCounts:
    """The tasks of a project."""
    begun: Counter[str] = Counter(dict(tx.all(sql.started_counts, project_id=project_id)))
    begun[ACTIVE] += sum(count for _, count in tx.all(sql.claimed_counts, project_id=project_id))
    return _counts(tx.one(sql.task_counts, _Tasks, project_id=project_id), begun)


def counts_of_features(tx: Transaction, project_id: str, ns: Collection[int]) -> dict[int, TaskCounts]:
    """The tasks of some features, by their numbers."""
    begun: dict[int | None, Counter[str]] = {}
    steps = to_json_array(pipelines_of(tx, project_id).task)
    rows = tx.all(sql.started_counts_of_features, project_id=project_id, ns=to_json_array(ns), steps=steps)
    for feature_n, status, count in rows:
        begun.setdefault(feature_n, Counter())[status] += count
    # Who works on what is looked at, because a claim ends by the clock alone; of that there is never much.
    for feature_n, count in tx.all(sql.claimed_counts, project_id=project_id):
        begun.setdefault(feature_n, Counter())[ACTIVE] += count
    found = tx.all(sql.task_counts_of_features, _TasksOfFeature, project_id=project_id, ns=to_json_array(ns))
    return {tasks.n: _counts(tasks, begun.get(tasks.n, Counter())) for tasks in found}


def _counts(tasks: _Tasks, begun: Counter[str]) -> TaskCounts:
    closed, dropped = tasks.tasks_closed, tasks.tasks_dropped
    new = tasks.tasks - closed - dropped - begun.total()
    counted = {NEW: new, **dict(sorted(begun.items())), CLOSED: closed, WILL_NOT_IMPLEMENT: dropped}
    return TaskCounts(tasks.tasks, {status: count for status, count in counted.items() if count})
