"""The shortest way of every node to a nearest goal, found by one search from all goals."""

from __future__ import annotations

from collections import deque

from groundplan.purpose.graph.causal_graph import CausalGraph
from groundplan.purpose.model import NodeType

GAP = "…"  # stands for the middle of a long path


class GoalSteps:
    """The next node on the way to a nearest goal; of several, the one that comes first in list order."""

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
        """Return the path from a start that leads to a node, to a goal; the start alone if there is none.

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
        return [*path[: self._half], GAP, *(self._keys[one] for one in self._ends[number])]
