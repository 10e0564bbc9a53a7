"""Reachability: the nodes reachable from some nodes, or leading to them. Visits each edge once."""

from __future__ import annotations

from collections.abc import Iterable

from groundplan.purpose.graph.indexed_graph import Graph


def find_reachable_from(graph: Graph, starts: Iterable[int]) -> set[int]:
    """Return these nodes and all nodes that they lead to."""
    return _walk(graph.out, graph.targets, starts)


def find_leading_to(graph: Graph, goals: Iterable[int]) -> set[int]:
    """Return these nodes and all nodes that lead to them."""
    return _walk(graph.into, graph.sources, goals)


def _walk(edges_at: list[list[int]], ends: list[int], starts: Iterable[int]) -> set[int]:
    seen = set(starts)
    ahead = list(seen)
    while ahead:
        for edge in edges_at[ahead.pop()]:
            node = ends[edge]
            if node not in seen:
                seen.add(node)
                ahead.append(node)
    return seen
