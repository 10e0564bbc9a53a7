"""The list: the same as the canvas, as a table for phones, screen readers and browsers without script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.purpose.model import EdgeType, NodeType
from groundplan.surfaces.web.areas.plan.canvas import PART_CHARS_MAX, find_lit, make_address, read_part, read_tools
from groundplan.surfaces.web.areas.plan.theory import TheoryItems
from groundplan.surfaces.web.areas.plan.view import PlanView, PlanVisit
from groundplan.surfaces.web.canvas.items import list_items
from groundplan.surfaces.web.canvas.shown_part import ALL, CanvasQuery


def read_list(plan: PlanVisit, theory: TheoryItems) -> Mapping[str, Any]:
    """Return the rows of the list."""
    leads: dict[str, list[Any]] = {}
    for edge in theory.edges.values():
        leads.setdefault(edge.source, []).append(edge)
    cards, _ = list_items(plan, theory)
    wanted = CanvasQuery(pathway=plan.visit.query.get("pathway", "")[:PART_CHARS_MAX], detail=ALL)
    part = read_part(plan, theory, wanted)
    lit = find_lit(plan.visit, part.cards, part.links)
    shown = part.cards if lit is None else [card for card in part.cards if card.key in lit]
    return {
        "cards": cards,
        "shown": shown,
        "part": part,
        "leads": leads,
        "dead_ends": _find_dead_ends(theory),
        "address_of": make_address(plan.visit),
        **read_tools(plan),
    }


def _find_dead_ends(theory: TheoryItems) -> set[str]:
    """Return the items, other than goals, that lead to nothing."""
    causes = {edge.source for edge in theory.edges.values() if edge.edge_type is not EdgeType.FEEDBACK}
    return {node.key for node in theory.nodes.values() if node.node_type is not NodeType.GOAL} - causes


LIST_VIEW = PlanView("list", "List", "l", "plan_list.html", read_list)
