"""A graph with numbered nodes, searches for reachable nodes, and the graph of the causal edges of a theory.

Numbers follow list order, so ties go to the smaller number. FEEDBACK edges are left out of the causal graph because
they are not causal, and so are edges with an end that is not in the version.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from groundplan.purpose.model import Confidence, Content, EdgeName, NodeType, PurposeEdge, PurposeNode, sort_keys

Node = TypeVar("Node", bound=Hashable)


class Graph(NamedTuple):
    """Nodes and edges by number. The number of an edge is its index in the input; parallel edges are allowed."""

    keys: list[str]
    numbers: dict[str, int]
    sources: list[int]
    targets: list[int]
    out: list[list[int]]  # outgoing edges of each node, by target
    into: list[list[int]]  # incoming edges of each node, by source


def build_graph(keys: Iterable[str], pairs: Sequence[tuple[str, str]]) -> Graph:
    """Build a graph of these nodes, with an edge from the first to the second of each pair."""
    ordered = sort_keys(set(keys))
    numbers = {key: number for number, key in enumerate(ordered)}
    sources = [numbers[source] for source, _ in pairs]
    targets = [numbers[target] for _, target in pairs]
    out: list[list[int]] = [[] for _ in ordered]
    into: list[list[int]] = [[] for _ in ordered]
    for edge in sorted(range(len(pairs)), key=lambda number: (sources[number], targets[number])):
        out[sources[edge]].append(edge)
        into[targets[edge]].append(edge)
    return Graph(ordered, numbers, sources, targets, out, into)


def find_reachable_from(graph: Graph, starts: Iterable[int]) -> set[int]:
    """Return the given nodes and all nodes that they lead to."""
    return _walk(graph.out, graph.targets, starts)


def find_leading_to(graph: Graph, goals: Iterable[int]) -> set[int]:
    """Return the given nodes and all nodes that lead to them."""
    return _walk(graph.into, graph.sources, goals)


def _walk(edges_at: list[list[int]], ends: list[int], starts: Iterable[int]) -> set[int]:
    reached = set(starts)
    ahead = list(reached)
    while ahead:
        for edge in edges_at[ahead.pop()]:
            node = ends[edge]
            if node not in reached:
                reached.add(node)
                ahead.append(node)
    return reached


def find_connected_parts(neighbours: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """Return the sets of connected nodes, the largest first."""
    visited: set[Node] = set()
    parts = []
    for start in neighbours:
        if start in visited:
            continue
        visited.add(start)
        part = [start]
        for node in part:
            for near in neighbours[node]:
                if near not in visited:
                    visited.add(near)
                    part.append(near)
        parts.append(part)
    return sorted(parts, key=len, reverse=True)


# An edge without a confidence counts as the weakest.
STRENGTHS = {None: 0, Confidence.LOW: 1, Confidence.MEDIUM: 2, Confidence.HIGH: 3}


class CausalGraph(NamedTuple):
    """A graph whose edges lead from cause to effect, and the edges and nodes for its numbers."""

    graph: Graph
    edges: list[PurposeEdge]  # in list order; parallel edges with the highest confidence first
    nodes: list[PurposeNode]
    content: Content

    def list_numbers(self, node_type: NodeType) -> list[int]:
        """Return the numbers of the nodes of one type."""
        return [number for number, node in enumerate(self.nodes) if node.node_type is node_type]

    def to_keys(self, numbers: list[int]) -> list[str]:
        """Return the keys of these nodes."""
        return [self.graph.keys[number] for number in numbers]


def find_valid_causal_edges(content: Content) -> list[PurposeEdge]:
    """Return the causal edges with both ends in the version."""
    nodes = content.nodes
    return [edge for edge in content.edges if edge.is_causal and edge.source in nodes and edge.target in nodes]


def build_causal_graph(content: Content) -> CausalGraph:
    """Build the causal graph of a theory. Of duplicate edges from an import, only the most confident one is used."""
    edges_by_name: dict[EdgeName, PurposeEdge] = {}
    for edge in find_valid_causal_edges(content):
        before = edges_by_name.get(edge.name)
        if before is None or STRENGTHS[edge.confidence] > STRENGTHS[before.confidence]:
            edges_by_name[edge.name] = edge
    indexes = {key: index for index, key in enumerate(sort_keys(content.nodes))}
    pairs = {name: content.orient(name)[:2] for name in edges_by_name}

    def rank_edge(edge: PurposeEdge) -> tuple[int, int, int, str, bool]:
        cause, effect = pairs[edge.name]
        strength = STRENGTHS[edge.confidence]
        return indexes[cause], indexes[effect], -strength, edge.edge_type, cause != edge.source

    edges = sorted(edges_by_name.values(), key=rank_edge)
    graph = build_graph(content.nodes, [pairs[edge.name] for edge in edges])
    return CausalGraph(graph, edges, [content.nodes[key] for key in graph.keys], content)
