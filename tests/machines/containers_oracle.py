"""An oracle of both dialects on one work graph: features, statuses, holds and pipelines on top of `Work`.

Nothing derived is stored: status, feature, blockers and counts are computed from the tree, the edges, the holds and the
facts of each node at every request. Errors have the codes of the container contract.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from tests.machines.work_oracle import (
    DEPENDS_ON,
    ROOT,
    Answer,
    Edge,
    Item,
    Node,
    Policies,
    Refusal,
    Work,
    same_node,
)

FEATURE, TASK = "feature", "task"
NEW, ACTIVE, CLOSED, WILL_NOT_IMPLEMENT = "NEW", "ACTIVE", "CLOSED", "WILL_NOT_IMPLEMENT"
RELATES_TO = "relates_to"
USUAL = {TASK: (NEW, ACTIVE, "TO_BE_TESTED", CLOSED), FEATURE: (NEW, ACTIVE, "READY_TO_PROD", CLOSED)}
NUMBERS = {"HIGH": 3, "MEDIUM": 2, "LOW": 1}
COMPLEXITY_ABSENT = 11
NO_OP = "NO_OP"


class TaskCounts(NamedTuple):
    """The number of tasks, and how many ended in each way."""

    tasks: int
    closed: int
    dropped: int


class StatusChange(NamedTuple):
    """A node's change of status."""

    n: int
    before: str
    after: str


@dataclass(frozen=True)
class NewContainer:
    """A feature or a task to create."""

    kind: str
    title: str
    feature: int | None = None
    priority: str | None = None
    complexity: int | None = None
    description: str | None = None
    tags: Sequence[str] = ()


@dataclass(frozen=True)
class ContainerAnswer(Answer):
    """What a call of the container dialect should answer, as far as the graph decides."""

    verb: str = ""
    n: int = ROOT
    turn: StatusChange | None = None
    feature_turn: StatusChange | None = None  # of the nearest feature that changed too
    dependents: tuple[int, ...] = ()  # open nodes that waited for it, or for what ended with it
    dependents_of_features: tuple[int, ...] = ()  # nodes that waited for features that ended with it
    unblocked: tuple[int, ...] = ()  # those that wait for nothing more
    unblocked_by_features: tuple[int, ...] = ()
    blockers: tuple[int | str, ...] = ()  # added or removed blockers
    ends: tuple[int, int, str] = (ROOT, ROOT, "")  # ends of a dependency, and its type
    reason: str | None = None
    deleted: tuple[int, ...] = ()


