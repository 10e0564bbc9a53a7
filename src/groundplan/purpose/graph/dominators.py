"""Dominators towards a goal: the nodes that every path from a node to the goal passes.

Uses the algorithm of Lengauer and Tarjan on the reversed graph. The simpler iterative algorithm takes quadratic time
on a long chain with many shortcuts.
"""

from __future__ import annotations

from typing import NamedTuple

from groundplan.purpose.graph.indexed_graph import Graph


class Dominators(NamedTuple):
    """The nodes that reach a goal, by their place in a depth-first walk back from it; the goal is at place 0."""

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
        """Return the place with the least semidominator on the path to the root, and compress the path."""
        if ancestors[place] < 0:
            return place
        above = place
        passed = []
        while ancestors[ancestors[above]] >= 0:
            passed.append(above)
            above = ancestors[above]
        for one in reversed(passed):
            ancestor = ancestors[one]
            if semi[labels[ancestor]] < semi[labels[one]]:
                labels[one] = labels[ancestor]
            ancestors[one] = ancestors[ancestor]
        return labels[place]

    for place in range(count - 1, 0, -1):
        for edge in graph.out[nodes[place]]:
            before = places.get(graph.targets[edge])
            if before is not None:
                semi[place] = min(semi[place], semi[least_above(before)])
        waiting[semi[place]].append(place)
        parent = parents[place]
        ancestors[place] = parent
        for one in waiting[parent]:
            least = least_above(one)
            nearest[one] = least if semi[least] < semi[one] else parent
        waiting[parent] = []
    for place in range(1, count):
        if nearest[place] != semi[place]:
            nearest[place] = nearest[nearest[place]]
    return Dominators(nodes, places, nearest)


def _walk_back(graph: Graph, goal: int) -> tuple[list[int], dict[int, int], list[int]]:
    """Walk back depth-first; return the nodes in visiting order, their places, and the places of their parents."""
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
