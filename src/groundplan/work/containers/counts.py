"""Task counts by status for projects and features. Most are stored counters, updated with each change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from msgspec import Struct

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.pipeline import load_pipelines
from groundplan.work.kinds import ACTIVE, CLOSED, NEW, WILL_NOT_IMPLEMENT

sql = load_queries(__file__)


class TaskCounts(Struct, rename="camel"):
    """The number of tasks, in total and per status; statuses without tasks are left out."""

    total: int
    by_status: dict[str, int]


class _TaskCountsRow(Struct):
    tasks: int
    tasks_closed: int
    tasks_dropped: int


class _FeatureTaskCountsRow(_TaskCountsRow):
    n: int


def count_project_tasks(tx: Transaction, project_id: str) -> TaskCounts:
    """Return the task counts of a project."""
    started: Counter[str] = Counter(dict(tx.all(sql.started_counts, project_id=project_id)))
    started[ACTIVE] += sum(count for _, count in tx.all(sql.claimed_counts, project_id=project_id))
    return _build_counts(tx.one(sql.task_counts, _TaskCountsRow, project_id=project_id), started)


def count_feature_tasks(tx: Transaction, project_id: str, ns: Collection[int]) -> dict[int, TaskCounts]:
    """Return the task counts of some features, by their numbers."""
    started: dict[int | None, Counter[str]] = {}
    steps = to_json_array(load_pipelines(tx, project_id).task)
    rows = tx.all(sql.started_counts_of_features, project_id=project_id, ns=to_json_array(ns), steps=steps)
    for feature_n, status, count in rows:
        started.setdefault(feature_n, Counter())[status] += count
    # Claims are counted on each read, because they expire by the clock alone. There are never many.
    for feature_n, count in tx.all(sql.claimed_counts, project_id=project_id):
        started.setdefault(feature_n, Counter())[ACTIVE] += count
    found = tx.all(sql.task_counts_of_features, _FeatureTaskCountsRow, project_id=project_id, ns=to_json_array(ns))
    return {tasks.n: _build_counts(tasks, started.get(tasks.n, Counter())) for tasks in found}


def _build_counts(tasks: _TaskCountsRow, started: Counter[str]) -> TaskCounts:
    closed, dropped = tasks.tasks_closed, tasks.tasks_dropped
    new = tasks.tasks - closed - dropped - started.total()
    counted = {NEW: new, **dict(sorted(started.items())), CLOSED: closed, WILL_NOT_IMPLEMENT: dropped}
    return TaskCounts(tasks.tasks, {status: count for status, count in counted.items() if count})
