"""The items of a version by the refs that checks use: their titles, and the addresses that show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from groundplan.purpose.open import AssumptionView, IndicatorView, PurposeEdgeView, PurposeNodeView
from groundplan.surfaces.web.areas.plan.view import PlanVisit
from groundplan.surfaces.web.canvas import items
from groundplan.surfaces.web.canvas.items import format_edge
from groundplan.surfaces.web.places import find_place, get_base


class PlacedAssumption(NamedTuple):
    """An assumption, and what it is about."""

    one: AssumptionView
    on: str  # the key of a node, or the name of an edge


class TheoryIndex:
    """The items of the version that a visit shows."""

    def __init__(self, plan: PlanVisit) -> None:
        theory = plan.theory
        self._base = get_base(plan.visit.project.name)
        self._version = plan.visit.query.get("version", "")
        self._as_of = plan.as_of
        self.nodes: dict[str, PurposeNodeView] = {one.key: one for one in (theory.nodes if theory else None) or ()}
        self.edges: dict[str, PurposeEdgeView] = {
            name_edge(one): one for one in (theory.edges if theory else None) or ()
        }
        self.indicators: dict[str, IndicatorView] = {
            one.key: one for one in (theory.indicators if theory else None) or ()
        }
        holders: list[tuple[str, PurposeNodeView | PurposeEdgeView]] = [*self.nodes.items(), *self.edges.items()]
        self.assumptions: dict[str, PlacedAssumption] = {
            one.key: PlacedAssumption(one, on) for on, holder in holders for one in holder.assumptions or ()
        }

    def describe(self, ref: str) -> str:
        """Return what people call an item: its title, its text, or both ends of a link."""
        if ref in self.nodes:
            return self.nodes[ref].title
        if ref in self.edges:
            edge = self.edges[ref]
            return f"{self._get_title(edge.source)} → {self._get_title(edge.target)}"
        if ref in self.assumptions:
            return self.assumptions[ref].one.assumption_text
        return self.indicators[ref].name if ref in self.indicators else ref

    def link(self, ref: str) -> str:
        """Return the address that shows an item with everything about it."""
        if ref.startswith("/"):
            return find_place(self._base, "context", ref)
        shown = {"version": self._version, "as_of": self._as_of}
        if ref in self.edges:
            shown["edge"] = format_edge(items.name_edge(self.edges[ref]))
        else:
            shown["key"] = ref
        return f"{self._base}/plan?{urlencode({name: value for name, value in shown.items() if value})}"

    def link_view(self, view: str, **query: str) -> str:
        """Return the address of another view of the same version."""
        shown = {"view": view, "version": self._version, "as_of": self._as_of, **query}
        return f"{self._base}/plan?{urlencode({name: value for name, value in shown.items() if value})}"

    def link_area(self, area: str) -> str:
        """Return the address of another area of the project."""
        return f"{self._base}/{area}"

    def list_nodes(self, *types: str) -> Sequence[PurposeNodeView]:
        """Return the nodes of some types."""
        return [node for node in self.nodes.values() if node.node_type in types]

    def _get_title(self, key: str) -> str:
        return self.nodes[key].title if key in self.nodes else key


def name_edge(edge: PurposeEdgeView) -> str:
    """Return the name by which checks call an edge."""
    return str(items.name_edge(edge))
