"""The subject of a picture: a whole plan, the pathways through one node, or the changes between two versions.

plan(theory)                 everything as it is
pathway(theory, "OC1")       only the causes and effects of OC1
comparison(before, after)    both versions by stable key: added, removed and changed items; the rest is muted

A card stands for a purpose node, for several of them, or for work that serves one.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.graph.graph import build_graph, find_leading_to, find_reachable_from
from groundplan.purpose.model import (
    Assumption,
    AssumptionStatus,
    Content,
    EdgeName,
    NodeType,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
    edge_order,
    key_order,
)
from groundplan.purpose.observing.records import Waiver
from groundplan.purpose.picture.tokens import CardType, WorkType
from groundplan.purpose.versions.compare import Changed, Comparison, compare


class WorkSubject(NamedTuple):
    """A work node on a card."""

    key: str
    title: str
    owner: str | None = None  # who holds it
    description: str | None = None
    node_type: WorkType = WorkType.WORK


class GroupSubject(NamedTuple):
    """Several nodes of one type on a card."""

    key: str
    title: str
    node_type: NodeType
    group: str  # the id that opens the group
    keys: tuple[str, ...]  # of the nodes
    owner: str | None = None
    description: str | None = None

    @property
    def size(self) -> int:
        """The number of nodes that the card represents."""
        return len(self.keys)


class Emphasis(StrEnum):
    """The emphasis of an element in the picture."""

    PLAIN = "plain"
    STRONG = "strong"
    FOCUS = "focus"  # the subject of a picture
    MUTED = "muted"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Badge(NamedTuple):
    """An assumption on a node or an edge."""

    key: str
    text: str
    risk: RiskLevel | None
    status: AssumptionStatus
    emphasis: Emphasis = Emphasis.PLAIN
    owner: str | None = None
    review_by: str | None = None


class Card(NamedTuple):
    """A node to draw."""

    node: PurposeNode | WorkSubject | GroupSubject
    badges: list[Badge]
    indicators: int
    emphasis: Emphasis = Emphasis.PLAIN
    remark: str | None = None  # added to the tooltip


class Arrow(NamedTuple):
    """An edge to draw from its cause to its effect, or all edges between two groups."""

    edge: PurposeEdge
    badges: list[Badge]
    emphasis: Emphasis = Emphasis.PLAIN
    remark: str | None = None
    links: int = 1
    stored_name: EdgeName | None = None  # if its source is the effect

    @property
    def name(self) -> EdgeName:
        """The name by which everybody refers to the edge."""
        return self.stored_name or self.edge.name


class Picture(NamedTuple):
    """The content of a picture. Cards are in key order, arrows in name order."""

    title: str
    subtitle: str
    cards: dict[str, Card]
    arrows: list[Arrow]
    waivers: list[Waiver]
    lists_assumptions: bool = False  # below the picture, by the keys beside their badges

    def list_cards_of_type(self, node_type: CardType) -> list[Card]:
        """Return the cards of one type."""
        return [card for card in self.cards.values() if card.node.node_type is node_type]


# The worst first, because a reader must not miss it.
_RISK_ORDER: list[RiskLevel | None] = [RiskLevel.HIGH, RiskLevel.MEDIUM, RiskLevel.LOW, None]
_STATUS_ORDER = [
    AssumptionStatus.REFUTED,
    AssumptionStatus.AT_RISK,
    AssumptionStatus.UNTESTED,
    AssumptionStatus.HOLDING,
]


def sort_by_severity(badges: Iterable[Badge]) -> list[Badge]:
    """Sort badges, the worst first."""
    return sorted(
        badges,
        key=lambda badge: (_STATUS_ORDER.index(badge.status), _RISK_ORDER.index(badge.risk), key_order(badge.key)),
    )


def build_plan_picture(theory: Theory) -> Picture:
    """Build the picture of a whole theory."""
    assumed = theory.group_assumptions_by_subject()
    measured = theory.group_indicators_by_node()

    def badges(on: str | EdgeName) -> list[Badge]:
        return [_build_badge(theory, assumption) for assumption in assumed.get(on, ())]

    cards = {key: Card(node, badges(key), len(measured.get(key, ()))) for key, node in theory.content.nodes.items()}
    # If a writer bypassed the database rules, an edge may have a missing end.
    edges = [edge for edge in theory.content.edges if edge.source in cards and edge.target in cards]
    arrows = [build_arrow(edge, theory.content.orient(edge.name), badges(edge.name)) for edge in edges]
    subtitle = _format_subtitle(theory, f"{pluralize(len(cards), 'node')}, {pluralize(len(arrows), 'edge')}")
    if theory.content.assumptions:
        subtitle += f" · {pluralize(len(theory.content.assumptions), 'assumption')}"
    if theory.published_at is not None:
        subtitle += f" · published {theory.published_at[:10]}"
    return Picture(name_picture(theory), subtitle, cards, arrows, theory.waivers, lists_assumptions=True)


def build_arrow(edge: PurposeEdge, oriented: EdgeName, badges: list[Badge]) -> Arrow:
    """Return the arrow of an edge, from its cause to its effect."""
    if oriented == edge.name:
        return Arrow(edge, badges)
    return Arrow(replace(edge, source=oriented.source, target=oriented.target), badges, stored_name=edge.name)


def build_pathway_picture(theory: Theory, key: str) -> Picture:
    """Return a picture of a node with all of its causes and effects, and the edges between them."""
    plan = build_plan_picture(theory)
    graph = build_graph(plan.cards, [arrow.edge.name[:2] for arrow in plan.arrows if arrow.edge.is_causal])
    above = {graph.keys[number] for number in find_reachable_from(graph, [graph.numbers[key]])}
    below = {graph.keys[number] for number in find_leading_to(graph, [graph.numbers[key]])}

    def on_the_way(edge: PurposeEdge) -> bool:
        inside = (edge.source in above and edge.target in above) or (edge.source in below and edge.target in below)
        return edge.is_causal and inside

    shown = above | below
    cards = {node_key: card for node_key, card in plan.cards.items() if node_key in shown}
    cards[key] = cards[key]._replace(emphasis=Emphasis.FOCUS)
    arrows = [arrow for arrow in plan.arrows if on_the_way(arrow.edge)]
    subtitle = _format_subtitle(theory, f"what leads to {key} and what it leads to: {pluralize(len(shown), 'node')}")
    existing = {*shown, *(str(arrow.name) for arrow in arrows)}
    things: list[Card | Arrow] = [*cards.values(), *arrows]
    existing |= {badge.key for thing in things for badge in thing.badges}
    waivers = [waiver for waiver in theory.waivers if not waiver.refs or not existing.isdisjoint(waiver.refs)]
    return plan._replace(subtitle=subtitle, cards=cards, arrows=arrows, waivers=waivers)


def name_picture(theory: Theory) -> str:
    """Return the title of a picture: the goal of the project, or its name if it has no goal.

    Of several goals it is the first that something leads to.
    """
    reached = {theory.content.orient(edge.name).target for edge in theory.content.causal_edges}
    titled = [node for node in theory.content.list_nodes_of_type(NodeType.GOAL) if node.title]
    goals = [node.title for node in sorted(titled, key=lambda node: node.key not in reached)]
    more = f", and {pluralize(len(goals) - 1, 'other goal')}" if goals[1:] else ""
    return f"{goals[0]}{more}" if goals else theory.project


def _format_subtitle(theory: Theory, about: str) -> str:
    return f"{theory.project} · {theory.display_name} · {about}"


def _build_badge(theory: Theory, assumption: Assumption) -> Badge:
    status = theory.get_status(assumption.key)
    return Badge(
        assumption.key,
        assumption.assumption_text,
        assumption.risk_level,
        status,
        owner=assumption.owner,
        review_by=assumption.review_by,
    )


def pluralize(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


Drawn = TypeVar("Drawn", Card, Arrow)
Remarks = dict[str, list[str]]  # changes by the key or name of the changed item


def build_comparison_picture(before: Theory, after: Theory) -> Picture:
    """Return a picture of both versions."""
    differences = compare(before.content, after.content)
    old, new = build_plan_picture(before), build_plan_picture(after)
    marks = {key: mark for _, changes in differences.changes_by_kind for key, mark in _map_emphasis(changes).items()}
    remarks = _collect_remarks(differences, before.content, after.content)
    gone = _find_removed_badges(old, marks)

    def mark_changes(drawn: Drawn, name: str) -> Drawn:
        badges = [badge._replace(emphasis=marks.get(badge.key, Emphasis.PLAIN)) for badge in drawn.badges]
        item_remarks = remarks.get(name, [])
        mark = marks.get(name) or (Emphasis.CHANGED if item_remarks else Emphasis.MUTED)
        remark = "\n".join(item_remarks) or None
        return drawn._replace(badges=badges + gone.get(name, []), emphasis=mark, remark=remark)

    cards = {key: mark_changes(card, key) for key, card in new.cards.items()}
    cards |= {key: card._replace(emphasis=Emphasis.REMOVED) for key, card in old.cards.items() if key not in cards}
    arrows = {str(arrow.name): mark_changes(arrow, str(arrow.name)) for arrow in new.arrows}
    removed = {edge.key for edge in differences.edges.removed}
    arrows |= {
        name: arrow._replace(emphasis=Emphasis.REMOVED) for arrow in old.arrows if (name := str(arrow.name)) in removed
    }
    return Picture(
        name_picture(after),
        f"{after.project} · from {before.display_name} to {after.display_name} · {_summarize_changes(differences)}",
        dict(sorted(cards.items(), key=lambda item: key_order(item[0]))),
        sorted(arrows.values(), key=lambda item: edge_order(item.edge.name)),
        after.waivers,
    )


def _map_emphasis(changes: Any) -> dict[str, Emphasis]:
    """Return the change of each item of a kind, by key."""
    return {
        item.key: mark
        for list_, mark in (
            (changes.added, Emphasis.ADDED),
            (changes.removed, Emphasis.REMOVED),
            (changes.changed, Emphasis.CHANGED),
        )
        for item in list_
    }


def _collect_remarks(differences: Comparison, before: Content, after: Content) -> Remarks:
    """Return the changes of nodes and edges, and of their assumptions and indicators, as texts."""
    remarks: Remarks = {}
    for changed in (*differences.nodes.changed, *differences.edges.changed):
        remarks.setdefault(changed.key, []).append(_describe_change("changed", changed))
    places = _map_subjects(before) | _map_subjects(after)
    for changes in (differences.assumptions, differences.indicators):
        texts = {key: f"{key} {mark}" for key, mark in _map_emphasis(changes).items()}
        texts |= {change.key: _describe_change(f"{change.key} changed", change) for change in changes.changed}
        for key, text in texts.items():
            remarks.setdefault(places[key], []).append(text)
    return remarks


def _describe_change(subject: str, changed: Changed) -> str:
    return f"{subject}: {', '.join(change.field for change in changed.fields)}"


def _map_subjects(content: Content) -> dict[str, str]:
    """Return the node or edge of each assumption and indicator, by key."""
    subjects = {assumption.key: str(assumption.edge or assumption.node) for assumption in content.assumptions.values()}
    return subjects | {indicator.key: indicator.node for indicator in content.indicators.values()}


def _find_removed_badges(old: Picture, marks: dict[str, Emphasis]) -> dict[str, list[Badge]]:
    """Return the removed badges by their node or edge."""
    on = {key: card.badges for key, card in old.cards.items()}
    on |= {str(arrow.name): arrow.badges for arrow in old.arrows}
    return {
        name: [
            badge._replace(emphasis=Emphasis.REMOVED) for badge in badges if marks.get(badge.key) is Emphasis.REMOVED
        ]
        for name, badges in on.items()
    }


def _summarize_changes(differences: Comparison) -> str:
    """Return the number of changes of each kind, without kinds that have none."""
    parts = []
    for name, changes in differences.changes_by_kind:
        counts = ((changes.added, "added"), (changes.removed, "removed"), (changes.changed, "changed"))
        counted = [f"{len(list_)} {word}" for list_, word in counts if list_]
        if counted:
            parts.append(f"{name.lower()} {', '.join(counted)}")
    return "; ".join(parts) or "nothing changed"
