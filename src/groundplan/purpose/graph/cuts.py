"""Cuts: the single edge whose removal disconnects the most nodes of some kind from a goal.

An edge is a cut exactly when it is the only edge that leaves the set of nodes dominated by its source: all other edges
out of the source lead to nodes that the source dominates. Those nodes are the ones that are disconnected.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from groundplan.purpose.graph.dominators import Dominators, find_dominators
from groundplan.purpose.graph.indexed_graph import Graph

# Edges visited for all goals together. One goal visits each edge that leads to it a few times; a thousand goals with
# a hundred thousand edges would take minutes.
CUT_STEPS_MAX = 2_000_000


class EdgeCut(NamedTuple):
    """An edge, and the counted nodes that it disconnects from the goal."""

    edge: int
    lost: list[int]


class EdgeCuts(NamedTuple):
    """The heaviest cut of each goal, or None if no single edge disconnects a counted node."""

    of: dict[int, EdgeCut | None]
    left_out: list[int]  # goals not searched, because the step limit was reached


def find_heaviest_cuts(graph: Graph, goals: Iterable[int], counted: Collection[int]) -> EdgeCuts:
    """Return the heaviest cut of each goal, within the step limit; at least that of the first goal."""
    found: dict[int, EdgeCut | None] = {}
    left_out = []
    counts = set(counted)
    steps = 0
    for goal in goals:
        if steps >= CUT_STEPS_MAX:
            left_out.append(goal)
            continue
        tree = find_dominators(graph, goal)
        steps += sum(1 + len(graph.into[node]) for node in tree.nodes)
        found[goal] = _find_heaviest_cut(graph, tree, counts)
    return EdgeCuts(found, left_out)


def _find_heaviest_cut(graph: Graph, tree: Dominators, counts: set[int]) -> EdgeCut | None:
    """Return the heaviest cut; of equally heavy ones the edge with the smallest ends."""
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
