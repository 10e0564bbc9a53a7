"""The selected item of the plan in the inspector: a node or a link, with everything about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.purpose.model import LEVELS, Confidence, EdgeType, IndicatorDirection, NodeType, RiskLevel
from groundplan.purpose.open import AssumptionView, IndicatorView, OpenedPurpose, PurposeEdgeView, PurposeNodeView
from groundplan.surfaces.web.areas.plan.kept_reads import read_linked_work
from groundplan.surfaces.web.areas.plan.quick_entry import STEPS
from groundplan.surfaces.web.areas.plan.upkeep.line_chart import LineChart
from groundplan.surfaces.web.areas.plan.upkeep.measures import draw_indicator, read_recorded
from groundplan.surfaces.web.areas.plan.upkeep.theory_index import TheoryIndex
from groundplan.surfaces.web.areas.plan.view import PlanVisit
from groundplan.surfaces.web.areas.throughline.line import ShownLine, read_throughline
from groundplan.surfaces.web.canvas.items import TYPE_NAMES, format_edge, list_nodes, name_edge
from groundplan.surfaces.web.event_words import EventLine, describe_events

HISTORY_SHOWN = 8
WORK_SHOWN = 12
NOT_SAID = ("", "not said")
RISKS = [NOT_SAID, *((risk.value, risk.value.capitalize()) for risk in RiskLevel)]
CONFIDENCES = [NOT_SAID, *((one.value, one.value.capitalize()) for one in Confidence)]
DIRECTIONS = [NOT_SAID, (IndicatorDirection.INCREASE.value, "Up"), (IndicatorDirection.DECREASE.value, "Down")]
TYPES = [(type_.value, TYPE_NAMES[type_]) for type_ in STEPS]
EDGE_TYPES = [
    (EdgeType.CONTRIBUTES_TO.value, "Contributes to"),
    (EdgeType.CAUSES.value, "Causes"),
    (EdgeType.DEPENDS_ON.value, "Is needed by"),
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

    one: IndicatorView
    chart: LineChart | None  # None if it was never measured
    measures: str  # the address that shows all measurements, and records another one


class PlanItem(NamedTuple):
    """A node or a link, with everything that the inspector shows."""

    name: str
    node: PurposeNodeView | None
    link: ItemLink | None  # the other end is its effect
    source_title: str
    assumptions: Sequence[AssumptionView]
    indicators: Sequence[ItemIndicator]
    causes: Sequence[ItemLink]
    effects: Sequence[ItemLink]
    others: Sequence[tuple[str, str]]  # the other nodes, to choose from
    work: Sequence[Any]
    line: ShownLine | None  # up to the goals; None if the versions in force do not have the item
    history: Sequence[EventLine]
    focus: str | None  # the assumption or indicator that the address names
    choices: Mapping[str, Any]

    @property
    def cause_type(self) -> str:
        """The type of what usually leads to the node."""
        return STEPS[max(self._level - 1, 0)].value

    @property
    def effect_type(self) -> str:
        """The type of what the node usually leads to."""
        return STEPS[min(self._level + 1, len(STEPS) - 1)].value

    @property
    def type_name(self) -> str:
        """The type of the node in words."""
        return TYPE_NAMES[self.node.node_type] if self.node is not None else "Link"

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
    """Return the item that the address names, by its key or by the key of its assumption or indicator."""
    if plan.theory is None:
        return None
    query = plan.visit.query
    if not query.get("key") and not query.get("edge"):
        return None
    name, focus = find_subject(plan.theory, query.get("key", ""), query.get("edge", ""))
    titles = {node.key: node.title for node in list_nodes(plan.theory)}
    links = [
        (edge, format_edge(name_edge(edge)), titles.get(edge.source, ""), titles.get(edge.target, ""))
        for edge in plan.theory.edges or ()
    ]
    node = next((node for node in list_nodes(plan.theory) if node.key == name), None)
    if node is not None:
        return PlanItem(
            name,
            node,
            None,
            "",
            node.assumptions or [],
            _read_indicators(plan, name),
            [ItemLink(text, edge, edge.source, source) for edge, text, source, _ in links if edge.target == name],
            [ItemLink(text, edge, edge.target, target) for edge, text, _, target in links if edge.source == name],
            [(key, f"{key} {title}") for key, title in titles.items() if key != name] if plan.can_edit else [],
            _read_work(plan, name),
            _read_line(plan, name),
            _read_history(plan, name),
            focus,
            CHOICES,
        )
    for edge, text, source, target in links:
        if text == name:
            link = ItemLink(text, edge, edge.target, target)
            history = _read_history(plan, str(name_edge(edge)))
            line = _read_line(plan, edge.source)
            return PlanItem(
                text, None, link, source, edge.assumptions or [], [], [], [], [], [], line, history, focus, CHOICES
            )
    return None


def find_subject(theory: OpenedPurpose, key: str, edge: str) -> tuple[str, str | None]:
    """Return the node or link that is meant, and the assumption or indicator on it that is named."""
    if edge or not key:
        return edge, None
    for node in list_nodes(theory):
        if any(one.key == key for one in node.assumptions or ()):
            return node.key, key
    for one in theory.edges or ():
        if any(assumption.key == key for assumption in one.assumptions or ()):
            return format_edge(name_edge(one)), key
    for indicator in theory.indicators or ():
        if indicator.key == key:
            return indicator.node, key
    return key, None


def _read_indicators(plan: PlanVisit, key: str) -> list[ItemIndicator]:
    """Return the indicators of a node. What was measured is read only if it has some."""
    found = [one for one in (plan.theory.indicators if plan.theory else None) or () if one.node == key]
    if not found:
        return []
    measured, index = read_recorded(plan).measurements, TheoryIndex(plan)
    return [
        ItemIndicator(
            one,
            draw_indicator(one, measured.get(one.key, ())),
            f"{index.link_view('measures', record=one.key)}#indicator-{one.key}",
        )
        for one in found
    ]


def _read_line(plan: PlanVisit, key: str) -> ShownLine | None:
    """Return what a node is for. A line follows the versions in force, so a day in the past has none."""
    return None if plan.as_of else read_throughline(plan.visit, key)


def _read_work(plan: PlanVisit, key: str) -> list[Any]:
    """Return the tasks that serve a node themselves."""
    if key not in read_linked_work(plan):
        return []
    line = plan.visit.try_call("briefing.throughline", **{"from": key, "direction": "down"})
    steps = [] if line is None else [step for step in line.chain if step.is_work]
    return [step for step in steps if any(link.ref == key for link in step.to)][:WORK_SHOWN]


def _read_history(plan: PlanVisit, subject: str) -> list[EventLine]:
    return describe_events(plan.visit, plan.visit.call("event.list", subject=subject, limit=HISTORY_SHOWN).events)
