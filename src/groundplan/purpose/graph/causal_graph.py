"""The causal part of a theory as a graph: what the questions about paths are asked of.

Feedback is no cause and left out, and so is an edge of which an end is not in the version.
"""

from __future__ import annotations

from typing import NamedTuple

from groundplan.purpose.graph.indexed_graph import Graph, build_graph
from groundplan.purpose.model import Confidence, Content, EdgeName, NodeType, PurposeEdge, PurposeNode, sort_keys

# How much is known about an edge of which nobody said how sure they are: nothing.
STRENGTHS = {None: 0, Confidence.LOW: 1, Confidence.MEDIUM: 2, Confidence.HIGH: 3}


class CausalGraph(NamedTuple):
    """A graph, and the edges and nodes that its numbers stand for."""

    graph: Graph
    edges: list[PurposeEdge]  # in the order of lists; of parallel ones the surest first
    nodes: list[PurposeNode]

    def numbers_of(self, node_type: NodeType) -> list[int]:
        """The nodes of one type."""
        return [number for number, node in enumerate(self.nodes) if node.node_type is node_type]

    def keys_of(self, numbers: list[int]) -> list[str]:
        """What these nodes are called."""
        return [self.graph.keys[number] for number in numbers]


def find_valid_causal_edges(content: Content) -> list[PurposeEdge]:
    """The causal edges of which both ends are there."""
    nodes = content.nodes
    return [edge for edge in content.edges if edge.is_causal and edge.source in nodes and edge.target in nodes]


def build_causal_graph(content: Content) -> CausalGraph:
    """The causal graph of a theory. Of edges with one name, which only an import can bring, the surest counts."""
    found: dict[EdgeName, PurposeEdge] = {}
    for edge in find_valid_causal_edges(content):
        before = found.get(edge.name)
        if before is None or STRENGTHS[edge.confidence] > STRENGTHS[before.confidence]:
            found[edge.name] = edge
    places = {key: place for place, key in enumerate(sort_keys(content.nodes))}
    edges = sorted(
        found.values(),
        key=lambda one: (places[one.source], places[one.target], -STRENGTHS[one.confidence], one.edge_type),
    )
    graph = build_graph(content.nodes, [(edge.source, edge.target) for edge in edges])
    return CausalGraph(graph, edges, [content.nodes[key] for key in graph.keys])
