"""The subject of a picture: a whole plan, the pathways through one node, or the changes between two versions.

plan(theory)                 everything as it is
pathway(theory, "OC1")       only the causes and effects of OC1
comparison(before, after)    both versions: added, removed and changed items
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.model import (
    Assumption,
    AssumptionStatus,
    EdgeName,
    NodeType,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
    key_order,
)
from groundplan.purpose.observing.records import Waiver
from groundplan.purpose.picture.card_types import CardType, GroupSubject, WorkSubject


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
    """An edge to draw, or several between two groups."""

    edge: PurposeEdge
    badges: list[Badge]
    emphasis: Emphasis = Emphasis.PLAIN
    remark: str | None = None
    links: int = 1


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
        badges, key=lambda one: (_STATUS_ORDER.index(one.status), _RISK_ORDER.index(one.risk), key_order(one.key))
    )


def build_plan_picture(theory: Theory) -> Picture:
    """Build the picture of a whole theory."""
    assumed = theory.group_assumptions_by_subject()
    measured = theory.group_indicators_by_node()

    def badges(on: str | EdgeName) -> list[Badge]:
        return [_build_badge(theory, one) for one in assumed.get(on, ())]

    cards = {key: Card(node, badges(key), len(measured.get(key, ()))) for key, node in theory.content.nodes.items()}
    # If a writer bypassed the database rules, an edge may have a missing end.
    edges = [edge for edge in theory.content.edges if edge.source in cards and edge.target in cards]
    arrows = [Arrow(edge, badges(edge.name)) for edge in edges]
    subtitle = _describe(theory, f"{pluralize(len(cards), 'node')}, {pluralize(len(arrows), 'edge')}")
    if theory.content.assumptions:
        subtitle += f" · {pluralize(len(theory.content.assumptions), 'assumption')}"
    if theory.published_at is not None:
        subtitle += f" · published {theory.published_at[:10]}"
    return Picture(name_picture(theory), subtitle, cards, arrows, theory.waivers, lists_assumptions=True)


def build_pathway_picture(theory: Theory, key: str) -> Picture:
    """Build the picture of the causes and effects of a node, with the edges on these paths, and of nothing else."""
    whole = build_plan_picture(theory)
    causal = [arrow.edge for arrow in whole.arrows if arrow.edge.is_causal]
    above = _find_reachable(key, [(edge.source, edge.target) for edge in causal])
    below = _find_reachable(key, [(edge.target, edge.source) for edge in causal])

    def on_the_way(edge: PurposeEdge) -> bool:
        inside = (edge.source in above and edge.target in above) or (edge.source in below and edge.target in below)
        return edge.is_causal and inside

    shown = above | below
    cards = {one: card for one, card in whole.cards.items() if one in shown}
    cards[key] = cards[key]._replace(emphasis=Emphasis.FOCUS)
    arrows = [arrow for arrow in whole.arrows if on_the_way(arrow.edge)]
    subtitle = _describe(theory, f"what leads to {key} and what it leads to: {pluralize(len(shown), 'node')}")
    existing = {*shown, *(str(arrow.edge.name) for arrow in arrows)}
    things: list[Card | Arrow] = [*cards.values(), *arrows]
    existing |= {badge.key for one in things for badge in one.badges}
    waivers = [waiver for waiver in theory.waivers if not waiver.refs or not existing.isdisjoint(waiver.refs)]
    return whole._replace(subtitle=subtitle, cards=cards, arrows=arrows, waivers=waivers)


def name_picture(theory: Theory) -> str:
    """Return the title of a picture: the goal of the project, or its name before it has one.

    Of several goals it is the first that something leads to.
    """
    reached = {edge.target for edge in theory.content.causal_edges}
    titled = [node for node in theory.content.list_nodes_of_type(NodeType.GOAL) if node.title]
    goals = [node.title for node in sorted(titled, key=lambda node: node.key not in reached)]
    more = f", and {pluralize(len(goals) - 1, 'other goal')}" if goals[1:] else ""
    return f"{goals[0]}{more}" if goals else theory.project


def _describe(theory: Theory, about: str) -> str:
    return f"{theory.project} · {theory.display_name} · {about}"


def _build_badge(theory: Theory, one: Assumption) -> Badge:
    status = theory.get_status(one.key)
    return Badge(one.key, one.assumption_text, one.risk_level, status, owner=one.owner, review_by=one.review_by)


def _find_reachable(start: str, pairs: list[tuple[str, str]]) -> set[str]:
    """Return all reachable nodes, including the start."""
    onward: dict[str, list[str]] = {}
    for source, target in pairs:
        onward.setdefault(source, []).append(target)
    found = {start}
    waiting = [start]
    while waiting:
        for one in onward.get(waiting.pop(), ()):
            if one not in found:
                found.add(one)
                waiting.append(one)
    return found


def pluralize(count: int, thing: str) -> str:
    """Format a count with its noun."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
