"""A graph with numbered nodes, and the nodes that are reachable in it. Numbers follow list order, so ties go to the
smaller number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from groundplan.purpose.model import sort_keys


class Graph(NamedTuple):
    """Nodes and edges by number. The number of an edge is its input index; several edges may have the same ends."""

    keys: list[str]
    numbers: dict[str, int]
    sources: list[int]
    targets: list[int]
    out: list[list[int]]  # outgoing edges of each node, by target
    into: list[list[int]]  # incoming edges of each node, by source


def build_graph(keys: Iterable[str], pairs: Sequence[tuple[str, str]]) -> Graph:
    """Build a graph of these nodes, with an edge from the first to the second of each pair.

    Raises:
        KeyError: an end of an edge is not one of the nodes.
    """
    ordered = sort_keys(set(keys))
    numbers = {key: number for number, key in enumerate(ordered)}
    sources = [numbers[source] for source, _ in pairs]
    targets = [numbers[target] for _, target in pairs]
    out: list[list[int]] = [[] for _ in ordered]
    into: list[list[int]] = [[] for _ in ordered]
    for edge in sorted(range(len(pairs)), key=lambda one: (sources[one], targets[one])):
        out[sources[edge]].append(edge)
        into[targets[edge]].append(edge)
    return Graph(ordered, numbers, sources, targets, out, into)


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
