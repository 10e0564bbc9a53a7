"""The graph of a project during an import, in memory: every node with its parent, its fate and what it waits for.

An import can change any part of a project at once, so what follows from the tree and the dependencies is computed anew
for all nodes, in one pass, and only what differs is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from groundplan.work.kinds import ACTIVE, FEATURE, ROOT_N
from groundplan.work.waiting.cycles import finish_moment, start_moment
from groundplan.work.waiting.moments import MomentGraph


class DerivedColumns(NamedTuple):
    """What follows for a node from its ancestors, its children and its dependencies."""

    depth: int
    feature_n: int | None
    open_children: int
    open_deps: int
    blocked_above: int


@dataclass(slots=True)
class PlanNodeState:
    """A node of the project, stored or new."""

    n: int
    id: str
    parent_n: int | None
    kind: str | None = None
    resolved: bool = False
    is_dropped: bool = False
    is_held: bool = False
    status: str | None = None
    stored: DerivedColumns | None = None  # None: the node is new

    @property
    def is_task(self) -> bool:
        return self.parent_n is not None and self.kind != FEATURE

    def is_ready(self, derived: DerivedColumns) -> bool:
        """Return whether the node may be started."""
        waits = self.is_held or derived.open_children or derived.open_deps or derived.blocked_above
        return self.is_task and not self.resolved and not waits and self.status in (None, ACTIVE)

    def is_blocked(self, derived: DerivedColumns) -> bool:
        """Return whether the node is open and waits, itself or below an ancestor that does."""
        return not self.resolved and bool(self.is_held or derived.open_deps or derived.blocked_above)


class LoopEdge(NamedTuple):
    """A dependency that would close a loop, and the loop: numbers of nodes, the first one again at the end."""

    source: int
    target: int
    path: list[int]


@dataclass(slots=True)
class PlanGraph:
    """The nodes of a project by number, and for each node those that it depends on."""

    nodes: dict[int, PlanNodeState]
    waits: dict[int, list[int]] = field(default_factory=dict)

    def is_open(self, n: int) -> bool:
        """Return whether a node is open."""
        return not self.nodes[n].resolved

    def iter_open_targets(self, n: int) -> Iterator[int]:
        """Yield the open nodes that a node depends on."""
        return (target for target in self.waits.get(n, ()) if self.is_open(target))

    def list_children(self) -> dict[int, list[int]]:
        """Return the children of each node that has some."""
        children: dict[int, list[int]] = {}
        for node in self.nodes.values():
            if node.parent_n is not None:
                children.setdefault(node.parent_n, []).append(node.n)
        return children

    def derive(self, *, inherits: bool) -> dict[int, DerivedColumns]:
        """Return the derived columns of all nodes, parents first; `inherits` is the policy inherit_dependencies."""
        children = self.list_children()
        open_children = Counter(node.parent_n for node in self.nodes.values() if not node.resolved)
        found: dict[int, DerivedColumns] = {}
        above: list[tuple[int, int, int | None, int]] = [(ROOT_N, 0, None, 0)]
        for n, depth, feature_n, blocked_above in above:  # the list grows during the loop
            node = self.nodes[n]
            open_deps = sum(1 for _ in self.iter_open_targets(n))
            found[n] = DerivedColumns(depth, feature_n, open_children[n], open_deps, blocked_above)
            is_feature = node.kind == FEATURE
            blocks = (inherits or is_feature) and (open_deps > 0 or node.is_held)
            below = (depth + 1, n if is_feature else feature_n, blocked_above + blocks)
            above += [(child, *below) for child in children.get(n, ())]
        return found

    # --- Loops ---

    def build_moments(self, *, inherits: bool) -> dict[int, list[int]]:
        """Return which moments wait for which, as `engine/cycles.py` defines them, for the open nodes."""
        waits: dict[int, list[int]] = {}
        features = self._find_features() if not inherits else {}
        for node in self.nodes.values():
            if node.resolved:
                continue
            start, finish = start_moment(node.n), finish_moment(node.n)
            waits.setdefault(finish, []).append(start)
            starts = waits.setdefault(start, [])
            starts += [finish_moment(target) for target in self.iter_open_targets(node.n)]
            if node.parent_n is not None:
                waits.setdefault(finish_moment(node.parent_n), []).append(finish)
                above = node.parent_n if inherits else features.get(node.n)
                if above is not None:
                    starts.append(start_moment(above))
        return waits

    def _find_features(self) -> dict[int, int | None]:
        return {n: derived.feature_n for n, derived in self.derive(inherits=False).items()}

    def find_loop_edges(self, new_edges: list[tuple[int, int]], *, inherits: bool) -> list[LoopEdge]:
        """Return those of the new dependencies that close a loop, in their order.

        Only moments that can reach each other are searched, which are none in a plan without loops.
        """
        moments = self.build_moments(inherits=inherits)
        component = find_components(moments)
        suspects = [
            (source, target)
            for source, target in dict.fromkeys(new_edges)
            if self.is_open(source)
            and self.is_open(target)
            and component[start_moment(source)] == component[finish_moment(target)]
        ]
        if not suspects:
            return []
        steps = {(start_moment(source), finish_moment(target)) for source, target in suspects}
        looping = {component[start] for start, _ in steps}
        graph = MomentGraph()
        graph.load(
            {
                moment: [
                    after for after in waited if component[after] == component[moment] and (moment, after) not in steps
                ]
                for moment, waited in moments.items()
                if component[moment] in looping
            }
        )
        found = []
        for source, target in suspects:
            start, finish = start_moment(source), finish_moment(target)
            path = graph.find_path(finish, start)
            if path is None:
                graph.add(start, finish)
            else:
                found.append(LoopEdge(source, target, _to_nodes([start, *path])))
        return found


def _to_nodes(moments: list[int]) -> list[int]:
    """Return the nodes of a loop of moments, each once in a row."""
    nodes = [moment // 2 for moment in moments]
    path = [n for at, n in enumerate(nodes) if at == 0 or n != nodes[at - 1]]
    return path if len(path) > 1 else path * 2


def find_components(steps: dict[int, list[int]]) -> dict[int, int]:
    """Return a number for each moment that is equal for those that lead to each other (Tarjan, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    component: dict[int, int] = {}
    stack: list[int] = []
    for first in steps:
        if first in order:
            continue
        todo = [(first, iter(steps.get(first, ())))]
        order[first] = low[first] = len(order)
        stack.append(first)
        while todo:
            moment, ahead = todo[-1]
            after = next(ahead, None)
            if after is None:
                todo.pop()
                if todo:
                    above = todo[-1][0]
                    low[above] = min(low[above], low[moment])
                if low[moment] == order[moment]:
                    while True:
                        member = stack.pop()
                        component[member] = moment
                        if member == moment:
                            break
            elif after not in order:
                order[after] = low[after] = len(order)
                stack.append(after)
                todo.append((after, iter(steps.get(after, ()))))
            elif after not in component:
                low[moment] = min(low[moment], order[after])
    return component
