"""The cards and links of a canvas: of a whole plan, a view, a pathway, an overview of groups, or one group.

A plan of more than 120 items opens as an overview. Groups, and what stands around an opened one, are those of the
pictures that `purpose.render` draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from groundplan.kernel.errors import NotFound
from groundplan.purpose.exchange.theory import Theory, collect_views, select_view
from groundplan.purpose.model import (
    Assumption,
    AssumptionStatus,
    Confidence,
    EdgeName,
    NodeType,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
    build_content,
)
from groundplan.purpose.open import AssumptionView, OpenedPurpose, PurposeNodeView, name_edge, orient_edge_view
from groundplan.purpose.picture.overview import (
    CARDS_MAX,
    NodeGroup,
    build_group_picture,
    build_overview_picture,
    find_path,
    find_path_of_node,
    is_large,
)
from groundplan.purpose.picture.subjects import (
    Badge,
    Card,
    Emphasis,
    GroupSubject,
    Picture,
    build_pathway_picture,
    pluralize,
    sort_by_severity,
)
from groundplan.purpose.picture.tokens import BAND_NAMES, RISK_NAMES, SINGULAR_NAMES, STATUS_NAMES
from groundplan.purpose.versions.versions import Version
from groundplan.surfaces.web.areas.plan.plan_visit import PlanVisit, read_cached
from groundplan.surfaces.web.areas.plan.theory import TheoryItems

TYPE_NAMES = {
    NodeType.ACTIVITY: "Activity",
    NodeType.OUTPUT: "Output",
    NodeType.OUTCOME: "Outcome",
    NodeType.GOAL: "Goal",
}
ALARMS = (AssumptionStatus.AT_RISK, AssumptionStatus.REFUTED)
ALL = "all"


class LinkedWork(NamedTuple):
    """The number of tasks that serve the node of a card, and the number of resolved ones."""

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
        """The line above the title: the key, or the number of items of a group."""
        if not self.group:
            return self.key
        return f"{self.size} {(SINGULAR_NAMES if self.size == 1 else BAND_NAMES)[self.node_type].lower()}"

    @property
    def label(self) -> str:
        """The text of the card for screen readers."""
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
    drawn: EdgeName  # from its cause to its effect
    badges: tuple[Badge, ...]  # the worst first
    mechanism: str | None = None
    confidence: Confidence | None = None
    joined: int = 0  # how many links between two groups it stands for; 0: it is one itself

    @property
    def label(self) -> str:
        """The text of the link for screen readers."""
        words = f"{self.drawn.source} leads to {self.drawn.target}"
        if not self.badges:
            return words
        return f"{words}, {pluralize(len(self.badges), 'assumption')}, {_describe_worst(self.badges)}"


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
    nodes = {node.key: node for node in theory.nodes or ()}
    return [
        CanvasLink(
            name_edge(edge),
            orient_edge_view(edge, nodes),
            list_badges(edge.assumptions or ()),
            edge.mechanism,
            edge.confidence,
        )
        for edge in theory.edges or ()
    ]


def list_nodes(theory: OpenedPurpose) -> list[PurposeNodeView]:
    """Return the nodes of a version."""
    return list(theory.nodes or ())


def list_badges(assumptions: Sequence[AssumptionView]) -> tuple[Badge, ...]:
    """Return assumptions as badges, the worst first."""
    if not assumptions:
        return ()
    badges = (
        Badge(assumption.key, assumption.assumption_text, assumption.risk_level, assumption.status)
        for assumption in assumptions
    )
    return tuple(sort_by_severity(badges))


def find_worst_risk(badges: Sequence[Badge]) -> RiskLevel | None:
    """Return the highest risk of some assumptions."""
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
        return {node.key: LinkedWork(node.total, node.resolved) for node in served}

    return read_cached(plan, "work", read)


def list_items(plan: PlanVisit, theory: TheoryItems) -> tuple[list[CanvasCard], list[CanvasLink]]:
    """Return all cards and links of the version."""
    opened = theory.opened
    return read_cached(plan, "items", lambda: (list_cards(opened, read_linked_work(plan)), list_links(opened)))


class CanvasQuery(NamedTuple):
    """The part of the plan that an address names. `item` is the key of a node that must be shown."""

    item: str = ""
    group: str = ""
    view: str = ""
    pathway: str = ""
    detail: str = ""


class CanvasPart(NamedTuple):
    """The cards and links on a canvas."""

    cards: list[CanvasCard]
    links: list[CanvasLink]
    views: list[str]  # the names of all views
    path: list[NodeGroup]  # the groups that are open, the outermost first
    is_large: bool = False  # whether there is an overview
    is_part: bool = False  # whether groups or only some items are shown
    problem: str = ""  # why the address cannot be shown as it says


def select_part(
    opened: OpenedPurpose, cards: list[CanvasCard], links: list[CanvasLink], wanted: CanvasQuery
) -> CanvasPart:
    """Return the cards and links of a version that the query selects."""
    views = collect_views(node.metadata or {} for node in list_nodes(opened))
    is_many = len(cards) > CARDS_MAX
    if not wanted.view and not wanted.pathway and (wanted.detail == ALL or not is_many):
        return CanvasPart(cards, links, views, [], is_many)
    theory = _to_theory(opened)
    problem = ""
    if wanted.view:
        try:
            theory = select_view(theory, wanted.view)
        except NotFound:
            problem = f"There is no view “{wanted.view}”. All items are shown."
    nodes = theory.content.nodes
    names = {edge.name for edge in theory.content.edges}
    part = CanvasPart(
        [card for card in cards if card.key in nodes],
        [link for link in links if link.edge in names],
        views,
        [],
        is_large(theory),
        len(nodes) < len(cards),
        problem,
    )
    if wanted.pathway in nodes:
        return _crop_to_pathway(part, theory, wanted)
    if wanted.pathway:
        missing = f"There is no item “{wanted.pathway}” here, so no pathway is shown."
        part = part._replace(problem=problem or missing)
    if not part.is_large or wanted.detail == ALL:
        return part
    path = find_path(theory.content, wanted.group) if wanted.group else []
    if wanted.item in nodes and (not path or wanted.item not in path[-1].keys):
        path = find_path_of_node(theory.content, wanted.item)
    picture = build_group_picture(theory, path[-1].id) if path else None
    if picture is not None:
        return _convert(part, picture)._replace(path=path)
    missing = f"There is no group “{wanted.group}” any more." if wanted.group else ""
    return _convert(part, build_overview_picture(theory))._replace(problem=part.problem or missing)


def _crop_to_pathway(part: CanvasPart, theory: Theory, wanted: CanvasQuery) -> CanvasPart:
    """Return the causes and effects of a node, with a problem if the wanted item is not one of them."""
    pathway = _convert(part, build_pathway_picture(theory, wanted.pathway))
    if wanted.item in theory.content.nodes and all(card.key != wanted.item for card in pathway.cards):
        problem = f"{wanted.item} is not on the pathway of {wanted.pathway}. Close the pathway to see it."
        pathway = pathway._replace(problem=part.problem or problem)
    return pathway


def _convert(part: CanvasPart, picture: Picture) -> CanvasPart:
    """Return a part of the canvas with the cards and links of a picture."""
    by_key = {card.key: card for card in part.cards}
    by_name = {link.edge: link for link in part.links}
    links = [
        by_name[arrow.name]
        if arrow.remark is None
        else CanvasLink(arrow.name, arrow.edge.name, tuple(sort_by_severity(arrow.badges)), joined=arrow.links)
        for arrow in picture.arrows
    ]
    return part._replace(
        cards=[_convert_card(card, by_key) for card in picture.cards.values()], links=links, is_part=True
    )


def _convert_card(card: Card, by_key: Mapping[str, CanvasCard]) -> CanvasCard:
    subject = card.node
    if not isinstance(subject, GroupSubject):
        return by_key[subject.key]
    members = [by_key[key] for key in subject.keys]
    work = [member.work for member in members if member.work is not None]
    return CanvasCard(
        subject.key,
        subject.node_type,
        subject.title,
        tuple(sort_by_severity(badge for member in members for badge in member.badges)),
        LinkedWork(sum(tasks.total for tasks in work), sum(tasks.resolved for tasks in work)) if work else None,
        subject.group,
        subject.size,
        card.emphasis is Emphasis.MUTED,
    )


def _to_theory(opened: OpenedPurpose) -> Theory:
    """Return a version as a `Theory` with only the fields that pictures use."""
    assumptions: dict[str, Assumption] = {}
    statuses = {}

    def add(added: list[AssumptionView], node: str | None, edge: EdgeName | None) -> None:
        for assumption in added:
            text, risk = assumption.assumption_text, assumption.risk_level
            assumptions[assumption.key] = Assumption("", assumption.key, node, edge, text, risk)
            statuses[assumption.key] = assumption.status

    nodes = []
    for node in list_nodes(opened):
        nodes.append(PurposeNode("", node.key, node.node_type, node.title, metadata=node.metadata or {}))
        add(node.assumptions or [], node.key, None)
    edges = []
    for edge in opened.edges or ():
        name = name_edge(edge)
        edges.append(PurposeEdge("", *name, edge.mechanism, edge.confidence))
        add(edge.assumptions or [], None, name)
    version = opened.version
    assert isinstance(version, Version)  # noqa: S101 - the canvas shows an opened version
    content = build_content(nodes, edges, assumptions.values(), ())
    return Theory(
        opened.project, version.number, version.label, version.status, version.profile, None, content, statuses, {}, []
    )


def describe_part(part: CanvasPart) -> str:
    """Return the numbers of the items on a canvas in words."""
    count = pluralize(sum(card.size for card in part.cards if not card.is_around), "item")
    groups = len({card.group for card in part.cards if card.group and not card.is_around})
    return f"{count} in {pluralize(groups, 'group')}" if groups else count
