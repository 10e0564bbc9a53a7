"""Cuts: the edge whose removal disconnects the most nodes of some kind from a goal.

An edge is a cut exactly when it is the only edge that leaves the set of nodes dominated by its source: all other edges
out of the source lead to nodes that the source dominates. Those nodes are the ones that are disconnected. A dominator
is a node that every path from a node to the goal passes.

Dominators are found by the algorithm of Lengauer and Tarjan on the reversed graph. The simpler iterative algorithm
takes quadratic time on a long chain with many shortcuts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from groundplan.purpose.graph.graph import STRENGTHS, CausalGraph, Graph
from groundplan.purpose.graph.paths import find_strongest_paths
from groundplan.purpose.model import NodeType, PurposeEdge


class Dominators(NamedTuple):
    """The nodes that reach a goal, in the order of a depth-first walk back from it. The goal is at place 0."""

    nodes: list[int]
    positions: dict[int, int]
    nearest: list[int]  # the place of the immediate dominator; always a smaller one


def find_dominators(graph: Graph, goal: int) -> Dominators:
    """Return the immediate dominator of every node that reaches the goal."""
    nodes, places, parents = _walk_back(graph, goal)
    count = len(nodes)
    semi = list(range(count))
    nearest = [0] * count
    ancestors = [-1] * count
    labels = list(range(count))
    waiting: list[list[int]] = [[] for _ in range(count)]

    def least_above(place: int) -> int:
        """Return the place with the least semidominator on the path to the root, and compress that path."""
        if ancestors[place] < 0:
            return place
        above = place
        passed = []
        while ancestors[ancestors[above]] >= 0:
            passed.append(above)
            above = ancestors[above]
        for child in reversed(passed):
            ancestor = ancestors[child]
            if semi[labels[ancestor]] < semi[labels[child]]:
                labels[child] = labels[ancestor]
            ancestors[child] = ancestors[ancestor]
        return labels[place]

    for place in range(count - 1, 0, -1):
        for edge in graph.out[nodes[place]]:
            before = places.get(graph.targets[edge])
            if before is not None:
                semi[place] = min(semi[place], semi[least_above(before)])
        waiting[semi[place]].append(place)
        parent = parents[place]
        ancestors[place] = parent
        for dominated in waiting[parent]:
            least = least_above(dominated)
            nearest[dominated] = least if semi[least] < semi[dominated] else parent
        waiting[parent] = []
    for place in range(1, count):
        if nearest[place] != semi[place]:
            nearest[place] = nearest[nearest[place]]
    return Dominators(nodes, places, nearest)


def _walk_back(graph: Graph, goal: int) -> tuple[list[int], dict[int, int], list[int]]:
    """Walk back depth-first. Return the nodes in visiting order, their places, and the places of their parents."""
    nodes = [goal]
    places = {goal: 0}
    parents = [0]
    way = [(0, iter(graph.into[goal]))]
    while way:
        place, edges = way[-1]
        for edge in edges:
            node = graph.sources[edge]
            if node not in places:
                places[node] = len(nodes)
                nodes.append(node)
                parents.append(place)
                way.append((places[node], iter(graph.into[node])))
                break
        else:
            way.pop()
    return nodes, places, parents


# Edges visited for all goals together. One goal visits each edge that leads to it a few times; a thousand goals with
# a hundred thousand edges would take minutes.
CUT_STEPS_MAX = 2_000_000


class EdgeCut(NamedTuple):
    """An edge, and the counted nodes that it disconnects from the goal."""

    edge: int
    lost: list[int]


class EdgeCuts(NamedTuple):
    """The heaviest cut of each goal; None if no edge alone disconnects a counted node."""

    of: dict[int, EdgeCut | None]
    left_out: list[int]  # goals not searched, because the step limit was reached


def find_heaviest_cuts(graph: Graph, goals: Iterable[int], counted: Collection[int]) -> EdgeCuts:
    """Return the heaviest cut of each goal until the step limit is reached; the first goal is always included."""
    cuts: dict[int, EdgeCut | None] = {}
    left_out = []
    counts = set(counted)
    steps = 0
    for goal in goals:
        if steps >= CUT_STEPS_MAX:
            left_out.append(goal)
            continue
        tree = find_dominators(graph, goal)
        steps += sum(1 + len(graph.into[node]) for node in tree.nodes)
        cuts[goal] = _find_heaviest_cut(graph, tree, counts)
    return EdgeCuts(cuts, left_out)


def _find_heaviest_cut(graph: Graph, tree: Dominators, counts: set[int]) -> EdgeCut | None:
    """Return the heaviest cut. Of equally heavy ones, the edge with the smallest ends is returned."""
    nodes, places, nearest = tree
    sizes = [1] * len(nodes)
    weights = [int(node in counts) for node in nodes]
    for place in range(len(nodes) - 1, 0, -1):
        sizes[nearest[place]] += sizes[place]
        weights[nearest[place]] += weights[place]
    # Renumber the places in preorder, so that the nodes dominated by a place directly follow it.
    begins = [0] * len(nodes)
    free = [1] * len(nodes)
    for place in range(1, len(nodes)):
        begins[place] = free[nearest[place]]
        free[nearest[place]] += sizes[place]
        free[place] = begins[place] + 1

    best: tuple[int, int, int, int, int] | None = None  # heaviest first, then by ends
    for place in range(1, len(nodes)):
        if weights[place] == 0 or (best is not None and -weights[place] > best[0]):
            continue
        first, end = begins[place], begins[place] + sizes[place]
        ways = [
            edge
            for edge in graph.out[nodes[place]]
            if graph.targets[edge] in places and not first <= begins[places[graph.targets[edge]]] < end
        ]
        if len(ways) == 1:
            candidate = (-weights[place], nodes[place], graph.targets[ways[0]], ways[0], place)
            best = candidate if best is None else min(best, candidate)
    if best is None:
        return None
    *_, edge, place = best
    first, end = begins[place], begins[place] + sizes[place]
    return EdgeCut(edge, sorted(node for node in counts if node in places and first <= begins[places[node]] < end))


class GoalCut(NamedTuple):
    """An edge, and the activities that cannot reach the goal without it."""

    edge: PurposeEdge
    activities: list[str]


class GoalTrace(NamedTuple):
    """The analysis of one goal. If nothing leads to it, the path is empty and the other fields are None."""

    key: str
    keys: list[str]  # of the path, from its first node to the goal
    weakest_link: PurposeEdge | None  # the first edge of the path with the lowest confidence
    cut: GoalCut | None


class GoalTraces(NamedTuple):
    """All goals in list order."""

    goals: list[GoalTrace]
    left_out: list[str]  # goals whose cut was not searched, because the step limit was reached


def trace_goals(causal: CausalGraph) -> GoalTraces:
    """Return the analysis of each goal of a theory."""
    graph, edges = causal.graph, causal.edges
    goals = causal.list_numbers(NodeType.GOAL)
    paths = find_strongest_paths(graph, [STRENGTHS[edge.confidence] for edge in edges], goals)
    cuts = find_heaviest_cuts(graph, goals, causal.list_numbers(NodeType.ACTIVITY))
    traces = []
    for goal in goals:
        path = [edges[number] for number in paths[goal]]
        keys = causal.to_keys([graph.sources[number] for number in paths[goal]])
        cut = cuts.of.get(goal)
        traces.append(
            GoalTrace(
                graph.keys[goal],
                [*keys, graph.keys[goal]] if keys else [],
                min(path, key=lambda edge: STRENGTHS[edge.confidence], default=None),
                None if cut is None else GoalCut(edges[cut.edge], causal.to_keys(cut.lost)),
            )
        )
    return GoalTraces(traces, causal.to_keys(cuts.left_out))
