"""The causal edges of a theory as a graph, on which all path algorithms work.

FEEDBACK edges are left out because they are not causal, and so are edges with an end that is not in the version.
"""

from __future__ import annotations

from typing import NamedTuple

from groundplan.purpose.graph.indexed_graph import Graph, build_graph
from groundplan.purpose.model import Confidence, Content, EdgeName, NodeType, PurposeEdge, PurposeNode, sort_keys

# An edge without a confidence counts as the weakest.
STRENGTHS = {None: 0, Confidence.LOW: 1, Confidence.MEDIUM: 2, Confidence.HIGH: 3}


class CausalGraph(NamedTuple):
    """A graph, and the edges and nodes behind its numbers."""

    graph: Graph
    edges: list[PurposeEdge]  # in list order; parallel edges with the highest confidence first
    nodes: list[PurposeNode]

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
    """Build the causal graph of a theory. Of duplicate edges, which were imported, the most confident one counts."""
    found: dict[EdgeName, PurposeEdge] = {}
    for edge in find_valid_causal_edges(content):
        before = found.get(edge.name)
        if before is None or STRENGTHS[edge.confidence] > STRENGTHS[before.confidence]:
            found[edge.name] = edge
    indexes = {key: index for index, key in enumerate(sort_keys(content.nodes))}
    edges = sorted(
        found.values(),
        key=lambda one: (indexes[one.source], indexes[one.target], -STRENGTHS[one.confidence], one.edge_type),
    )
    graph = build_graph(content.nodes, [(edge.source, edge.target) for edge in edges])
    return CausalGraph(graph, edges, [content.nodes[key] for key in graph.keys])
