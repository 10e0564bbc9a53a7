"""Stored readiness: every write updates the readiness of nodes exactly, and reports the nodes that became ready.

A node stores the number of its open children, of its open dependencies, and of the ancestors that wait and block what
is below them (features do; under the policy `inherit_dependencies` all nodes do). From these numbers, and from whether
the node is on hold, the database derives `is_ready` and `is_blocked`. A change to one node reaches its parent and its
dependents, and no further. Only three changes take more steps, set by set: reopening a chain of ancestors, closing
features with their last task, and blocking or unblocking a subtree.

The state of a node is read once before its first change, and again when the write is done. The differences update the
counts of the project and of its features, and show which nodes became ready.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from groundplan.kernel.audit import changed
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.claims import is_claimed_by_another
from groundplan.work.events import WorkOp
from groundplan.work.kinds import ACTIVE, CLOSED, DROPPED, FEATURE, NEW, WILL_NOT_IMPLEMENT
from groundplan.work.nodes import NodeSummary, list_claim_end, load_dependents, load_summaries
from groundplan.work.positions import Positions, blocks_descendants
from groundplan.work.state_changes import (
    IS_ABSENT,
    READY,
    RESOLVED,
    NeighbourRow,
    NodeFlags,
    StateChanges,
    derive_states,
)
from groundplan.work.waiting.cycles import CycleDetected, find_loop_through
from groundplan.work.waiting.order import ProjectOrder

sql = load_queries(__file__)


class WaitingRow(Struct):
    """A node whose number of open dependencies changed."""

    n: int
    open_deps: int
    kind: str | None
    held_reason: str | None


class FinishedNodeRow(Struct):
    """A node without remaining work."""

    n: int
    parent_n: int | None
    id: str
    kind: str | None
    status: str | None
    claimed_by: str | None
    claimed_at: str | None
    claimed_until: str | None
    blocked_above: int
    evidence_total: int


class ReopenedNodeRow(Struct):
    """A node that is reopened after a change below it."""

    n: int
    id: str
    kind: str | None
    outcome: str | None


class FeatureStatusChange(Struct, frozen=True):
    """A change of a feature's status that followed from its tasks."""

    id: str
    before: str
    after: str


class ReadinessChanges(Struct, frozen=True):
    """The effects of a write on nodes that are not in its request."""

    newly_actionable: list[int]
    reopened: list[NodeSummary]
    auto_resolved: list[str]
    unblocked: set[int]  # open, and no longer blocked


