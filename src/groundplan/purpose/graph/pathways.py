"""Pathways: the simple paths from a node to goals, within limits.

Their number can grow exponentially, so both the number of paths and the search steps are limited, and the answer says
whether it is incomplete.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from groundplan.purpose.graph.indexed_graph import Graph, find_leading_to

PATHWAY_STEPS_MIN = 100_000  # edges visited, in addition to once each; only cycles cause fruitless steps


class Pathways(NamedTuple):
    """Paths as nodes, in list order. A path comes before its extensions."""

    ways: list[list[int]]
    is_cut: bool


def find_pathways(graph: Graph, start: int, goals: Collection[int], *, limit: int) -> Pathways:
    """Return the paths of at least one edge from a node to goals. A path may lead through a goal to another."""
    ends = set(goals)
    useful = find_leading_to(graph, ends)
    steps_left = PATHWAY_STEPS_MIN + len(graph.sources)
    ways: list[list[int]] = []
    way = {start: None}  # in its order
    ahead = [iter(_find_next(graph, start, useful))]
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
            ahead.append(iter(_find_next(graph, node, useful)))
            break
        else:
            ahead.pop()
            way.popitem()
    return Pathways(ways, False)


def _find_next(graph: Graph, node: int, useful: set[int]) -> list[int]:
    """Return the next nodes that lead to a goal, without duplicates from parallel edges."""
    return list(dict.fromkeys(after for edge in graph.out[node] if (after := graph.targets[edge]) in useful))
