"""The picture of a large plan: a card for the nodes of one type in a group, and one line for the edges between two.

An opened group shows its own cards, or its own groups if it is large; the groups around it stay closed and muted. A
closed group keeps the state of what is in it: how many assumptions of each risk, with the worst of their reviews.
"""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.model import EdgeType, NodeType, PurposeEdge, edge_order
from groundplan.purpose.picture.card_types import GroupSubject
from groundplan.purpose.picture.overview.groups import (
    CARDS_MAX,
    NodeGroup,
    divide_group,
    divide_nodes,
    find_group,
)
from groundplan.purpose.picture.picture_model import (
    Arrow,
    Badge,
    Card,
    Emphasis,
    Picture,
    build_plan_picture,
    pluralize,
    sort_by_severity,
)

BADGE_EXAMPLES_MAX = 8


def is_large(theory: Theory) -> bool:
    """Return whether a plan is drawn as an overview unless everything is asked for."""
    return len(theory.content.nodes) > CARDS_MAX


def build_overview_picture(theory: Theory) -> Picture:
    """Build the picture of all groups, closed."""
    groups = divide_nodes(theory.content)
    whole = build_plan_picture(theory)
    told = f"overview: {pluralize(len(whole.cards), 'node')} in {pluralize(len(groups), 'group')}"
    cards = _build_cards(whole, groups, Emphasis.PLAIN)
    arrows = _keep_between_bands(cards, _join_edges(whole, _map_cards(whole, groups)))
    return whole._replace(
        subtitle=f"{theory.project} · {theory.display_name} · {told}",
        cards=cards,
        arrows=arrows,
        lists_assumptions=False,
    )


def build_group_picture(theory: Theory, id_: str) -> Picture | None:
    """Build the picture of one opened group among the groups that it is linked to; None if there is no such group."""
    found = find_group(theory.content, id_)
    if found is None:
        return None
    group, level = found
    whole = build_plan_picture(theory)
    inner = divide_group(theory.content, group) if len(group.keys) > CARDS_MAX else []
    near = _find_neighbours(whole, group)
    others = [one for one in level if one.id != group.id and not near.isdisjoint(one.keys)]
    cards = _build_cards(whole, inner, Emphasis.PLAIN) if inner else {key: whole.cards[key] for key in group.keys}
    card_of = {key: key for key in group.keys} | _map_cards(whole, [*inner, *others])
    # What the groups around do to each other is not about this one.
    arrows = [
        arrow for arrow in _join_edges(whole, card_of) if arrow.edge.source in cards or arrow.edge.target in cards
    ]
    linked = {end for arrow in arrows for end in (arrow.edge.source, arrow.edge.target)}
    around = _build_cards(whole, others, Emphasis.MUTED)
    return whole._replace(
        subtitle=f"{theory.project} · {theory.display_name} · {group.name}: {pluralize(len(group.keys), 'node')}",
        cards=cards | {key: card for key, card in around.items() if key in linked},
        arrows=arrows,
        lists_assumptions=not inner,
    )


def list_groups(theory: Theory, id_: str | None) -> list[NodeGroup]:
    """Return the groups of the overview, or those inside an opened group; none if it shows its nodes."""
    if id_ is None:
        return divide_nodes(theory.content)
    found = find_group(theory.content, id_)
    return divide_group(theory.content, found[0]) if found and len(found[0].keys) > CARDS_MAX else []


def _keep_between_bands(cards: dict[str, Card], arrows: list[Arrow]) -> list[Arrow]:
    """Return the arrows from one type to another.

    Groups of one type mostly act on each other in both directions, so these arrows would hide the others. They are left
    out where a card has others, and counted in its tooltip.
    """
    between = [
        one for one in arrows if cards[one.edge.source].node.node_type is not cards[one.edge.target].node.node_type
    ]
    linked = {end for one in between for end in (one.edge.source, one.edge.target)}
    kept = {one.edge.name for one in between}
    return [one for one in arrows if one.edge.name in kept or not {one.edge.source, one.edge.target} <= linked]


def _find_neighbours(whole: Picture, group: NodeGroup) -> set[str]:
    inside = set(group.keys)
    return {
        other
        for arrow in whole.arrows
        for one, other in (arrow.edge.name[:2], arrow.edge.name[1::-1])
        if one in inside and other not in inside
    }


def _build_cards(whole: Picture, groups: list[NodeGroup], emphasis: Emphasis) -> dict[str, Card]:
    """Return a card for the nodes of each type in each group."""
    cards: dict[str, Card] = {}
    for group in groups:
        by_type: dict[NodeType, list[Card]] = {}
        for key in group.keys:
            by_type.setdefault(NodeType(whole.cards[key].node.node_type), []).append(whole.cards[key])
        for node_type, several in by_type.items():
            cards[_name_card(group.id, node_type)] = _build_card(group, node_type, several, emphasis)
    return cards


def _name_card(group: str, node_type: NodeType) -> str:
    return f"{group}:{node_type.lower()}"


def _map_cards(whole: Picture, groups: list[NodeGroup]) -> dict[str, str]:
    """Return the card of a group for each node."""
    return {
        key: _name_card(group.id, NodeType(whole.cards[key].node.node_type)) for group in groups for key in group.keys
    }


def _build_card(group: NodeGroup, node_type: NodeType, cards: list[Card], emphasis: Emphasis) -> Card:
    """Build the card of a group; a single node is shown by its own title."""
    title = cards[0].node.title if len(cards) == 1 else group.name
    named = "\n".join(f"{card.node.key} {card.node.title}" for card in cards[:BADGE_EXAMPLES_MAX])
    subject = GroupSubject(
        _name_card(group.id, node_type),
        title,
        node_type,
        group.id,
        tuple(card.node.key for card in cards),
        description=named if len(cards) <= BADGE_EXAMPLES_MAX else f"{named}\n…",
    )
    badges = _join_badges([badge for card in cards for badge in card.badges])
    return Card(subject, badges, sum(card.indicators for card in cards), emphasis)


def _join_badges(badges: list[Badge]) -> list[Badge]:
    """Return one badge for each level of risk, with the worst review and the number of assumptions."""
    found: dict[str | None, list[Badge]] = {}
    for badge in sort_by_severity(badges):
        found.setdefault(badge.risk, []).append(badge)
    return [
        Badge(str(len(several)), ", ".join(one.key for one in several), several[0].risk, several[0].status)
        for several in found.values()
    ]


def _join_edges(whole: Picture, card_of: Mapping[str, str]) -> list[Arrow]:
    """Return one arrow for all edges from one group to another."""
    found: dict[tuple[str, str], list[Arrow]] = {}
    joined: list[Arrow] = []
    for arrow in whole.arrows:
        source, target = card_of.get(arrow.edge.source), card_of.get(arrow.edge.target)
        if (source, target) == arrow.edge.name[:2]:
            joined.append(arrow)  # between two nodes of an opened group
        elif source is not None and target is not None and source != target:
            found.setdefault((source, target), []).append(arrow)
    for (source, target), several in found.items():
        is_causal = any(one.edge.is_causal for one in several)
        edge = PurposeEdge("", source, target, EdgeType.CONTRIBUTES_TO if is_causal else EdgeType.FEEDBACK)
        badges = [badge for one in several for badge in one.badges]
        joined.append(Arrow(edge, badges, remark=pluralize(len(several), "link"), links=len(several)))
    return sorted(joined, key=lambda one: edge_order(one.edge.name))
