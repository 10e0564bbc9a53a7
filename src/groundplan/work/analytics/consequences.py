"""What would follow if nodes were resolved, by the rules of `engine/readiness.py`; computed in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from groundplan.work.analytics.open_graph import OpenGraph, OpenNode
from groundplan.work.kinds import FEATURE

# Returns which nodes the policies allow to be resolved with their last child.
MayResolve = Callable[[Collection[int]], Collection[int]]


class Consequences(NamedTuple):
    """The nodes that would become actionable, and those that would be resolved with their last child."""

    actionable: list[int]
    auto_resolved: list[int]


class WhatIf:
    """Answers questions about the open nodes of a project; each starts from the stored state."""

    def __init__(self, graph: OpenGraph, may_resolve: MayResolve) -> None:
        self._graph = graph
        self._may_resolve = may_resolve
        self._children: dict[int, list[int]] | None = None  # loaded when something below a node is unblocked
        self.steps = 0  # nodes that were looked at, over all questions

    def list_subtree(self, n: int) -> list[int]:
        """Return a node and every open node below it, parents first."""
        found = [n]
        for one in found:  # the list grows during the loop
            found += self._load_children().get(one, ())
        return found

    def resolve(self, ns: Iterable[int]) -> Consequences:
        """Return what would follow if open nodes were resolved, with everything below them or without open children."""
        state = _State(self._graph)
        level = {n: self._graph.nodes[n].parent_n for n in ns}
        auto_resolved: list[int] = []
        while level:
            state.close(level)
            lost = Counter(parent for parent in level.values() if parent is not None and parent not in level)
            for parent, count in lost.items():
                state.lose_children(parent, count)
            finished = self._list_finished(state, lost)
            level = {n: self._graph.nodes[n].parent_n for n in finished}
            auto_resolved += finished
        touched = state.list_touched()
        unblocked = self._count_unblocked(state)
        self.steps += len(touched) + len(unblocked)
        became = [n for n in {**touched, **unblocked} if state.is_newly_ready(n, unblocked.get(n, 0))]
        return Consequences(became, auto_resolved)

    def _list_finished(self, state: _State, ns: Iterable[int]) -> list[int]:
        """Return the nodes among these that would be resolved because nothing is left to do."""
        asked = [n for n in ns if self._graph.resolves_parents or self._graph.nodes[n].kind == FEATURE]
        finished = [n for n in asked if state.is_finished(n)]
        others = [n for n in finished if self._graph.nodes[n].kind != FEATURE]
        allowed = set(self._may_resolve(others)) if others else set()
        return [n for n in finished if n in allowed or self._graph.nodes[n].kind == FEATURE]

    def _count_unblocked(self, state: _State) -> dict[int, int]:
        """Return how many ancestors of each node stopped blocking it, for every node below one that did."""
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
    """The changes of one question."""

    def __init__(self, graph: OpenGraph) -> None:
        self._graph = graph
        self._open_children: dict[int, int] = {}
        self._open_deps: dict[int, int] = {}
        self.closed: set[int] = set()
        self.released: set[int] = set()  # nodes that stopped waiting, and blocked what is below them

    def close(self, ns: Collection[int]) -> None:
        """Resolve nodes, and count one dependency less for what waits for them."""
        self.closed.update(ns)
        nodes = self._graph.nodes
        for n in ns:
            for waiting in self._graph.dependents.get(n, ()):
                node = nodes[waiting]
                left = self._open_deps.get(waiting, node.open_deps) - 1
                self._open_deps[waiting] = left
                if not left and not node.is_held and self._graph.blocks(node):
                    self.released.add(waiting)

    def lose_children(self, n: int, count: int) -> None:
        """Count open children less."""
        self._open_children[n] = self._open_children.get(n, self._graph.nodes[n].open_children) - count

    def list_touched(self) -> dict[int, None]:
        """Return the nodes of which a number changed."""
        return dict.fromkeys([*self._open_deps, *self._open_children])

    def is_finished(self, n: int) -> bool:
        """Return whether a node has nothing left to do: a feature, or another node that could be started now."""
        node = self._graph.nodes[n]
        if n in self.closed or self._open_children.get(n, node.open_children):
            return False
        if node.kind == FEATURE:
            return True
        return self._could_start(node) and not self._is_blocked_above(node)

    def is_newly_ready(self, n: int, unblocked: int) -> bool:
        """Return whether a node became actionable; `unblocked` ancestors of it stopped blocking it."""
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
