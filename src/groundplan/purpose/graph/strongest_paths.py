"""Strongest paths: the path to each goal whose weakest edge is strongest.

A path begins at a node without incoming edges. There is one search for each level of confidence, from all beginnings
at once along edges of at least that level. A goal reached at a higher level is not searched at a lower one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
