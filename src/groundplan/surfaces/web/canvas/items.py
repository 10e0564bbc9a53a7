"""What a canvas shows: cards, links between them, and in words what a screen reader says about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from groundplan.purpose.model import AssumptionStatus, Confidence, EdgeName, NodeType, RiskLevel
from groundplan.purpose.open import AssumptionView, OpenedPurpose, PurposeNodeView
from groundplan.purpose.picture.picture_model import Badge, pluralize, sort_by_severity
from groundplan.purpose.picture.tokens import BAND_NAMES, RISK_NAMES, SINGULAR_NAMES, STATUS_NAMES
from groundplan.surfaces.web.areas.plan.kept_reads import read_cached
from groundplan.surfaces.web.areas.plan.theory import TheoryItems, name_edge
from groundplan.surfaces.web.areas.plan.view import PlanVisit

TYPE_NAMES = {
    NodeType.ACTIVITY: "Activity",
    NodeType.OUTPUT: "Output",
    NodeType.OUTCOME: "Outcome",
    NodeType.GOAL: "Goal",
}
ALARMS = (AssumptionStatus.AT_RISK, AssumptionStatus.REFUTED)


class LinkedWork(NamedTuple):
    """The tasks that serve a card: how many, and how many of them are resolved."""

    total: int
    resolved: int


class CanvasCard(NamedTuple):
    """A card of the canvas."""

    key: str
    node_type: NodeType
    title: str
    badges: tuple[Badge, ...]  # the worst first
    work: LinkedWork | None = None
    group: str = ""  # the id that opens the group, if the card stands for one
    size: int = 1  # how many items it stands for
    is_around: bool = False  # whether it is beside the group that is open

    @property
    def caption(self) -> str:
        """What stands above the title: the key, or how many items the card stands for."""
        if not self.group:
            return self.key
        return f"{self.size} {(SINGULAR_NAMES if self.size == 1 else BAND_NAMES)[self.node_type].lower()}"

    @property
    def label(self) -> str:
        """The card in words."""
        kind = f"Group, {self.caption}" if self.group else f"{TYPE_NAMES[self.node_type]} {self.key}"
        parts = [kind, self.title]
        if self.badges:
            parts += [pluralize(len(self.badges), "assumption"), _describe_worst(self.badges)]
        if self.work is not None:
            parts.append(f"{self.work.resolved} of {pluralize(self.work.total, 'task')} resolved")
        return ", ".join(parts)


class CanvasLink(NamedTuple):
    """A link of the canvas."""

    edge: EdgeName
    badges: tuple[Badge, ...]  # the worst first
    mechanism: str | None = None
    confidence: Confidence | None = None
    joined: int = 0  # how many links between two groups it stands for; 0: it is one itself

    @property
    def label(self) -> str:
        """The link in words."""
        said = f"{self.edge.source} leads to {self.edge.target}"
        if not self.badges:
            return said
        return f"{said}, {pluralize(len(self.badges), 'assumption')}, {_describe_worst(self.badges)}"


def list_cards(theory: OpenedPurpose, work: Mapping[str, LinkedWork]) -> list[CanvasCard]:
    """Return the cards of a version, in key order."""
    return [
        CanvasCard(
            node.key,
            node.node_type,
            node.title,
            list_badges(node.assumptions or ()),
            work.get(node.key),
        )
        for node in list_nodes(theory)
    ]


def list_links(theory: OpenedPurpose) -> list[CanvasLink]:
    """Return the links of a version."""
    return [
        CanvasLink(name_edge(edge), list_badges(edge.assumptions or ()), edge.mechanism, edge.confidence)
        for edge in theory.edges or ()
    ]


def list_nodes(theory: OpenedPurpose) -> list[PurposeNodeView]:
    """Return the nodes of a version."""
    return list(theory.nodes or ())


def list_badges(assumptions: Sequence[AssumptionView]) -> tuple[Badge, ...]:
    """Return assumptions as badges, the worst first."""
    if not assumptions:
        return ()
    badges = (Badge(one.key, one.assumption_text, one.risk_level, one.status) for one in assumptions)
    return tuple(sort_by_severity(badges))


def find_worst_risk(badges: Sequence[Badge]) -> RiskLevel | None:
    """Return the highest risk among assumptions."""
    order = (RiskLevel.HIGH, RiskLevel.MEDIUM, RiskLevel.LOW)
    return next((risk for risk in order if any(badge.risk is risk for badge in badges)), None)


def _describe_worst(badges: Sequence[Badge]) -> str:
    alarm = next((STATUS_NAMES[badge.status] for badge in badges if badge.status in ALARMS), "")
    risk = RISK_NAMES[find_worst_risk(badges)]
    return f"{risk}, {alarm}" if alarm else risk


def read_linked_work(plan: PlanVisit) -> Mapping[str, LinkedWork]:
    """Return the work that serves each node."""

    def read() -> dict[str, LinkedWork]:
        served = plan.visit.call("briefing.serving").served
        return {one.key: LinkedWork(one.total, one.resolved) for one in served}

    return read_cached(plan, "work", read)


def list_items(plan: PlanVisit, theory: TheoryItems) -> tuple[list[CanvasCard], list[CanvasLink]]:
    """Return all cards and links of the version."""
    opened = theory.opened
    return read_cached(plan, "items", lambda: (list_cards(opened, read_linked_work(plan)), list_links(opened)))
