"""Pathways: every way from a node to a goal that passes no node twice, within bounds.

There can be more of them than atoms, so both how many are given and how long is searched are bounded, and the answer
says whether something was cut.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from groundplan.purpose.graph.indexed_graph import Graph
from groundplan.purpose.graph.reachability import find_leading_to

PATHWAY_STEPS_MIN = 100_000  # edges looked at, beside once each; only cycles make a walk come to nothing


class Pathways(NamedTuple):
    """Ways as nodes, in the order of lists; a way comes before those that go on from it."""

    ways: list[list[int]]
    is_cut: bool


def pathways(graph: Graph, start: int, goals: Collection[int], *, limit: int) -> Pathways:
    """The ways of at least one edge from a node to goals; a way may lead through a goal to the next."""
    ends = set(goals)
    useful = find_leading_to(graph, ends)
    steps_left = PATHWAY_STEPS_MIN + len(graph.sources)
    ways: list[list[int]] = []
    way = {start: None}  # in its order
    ahead = [iter(_next(graph, start, useful))]
    while ahead:
        for node in ahead[-1]:
            if steps_left == 0:
                return Pathways(ways, True)
            steps_left -= 1
            if node in way:
                continue
            if node in ends:
                if len(ways) == limit:
                    return Pathways(ways, True)
                ways.append([*way, node])
            way[node] = None
            ahead.append(iter(_next(graph, node, useful)))
            break
        else:
            ahead.pop()
            way.popitem()
    return Pathways(ways, False)


def _next(graph: Graph, node: int, useful: set[int]) -> list[int]:
    """The nodes to go on to, each once, however many edges lead there."""
    return list(dict.fromkeys(after for edge in graph.out[node] if (after := graph.targets[edge]) in useful))
