"""The selected node or link of the plan in the inspector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.purpose.model import LEVELS, Confidence, EdgeType, IndicatorDirection, NodeType, RiskLevel
from groundplan.purpose.open import AssumptionView, IndicatorView, PurposeEdgeView, PurposeNodeView, name_edge
from groundplan.surfaces.web.areas.plan.canvas_cards import TYPE_NAMES, read_linked_work
from groundplan.surfaces.web.areas.plan.measures import LineChart, draw_indicator, read_observations
from groundplan.surfaces.web.areas.plan.plan_visit import PlanVisit
from groundplan.surfaces.web.areas.plan.quick_entry import STEPS
from groundplan.surfaces.web.areas.plan.theory import TheoryItems, format_edge
from groundplan.surfaces.web.areas.throughline import ItemLine, read_throughline
from groundplan.surfaces.web.words import EventLine, describe_events

HISTORY_SHOWN = 8
WORK_SHOWN = 12
NOT_SAID = ("", "not said")
RISKS = [NOT_SAID, *((risk.value, risk.value.capitalize()) for risk in RiskLevel)]
CONFIDENCES = [NOT_SAID, *((confidence.value, confidence.value.capitalize()) for confidence in Confidence)]
DIRECTIONS = [NOT_SAID, (IndicatorDirection.INCREASE.value, "Up"), (IndicatorDirection.DECREASE.value, "Down")]
TYPES = [(type_.value, TYPE_NAMES[type_]) for type_ in STEPS]
EDGE_TYPES = [
    (EdgeType.CONTRIBUTES_TO.value, "Contributes to"),
    (EdgeType.CAUSES.value, "Causes"),
    (EdgeType.DEPENDS_ON.value, "Depends on"),
    (EdgeType.FEEDBACK.value, "Leads back to"),
]


class ItemLink(NamedTuple):
    """A link of an item to another one."""

    name: str
    edge: PurposeEdgeView
    key: str  # of the other end
    title: str


class ItemIndicator(NamedTuple):
    """An indicator of an item, with its measurements as a chart."""

    indicator: IndicatorView
    chart: LineChart | None  # None if it was never measured
    measures: str  # the address that shows all measurements, and records another one


class PlanItem(NamedTuple):
    """A node or a link with all data for the inspector."""

    name: str
    node: PurposeNodeView | None
    link: ItemLink | None  # the other end is its effect
    source_title: str  # of the cause of a link
    assumptions: Sequence[AssumptionView]
    indicators: Sequence[ItemIndicator]
    causes: Sequence[ItemLink]
    effects: Sequence[ItemLink]
    others: Sequence[tuple[str, str]]  # the other nodes, to choose from
    work: Sequence[Any]
    line: ItemLine | None  # up to the goals; None if the versions in force do not have the item
    history: Sequence[EventLine]
    focus: str | None  # the assumption or indicator that the address names
    choices: Mapping[str, Any]

    @property
    def cause_type(self) -> str:
        """The usual type of a cause of the node."""
        return STEPS[max(self._level - 1, 0)].value

    @property
    def effect_type(self) -> str:
        """The usual type of an effect of the node."""
        return STEPS[min(self._level + 1, len(STEPS) - 1)].value

    @property
    def type_name(self) -> str:
        """The type of the node in words."""
        return TYPE_NAMES[self.node.node_type] if self.node is not None else "Link"

    @property
    def lost_assumptions(self) -> int:
        """The number of assumptions that go with a node: its own, and those on its links."""
        links = {link.name: link.edge for link in (*self.causes, *self.effects)}  # a loop is on both sides
        return len(self.assumptions) + sum(len(edge.assumptions or ()) for edge in links.values())

    @property
    def _level(self) -> int:
        return LEVELS[self.node.node_type if self.node is not None else NodeType.ACTIVITY]


CHOICES = {
    "risks": RISKS,
    "confidences": CONFIDENCES,
    "directions": DIRECTIONS,
    "types": TYPES,
    "edge_types": EDGE_TYPES,
}


def read_item(plan: PlanVisit) -> PlanItem | None:
    """Return the item in the address, which may be the key of the item or of its assumption or indicator."""
    theory, query = plan.items, plan.visit.query
    if theory is None or not (query.get("key") or query.get("edge")):
        return None
    name, focus = find_subject(theory, query.get("key", ""), query.get("edge", ""))
    if name in theory.nodes:
        node = theory.nodes[name]
        edges = [(edge, theory.orient(edge)) for edge in theory.edges.values()]
        return PlanItem(
            name,
            node,
            None,
            "",
            node.assumptions or [],
            _read_indicators(plan, theory, name),
            [_make_link(theory, edge, ends.source) for edge, ends in edges if ends.target == name],
            [_make_link(theory, edge, ends.target) for edge, ends in edges if ends.source == name],
            [(key, f"{key} {target.title}") for key, target in theory.nodes.items() if key != name]
            if plan.can_edit
            else [],
            _read_work(plan, name),
            _read_line(plan, name),
            _read_history(plan, name),
            focus,
            CHOICES,
        )
    if name not in theory.edges:
        return None
    edge = theory.edges[name]
    cause, effect, _ = theory.orient(edge)
    link, source = _make_link(theory, edge, effect), theory.describe(cause)
    line, history = _read_line(plan, cause), _read_history(plan, name)
    return PlanItem(
        link.name, None, link, source, edge.assumptions or [], [], [], [], [], [], line, history, focus, CHOICES
    )


def find_subject(theory: TheoryItems, key: str, edge: str) -> tuple[str, str | None]:
    """Return the node or link that shows a key, and the key if it belongs to an assumption or an indicator."""
    if edge or not key:
        return theory.find_edge(edge) or edge, None
    card = theory.find_card(key)
    return card, None if card == key else key


def _make_link(theory: TheoryItems, edge: PurposeEdgeView, end: str) -> ItemLink:
    return ItemLink(format_edge(name_edge(edge)), edge, end, theory.describe(end))


def _read_indicators(plan: PlanVisit, theory: TheoryItems, key: str) -> list[ItemIndicator]:
    """Return the indicators of a node. Measurements are read only if there are indicators."""
    indicators = [indicator for indicator in theory.indicators.values() if indicator.node == key]
    measured = read_observations(plan).measurements if indicators else {}
    return [
        ItemIndicator(
            indicator,
            draw_indicator(indicator, measured.get(indicator.key, ())),
            f"{plan.link_view('measures', record=indicator.key)}#indicator-{indicator.key}",
        )
        for indicator in indicators
    ]


def _read_line(plan: PlanVisit, key: str) -> ItemLine | None:
    """Return the line from a node to the goals; none for a day in the past, because lines use the version in force."""
    return None if plan.as_of else read_throughline(plan.visit, key)


def _read_work(plan: PlanVisit, key: str) -> list[Any]:
    """Return the tasks that serve a node directly."""
    if key not in read_linked_work(plan):
        return []
    line = plan.visit.try_call("briefing.throughline", **{"from": key, "direction": "down"})
    steps = [] if line is None else [step for step in line.chain if step.is_work]
    return [step for step in steps if any(link.ref == key for link in step.to)][:WORK_SHOWN]


def _read_history(plan: PlanVisit, subject: str) -> list[EventLine]:
    return describe_events(plan.visit, plan.visit.call("event.list", subject=subject, limit=HISTORY_SHOWN).events)
