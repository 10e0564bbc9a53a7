"""What depends on a place in a theory: what follows from it, what leads to it, and the ways between."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from groundplan.purpose.graph.causal_graph import CausalGraph
from groundplan.purpose.model import Assumption, EdgeName, edge_order


class Dependents(NamedTuple):
    """The nodes and edges that follow from a place.

    `after` and `before` have the nodes that follow from it and those that lead to it, each with the next node on a
    shortest way to the place; the node at the place itself has none.
    """

    nodes: list[str]
    edges: list[str]
    before: dict[str, str | None]
    after: dict[str, str | None]

    def find_way(self, key: str) -> list[str]:
        """Return the nodes from a connected node to the place."""
        steps = self.after if key in self.after else self.before
        way = [key]
        while (step := steps[way[-1]]) is not None:
            way.append(step)
        return way


class Place(NamedTuple):
    """The node from which things follow, and the one to which things lead: the same one, or the ends of an edge."""

    on: str | None
    behind: str | None


def get_place(assumption: Assumption) -> Place:
    """Return the place of an assumption: its node, or the ends of its edge. One on a feedback edge has none."""
    edge = assumption.edge
    if edge is None:
        return Place(assumption.node, assumption.node)
    return Place(edge.target, edge.source) if edge.edge_type.is_causal else Place(None, None)


def trace_assumption(causal: CausalGraph, assumption: Assumption) -> Dependents:
    """Trace what depends on an assumption: from its node, or from the target of its edge. Feedback ends the trace."""
    return _trace(causal, *get_place(assumption), assumption.edge)


def trace_node(causal: CausalGraph, key: str) -> Dependents:
    """Trace what depends on a node."""
    return _trace(causal, key, key, None)


def find_steps(causal: CausalGraph, keys: Iterable[str]) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """Return what follows from some nodes, and what leads to them, each with the next node on a shortest way back."""
    graph, starts = causal.graph, _list_numbers(causal, keys)
    after = _find_steps(graph.out, graph.targets, starts)
    before = _find_steps(graph.into, graph.sources, starts)
    return _to_key_steps(causal, after), _to_key_steps(causal, before)


def _trace(causal: CausalGraph, on: str | None, behind: str | None, edge: EdgeName | None) -> Dependents:
    graph = causal.graph
    after = _find_steps(graph.out, graph.targets, _list_numbers(causal, [on or ""]))
    before = _find_steps(graph.into, graph.sources, _list_numbers(causal, [behind or ""]))
    edges = {causal.edges[number].name for node in after for number in graph.out[node]}
    if edge is not None:
        edges.add(edge)
    return Dependents(
        causal.to_keys(sorted(after)),
        [str(name) for name in sorted(edges, key=edge_order)],
        _to_key_steps(causal, before),
        _to_key_steps(causal, after),
    )


def _to_key_steps(causal: CausalGraph, steps: dict[int, int | None]) -> dict[str, str | None]:
    keys = causal.graph.keys
    return {keys[node]: None if step is None else keys[step] for node, step in steps.items()}


def _list_numbers(causal: CausalGraph, keys: Iterable[str]) -> list[int]:
    numbers = causal.graph.numbers
    return [numbers[key] for key in keys if key in numbers]


def _find_steps(edges_at: list[list[int]], ends: list[int], starts: list[int]) -> dict[int, int | None]:
    """Return each node that some starts reach with the node before it on a shortest way, in the order of distance."""
    steps: dict[int, int | None] = dict.fromkeys(starts)
    ahead = deque(steps)
    while ahead:
        node = ahead.popleft()
        for edge in edges_at[node]:
            if ends[edge] not in steps:
                steps[ends[edge]] = node
                ahead.append(ends[edge])
    return steps