class Containers(Work):
    """One project in two dialects."""

    def __init__(self, goal: str, agent: str, now: int, policies: Policies | None = None) -> None:
        super().__init__(goal, agent, now, policies)
        self.pipelines: Mapping[str, tuple[str, ...]] = USUAL
        self.deleted: dict[int, Node] = {}  # with their history
        self.tags: dict[int, frozenset[str]] = {}
        self._turned: list[StatusChange] = []  # features changed by the current call

    def copy(self) -> Self:
        twin = super().copy()
        twin.deleted, twin.tags = dict(self.deleted), dict(self.tags)
        return twin

    # Definitions.

    def all_nodes(self) -> dict[int, Node]:
        return super().all_nodes() | self.deleted

    def is_feature(self, n: int) -> bool:
        return self.nodes[n].kind == FEATURE

    def kind(self, n: int) -> str:
        """Return a node's kind in the container dialect; one without a kind is a task."""
        return self.nodes[n].kind or TASK

    def feature(self, n: int) -> int | None:
        """Return the nearest feature above."""
        return next((above for above in self.ancestors(n) if self.is_feature(above)), None)

    def status(self, n: int, now: int) -> str:
        node = self.nodes[n]
        if node.resolved:
            return CLOSED if node.outcome is None else WILL_NOT_IMPLEMENT
        return node.status or (ACTIVE if node.is_claimed(now) else NEW)

    def waits(self, n: int) -> bool:
        """Return whether the node itself waits, open or not."""
        return self.open_deps(n) > 0 or self.nodes[n].held is not None

    def blocked_above(self, n: int) -> int:
        """Return how many ancestors wait and block their descendants."""
        return sum(self.waits(above) for above in self.holders(n))

    def is_actionable(self, n: int) -> bool:
        node = self.nodes[n]
        if node.held is not None or node.status not in (None, ACTIVE) or self.is_feature(n):
            return False
        return super().is_actionable(n)

    def is_blocked(self, n: int) -> bool:
        return not self.nodes[n].resolved and (self.waits(n) or self.blocked_above(n) > 0)

    def complexity(self, n: int) -> int:
        """Return the complexity for ranking; tasks without one come last."""
        given = self.nodes[n].properties.get("complexity")
        if not isinstance(given, int) or isinstance(given, bool):
            return COMPLEXITY_ABSENT
        return given if 1 <= given <= 10 else COMPLEXITY_ABSENT

    def related(self, n: int) -> set[int]:
        """Return related nodes in both directions."""
        ends = {end for edge in self.edges if edge.type == RELATES_TO and n in edge[::2] for end in edge[::2]}
        return ends - {n}

    def tasks(self) -> list[int]:
        return [n for n in self.nodes if n != ROOT and not self.is_feature(n)]

    def features(self) -> list[int]:
        return [n for n in self.nodes if self.is_feature(n)]

    def statuses(self, now: int, feature: int | None = None) -> Counter[str]:
        """Return the number of tasks by status."""
        return Counter(self.status(n, now) for n in self.tasks() if feature is None or self.feature(n) == feature)

    def tally(self, feature: int | None = None) -> TaskCounts:
        """Return the counts of a feature's own tasks, or of all tasks."""
        ends = [self.nodes[n] for n in self.tasks() if feature is None or self.feature(n) == feature]
        closed = sum(node.resolved and node.outcome is None for node in ends)
        return TaskCounts(len(ends), closed, sum(node.outcome is not None for node in ends))

    def holders(self, n: int) -> list[int]:
        inherits = self.policies.inherit_dependencies
        return [above for above in self.ancestors(n) if inherits or self.is_feature(above)]

    # Queries of the container dialect.

    def named_priority(self, n: int) -> str | None:
        number = self.nodes[n].priority
        if number == float("-inf"):
            return None
        return "HIGH" if number >= 3 else "MEDIUM" if number >= 2 else "LOW"

    def next_tasks(self, now: int, *, feature: int | None = None, priority: str | None = None) -> list[int]:
        """Return the tasks that can be started, best first."""
        return sorted(
            (
                n
                for n in self.actionable()
                if not self.nodes[n].is_claimed(now)
                and (feature is None or self.feature(n) == feature)
                and (priority is None or self.named_priority(n) == priority)
            ),
            key=lambda n: (-self.nodes[n].priority, self.complexity(n), n),
        )

    def next_features(self, now: int, *, priority: str | None = None) -> list[int]:
        return sorted(
            (
                n
                for n in self.features()
                if self.status(n, now) in (NEW, ACTIVE)  # features whose tasks nobody works on come first
                and not self.is_blocked(n)
                and (priority is None or self.named_priority(n) == priority)
            ),
            key=lambda n: (self.status(n, now) == NEW, -self.nodes[n].priority, n),
        )

    # Calls of the container dialect.

    def create(self, made: NewContainer, *, agent: str, now: int) -> ContainerAnswer:
        before = self.begin(agent)
        if made.feature is not None:
            made = replace(made, feature=self._meant(made.feature, FEATURE))
        n = self.last_n = self.last_n + 1
        given = {
            "priority": NUMBERS[made.priority or "MEDIUM"],
            "complexity": made.complexity,
            "description": made.description,
        }
        properties = {key: value for key, value in given.items() if value is not None}
        parent = made.feature or ROOT
        self.nodes[n] = Node(
            n, parent, made.title, now, agent, now, kind=made.kind, properties=properties, changed=self.writes
        )
        if made.tags:
            self.tags[n] = frozenset(made.tags)
        self.reopen_above(n, now)
        return self._told("create", before, n=n, created=(n,))

    def revise(
        self, n: int, kind: str, version: int, changes: Mapping[str, Any], *, agent: str, now: int
    ) -> ContainerAnswer:
        """Apply `update`: fields, priority, tags, another feature (None: none), and relations."""
        before = self.begin(agent)
        if kind == FEATURE:  # null changes nothing where there is nothing to remove
            foreign = {key: changes[key] for key in ("complexity", "feature") if key in changes}
            changes = {key: value for key, value in changes.items() if key not in foreign}
            if not changes or any(value is not None for value in foreign.values()):
                raise Refusal("VALIDATION_ERROR")
        n = self._meant(n, kind, version)
        if "feature" in changes:
            self._enter(n, changes["feature"], now)
        node = self.nodes[n]
        said = {key: changes[key] for key in ("description", "complexity") if key in changes}
        said |= {"priority": NUMBERS[changes["priority"]]} if "priority" in changes else {}
        properties = {key: value for key, value in {**node.properties, **said}.items() if value is not None}
        new = replace(node, summary=changes.get("title", node.summary), properties=properties)
        is_retagged = "tags" in changes and self._tag(n, changes["tags"])
        is_related = "related" in changes and self._relate(n, changes["related"], now)
        if is_retagged or is_related or not same_node(new, node):
            self._refuse_held(n, agent, now)
            self._record(new, "updated", now)
        return self._told("revise", before, n=n)

    def _enter(self, n: int, feature: int | None, now: int) -> None:
        """Move a task into a feature, or into none, unless it is already below it."""
        if feature is not None:
            feature = self._meant(feature, FEATURE)
        if self.feature(n) != feature:
            self._move(n, feature or ROOT, now)

    def _tag(self, n: int, tags: Sequence[str]) -> bool:
        before, after = self.tags.get(n, frozenset()), frozenset(tags)
        self.tags[n] = after
        return before != after

    def _relate(self, n: int, others: Sequence[int], now: int) -> bool:
        """Make these the only related nodes, whichever side the edges began."""
        others = [self.lead(other) for other in others]
        problems = {"NOT_FOUND" for other in others if other not in self.nodes}
        problems |= {"VALIDATION_ERROR"} if {n, ROOT} & set(others) else set()
        if problems:
            raise Refusal(*problems)
        before = self.related(n)
        for gone in before - set(others):
            if Edge(gone, RELATES_TO, n) in self.edges:
                self._record(self.nodes[gone], "disconnected", now)
            self.edges -= {Edge(n, RELATES_TO, gone), Edge(gone, RELATES_TO, n)}
        self.edges |= {Edge(n, RELATES_TO, new) for new in set(others) - before}
        return before != set(others)

    def advance(self, n: int, kind: str, version: int, *, agent: str, now: int) -> ContainerAnswer:
        before = self.begin(agent)
        n = self._meant(n, kind, version)
        status = self.status(n, now)
        if self.nodes[n].resolved:
            raise Refusal("INVALID_OPERATION")
        if self.is_blocked(n):
            raise Refusal("BLOCKED")
        steps = self.pipelines[kind]
        after = ACTIVE if self._is_left_by_another(n, agent, now) else steps[steps.index(status) + 1]
        return self._turn(before, n, after, "advanced", agent, now)

    def _is_left_by_another(self, n: int, agent: str, now: int) -> bool:
        """Return whether another agent started it and its claim expired: advancing then takes it over first."""
        node = self.nodes[n]
        is_lapsed = node.claim is not None and node.claim.agent != agent and not node.is_claimed(now)
        return node.status == ACTIVE and is_lapsed

    def revert(self, n: int, kind: str, version: int, *, agent: str, now: int) -> ContainerAnswer:
        before = self.begin(agent)
        n = self._meant(n, kind, version)
        status = self.status(n, now)
        if status in (NEW, WILL_NOT_IMPLEMENT):
            raise Refusal("INVALID_OPERATION")
        steps = self.pipelines[kind]
        return self._turn(before, n, steps[steps.index(status) - 1], "reverted", agent, now)

    def _turn(self, before: Self, n: int, after: str, action: str, agent: str, now: int) -> ContainerAnswer:
        """Move a node to a step of its pipeline, with all consequences."""
        node, status = self.nodes[n], self.status(n, now)
        if self.policies.claims == "enforced" and node.is_held_against(agent, now):
            raise Refusal("CONFLICT")
        verb = "advance" if action == "advanced" else "revert"
        if after == CLOSED:
            self._close(node, agent, now)
        else:
            self._warn_of_claim(node, "moved on", agent, now)
            moved = replace(node, resolved=False, status=None if after == NEW else after, claim=None)
            action = "reopened" if node.resolved else action
            if node.resolved:
                self.reopen_above(n, now)
            if after == ACTIVE and not self.is_feature(n):
                self._claim(moved, action, agent, now)
            else:
                self._record(moved, action, now)
        return self._told(verb, before, n=n, turn=StatusChange(n, status, after))

    def _close(self, node: Node, agent: str, now: int) -> None:
        if self.open_children(node.n):
            raise Refusal("INVALID_OPERATION")
        if self.policies.evidence == "require" and not node.evidence and not self.is_feature(node.n):
            raise Refusal("INVALID_OPERATION")
        self._warn_of_claim(node, "resolved", agent, now)
        self._record(replace(node, resolved=True, claim=None), "resolved", now)
        self._resolve_above(node.n, agent, now)

    def terminate(
        self, n: int, kind: str, version: int, reason: str | None, *, agent: str, now: int
    ) -> ContainerAnswer:
        before = self.begin(agent)
        n = self._meant(n, kind, version)
        status = self.status(n, now)
        if self.nodes[n].resolved:
            raise Refusal("INVALID_OPERATION")
        ended = [one for one in self.subtree(n) if not self.nodes[one].resolved]
        try:
            self._drop(n, reason or "terminated", agent, now)
        except Refusal:
            raise Refusal("CONFLICT") from None  # another agent holds a part of it
        return self._told(
            "terminate", before, n=n, turn=StatusChange(n, status, WILL_NOT_IMPLEMENT), ended=ended, reason=reason
        )

    def block(
        self,
        n: int,
        kind: str,
        version: int,
        by: Sequence[int | str],
        reason: str | None = None,
        *,
        agent: str,
        now: int,
    ) -> ContainerAnswer:
        before = self.begin(agent)
        n = self._meant(n, kind, version)
        if self.nodes[n].resolved:
            raise Refusal("INVALID_OPERATION")
        if NO_OP in by and reason is None:
            raise Refusal("VALIDATION_ERROR")
        added = [other for other in self._blockers(by) if self._connect(n, DEPENDS_ON, other)]
        node = self.nodes[n]
        if NO_OP not in by and (reason is not None or not before.open_deps(n)):
            node = replace(node, reason=reason)
        if NO_OP in by and node.held != reason:
            added += [NO_OP] if node.held is None else []
            node = replace(node, held=reason)
        if self.edges != before.edges:
            self._record(node, "connected", now)
        elif node != self.nodes[n]:
            self._record(node, "held" if node.held != self.nodes[n].held else "updated", now)
        return self._told("block", before, n=n, blockers=tuple(added))

    def unblock(
        self, n: int, kind: str, version: int, by: Sequence[int | str], *, agent: str, now: int
    ) -> ContainerAnswer:
        before = self.begin(agent)
        n = self._meant(n, kind, version)
        if NO_OP in by and self.nodes[n].held is None:
            raise Refusal("INVALID_OPERATION")
        removed = [other for other in self._blockers(by) if self._disconnect(n, DEPENDS_ON, other)]
        node = self.nodes[n]
        if NO_OP in by:
            removed.append(NO_OP)
            node = replace(node, held=None)
        if not self.open_deps(n):
            node = replace(node, reason=None)
        self._record(node, "unheld" if self.edges == before.edges else "disconnected", now)
        return self._told("unblock", before, n=n, blockers=tuple(removed))

    def _blockers(self, by: Sequence[int | str]) -> list[int | str]:
        """Return each blocker that a call names once."""
        return list(dict.fromkeys(self.lead(other) if isinstance(other, int) else other for other in by))

    def _connect(self, source: int, type_: str, target: int | str) -> bool:
        if isinstance(target, str):
            return False
        source, target = self._find_containers(source, target)
        edge = Edge(source, type_, target)
        is_new = edge not in self.edges
        self.edges |= {edge}
        if type_ == DEPENDS_ON and (source == target or self.has_loop()):
            raise Refusal("CIRCULAR_DEPENDENCY")
        return is_new

    def _disconnect(self, source: int, type_: str, target: int | str) -> bool:
        if isinstance(target, str):
            return False
        source, target = self._find_containers(source, target)
        edge = Edge(source, type_, target)
        if edge not in self.edges:
            raise Refusal("INVALID_OPERATION")
        self.edges -= {edge}
        return True

    def _find_containers(self, source: int, target: int) -> tuple[int, int]:
        source, target = self.lead(source), self.lead(target)
        if source not in self.nodes or target not in self.nodes:
            raise Refusal("NOT_FOUND")
        return source, target

    def depend(self, source: int, target: int, type_: str, *, agent: str, now: int) -> ContainerAnswer:
        """Apply `manage_dependency create`: the first blocks the second, or both are related."""
        before = self.begin(agent)
        source, target = self._find_containers(source, target)
        if ROOT in (source, target):
            raise Refusal("VALIDATION_ERROR")
        if type_ == "BLOCKS":
            is_new = self._connect(target, DEPENDS_ON, source)
        elif source == target:
            raise Refusal("CIRCULAR_DEPENDENCY")
        else:
            is_new = target not in self.related(source) and self._connect(source, RELATES_TO, target)
        if not is_new:
            raise Refusal("INVALID_OPERATION")
        n = target if type_ == "BLOCKS" else source
        self._record(self.nodes[n], "connected", now)
        return self._told("depend", before, n=n, ends=(source, target, type_))

    def undepend(self, source: int, target: int, type_: str, *, agent: str, now: int) -> ContainerAnswer:
        before = self.begin(agent)
        source, target = self._find_containers(source, target)
        if ROOT in (source, target):
            raise Refusal("VALIDATION_ERROR")
        sides = [Edge(target, DEPENDS_ON, source)]
        if type_ == "RELATES_TO":  # in both directions
            sides = [Edge(source, RELATES_TO, target), Edge(target, RELATES_TO, source)]
        edge = next((one for one in sides if one in self.edges), None)
        if edge is None:
            raise Refusal("NOT_FOUND")
        self.edges -= {edge}
        self._record(self.nodes[edge.source], "disconnected", now)
        return self._told("undepend", before, n=edge.source, ends=(source, target, type_))

    def delete(self, n: int, kind: str, version: int, *, cascade: bool, agent: str, now: int) -> ContainerAnswer:
        before = self.begin(agent)
        n = self._meant(n, kind, version)
        going = self.subtree(n)
        if len(going) > 1 and not cascade:
            raise Refusal("INVALID_OPERATION")
        if self.policies.claims == "enforced" and any(self.nodes[one].is_held_against(agent, now) for one in going):
            raise Refusal("CONFLICT")
        lost = {edge for edge in self.edges if edge.source in going or edge.target in going}
        self.edges -= lost
        for source in {edge.source for edge in lost} - set(going):
            self._record(self.nodes[source], "disconnected", now)
        for one in going:
            self._record(self.nodes[one], "deleted", now)
            self.deleted[one] = self.nodes.pop(one)
            self.tags.pop(one, None)
        return self._told("delete", before, n=n, ended=going, deleted=tuple(going))

    def set_pipelines(
        self, pipelines: Mapping[str, Sequence[str]], version: int, *, agent: str, now: int
    ) -> ContainerAnswer:
        before = self.begin(agent)
        if version != self.nodes[ROOT].rev:
            raise Refusal("CONFLICT")
        after = {kind: tuple(pipelines.get(kind, steps)) for kind, steps in self.pipelines.items()}
        if any(node.status and node.status not in after[self.kind(n)] for n, node in self.nodes.items()):
            raise Refusal("INVALID_OPERATION")
        if after != self.pipelines:
            self.pipelines = after
            self._record(self.nodes[ROOT], "updated", now)
        return self._told("set_pipelines", before)

    # Effects of a change.

    def _changed(self, old: Node, item: Item, agent: str, now: int) -> Node:
        new = super()._changed(old, item, agent, now)
        return replace(new, status=None) if item.release and old.status == ACTIVE and old.claim else new

    def begin(self, agent: str) -> Self:
        self._turned = []
        return super().begin(agent)

    def _claim(self, node: Node, action: str, agent: str, now: int) -> tuple[int, int, int | None]:
        """Claim a task; this makes its new feature active, and those above it."""
        claimed = super()._claim(node, action, agent, now)
        self._begin_features(self.feature(node.n), now)
        return claimed

    def _begin_features(self, feature: int | None, now: int) -> None:
        while feature is not None and self.status(feature, now) == NEW:
            self._record(replace(self.nodes[feature], status=ACTIVE), "advanced", now)
            self._turned.append(StatusChange(feature, NEW, ACTIVE))
            feature = self.feature(feature)

    def _move(self, n: int, new_parent: int, now: int) -> None:
        """Move a node; started work makes its new feature active."""
        before = self.feature(n) if n in self.nodes else None
        super()._move(n, new_parent, now)
        self._come_in(before, self.feature(n), self.subtree(n), now)

    def _come_in(self, left: int | None, entered: int | None, moved: Collection[int], now: int) -> None:
        is_begun = any(self.status(n, now) == ACTIVE and not self.is_feature(n) for n in moved)
        if left != entered and is_begun:
            self._begin_features(entered, now)

    def reopen_above(self, n: int, now: int) -> None:
        before = {above: self.status(above, now) for above in self.ancestors(n) if self.is_feature(above)}
        super().reopen_above(n, now)
        for feature, status in before.items():
            if status in (CLOSED, WILL_NOT_IMPLEMENT):
                self._turned.append(StatusChange(feature, status, ACTIVE))

    def merge_into(self, source: int, target: int, agent: str, now: int) -> None:
        """Merge two nodes; a hold on open work and tags move along. A feature and a task cannot merge."""
        self._find(source, target)
        if ROOT not in (source, target) and self.is_feature(source) != self.is_feature(target):
            raise Refusal("cannot_merge")
        old, tags = self.nodes[source], self.tags.pop(source, frozenset())
        moved = [n for n in self.subtree(source) if n != source]
        left, entered = (n if self.is_feature(n) else self.feature(n) for n in (source, target))
        super().merge_into(source, target, agent, now)
        self._come_in(left, entered, moved, now)
        if not old.resolved and self.nodes[target].held is None:
            self.nodes[target] = replace(self.nodes[target], held=old.held)
        if tags:
            self.tags[target] = self.tags.get(target, frozenset()) | tags

    def _resolve_above(self, n: int, agent: str, now: int) -> None:
        """Close a feature with its last task, whatever it waits for; other parents as in the graph dialect."""
        parent = self.nodes[n].parent
        if parent is None or not self.is_feature(parent):
            super()._resolve_above(n, agent, now)
            return
        if self.nodes[parent].resolved or self.open_children(parent):
            return
        status = self.status(parent, now)
        ends = [node for n, node in self.nodes.items() if self.feature(n) == parent]
        is_done = any(node.resolved and node.outcome is None for node in ends)
        self._warn_of_claim(self.nodes[parent], "resolved", agent, now)
        self._record(
            replace(self.nodes[parent], resolved=True, outcome=None if is_done else "dropped", claim=None),
            "resolved" if is_done else "dropped",
            now,
        )
        self._auto_resolved.append(parent)
        self._turned.append(StatusChange(parent, status, self.status(parent, now)))
        self._resolve_above(parent, agent, now)

    def _record(self, node: Node, action: str, now: int) -> None:
        """Record an event; a resolved node has no status, and a reopened feature is active."""
        if node.resolved:
            node = replace(node, status=None)
        elif self.nodes[node.n].resolved and node.kind == FEATURE and node.status is None:
            node = replace(node, status=ACTIVE)
        super()._record(node, action, now)

    def _meant(self, n: int, kind: str, version: int | None = None) -> int:
        """Return the container that a call names."""
        n = self.lead(n)
        if n not in self.nodes or n == ROOT or self.kind(n) != kind:
            raise Refusal("NOT_FOUND")
        if version is not None and version != self.nodes[n].rev:
            raise Refusal("CONFLICT")
        return n

    def _told(
        self, verb: str, before: Self, *, n: int = ROOT, ended: Collection[int] = (), **told: Any
    ) -> ContainerAnswer:
        """Return the answer: which nodes waited for what ended, and which of them are free now."""
        if self.has_loop():
            raise Refusal("CIRCULAR_DEPENDENCY")
        freed = before.blocked() - self.blocked()
        closed = {turn.n for turn in self._turned if turn.after in (CLOSED, WILL_NOT_IMPLEMENT)}
        parents = {one for one in self._auto_resolved if one in self.nodes and self.nodes[one].kind != FEATURE}
        own, of_features = self._waiting_now(before, {n, *ended, *parents}), self._waiting_now(before, closed)
        return ContainerAnswer(
            verb=verb,
            n=n,
            warnings=tuple(self._warnings),
            feature_turn=self._turned[0] if self._turned else None,
            dependents=own,
            dependents_of_features=of_features,
            unblocked=tuple(one for one in own if one in freed),
            unblocked_by_features=tuple(one for one in of_features if one in freed and one not in own),
            **told,
        )

    def _waiting_now(self, before: Self, ended: Collection[int]) -> tuple[int, ...]:
        """Return the open nodes that waited for one of these."""
        waited = sorted(one for one in before.nodes if set(ended) & set(before.waits_for(one)))
        return tuple(one for one in waited if one in self.nodes and not self.nodes[one].resolved)
