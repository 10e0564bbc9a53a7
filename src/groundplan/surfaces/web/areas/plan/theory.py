"""The items of a version of the plan by ref, in the spelling of checks, comparisons and addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from groundplan.purpose.model import EdgeName, EdgeType, parse_edge_name
from groundplan.purpose.open import (
    AssumptionView,
    IndicatorView,
    OpenedPurpose,
    PurposeEdgeView,
    PurposeNodeView,
    name_edge,
    orient_edge_view,
)
from groundplan.purpose.versions.versions import Version


class PlacedAssumption(NamedTuple):
    """An assumption, and its node or edge."""

    assumption: AssumptionView
    on: str  # the key of a node, or the name of an edge


class TheoryItems:
    """The items of an opened version: nodes, assumptions and indicators by key, edges by name (`AC1->OP2`)."""

    def __init__(self, opened: OpenedPurpose, version: Version) -> None:
        self.opened = opened
        self.version = version
        self.nodes: dict[str, PurposeNodeView] = {node.key: node for node in opened.nodes or ()}
        self.edges: dict[str, PurposeEdgeView] = {str(name_edge(edge)): edge for edge in opened.edges or ()}
        self.indicators: dict[str, IndicatorView] = {indicator.key: indicator for indicator in opened.indicators or ()}
        holders: list[tuple[str, PurposeNodeView | PurposeEdgeView]] = [*self.nodes.items(), *self.edges.items()]
        self.assumptions: dict[str, PlacedAssumption] = {
            assumption.key: PlacedAssumption(assumption, on)
            for on, holder in holders
            for assumption in holder.assumptions or ()
        }

    def __contains__(self, ref: str) -> bool:
        """Return True if the version has an item."""
        return any(ref in items for items in (self.nodes, self.edges, self.assumptions, self.indicators))

    def find(self, ref: str) -> Any:
        """Return a node, an edge, an assumption or an indicator; None if the version does not contain it."""
        if ref in self.assumptions:
            return self.assumptions[ref].assumption
        return self.nodes.get(ref) or self.edges.get(ref) or self.indicators.get(ref)

    def describe(self, ref: str) -> str:
        """Return the title of a node or an indicator, the text of an assumption, or the ends of a link."""
        if ref in self.nodes:
            return self.nodes[ref].title
        if ref in self.edges:
            ends = self.orient(self.edges[ref])[:2]
            return " → ".join(self.nodes[end].title if end in self.nodes else end for end in ends)
        if ref in self.assumptions:
            return self.assumptions[ref].assumption.assumption_text
        return self.indicators[ref].name if ref in self.indicators else ref

    def orient(self, edge: PurposeEdgeView) -> EdgeName:
        """Return the name of an edge with its cause as the source and its effect as the target."""
        return orient_edge_view(edge, self.nodes)

    def find_card(self, ref: str) -> str:
        """Return the ref of the node or link on which an item is shown; an assumption is shown on its subject.

        A link that has another type by now is the only one between its ends.
        """
        if ref in self.assumptions:
            return self.assumptions[ref].on
        if ref in self.indicators:
            return self.indicators[ref].node
        name = parse_edge_name(ref) if ref not in self.edges else None
        between = [found for found, edge in self.edges.items() if name and (edge.source, edge.target) == name[:2]]
        return between[0] if len(between) == 1 else ref

    def find_edge(self, address: str) -> str | None:
        """Return the name of the edge for an address such as `AC1-OP2`."""
        return next((name for name, edge in self.edges.items() if format_edge(name_edge(edge)) == address), None)

    def name_subject(self, ref: str) -> tuple[str, dict[str, str]]:
        """Return the kind of an item and the arguments that name it in an edit; empty for an unknown ref."""
        for kind, items in (("node", self.nodes), ("assumption", self.assumptions), ("indicator", self.indicators)):
            if ref in items:
                return kind, {kind: ref}
        if ref not in self.edges:
            return "", {}
        edge = self.edges[ref]
        ends = {"source": edge.source, "target": edge.target}
        usual = edge.edge_type in (EdgeType.CONTRIBUTES_TO, None)
        return "edge", ends if usual else {**ends, "edge_type": str(edge.edge_type)}

    def list_nodes(self, *types: str) -> Sequence[PurposeNodeView]:
        """Return the nodes of some types."""
        return [node for node in self.nodes.values() if node.node_type in types]


def format_edge(name: EdgeName) -> str:
    """Return the name of an edge in addresses: `AC1-OP2`, with its type unless that is CONTRIBUTES_TO."""
    short = f"{name.source}-{name.target}"
    return short if name.edge_type is EdgeType.CONTRIBUTES_TO else f"{short}-{name.edge_type}"
