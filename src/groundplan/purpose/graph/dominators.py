"""Dominators towards a goal: the nodes through which every way of a node to the goal leads.

By the method of Lengauer and Tarjan, on the graph with all edges turned round. The simpler iterative one takes
quadratic time where a long chain is met by many shortcuts.
"""

from __future__ import annotations

from typing import NamedTuple

from groundplan.purpose.graph.indexed_graph import Graph


class Dominators(NamedTuple):
    """The nodes that reach a goal, by their place in a walk back from it; the goal is at place 0."""

    nodes: list[int]
    places: dict[int, int]
    nearest: list[int]  # the place of the next node that no way to the goal avoids; always a smaller one


def dominators_towards(graph: Graph, goal: int) -> Dominators:
    """For everything that reaches the goal, the next node that it cannot do without."""
    nodes, places, parents = _walk_back(graph, goal)
    count = len(nodes)
    semi = list(range(count))
    nearest = [0] * count
    ancestors = [-1] * count
    labels = list(range(count))
    waiting: list[list[int]] = [[] for _ in range(count)]

    def least_above(place: int) -> int:
        """The place with the least semidominator on the way up the forest, which is made flat in passing."""
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
    """Depth first: the nodes in the order they were come to, their places, and the places they were come to from."""
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