class Readiness:
    """The effects of one write on the readiness of nodes."""

    def __init__(
        self,
        tx: Transaction,
        *,
        decision: str | None,
        postpones_counts: bool = False,
        changes_one_node: bool = False,
    ) -> None:
        """With `postpones_counts`, the caller must call `write_counts` before it reads the counts of a node.

        With `changes_one_node`, the write resolves or reopens at most one node, and changes no other by itself.
        """
        self._tx = tx
        self._project_id = tx.project.id
        self._decision = decision
        self._postpones_counts = postpones_counts
        self._changes_one_node = changes_one_node
        self._open_children: dict[int, int] = {}  # by node: the changes that are not written yet
        self._open_deps: dict[int, int] = {}
        self._states = StateChanges(tx)
        self._neighbours: Sequence[NeighbourRow] = ()  # of the node that was loaded last
        self._dependents: dict[int, list[int]] = {}  # by node: those that were loaded with its state
        self._derived: dict[int, NodeFlags] | None = None  # the states after the write, if they follow from the others
        self._reopened: dict[int, None] = {}
        self._auto_resolved: dict[int, str] = {}
        self.ended_claims: dict[str, str] = {}  # by the id of a resolved node: the other actor whose claim was live
        self._loop_suspects: set[int] = set()
        self._unordered: set[int] = set()  # nodes whose keys are to be compared with what they wait for
        self._unstarted: set[int] = set()  # nodes that neither are nor have anything below them that was started
        self.positions = Positions(tx)
        self.feature_status_changes: list[FeatureStatusChange] = []  # that followed from changes below them

    def snapshot(self, ns: Iterable[int]) -> None:
        """Store the state of nodes before their first change in this write."""
        self._states.snapshot(ns)

    def snapshot_absent(self, n: int) -> None:
        """Store that a node which this write brings back is not there before."""
        self._states.remember(n, (IS_ABSENT, None))

    def snapshot_around(self, n: int, parent_n: int | None) -> None:
        """Store the states of a node, its parent and its dependents before the node is resolved or reopened."""
        rows = self._tx.all(sql.flags_around, NeighbourRow, project_id=self._project_id, n=n, parent_n=parent_n)
        self._neighbours = rows
        for row in rows:
            self._states.remember(row.n, (row.flags, row.feature_n))
        self._dependents[n] = [row.n for row in rows if row.is_dependent]

    def count_new_nodes(
        self,
        *,
        tasks_of: Mapping[int | None, int],
        blocked: int,
        actionable: int,
        features: int = 0,
    ) -> None:
        """Count nodes that this write created. `tasks_of` has the number of tasks by feature (None for no feature)."""
        self._states.count_new_nodes(tasks_of=tasks_of, blocked=blocked, actionable=actionable, features=features)

    def propagate_resolved(self, parents: Mapping[int, int | None]) -> None:
        """Update the dependents and parents of resolved nodes. `parents` maps each node to its parent."""
        policies = get_policies(self._tx)
        if self._changes_one_node and not policies.auto_resolve_parents and not policies.inherit_dependencies:
            [n] = parents
            self._derived = derive_states(self._neighbours, n)
        while parents:  # level by level: features, or by policy all parents, are resolved with their last child
            parents = self._resolve_finished(self.count_resolved(parents))

    def count_resolved(self, parents: Mapping[int, int | None]) -> dict[int, int]:
        """Update the counts around resolved nodes, and return how many open children their parents lost."""
        self.update_dependents(parents, by=-1)
        lost = _count(parent for parent in parents.values() if parent is not None and parent not in parents)
        self._adjust_open_children(lost, sign=-1)
        return lost

    def propagate_opened(self, parents: Mapping[int, int | None]) -> None:
        """Update the dependents and parents of opened nodes. `parents` maps each node to its parent."""
        self.update_dependents(parents, by=1)
        self.add_open_children(_count(parent for parent in parents.values() if parent is not None))

    def add_open_children(self, counts: Mapping[int, int]) -> None:
        """Increase the numbers of open children of nodes. Resolved ones are reopened, with their resolved ancestors."""
        self.snapshot(counts)
        for parent in self._tx.scalars(sql.resolved_nodes_among, project_id=self._project_id, ns=to_json_array(counts)):
            self.reopen(parent)
        self._adjust_open_children(counts, sign=1)

    def remove_open_children(self, parent: int, count: int = 1) -> None:
        """Decrease the number of open children of a node that lost them to another parent or to a merge."""
        self._adjust_open_children({parent: count}, sign=-1)

    def update_dependents(self, targets: Collection[int], *, by: int) -> None:
        """Update the dependents of nodes that were resolved (`by` is -1) or opened (`by` is 1)."""
        loaded = [self._dependents.pop(n, None) for n in targets]
        if None in loaded:
            waiting = _count(load_dependents(self._tx, targets))
        else:
            waiting = _count(n for dependents in loaded for n in dependents or ())
        if waiting:
            self._adjust_open_dependencies({n: count * by for n, count in waiting.items()})

    def adjust_open_dependencies(self, ns: Collection[int], *, by: int) -> None:
        """Add `by` to the number of open dependencies of nodes."""
        self._adjust_open_dependencies(dict.fromkeys(ns, by))

    def _adjust_open_dependencies(self, changes: Mapping[int, int]) -> None:
        self.snapshot(changes)
        _add_changes(self._open_deps, changes)
        if not self._postpones_counts:
            self.write_counts()

    def has_unwritten_counts(self, n: int) -> bool:
        """Return True if changes of the counts of a node are postponed."""
        return n in self._open_children or n in self._open_deps

    def write_counts(self, n: int | None = None) -> None:
        """Write the postponed changes of counts of one node, or of all nodes.

        A batch that resolves and reopens a node again and again would else change the rows around it each time, and on
        PostgreSQL every version of a row that a transaction has written makes the next one slower.
        """
        for by, ns in _take_changes(self._open_children, n).items():
            self._adjust(sql.adjust_open_children_of_one, sql.adjust_open_children, ns, by)
        for by, ns in _take_changes(self._open_deps, n).items():
            if self._derived is not None:  # nothing else follows from it
                self._adjust(sql.adjust_open_dependencies_of_one, sql.adjust_open_dependencies, ns, by)
                continue
            parameters = {"project_id": self._project_id, "ns": to_json_array(ns), "by": by}
            for row in self._tx.all(sql.adjust_and_list_waiting, WaitingRow, **parameters):
                if row.held_reason is None and (row.open_deps - by > 0) != (row.open_deps > 0):
                    self.propagate_waiting(row.n, row.kind)

    def _adjust(self, of_one: Query, of_many: Query, ns: list[int], by: int) -> None:
        if len(ns) == 1:
            self._tx.run(of_one, project_id=self._project_id, n=ns[0], by=by)
        else:
            self._tx.run(of_many, project_id=self._project_id, ns=to_json_array(ns), by=by)

    def propagate_waiting(self, n: int, kind: str | None) -> None:
        """Block or unblock the descendants of a node that begins or ceases to wait, if its kind blocks descendants."""
        if blocks_descendants(self._tx, kind):
            self.positions.mark_stale([n])

    def settle_positions(self) -> None:
        """Update the stored positions, before a statement that reads them for many nodes."""
        self.write_counts()
        self.positions.settle(self.snapshot)

    @property
    def has_reopened(self) -> bool:
        """True if this write has reopened a node so far."""
        return bool(self._reopened)

    def start_feature(self, feature_n: int | None) -> None:
        """Make a new feature and the new features above it active, because work on one of its tasks has begun."""
        while feature_n is not None and (started := begin_feature(self._tx, feature_n, decision=self._decision)):
            self.feature_status_changes.append(started.status_change)
            is_stale = self.positions.are_stale
            feature_n = self.positions.compute([feature_n])[feature_n].feature_n if is_stale else started.feature_n

    def has_started_work(self, n: int) -> bool:
        """Return True if a task of a feature was started and is still open."""
        return self._has_started_work([n])

    def _has_started_work(self, ns: Iterable[int]) -> bool:
        row = self._tx.one_or_none(sql.has_started_node, project_id=self._project_id, ns=to_json_array(ns))
        return row is not None

    def start_entered_feature(self, moved: Collection[int], entered: int | None) -> None:
        """Make the feature that nodes were moved into active, if it is new and work below it has begun."""
        if self._unstarted.issuperset(moved):
            return
        in_project = {"project_id": self._project_id}
        if entered is not None and self._tx.one_or_none(sql.is_new_feature, **in_project, n=entered):
            if not self._has_started_work(moved):
                self._unstarted.update(moved)
                return
            self.start_feature(entered)
        self._unstarted.clear()  # these nodes may now be below one of them

    @property
    def auto_resolved(self) -> list[int]:
        """The nodes that were resolved or dropped with their last open child in this write."""
        return list(self._auto_resolved)

    @property
    def auto_resolved_parents(self) -> list[int]:
        """The resolved nodes, except features, whose last open child was resolved in this write."""
        return [n for n in self._auto_resolved if not self._states.was_feature(n)]

    def check_for_loops(self, ns: Iterable[int], *, unordered: Iterable[int] | None = None) -> None:
        """Check that none of these nodes waits for itself at the end of the write.

        If `unordered` is given, all other nodes have keys that are greater than the keys of what they wait for.
        """
        suspects = set(ns)
        self._loop_suspects |= suspects
        self._unordered.update(suspects if unordered is None else unordered)

    def settle(self) -> ReadinessChanges:
        """Update the stored counts, and return the effects of the write."""
        self.settle_positions()
        self._states.load_final_states(self._derived)
        self._refuse_loops()
        self._states.update_counts()
        return ReadinessChanges(
            newly_actionable=self._states.list_newly_ready(),
            reopened=self._list_reopened(),
            auto_resolved=[n_id for n, n_id in self._auto_resolved.items() if self._states.is_final(n, RESOLVED)],
            unblocked=self._states.list_unblocked(),
        )

    def _refuse_loops(self) -> None:
        unordered = self._states.list_opened() | self._unordered
        if not (unordered or self._loop_suspects) or ProjectOrder(self._tx).add_nodes(unordered):
            return
        # A node that the write opened can be part of a loop only if one that it opened is blocked: the steps out of the
        # opened nodes are dependencies and inherited waiting, because a resolved node has no open children.
        opened = self._states.list_opened_and_blocked()
        suspects = {n for n in self._loop_suspects if not self._states.is_final(n, READY)}
        if (opened or suspects) and (loop := find_loop_through(self._tx, opened | suspects)) is not None:
            raise CycleDetected(loop)

    def _list_reopened(self) -> list[NodeSummary]:
        # By the final state: a reopened node may have been resolved again or merged away.
        ns = [n for n in self._reopened if self._states.is_open(n)]
        if not ns:
            return []
        summaries = load_summaries(self._tx, ns)
        return [summaries[n] for n in ns]

    def _adjust_open_children(self, counts: Mapping[int, int], *, sign: int) -> None:
        if not counts:
            return
        self.snapshot(counts)
        _add_changes(self._open_children, {n: sign * count for n, count in counts.items()})
        if not self._postpones_counts:
            self.write_counts()

    def reopen(self, n: int) -> None:
        """Reopen a node and its resolved ancestors."""
        chain = self._tx.all(sql.resolved_ancestors, project_id=self._project_id, n=n)
        if not chain:
            return
        ns = [reopened_n for reopened_n, _ in chain]
        self.snapshot(ns)
        rows = self._tx.all(sql.nodes_to_reopen, ReopenedNodeRow, project_id=self._project_id, ns=to_json_array(ns))
        by_n = {row.n: row for row in rows}
        self._tx.run(sql.reopen_nodes, project_id=self._project_id, ns=to_json_array(ns))
        for reopened_n in ns:
            self._record_reopened(by_n[reopened_n])
        self.update_dependents(ns, by=1)
        # Each reopened node is an open child of the next; the caller counts the open children of the first.
        self._adjust_open_children(_count(parent for _, parent in chain if parent is not None), sign=1)

    def _record_reopened(self, row: ReopenedNodeRow) -> None:
        changes = [changed("resolved", True, False)]
        if row.outcome is not None:
            changes.append(changed("outcome", row.outcome, None))
        if row.kind == FEATURE:
            changes.append(changed("status", None, ACTIVE))
            self.feature_status_changes.append(
                FeatureStatusChange(row.id, WILL_NOT_IMPLEMENT if row.outcome else CLOSED, ACTIVE)
            )
        self._tx.record(WorkOp.REOPENED, row.id, *changes, decision=self._decision)
        self._reopened[row.n] = None

    def _resolve_finished(self, parents: Collection[int]) -> dict[int, int | None]:
        """Resolve the given nodes without remaining work, and return them with their parents."""
        resolves_all = get_policies(self._tx).auto_resolve_parents
        candidates = [n for n in parents if resolves_all or self._states.was_feature(n)]
        resolved: dict[int, int | None] = {}
        if not candidates:
            return resolved
        self.write_counts()
        finished = self._tx.all(
            sql.finished_parents, FinishedNodeRow, project_id=self._project_id, ns=to_json_array(candidates)
        )
        for row in self._drop_blocked(finished):
            if row.kind == FEATURE:
                self._close_feature(row)
            elif self._may_resolve(row):
                self._resolve(row, outcome=None)
            else:
                continue
            resolved[row.n] = row.parent_n
        return resolved

    def _drop_blocked(self, rows: list[FinishedNodeRow]) -> list[FinishedNodeRow]:
        """Return the nodes that no ancestor blocks, and all features."""
        blocked_above = {row.n: row.blocked_above for row in rows}
        if rows and self.positions.are_stale:
            current = self.positions.compute(blocked_above)
            blocked_above = {n: current[n].blocked_above for n in blocked_above}
        return [row for row in rows if row.kind == FEATURE or not blocked_above[row.n]]

    def _close_feature(self, row: FinishedNodeRow) -> None:
        # A feature counts as dropped when all of its nodes were dropped.
        is_done = self._tx.one_or_none(sql.feature_has_done_node, project_id=self._project_id, n=row.n) is not None
        self._resolve(row, outcome=None if is_done else DROPPED)
        after = CLOSED if is_done else WILL_NOT_IMPLEMENT
        self.feature_status_changes.append(FeatureStatusChange(row.id, row.status or NEW, after))

    def _resolve(self, row: FinishedNodeRow, *, outcome: str | None) -> None:
        self._tx.run(sql.resolve_nodes, project_id=self._project_id, ns=to_json_array([row.n]), outcome=outcome)
        changes = [changed("resolved", False, True)]
        if outcome is not None:
            changes.append(changed("outcome", None, outcome))
        if row.status is not None:
            changes.append(changed("status", row.status, None))
        changes += list_claim_end(row)
        op = WorkOp.RESOLVED if outcome is None else WorkOp.DROPPED
        self._tx.record(op, row.id, *changes, decision=self._decision)
        self._auto_resolved[row.n] = row.id
        if is_claimed_by_another(self._tx, row.claimed_by, row.claimed_until):
            self.ended_claims[row.id] = str(row.claimed_by)

    def _may_resolve(self, row: FinishedNodeRow) -> bool:
        """Return True if the policies allow resolving a node automatically."""
        policies = get_policies(self._tx)
        if policies.evidence == "require" and not row.evidence_total:
            return False
        return policies.claims == "soft" or not is_claimed_by_another(self._tx, row.claimed_by, row.claimed_until)


