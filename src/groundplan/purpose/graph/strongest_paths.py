"""Strongest paths: the path to each goal whose weakest edge is strongest.

A path begins at a node without incoming edges. There is one search for each level of confidence, from all beginnings
at once along edges of at least that level. A goal reached at a higher level is not searched at a lower one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from groundplan.purpose.graph.indexed_graph import Graph


def find_strongest_paths(graph: Graph, strengths: Sequence[int], goals: Iterable[int]) -> dict[int, list[int]]:
    """Return the edges of the strongest path of each goal; no edges if no beginning leads to it.

    Of several paths it is a shortest one, and of those the first in list order. Of parallel edges the first is used.
    """
    found: dict[int, list[int]] = {goal: [] for goal in goals}
    beginnings = [node for node, edges in enumerate(graph.into) if not edges]
    wanted = {goal for goal in found if graph.into[goal]}
    for least in sorted(set(strengths), reverse=True):
        if not wanted:
            break
        came_by = _walk(graph, strengths, beginnings, least)
        for goal in sorted(wanted & came_by.keys()):
            wanted.remove(goal)
            found[goal] = _rebuild_path(graph, came_by, goal)
    return found


def _walk(graph: Graph, strengths: Sequence[int], beginnings: list[int], least: int) -> dict[int, int]:
    """Return the edge by which each node is reached; -1 for a beginning."""
    came_by = dict.fromkeys(beginnings, -1)
    level = beginnings
    while level:
        ahead = []
        for node in level:
            for edge in graph.out[node]:
                after = graph.targets[edge]
                if strengths[edge] >= least and after not in came_by:
                    came_by[after] = edge
                    ahead.append(after)
        level = ahead
    return came_by


def _rebuild_path(graph: Graph, came_by: dict[int, int], goal: int) -> list[int]:
    way = []
    node = goal
    while (edge := came_by[node]) >= 0:
        way.append(edge)
        node = graph.sources[edge]
    return way[::-1]


class WaysToGoals(NamedTuple):
    """For each node the first edge of its strongest path to a goal, the strength of that path, and its length.

    The edge is -1 for a goal, and for a node that leads to none, which has the strength -1.
    """

    edges: list[int]
    strengths: list[int]
    lengths: list[int]


def find_ways_to_goals(graph: Graph, strengths: Sequence[int], goals: Iterable[int]) -> WaysToGoals:
    """Return the strongest path of each node to a goal. A goal needs no edge, so its own path is the strongest.

    There is one search for each level of confidence, backwards from all nodes that have a path already; so it is linear
    and follows no cycle.
    """
    ways = WaysToGoals([-1] * len(graph.keys), [-1] * len(graph.keys), [0] * len(graph.keys))
    reached = sorted(set(goals))
    for goal in reached:
        ways.strengths[goal] = max(strengths, default=0)
    for least in sorted(set(strengths), reverse=True):
        level = reached
        found: list[int] = []
        while level:
            before = []
            for node in level:
                for edge in graph.into[node]:
                    source = graph.sources[edge]
                    if strengths[edge] >= least and ways.strengths[source] < 0:
                        ways.edges[source], ways.lengths[source] = edge, ways.lengths[node] + 1
                        ways.strengths[source] = least
                        before.append(source)
            found += before
            level = before
        reached += found
    return ways
