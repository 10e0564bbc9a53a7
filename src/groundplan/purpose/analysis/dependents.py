"""What depends on one place in a theory: what follows from it, what leads to it, and the paths between."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from groundplan.purpose.graph.causal_graph import CausalGraph
from groundplan.purpose.model import Assumption, EdgeName, NodeType, edge_order


class Dependents(NamedTuple):
    """The nodes and edges that follow from a place.

    `after` and `before` have the nodes that follow from it and those that lead to it, each with the next node on a
    shortest way to the place; the node at the place itself has none.
    """

    nodes: list[str]
    edges: list[str]
    path: list[str]  # from the place to the nearest goal
    before: dict[str, str | None]
    after: dict[str, str | None]

    def find_way(self, key: str) -> list[str]:
        """Return the nodes from a connected node to the place."""
        steps = self.after if key in self.after else self.before
        way = [key]
        while (step := steps[way[-1]]) is not None:
            way.append(step)
        return way


def trace_assumption(causal: CausalGraph, assumption: Assumption) -> Dependents:
    """Trace what depends on an assumption: from its node, or from the target of its edge. Feedback ends the trace."""
    edge = assumption.edge
    if edge is None:
        return _trace(causal, assumption.node, assumption.node, None)
    if not edge.edge_type.is_causal:
        return _trace(causal, None, None, edge)
    return _trace(causal, edge.target, edge.source, edge)


def trace_node(causal: CausalGraph, key: str) -> Dependents:
    """Trace what depends on a node."""
    return _trace(causal, key, key, None)


def _trace(causal: CausalGraph, on: str | None, behind: str | None, edge: EdgeName | None) -> Dependents:
    graph = causal.graph
    after = _find_steps(graph.out, graph.targets, graph.numbers.get(on or ""))
    before = _find_steps(graph.into, graph.sources, graph.numbers.get(behind or ""))
    edges = {causal.edges[number].name for node in after for number in graph.out[node]}
    if edge is not None:
        edges.add(edge)
    found = Dependents(
        causal.to_keys(sorted(after)),
        [str(name) for name in sorted(edges, key=edge_order)],
        [],
        _to_key_steps(causal, before),
        _to_key_steps(causal, after),
    )
    # Nodes are in the order in which they were reached, so the first goal is a nearest one.
    goal = next((key for key in found.after if causal.nodes[graph.numbers[key]].node_type is NodeType.GOAL), None)
    return found if goal is None else found._replace(path=found.find_way(goal)[::-1])


def _to_key_steps(causal: CausalGraph, steps: dict[int, int | None]) -> dict[str, str | None]:
    keys = causal.graph.keys
    return {keys[node]: None if step is None else keys[step] for node, step in steps.items()}


def _find_steps(edges_at: list[list[int]], ends: list[int], start: int | None) -> dict[int, int | None]:
    """Return each node that a start reaches with the node before it on a shortest way, in the order of distance."""
    if start is None:
        return {}
    steps: dict[int, int | None] = {start: None}
    ahead = deque((start,))
    while ahead:
        node = ahead.popleft()
        for edge in edges_at[node]:
            if ends[edge] not in steps:
                steps[ends[edge]] = node
                ahead.append(ends[edge])
    return steps
