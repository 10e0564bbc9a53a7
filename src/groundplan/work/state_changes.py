"""The states of nodes before and after a write, and the changes of counts and lists that follow.

A state is a number of flags and the feature of the node, because a write can change a hundred thousand nodes: equal
states are counted together. The names of nodes are loaded only for those that an answer lists. Most resolves reach no
further than the parent of the node and the nodes that depend on it: then the states after them are derived, not loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from msgspec import Struct

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

# The flags in the SQL.
RESOLVED = 1
DROPPED = 2
READY = 4
BLOCKED = 8
IS_FEATURE = 16
IS_TASK = 32
IS_ABSENT = 64  # here only: of a node that the write brings back

# The conditions in the SQL.
STARTABLE = 1  # but for open children and dependencies
BLOCKED_OTHERWISE = 2

COUNT_NAMES = (
    "made",
    "total",
    "resolved",
    "dropped",
    "blocked",
    "actionable",
    "features",
    "tasks",
    "tasks_closed",
    "tasks_dropped",
)
TASK_COUNT_NAMES = COUNT_NAMES[-3:]
NO_TASK_COUNTS = dict.fromkeys(TASK_COUNT_NAMES, 0)

NodeFlags: TypeAlias = tuple[int, int | None]  # the flags and the feature of a node

sql = load_queries(__file__)


class NeighbourRow(Struct):
    """The state of a node, of its parent, or of a dependent, with the values that determine it."""

    n: int
    flags: int
    feature_n: int | None
    open_children: int
    open_deps: int
    conditions: int
    is_dependent: int


def derive_states(rows: Sequence[NeighbourRow], n: int) -> dict[int, NodeFlags] | None:
    """Return the states of a node and its neighbours as if the node were resolved and nothing else changed.

    None if a feature is among them, which could be closed or block what is below it, or if its parent depends on it.
    """
    states: dict[int, NodeFlags] = {}
    for row in rows:
        flags = row.flags
        if flags & IS_FEATURE or row.n in states:
            return None
        if row.n == n:
            flags = flags & IS_TASK | RESOLVED
        elif not flags & RESOLVED:
            open_children = row.open_children if row.is_dependent else row.open_children - 1
            flags &= ~(READY | BLOCKED)
            if row.open_deps - row.is_dependent or row.conditions & BLOCKED_OTHERWISE:
                flags |= BLOCKED
            elif not open_children and row.conditions & STARTABLE:
                flags |= READY
        states[row.n] = (flags, row.feature_n)
    return states


class StateChanges:
    """The states of the nodes that one write changes."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._before: dict[int, NodeFlags] = {}
        self._after: dict[int, NodeFlags] = {}
        self._changed: list[tuple[int, int, int]] = []  # number, flags before and after, of the nodes that still exist
        self._added = dict.fromkeys(COUNT_NAMES, 0)
        self._added_tasks: dict[int, int] = {}  # by feature

    def snapshot(self, ns: Iterable[int]) -> None:
        """Store the state of nodes before their first change in this write."""
        unseen = [n for n in ns if n not in self._before]
        if unseen:
            self._before.update(self._load(unseen))

    def remember(self, n: int, state: NodeFlags) -> None:
        """Store the state of a node that was read before its first change."""
        self._before.setdefault(n, state)

    def count_new_nodes(
        self, *, tasks_of: Mapping[int | None, int], blocked: int, actionable: int, features: int
    ) -> None:
        """Count nodes that this write created; `tasks_of` has the number of tasks by feature (None for no feature)."""
        tasks = sum(tasks_of.values())
        made = tasks + features
        _add_to_counts(self._added, made=made, total=made, blocked=blocked, actionable=actionable)
        _add_to_counts(self._added, tasks=tasks, features=features)
        for feature_n, count in tasks_of.items():
            if feature_n is not None:
                self._added_tasks[feature_n] = self._added_tasks.get(feature_n, 0) + count

    def was_feature(self, n: int) -> bool:
        """Return True if a node was a feature. Its state must have been stored."""
        return bool(self._before[n][0] & IS_FEATURE)

    def load_final_states(self, derived: Mapping[int, NodeFlags] | None = None) -> None:
        """Load the states after the last change, unless all of them were derived."""
        if derived is not None and derived.keys() == self._before.keys():
            self._after = dict(derived)
        else:
            self._after = self._load(self._before) if self._before else {}
        before = self._before
        self._changed = [(n, before[n][0], flags) for n, (flags, _) in self._after.items() if flags != before[n][0]]

    def is_final(self, n: int, flag: int) -> bool:
        """Return True if a node exists and has a flag after the write."""
        return n in self._after and bool(self._after[n][0] & flag)

    def is_open(self, n: int) -> bool:
        """Return True if a node exists and is open after the write."""
        return n in self._after and not self._after[n][0] & RESOLVED

    def list_newly_ready(self) -> list[int]:
        """Return the nodes that the write made ready."""
        return [n for n, before, after in self._changed if after & READY and not before & READY]

    def list_unblocked(self) -> set[int]:
        """Return the open nodes that the write unblocked."""
        return {n for n, before, after in self._changed if before & BLOCKED and not after & (BLOCKED | RESOLVED)}

    def list_opened(self) -> set[int]:
        """Return the nodes that the write opened."""
        return {n for n, (flags, _) in self._after.items() if self._before[n][0] & RESOLVED and not flags & RESOLVED}

    def list_opened_and_blocked(self) -> set[int]:
        """Return the nodes that the write opened and that are blocked."""
        return {n for n, before, after in self._changed if after & BLOCKED and before & RESOLVED}

    def update_counts(self) -> None:
        """Add the differences to the stored counts of the project and of its features."""
        deltas = dict(self._added)
        of_features = {feature_n: {**NO_TASK_COUNTS, "tasks": count} for feature_n, count in self._added_tasks.items()}
        for (flags, feature_n), count in self._count_differences().items():
            task_counts = _list_task_counts(flags)
            for name in (*_list_counts(flags), *task_counts):
                deltas[name] += count
            if feature_n is not None:
                tasks = of_features.setdefault(feature_n, dict(NO_TASK_COUNTS))
                for name in task_counts:
                    tasks[name] += count
        self._write_counts(deltas, of_features)

    def _count_differences(self) -> dict[NodeFlags, int]:
        """Return the differences of the counts of nodes in each state."""
        counts: dict[NodeFlags, int] = {}
        for n, before in self._before.items():
            after = self._after.get(n)
            if after == before:
                continue
            counts[before] = counts.get(before, 0) - 1
            if after is not None:  # else it was merged away or deleted
                counts[after] = counts.get(after, 0) + 1
        return counts

    def _write_counts(self, deltas: Mapping[str, int], of_features: Mapping[int, Mapping[str, int]]) -> None:
        in_project = {"project_id": self._tx.project.id}
        if any(deltas.values()):
            self._tx.run(sql.update_counts, **in_project, **deltas)
        for feature_n, tasks in of_features.items():
            if any(tasks.values()):
                self._tx.run(sql.update_feature_counts, **in_project, n=feature_n, **tasks)

    def _load(self, ns: Iterable[int]) -> dict[int, NodeFlags]:
        rows = self._tx.all(sql.node_flags, project_id=self._tx.project.id, ns=to_json_array(ns))
        return {n: (flags, feature_n) for n, flags, feature_n in rows}


def _add_to_counts(counts: dict[str, int], **changes: int) -> None:
    # Not a Counter: its `update` takes ten times as long, and every resolved node needs several.
    for name, change in changes.items():
        counts[name] += change


@cache
def _list_counts(flags: int) -> tuple[str, ...]:
    """Return the names of the project's counts that include a node with these flags, without the counts of tasks."""
    if flags & IS_ABSENT:
        return ()
    states = {
        "features": IS_FEATURE,
        "resolved": RESOLVED,
        "dropped": DROPPED,
        "blocked": BLOCKED,
        "actionable": READY,
    }
    return ("total", *(name for name, flag in states.items() if flags & flag))


@cache
def _list_task_counts(flags: int) -> tuple[str, ...]:
    """Return the names of the task counts that include a node with these flags."""
    if not flags & IS_TASK:
        return ()
    if flags & DROPPED:
        return "tasks", "tasks_dropped"
    return ("tasks", "tasks_closed") if flags & RESOLVED else ("tasks",)
