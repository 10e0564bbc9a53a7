"""Readiness is stored, not searched: every write keeps who is ready exact, and knows whom it made ready.

A node carries how many of its children are open, how many of the nodes it depends on are open, and how many of its
ancestors wait for something and pass that on: features do, and under the policy `inherit_dependencies` all. From these,
and from whether somebody holds it, the database itself derives `is_ready` and `is_blocked`. A change to one node
reaches its parent, whoever depends on it, and no further: only a reopened chain of ancestors, features that close with
their last task, and holding back or releasing a subtree, take more steps, set by set.

Before a neighbour is changed, how it stood is looked at once; when the write is done, all of them are looked at again.
The difference moves the counts of the project and of its features, and tells which nodes became ready.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from groundplan.kernel.audit import changed
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.edges import dependents
from groundplan.work.engine.features import FeatureStatusChange, begin_feature
from groundplan.work.engine.kinds import DROPPED, FEATURE, blocks_descendants
from groundplan.work.engine.node import NodeSummary
from groundplan.work.engine.root import ROOT_N
from groundplan.work.engine.row import is_claimed_by_another, rank
from groundplan.work.engine.statuses import ACTIVE, CLOSED, NEW, WILL_NOT_IMPLEMENT
from groundplan.work.events import WorkOp

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

sql = load_queries(__file__)


class NodeState(Struct):
    """How a node stands, and where it ranks."""

    n: int
    id: str
    summary: str
    parent_n: int | None
    kind: str | None
    feature_n: int | None
    resolved: bool
    outcome: str | None
    is_ready: bool
    is_blocked: bool
    priority: float
    depth: int
    updated_at: str

    @property
    def tally(self) -> dict[str, int]:
        """What it counts for among the tasks of its project and of its feature."""
        if self.n == ROOT_N or self.kind == FEATURE:
            return {}
        is_closed, is_dropped = self.resolved and self.outcome is None, self.outcome is not None
        return {"tasks": 1, "tasks_closed": int(is_closed), "tasks_dropped": int(is_dropped)}


class WaitingRow(Struct):
    """A node that waits for more or less than before."""

    n: int
    open_deps: int
    kind: str | None
    held_reason: str | None


class FinishedRow(Struct):
    """A node that has nothing left to do."""

    n: int
    parent_n: int | None
    id: str
    kind: str | None
    status: str | None
    claimed_by: str | None
    claimed_until: str | None
    evidence_total: int


class ReadinessChanges(NamedTuple):
    """What a write came to for others than those it was about."""

    newly_actionable: list[NodeSummary]
    reopened: list[NodeSummary]
    auto_resolved: list[str]
    unblocked: list[NodeState]  # open, and nothing holds them back any more


class Readiness:
    """What one write does to the readiness of nodes."""

    def __init__(self, tx: Transaction, *, decision: str | None) -> None:
        self._tx = tx
        self._project_id = tx.project.id
        self._decision = decision
        self._before: dict[int, NodeState] = {}
        self._added = Counter[str]()
        self._feature_count_deltas: dict[int, Counter[str]] = {}  # what changes in the counts of each
        self._reopened: dict[int, None] = {}
        self._auto_resolved: dict[int, str] = {}
        self.feature_status_changes: list[FeatureStatusChange] = []  # to other statuses, by what happened below them

    def snapshot(self, ns: Iterable[int]) -> None:
        """Remember how nodes stand before they change for the first time in this write."""
        unseen = [n for n in ns if n not in self._before]
        if unseen:
            self._before.update(self._load_states(unseen))

    def added(self, *, tasks_of: Mapping[int | None, int], blocked: int, actionable: int, features: int = 0) -> None:
        """Count nodes that this write made: so many tasks of each feature, or of none, and so many features."""
        tasks = sum(tasks_of.values())
        self._added.update(made=tasks + features, total=tasks + features, blocked=blocked, actionable=actionable)
        self._added.update(tasks=tasks, features=features)
        for feature_n, count in tasks_of.items():
            if feature_n is not None:
                self._feature_count_deltas.setdefault(feature_n, Counter())["tasks"] += count

    # --- What a change does to its neighbours ---

    def closed(self, parents: Mapping[int, int | None]) -> None:
        """Nodes (with their parents) were resolved: their dependents wait for less, their parents have less to do."""
        while parents:  # level by level: features are resolved with their last task, and under a policy all parents
            self.update_dependents(parents, by=-1)
            lost = Counter(parent for parent in parents.values() if parent is not None and parent not in parents)
            self._adjust_open_children(lost, sign=-1)
            parents = self._resolve_finished(lost)

    def opened(self, parents: Mapping[int, int | None]) -> None:
        """Nodes (with their parents) are open that were not: their dependents wait, and nothing above is finished."""
        self.update_dependents(parents, by=1)
        self.add_open_children(Counter(parent for parent in parents.values() if parent is not None))

    def add_open_children(self, counts: Mapping[int, int]) -> None:
        """Nodes get so many open children more; those that were resolved are reopened, and all above them."""
        self.snapshot(counts)
        for parent in self._tx.scalars(sql.resolved_nodes_among, project_id=self._project_id, ns=to_json_array(counts)):
            self.reopen(parent)
        self._adjust_open_children(counts, sign=1)

    def remove_open_children(self, parent: int, count: int = 1) -> None:
        """A node lost open children to another parent, or to a merge."""
        self._adjust_open_children({parent: count}, sign=-1)

    def update_dependents(self, targets: Collection[int], *, by: int) -> None:
        """Nodes were resolved (-1) or opened (+1): tell everybody who depends on them."""
        waiting = Counter(dependents(self._tx, targets))
        by_count: dict[int, list[int]] = {}
        for n, count in waiting.items():
            by_count.setdefault(count * by, []).append(n)
        for moved, ns in by_count.items():
            self.waits_for(ns, by=moved)

    def waits_for(self, ns: Collection[int], *, by: int) -> None:
        """Nodes wait for so many open nodes more or less."""
        self.snapshot(ns)
        rows = self._tx.all(
            sql.adjust_open_dependencies, WaitingRow, project_id=self._project_id, ns=to_json_array(ns), by=by
        )
        for row in rows:
            if row.held_reason is None and (row.open_deps - by > 0) != (row.open_deps > 0):
                self.propagate_waiting(row.n, row.kind, waits=row.open_deps > 0)

    def propagate_waiting(self, n: int, kind: str | None, *, waits: bool) -> None:
        """A node waits that did not, or does no more: what is below it is held back where the node passes that on."""
        if blocks_descendants(self._tx, kind):
            below = self._tx.scalars(sql.descendants, project_id=self._project_id, n=n)
            self.adjust_blocked_above(below, by=1 if waits else -1)

    def adjust_blocked_above(self, ns: Collection[int], *, by: int) -> None:
        """Nodes are held back by so many ancestors more or less."""
        if ns and by:
            self.snapshot(ns)
            self._tx.run(sql.adjust_blocked_above, project_id=self._project_id, ns=to_json_array(ns), by=by)

    @property
    def has_reopened(self) -> bool:
        """Whether a node was reopened so far."""
        return bool(self._reopened)

    def begun(self, feature_n: int | None) -> None:
        """Somebody works on a task of this feature: if it was new it is active now, and those above it."""
        if feature_n is not None:
            self.feature_status_changes += begin_feature(self._tx, feature_n, decision=self._decision)

    @property
    def auto_resolved_parents(self) -> list[int]:
        """The nodes that were resolved with the last of their children, features apart."""
        return [n for n in self._auto_resolved if self._before[n].kind != FEATURE]

    # --- What came of it ---

    def settle(self) -> ReadinessChanges:
        """Move the counts of the project, and say what the write came to."""
        after = self._load_states(self._before) if self._before else {}
        self._update_counts(after)
        newly = [now for n, now in after.items() if now.is_ready and not self._before[n].is_ready]
        # As it is in the end: what was reopened may have been resolved again, or merged away.
        reopened = [after[n] for n in self._reopened if n in after and not after[n].resolved]
        return ReadinessChanges(
            newly_actionable=[NodeSummary(one.id, one.summary) for one in sorted(newly, key=rank)],
            reopened=[NodeSummary(one.id, one.summary) for one in reopened],
            auto_resolved=[node_id for n, node_id in self._auto_resolved.items() if n in after and after[n].resolved],
            unblocked=[
                now
                for n, now in after.items()
                if self._before[n].is_blocked and not now.is_blocked and not now.resolved
            ],
        )

    def _update_counts(self, after: Mapping[int, NodeState]) -> None:
        moved = Counter(self._added)
        for n, was in self._before.items():
            now = after.get(n)
            moved["total"] += (now is not None) - 1
            moved["features"] += ((now is not None) - 1) * (was.kind == FEATURE)
            moved["resolved"] += (now is not None and now.resolved) - was.resolved
            moved["blocked"] += (now is not None and now.is_blocked) - was.is_blocked
            moved["actionable"] += (now is not None and now.is_ready) - was.is_ready
            for standing, sign in ((was, -1), (now, 1)):
                if standing is not None:
                    self._add_tally(moved, standing, sign)
        if any(moved.values()):
            self._tx.run(sql.update_counts, project_id=self._project_id, **{name: moved[name] for name in COUNT_NAMES})
        for feature_n, tasks in self._feature_count_deltas.items():
            if any(tasks.values()):
                deltas = {name: tasks[name] for name in ("tasks", "tasks_closed", "tasks_dropped")}
                self._tx.run(sql.update_feature_counts, project_id=self._project_id, n=feature_n, **deltas)

    def _add_tally(self, moved: Counter[str], standing: NodeState, sign: int) -> None:
        for name, count in standing.tally.items():
            moved[name] += sign * count
            if standing.feature_n is not None:
                self._feature_count_deltas.setdefault(standing.feature_n, Counter())[name] += sign * count

    def _load_states(self, ns: Iterable[int]) -> dict[int, NodeState]:
        rows = self._tx.all(sql.node_states, NodeState, project_id=self._project_id, ns=to_json_array(ns))
        return {row.n: row for row in rows}

    def _adjust_open_children(self, counts: Mapping[int, int], *, sign: int) -> None:
        if not counts:
            return
        self.snapshot(counts)
        by_count: dict[int, list[int]] = {}
        for parent, count in counts.items():
            by_count.setdefault(count, []).append(parent)
        for count, ns in by_count.items():
            self._tx.run(sql.adjust_open_children, project_id=self._project_id, ns=to_json_array(ns), by=sign * count)

    def reopen(self, n: int) -> None:
        """Reopen a node and every ancestor that is resolved; above an open node all are open already."""
        chain = self._tx.all(sql.resolved_ancestors, project_id=self._project_id, n=n)
        if not chain:
            return
        ns = [one for one, _ in chain]
        self.snapshot(ns)
        outcomes: dict[int, str] = dict(self._tx.all(sql.outcomes, project_id=self._project_id, ns=to_json_array(ns)))
        self._tx.run(sql.reopen_nodes, project_id=self._project_id, ns=to_json_array(ns))
        for one in ns:
            self._mark_reopened(one, outcome=outcomes.get(one))
        self.update_dependents(ns, by=1)
        # Each of them is an open child of the next; the first gets its own from the caller.
        self._adjust_open_children(Counter(parent for _, parent in chain if parent is not None), sign=1)

    def _mark_reopened(self, n: int, *, outcome: str | None) -> None:
        was = self._before[n]
        changes = [changed("resolved", True, False)]
        if outcome is not None:
            changes.append(changed("outcome", outcome, None))
        if was.kind == FEATURE:
            changes.append(changed("status", None, ACTIVE))
            self.feature_status_changes.append(
                FeatureStatusChange(was.id, WILL_NOT_IMPLEMENT if outcome else CLOSED, ACTIVE)
            )
        self._tx.record(WorkOp.REOPENED, was.id, *changes, decision=self._decision)
        self._reopened[n] = None

    def _resolve_finished(self, parents: Collection[int]) -> dict[int, int | None]:
        """Resolve those of these nodes that have nothing left to do; they, with their parents."""
        resolves_all = self._tx.project.policies.auto_resolve_parents
        asked = [n for n in parents if resolves_all or self._before[n].kind == FEATURE]
        resolved: dict[int, int | None] = {}
        if not asked:
            return resolved
        for row in self._tx.all(
            sql.finished_parents, FinishedRow, project_id=self._project_id, ns=to_json_array(asked)
        ):
            if row.kind == FEATURE:
                self._close_feature(row)
            elif self._may_resolve(row):
                self._resolve(row, outcome=None)
            else:
                continue
            resolved[row.n] = row.parent_n
        return resolved

    def _close_feature(self, row: FinishedRow) -> None:
        # One of which nothing was done was dropped, for all of it was.
        is_done = self._tx.one_or_none(sql.feature_has_done_node, project_id=self._project_id, n=row.n) is not None
        self._resolve(row, outcome=None if is_done else DROPPED)
        after = CLOSED if is_done else WILL_NOT_IMPLEMENT
        self.feature_status_changes.append(FeatureStatusChange(row.id, row.status or NEW, after))

    def _resolve(self, row: FinishedRow, *, outcome: str | None) -> None:
        self._tx.run(sql.resolve_nodes, project_id=self._project_id, ns=to_json_array([row.n]), outcome=outcome)
        changes = [changed("resolved", False, True)]
        if outcome is not None:
            changes.append(changed("outcome", None, outcome))
        op = WorkOp.RESOLVED if outcome is None else WorkOp.DROPPED
        self._tx.record(op, row.id, *changes, decision=self._decision)
        self._auto_resolved[row.n] = row.id

    def _may_resolve(self, row: FinishedRow) -> bool:
        """Whether the policies let a node be resolved by what happened below it: they bind the engine as well."""
        policies = self._tx.project.policies
        if policies.evidence == "require" and not row.evidence_total:
            return False
        return policies.claims == "soft" or not is_claimed_by_another(self._tx, row.claimed_by, row.claimed_until)
