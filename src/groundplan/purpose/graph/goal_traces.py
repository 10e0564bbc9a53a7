"""How a goal is reached: its strongest path, the weakest link of that path, and its heaviest cut."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.purpose.graph.causal_graph import STRENGTHS, CausalGraph
from groundplan.purpose.graph.cuts import find_heaviest_cuts
from groundplan.purpose.graph.strongest_paths import find_strongest_paths
from groundplan.purpose.model import NodeType, PurposeEdge


class GoalCut(NamedTuple):
    """An edge, and the activities that do not reach the goal without it."""

    edge: PurposeEdge
    activities: list[str]


class GoalTrace(NamedTuple):
    """How one goal is reached. If nothing leads to it, the path is empty and the other fields are None."""

    key: str
    path: list[PurposeEdge]
    weakest_link: PurposeEdge | None  # the first edge of the path with the lowest confidence
    cut: GoalCut | None

    @property
    def keys(self) -> list[str]:
        """The keys of the path, from its first node to the goal."""
        return [edge.source for edge in self.path] + [self.key] if self.path else []


class GoalTraces(NamedTuple):
    """All goals in list order."""

    goals: list[GoalTrace]
    left_out: list[str]  # goals whose cut was not searched, because the step limit was reached


def trace_goals(causal: CausalGraph) -> GoalTraces:
    """Return how each goal of a theory is reached."""
    graph, edges, _ = causal
    goals = causal.list_numbers(NodeType.GOAL)
    paths = find_strongest_paths(graph, [STRENGTHS[edge.confidence] for edge in edges], goals)
    cuts = find_heaviest_cuts(graph, goals, causal.list_numbers(NodeType.ACTIVITY))
    found = []
    for goal in goals:
        path = [edges[number] for number in paths[goal]]
        cut = cuts.of.get(goal)
        found.append(
            GoalTrace(
                graph.keys[goal],
                path,
                min(path, key=lambda edge: STRENGTHS[edge.confidence], default=None),
                None if cut is None else GoalCut(edges[cut.edge], causal.to_keys(cut.lost)),
            )
        )
    return GoalTraces(found, causal.to_keys(cuts.left_out))
