"""Paths to goals: the strongest paths, all simple paths within limits, and the shortest path to a nearest goal.

The strongest path is the one whose weakest edge is strongest. It begins at a node without incoming edges. There is one
search for each level of confidence, from all beginnings at once along edges of at least that level; a goal reached at
a higher level is not searched at a lower one.

The number of simple paths can grow exponentially, so both the number of paths and the search steps are limited, and
the answer says whether it is incomplete.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from groundplan.purpose.graph.graph import CausalGraph, Graph, find_leading_to
from groundplan.purpose.model import NodeType


def find_strongest_paths(graph: Graph, strengths: Sequence[int], goals: Iterable[int]) -> dict[int, list[int]]:
    """Return the edges of the strongest path from a node without causes to each goal; no edges if there is no path.

    Of several paths it is a shortest one, and of those the first in list order. Of parallel edges the first is used.
    """
    paths: dict[int, list[int]] = {goal: [] for goal in goals}
    beginnings = [node for node, edges in enumerate(graph.into) if not edges]
    wanted = {goal for goal in paths if graph.into[goal]}
    for least in sorted(set(strengths), reverse=True):
        if not wanted:
            break
        came_by = _walk_along_strong_edges(graph, strengths, beginnings, least)
        for goal in sorted(wanted & came_by.keys()):
            wanted.remove(goal)
            paths[goal] = _rebuild_path(graph, came_by, goal)
    return paths


def _walk_along_strong_edges(
    graph: Graph, strengths: Sequence[int], beginnings: list[int], least: int
) -> dict[int, int]:
    """Return the last edge on the strongest path to each node; -1 for a start."""
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
    """The first edge of the strongest path to a goal for each node, with the strength and the length of that path.

    The edge is -1 for a goal, and for a node that leads to none, which has the strength -1.
    """

    edges: list[int]
    strengths: list[int]
    lengths: list[int]


def find_ways_to_goals(graph: Graph, strengths: Sequence[int], goals: Iterable[int]) -> WaysToGoals:
    """Return the strongest path of each node to a goal. The path of a goal itself has no edges.

    There is one backward search for each level of confidence, from all nodes that have a path already. Each edge is
    followed once, so cycles do no harm.
    """
    ways = WaysToGoals([-1] * len(graph.keys), [-1] * len(graph.keys), [0] * len(graph.keys))
    reached = sorted(set(goals))
    for goal in reached:
        ways.strengths[goal] = max(strengths, default=0)
    for least in sorted(set(strengths), reverse=True):
        level = reached
        visited: list[int] = []
        while level:
            before = []
            for node in level:
                for edge in graph.into[node]:
                    source = graph.sources[edge]
                    if strengths[edge] >= least and ways.strengths[source] < 0:
                        ways.edges[source], ways.lengths[source] = edge, ways.lengths[node] + 1
                        ways.strengths[source] = least
                        before.append(source)
            visited += before
            level = before
        reached += visited
    return ways


PATHWAY_STEPS_MIN = 100_000  # edges visited, in addition to once each; only cycles cause fruitless steps


class Pathways(NamedTuple):
    """Paths as lists of nodes, in list order. A path comes before its extensions."""

    ways: list[list[int]]
    is_cut: bool


def find_pathways(graph: Graph, start: int, goals: Collection[int], *, limit: int) -> Pathways:
    """Return the paths of at least one edge from a node to goals. A path may lead through one goal to another."""
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
    """Return the next nodes that lead to a goal. Parallel edges give a node only once."""
    return list(dict.fromkeys(after for edge in graph.out[node] if (after := graph.targets[edge]) in useful))


GAP = "…"  # stands for the middle of a long path


class GoalSteps:
    """The next node on a shortest path to a goal. Of several, the first in list order is chosen."""

    def __init__(self, causal: CausalGraph, path_max: int) -> None:
        self._half = path_max // 2
        graph, goals = causal.graph, causal.list_numbers(NodeType.GOAL)
        self._keys, self._numbers = graph.keys, graph.numbers
        self._next: dict[int, int | None] = dict.fromkeys(goals)
        # The end of each way; nodes far from the goal share it, so that many long paths take no longer than short ones.
        self._ends: dict[int, tuple[int, ...]] = {goal: (goal,) for goal in goals}
        ahead = deque(goals)
        while ahead:
            node = ahead.popleft()
            for edge in graph.into[node]:
                source = graph.sources[edge]
                if source not in self._next:
                    self._next[source] = node
                    end = self._ends[node]
                    self._ends[source] = end if len(end) == self._half else (source, *end)
                    ahead.append(source)

    def find_path(self, start: str, key: str | None) -> list[str]:
        """Return the keys of a path from a start by way of `key` to a goal; only the start if there is no path.

        The middle of a long path is left out.
        """
        number = self._numbers.get(key or "")
        if number is None or number not in self._next:
            return [start]
        path = [start]
        node: int | None = number
        while node is not None and len(path) <= 2 * self._half:
            path.append(self._keys[node])
            node = self._next[node]
        if len(path) <= 2 * self._half:
            return path
        return [*path[: self._half], GAP, *(self._keys[step] for step in self._ends[number])]
