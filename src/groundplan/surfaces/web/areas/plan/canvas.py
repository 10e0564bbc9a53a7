"""The canvas, an editable picture of the theory of change; and the list, which has the same content as a table.

The list is for phones, screen readers and browsers without script.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from groundplan.purpose.model import NodeType, RiskLevel
from groundplan.purpose.open import name_edge
from groundplan.surfaces.web.areas.plan.canvas_cards import (
    ALL,
    CanvasCard,
    CanvasLink,
    CanvasPart,
    CanvasQuery,
    describe_part,
    find_worst_risk,
    list_items,
    select_part,
)
from groundplan.surfaces.web.areas.plan.canvas_drawing import CanvasAddress, CanvasState, draw_canvas
from groundplan.surfaces.web.areas.plan.item import CHOICES, find_subject
from groundplan.surfaces.web.areas.plan.plan_visit import PlanView, PlanVisit, read_cached
from groundplan.surfaces.web.areas.plan.quick_entry import NO_ITEMS, DraftItems, find_plan_line
from groundplan.surfaces.web.areas.plan.theory import TheoryItems, format_edge
from groundplan.surfaces.web.visit import Visit

RISK_LEVELS = frozenset(RiskLevel)
QUICK_FORM = "quick"
OF_PART = frozenset({"group", "pathway", "detail"})  # parts that the choice of a group replaces
KEPT = ("view", "version", "as_of", "group", "pathway", "detail", "drawn", "risk")  # parts that a choice keeps
PART_CHARS_MAX = 300


def read_canvas(plan: PlanVisit, theory: TheoryItems) -> Mapping[str, Any]:
    """Return the values of the canvas template: the drawn canvas, its part, and the forms."""
    visit, query = plan.visit, plan.visit.query
    wanted = CanvasQuery(
        _find_item(theory, query),
        *(query.get(name, "")[:PART_CHARS_MAX] for name in ("group", "drawn", "pathway", "detail")),
    )
    part = read_part(plan, theory, wanted)
    if part.is_large:
        # The group in which an item was found is where its links lead on from, and where closing it leads back to.
        visit.query = {**query, "group": part.path[-1].id if part.path else ""}
    selected = query.get("edge") or query.get("key")
    state = CanvasState(selected, find_highlighted(visit, part.cards, part.links), plan.can_edit, part.is_part)
    drawn = draw_canvas(part.cards, part.links, state, make_address(visit))
    cards, _ = list_items(plan, theory)
    svg = drawn.write(visit.shown_canvas)
    return {"svg": svg, "cards": cards, "part": part, "size": describe_part(part), **read_tools(plan)}


def read_part(plan: PlanVisit, theory: TheoryItems, wanted: CanvasQuery) -> CanvasPart:
    """Return the part of the version that the address names."""
    cards, links = list_items(plan, theory)
    return read_cached(plan, ("part", wanted), lambda: select_part(theory.opened, cards, links, wanted))


def _find_item(theory: TheoryItems, query: Mapping[str, str]) -> str:
    """Return the node that the address names; for a link, the source of the link."""
    name, _ = find_subject(theory, query.get("key", ""), query.get("edge", ""))
    return theory.edges[name].source if name in theory.edges else name


def read_tools(plan: PlanVisit) -> Mapping[str, Any]:
    """Return the values for the forms above the canvas and the list."""
    visit = plan.visit
    line = None
    if visit.refusal is not None and visit.refusal.form == QUICK_FORM:
        text = visit.refusal.fields.get("operations|plan", "").replace("\r\n", "\n")
        items = plan.items
        draft = NO_ITEMS if items is None else DraftItems(items.nodes.values(), items.edges.values())
        line = find_plan_line(text, visit.refusal.at_field, draft)
    risk = visit.query.get("risk", "").upper()
    return {"choices": CHOICES, "quick_line": line, "risk": risk if risk in RISK_LEVELS else ""}


def make_address(visit: Visit) -> CanvasAddress:
    """Return the address of the page without a choice on the canvas; each card adds one."""
    # The address is in every card and kept with it: unknown or long parts would fill the memory.
    kept = {name: visit.query[name][:PART_CHARS_MAX] for name in KEPT if visit.query.get(name)}
    above = {name: value for name, value in kept.items() if name not in OF_PART}
    return CanvasAddress(*(f"?{urlencode(pairs)}&" if pairs else "?" for pairs in (kept, above)))


def find_highlighted(visit: Visit, cards: list[CanvasCard], links: list[CanvasLink]) -> set[str] | None:
    """Return the items to highlight: those with assumptions of the chosen risk. None if no risk is chosen."""
    risk = visit.query.get("risk", "").upper()
    if risk not in RISK_LEVELS:
        return None
    lit = {card.key for card in cards if find_worst_risk(card.badges) == risk}
    # A group stands out also if something worse is in it: it may have many items.
    lit |= {card.key for card in cards if card.group and any(badge.risk == risk for badge in card.badges)}
    lit |= {format_edge(link.edge) for link in links if find_worst_risk(link.badges) == risk}
    return lit


def read_list(plan: PlanVisit, theory: TheoryItems) -> Mapping[str, Any]:
    """Return the values of the list template."""
    leads: dict[str, list[tuple[str, str | None]]] = {}
    for edge in theory.edges.values():
        cause, effect, _ = theory.orient(edge)
        leads.setdefault(cause, []).append((effect, edge.mechanism))
    cards, _ = list_items(plan, theory)
    wanted = CanvasQuery(pathway=plan.visit.query.get("pathway", "")[:PART_CHARS_MAX], detail=ALL)
    part = read_part(plan, theory, wanted)
    lit = find_highlighted(plan.visit, part.cards, part.links)
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
    """Return the items, except goals, without an effect."""
    causes = {theory.orient(edge).source for edge in theory.edges.values() if name_edge(edge).edge_type.is_causal}
    return {node.key for node in theory.nodes.values() if node.node_type is not NodeType.GOAL} - causes


CANVAS_VIEW = PlanView("canvas", "Canvas", "1", "plan_canvas.html", read_canvas)
LIST_VIEW = PlanView("list", "List", "l", "plan_list.html", read_list)
