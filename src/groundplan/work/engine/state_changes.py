"""The states of nodes before and after a write, and what follows from the differences: counts and lists of nodes.

A state is a number of flags and the feature of the node, because a write can change a hundred thousand nodes: equal
states are counted together. The names of nodes are loaded only for those that an answer lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

# The flags of `node_flags` in queries.sql.
RESOLVED = 1
DROPPED = 2
READY = 4
BLOCKED = 8
IS_FEATURE = 16
IS_TASK = 32

COUNT_NAMES = (
    "made",
    "total",
    "resolved",
    "blocked",
    "actionable",
    "features",
    "tasks",
    "tasks_closed",
    "tasks_dropped",
)
NO_TASK_COUNTS = dict.fromkeys(COUNT_NAMES[-3:], 0)

NodeFlags: TypeAlias = tuple[int, int | None]  # the flags and the feature of a node

sql = load_queries(__file__)


class StateChanges:
    """The states of the nodes that one write changes."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._before: dict[int, NodeFlags] = {}
        self._after: dict[int, NodeFlags] = {}
        self._added = dict.fromkeys(COUNT_NAMES, 0)
        self._added_tasks: dict[int, int] = {}  # by feature

    def snapshot(self, ns: Iterable[int]) -> None:
        """Remember the state of nodes before their first change in this write."""
        unseen = [n for n in ns if n not in self._before]
        if unseen:
            self._before.update(self._load(unseen))

    def count_new_nodes(
        self, *, tasks_of: Mapping[int | None, int], blocked: int, actionable: int, features: int
    ) -> None:
        """Count nodes that this write created; `tasks_of` has the number of tasks by feature (None for no feature)."""
        tasks = sum(tasks_of.values())
        _add(self._added, made=tasks + features, total=tasks + features, blocked=blocked, actionable=actionable)
        _add(self._added, tasks=tasks, features=features)
        for feature_n, count in tasks_of.items():
            if feature_n is not None:
                self._added_tasks[feature_n] = self._added_tasks.get(feature_n, 0) + count

    def was_feature(self, n: int) -> bool:
        """Return whether a node is a feature; it must have been remembered."""
        return bool(self._before[n][0] & IS_FEATURE)

    def load_final_states(self) -> None:
        """Load the states after the last change."""
        self._after = self._load(self._before) if self._before else {}

    def is_final(self, n: int, flag: int) -> bool:
        """Return whether a node that still exists has a flag after the write."""
        return n in self._after and bool(self._after[n][0] & flag)

    def is_open(self, n: int) -> bool:
        """Return whether a node still exists and is open after the write."""
        return n in self._after and not self._after[n][0] & RESOLVED

    def list_newly_ready(self) -> list[int]:
        """Return the nodes that the write made ready."""
        return [n for n, (flags, _) in self._after.items() if flags & READY and not self._before[n][0] & READY]

    def list_unblocked(self) -> set[int]:
        """Return the open nodes that the write unblocked."""
        return {
            n
            for n, (flags, _) in self._after.items()
            if self._before[n][0] & BLOCKED and not flags & (BLOCKED | RESOLVED)
        }

    def list_opened(self) -> set[int]:
        """Return the nodes that the write opened."""
        return {n for n, (flags, _) in self._after.items() if self._before[n][0] & RESOLVED and not flags & RESOLVED}

    def list_opened_and_blocked(self) -> set[int]:
        """Return the nodes that the write opened and that are blocked."""
        return {n for n, (flags, _) in self._after.items() if flags & BLOCKED and self._before[n][0] & RESOLVED}

    def update_counts(self) -> None:
        """Add the differences to the stored counts of the project and of its features."""
        changed = Counter(self._after.values())
        changed.subtract(self._before.values())
        deltas = dict(self._added)
        of_features = {feature_n: {**NO_TASK_COUNTS, "tasks": count} for feature_n, count in self._added_tasks.items()}
        for (flags, feature_n), count in changed.items():
            if not count:
                continue
            _add(
                deltas,
                total=count,
                features=count * bool(flags & IS_FEATURE),
                resolved=count * bool(flags & RESOLVED),
                blocked=count * bool(flags & BLOCKED),
                actionable=count * bool(flags & READY),
            )
            tasks = _count_tasks(flags, count)
            _add(deltas, **tasks)
            if feature_n is not None:
                _add(of_features.setdefault(feature_n, dict(NO_TASK_COUNTS)), **tasks)
        self._write_counts(deltas, of_features)

    def _write_counts(self, deltas: Mapping[str, int], of_features: Mapping[int, Mapping[str, int]]) -> None:
        place = {"project_id": self._tx.project.id}
        if any(deltas.values()):
            self._tx.run(sql.update_counts, **place, **deltas)
        for feature_n, tasks in of_features.items():
            if any(tasks.values()):
                self._tx.run(sql.update_feature_counts, **place, n=feature_n, **tasks)

    def _load(self, ns: Iterable[int]) -> dict[int, NodeFlags]:
        rows = self._tx.all(sql.node_flags, project_id=self._tx.project.id, ns=to_json_array(ns))
        return {n: (flags, feature_n) for n, flags, feature_n in rows}


def _add(counts: dict[str, int], **changes: int) -> None:
    # Not a Counter: its `update` takes ten times as long, and every resolved node needs several.
    for name, change in changes.items():
        counts[name] += change


def _count_tasks(flags: int, count: int) -> dict[str, int]:
    """Return what so many nodes with these flags add to the task counts of their project and of their feature."""
    if not flags & IS_TASK:
        return {}
    is_dropped = bool(flags & DROPPED)
    is_closed = bool(flags & RESOLVED) and not is_dropped
    return {"tasks": count, "tasks_closed": count * is_closed, "tasks_dropped": count * is_dropped}
