"""The open nodes of a project in memory, and the effects of resolving some of them, as in `readiness.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from groundplan.kernel.input_gate.types import get_decoder
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.kinds import FEATURE

ESTIMATE_ABSENT = 1.0
ESTIMATE_MAX = 2.0**53  # so that the sum over any project is a number

sql = load_queries(__file__)


class OpenNode(NamedTuple):
    """An open node, with the values that determine its readiness."""

    n: int
    parent_n: int | None
    kind: str | None
    feature_n: int | None
    depth: int
    open_children: int
    open_deps: int
    blocked_above: int
    is_held: bool
    may_start: bool
    properties: str | None

    @property
    def is_work(self) -> bool:
        """True if the node can become actionable. The root and features cannot."""
        return self.parent_n is not None and self.kind != FEATURE

    @property
    def is_ready(self) -> bool:
        """True if the node can be started now, as in the column `ready`."""
        waits = self.open_children or self.open_deps or self.blocked_above or self.is_held
        return not waits and self.may_start and self.is_work


class EstimateProperty(Struct):
    """The only property that analyses read."""

    estimate: Any = None


class OpenGraph:
    """The open nodes of a project by number, and the dependencies between them."""

    def __init__(self, tx: Transaction) -> None:
        policies = get_policies(tx)
        self.inherits = policies.inherit_dependencies
        self.resolves_parents = policies.auto_resolve_parents
        rows = tx.all(sql.open_nodes, OpenNode, project_id=tx.project.id)
        self.nodes = {row.n: row for row in rows}
        self.dependencies = [
            (source, target)
            for source, target in tx.all(sql.open_dependencies, project_id=tx.project.id)
            if target in self.nodes
        ]
        self.dependents: dict[int, list[int]] = {}
        for source, target in self.dependencies:
            self.dependents.setdefault(target, []).append(source)

    def blocks(self, node: OpenNode) -> bool:
        """Return True if a waiting node blocks all of its descendants."""
        return self.inherits or node.kind == FEATURE

    def list_children(self) -> dict[int, list[int]]:
        """Return the open children of each node that has any."""
        children: dict[int, list[int]] = {}
        for node in self.nodes.values():
            if node.parent_n is not None:
                children.setdefault(node.parent_n, []).append(node.n)
        return children

    def get_estimate(self, node: OpenNode) -> float:
        """Return the amount of work of a node, which is its property `estimate`, or 1.

        The root and features are no work of their own, and neither is a parent that is resolved with its last child.
        """
        if not node.is_work or (self.resolves_parents and node.open_children):
            return 0.0
        if node.properties is None:
            return ESTIMATE_ABSENT
        return parse_estimate(get_decoder(EstimateProperty).decode(node.properties).estimate)


def parse_estimate(value: Any) -> float:
    """Return an estimate; 1 for a value that is not a number between 0 and ESTIMATE_MAX."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ESTIMATE_ABSENT
    return float(value) if 0 <= value <= ESTIMATE_MAX else ESTIMATE_ABSENT


# --- What would follow ------------------------------------------------------------------------------------------------

# Returns which nodes the policies allow to be resolved with their last child.
MayResolve = Callable[[Collection[int]], Collection[int]]


class Consequences(NamedTuple):
    """The nodes that would become actionable, and the nodes that would be resolved with their last child."""

    actionable: list[int]
    auto_resolved: list[int]


