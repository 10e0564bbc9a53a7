"""Strongest paths: of all ways to a goal the one of which the least sure edge is surest.

A way begins where nothing leads to. One walk for each level of confidence, from all beginnings at once and along edges
that are at least so sure, answers for every goal: what is reached on a higher level is not looked for on a lower one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from groundplan.purpose.graph.indexed_graph import Graph


def strongest_paths(graph: Graph, strengths: Sequence[int], goals: Iterable[int]) -> dict[int, list[int]]:
    """Of each goal the edges of its strongest path; none where nothing leads to it from a beginning.

    Of several it is a shortest one, and of those the first in the order of lists. Where edges are parallel, the one
    given first is walked.
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
    """Of each node that is reached the edge it was reached by; of a beginning -1."""
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