class FeatureStart(Struct, frozen=True):
    """A feature that became active, and the number of the feature above it."""

    status_change: FeatureStatusChange
    feature_n: int | None


def begin_feature(tx: Transaction, feature_n: int, *, decision: str | None) -> FeatureStart | None:
    """Make a new feature active, or return None if it is not new."""
    row = tx.one_or_none(sql.begin_feature, project_id=tx.project.id, n=feature_n)
    if row is None:
        return None
    feature_id, above = row
    tx.record(WorkOp.ADVANCED, feature_id, changed("status", None, ACTIVE), decision=decision)
    return FeatureStart(FeatureStatusChange(feature_id, NEW, ACTIVE), above)


def begin_features(tx: Transaction, feature_n: int | None, *, decision: str | None) -> None:
    """Make a new feature and the new features above it active."""
    while feature_n is not None and (started := begin_feature(tx, feature_n, decision=decision)):
        feature_n = started.feature_n


def _count(ns: Iterable[int]) -> dict[int, int]:
    # Not a Counter: to make one takes longer than to count a few nodes.
    counts: dict[int, int] = {}
    for n in ns:
        counts[n] = counts.get(n, 0) + 1
    return counts


def _add_changes(pending: dict[int, int], changes: Mapping[int, int]) -> None:
    for n, change in changes.items():
        pending[n] = pending.get(n, 0) + change


def _take_changes(pending: dict[int, int], n: int | None) -> dict[int, list[int]]:
    """Remove the changes of one node, or all of them. Return the nodes by change, without zero changes."""
    by_change: dict[int, list[int]] = {}
    for changed_n in list(pending) if n is None else [n]:
        if change := pending.pop(changed_n, 0):
            by_change.setdefault(change, []).append(changed_n)
    return by_change