class WhatIf:
    """A calculation of effects on the open nodes of a project. Each call starts from the stored state."""

    def __init__(self, graph: OpenGraph, may_resolve: MayResolve) -> None:
        self._graph = graph
        self._may_resolve = may_resolve
        self._children: dict[int, list[int]] | None = None  # loaded when something below a node is unblocked
        self.steps = 0  # nodes that were looked at, over all questions

    def list_subtree(self, n: int) -> list[int]:
        """Return a node and its open descendants, parents first."""
        subtree = [n]
        for above in subtree:  # the list grows during the loop
            subtree += self._load_children().get(above, ())
        return subtree

    def resolve(self, ns: Iterable[int]) -> Consequences:
        """Return the effects of resolving open nodes that have no open children or are resolved with descendants."""
        state = _State(self._graph)
        level = {n: self._graph.nodes[n].parent_n for n in ns}
        auto_resolved: list[int] = []
        while level:
            state.close(level)
            finished_children = Counter(
                parent for parent in level.values() if parent is not None and parent not in level
            )
            for parent, count in finished_children.items():
                state.lose_children(parent, count)
            finished = self._list_finished(state, finished_children)
            level = {n: self._graph.nodes[n].parent_n for n in finished}
            auto_resolved += finished
        touched = state.list_touched()
        unblocked = self._count_unblocked(state)
        self.steps += len(touched) + len(unblocked)
        became = [n for n in {**touched, **unblocked} if state.is_newly_ready(n, unblocked.get(n, 0))]
        return Consequences(became, auto_resolved)

    def _list_finished(self, state: _State, ns: Iterable[int]) -> list[int]:
        """Return the given nodes that would be resolved because no work remains."""
        candidates = [n for n in ns if self._graph.resolves_parents or self._graph.nodes[n].kind == FEATURE]
        finished = [n for n in candidates if state.is_finished(n)]
        parents = [n for n in finished if self._graph.nodes[n].kind != FEATURE]
        allowed = set(self._may_resolve(parents)) if parents else set()
        return [n for n in finished if n in allowed or self._graph.nodes[n].kind == FEATURE]

    def _count_unblocked(self, state: _State) -> dict[int, int]:
        """Return the number of ancestors that would cease to block each node."""
        unblocked: dict[int, int] = {}
        for top in sorted(state.released, key=lambda n: self._graph.nodes[n].depth):
            if top in unblocked:
                continue  # it is below another one, and so is what is below it
            todo = [(child, 1) for child in self._load_children().get(top, ())]
            while todo:
                n, count = todo.pop()
                if n not in state.closed:
                    unblocked[n] = count
                    below = count + (n in state.released)
                    todo += [(child, below) for child in self._load_children().get(n, ())]
        return unblocked

    def _load_children(self) -> Mapping[int, list[int]]:
        if self._children is None:
            self._children = self._graph.list_children()
        return self._children


class _State:
    """The changes of one calculation."""

    def __init__(self, graph: OpenGraph) -> None:
        self._graph = graph
        self._open_children: dict[int, int] = {}
        self._open_deps: dict[int, int] = {}
        self.closed: set[int] = set()
        self.released: set[int] = set()  # nodes that stopped waiting, and blocked what is below them

    def close(self, ns: Collection[int]) -> None:
        """Resolve nodes, and decrease the number of open dependencies of their dependents."""
        self.closed.update(ns)
        nodes = self._graph.nodes
        for n in ns:
            for waiting in self._graph.dependents.get(n, ()):
                node = nodes[waiting]
                open_deps = self._open_deps.get(waiting, node.open_deps) - 1
                self._open_deps[waiting] = open_deps
                if not open_deps and not node.is_held and self._graph.blocks(node):
                    self.released.add(waiting)

    def lose_children(self, n: int, count: int) -> None:
        """Decrease the number of open children of a node."""
        self._open_children[n] = self._open_children.get(n, self._graph.nodes[n].open_children) - count

    def list_touched(self) -> dict[int, None]:
        """Return the nodes with a changed number."""
        return dict.fromkeys([*self._open_deps, *self._open_children])

    def is_finished(self, n: int) -> bool:
        """Return True if a node has no remaining work: a feature, or another node that could be started now."""
        node = self._graph.nodes[n]
        if n in self.closed or self._open_children.get(n, node.open_children):
            return False
        if node.kind == FEATURE:
            return True
        return self._could_start(node) and not self._is_blocked_above(node)

    def is_newly_ready(self, n: int, unblocked: int) -> bool:
        """Return True if a node became actionable. `unblocked` is the number of ancestors that cease to block it."""
        node = self._graph.nodes[n]
        if n in self.closed or node.is_ready or self._open_children.get(n, node.open_children):
            return False
        return self._could_start(node) and node.blocked_above == unblocked

    def _could_start(self, node: OpenNode) -> bool:
        waits = self._open_deps.get(node.n, node.open_deps) or node.is_held
        return not waits and node.may_start and node.is_work

    def _is_blocked_above(self, node: OpenNode) -> bool:
        if not self.released:
            return node.blocked_above > 0
        above = node.parent_n
        while above is not None:
            ancestor = self._graph.nodes[above]
            waits = ancestor.is_held or self._open_deps.get(above, ancestor.open_deps)
            if waits and self._graph.blocks(ancestor):
                return True
            above = ancestor.parent_n
        return False
