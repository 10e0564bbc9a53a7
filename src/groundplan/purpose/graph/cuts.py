"""Cuts: the single edge without which most nodes of some sort would not reach a goal any more.

An edge is such a cut exactly when it is the only one by which the nodes that need its source can be left: all other
edges out of the source lead to nodes that need the source themselves. Those nodes are what would be cut off.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from groundplan.purpose.graph.dominators import Dominators, dominators_towards
from groundplan.purpose.graph.indexed_graph import Graph

# Edges looked at for all goals together. One goal needs each edge that leads to it a few times; a thousand goals above
# a hundred thousand edges would keep everybody waiting for minutes.
CUT_STEPS_MAX = 2_000_000


class EdgeCut(NamedTuple):
    """An edge, and which of the nodes that count would be cut off from the goal."""

    edge: int
    lost: list[int]


class EdgeCuts(NamedTuple):
    """Of each goal its heaviest cut, or None where no single edge cuts anything that counts off."""

    of: dict[int, EdgeCut | None]
    left_out: list[int]  # the goals that were not looked at any more


def heaviest_cuts(graph: Graph, goals: Iterable[int], counted: Collection[int]) -> EdgeCuts:
    """The heaviest cut of one goal after the other, within the bound on steps; at least that of the first."""
    found: dict[int, EdgeCut | None] = {}
    left_out = []
    counts = set(counted)
    steps = 0
    for goal in goals:
        if steps >= CUT_STEPS_MAX:
            left_out.append(goal)
            continue
        tree = dominators_towards(graph, goal)
        steps += sum(1 + len(graph.into[node]) for node in tree.nodes)
        found[goal] = _heaviest(graph, tree, counts)
    return EdgeCuts(found, left_out)


def _heaviest(graph: Graph, tree: Dominators, counts: set[int]) -> EdgeCut | None:
    """Of several equally heavy cuts the edge with the smallest ends."""
    nodes, places, nearest = tree
    sizes = [1] * len(nodes)
    weights = [int(node in counts) for node in nodes]
    for place in range(len(nodes) - 1, 0, -1):
        sizes[nearest[place]] += sizes[place]
        weights[nearest[place]] += weights[place]
    # Places numbered anew, so that those who need one place follow right behind it.
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
