"""The picture of a large plan: a card for the nodes of one type in a group, and one arrow between two cards.

An opened group shows its own cards, or its own groups if it is large; the groups around it stay closed and muted. A
closed group keeps the state of what is in it: how many assumptions of each risk, with the worst of their reviews.
Nodes are divided into groups by tag, by connected part, or by the goal that they lead to:

    tags            if at least half of the linked nodes have one in their metadata
    connected parts otherwise; a part that is too large is divided by its nearest goals, below them by outcomes, outputs
    unlinked        the nodes without edges are a group

A group has the key of its first node, its tag, or `unlinked` as id; a group inside a group has both, as `G1/OC4`. So an
id stays the same while other parts of the plan change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.graph.graph import find_connected_parts
from groundplan.purpose.model import LEVELS, Content, EdgeType, NodeType, PurposeEdge, edge_order, key_order
from groundplan.purpose.picture.subjects import (
    Arrow,
    Badge,
    Card,
    Emphasis,
    GroupSubject,
    Picture,
    build_plan_picture,
    pluralize,
    sort_by_severity,
)

CARDS_MAX = 120  # more cards than this cannot be read on one page
PART_MAX = 40  # nodes of a connected part that is one group
GROUPS_MAX = 24
ANCHORS_MIN = 8  # fewer goals do not divide a large part
CHUNK = 100

UNLINKED = "unlinked"
UNTAGGED = "untagged"
OTHERS = "others"
_NAMES = {UNLINKED: "Not linked", UNTAGGED: "No tag", OTHERS: "Others"}


class NodeGroup(NamedTuple):
    """Nodes of a plan that one card can represent."""

    id: str
    name: str
    keys: list[str]  # in key order


def divide_nodes(content: Content) -> list[NodeGroup]:
    """Return the groups of a plan. The last group has the nodes without edges."""
    linked = {end for edge in content.edges for end in (edge.source, edge.target)}
    unlinked = [key for key in content.nodes if key not in linked]
    inside = [key for key in content.nodes if key in linked]
    tags = {key: tag for key in inside if (tag := _find_tag(content.nodes[key].metadata)) is not None}
    if inside and len(tags) * 2 >= len(inside):
        groups = _collect_by_name((tags.get(key, UNTAGGED), key) for key in inside)
    else:
        groups = [group for part in _find_parts(content, inside) for group in _divide_part(content, part)]
    groups = _merge_smallest(groups)
    if not unlinked:
        return groups
    # A tag may have the same name. Two groups with one id would hide each other.
    alike = [key for group in groups if group.id == UNLINKED for key in group.keys]
    return [*(group for group in groups if group.id != UNLINKED), _make_group(content, UNLINKED, [*alike, *unlinked])]


def divide_group(content: Content, group: NodeGroup) -> list[NodeGroup]:
    """Return the groups within a group that has too many nodes to draw each as a card."""
    groups = [inner for part in _find_parts(content, group.keys) for inner in _divide_part(content, part)]
    if len(groups) == 1 or any(len(inner.keys) == len(group.keys) for inner in groups):
        chunks = [group.keys[start : start + CHUNK] for start in range(0, len(group.keys), CHUNK)]
        groups = [_make_group(content, chunk[0], chunk) for chunk in chunks]
    return [inner._replace(id=f"{group.id}/{inner.id}") for inner in _merge_smallest(groups)]


def find_group(content: Content, wanted: str) -> tuple[NodeGroup, list[NodeGroup]] | None:
    """Return the group with an id, and the groups on the same level; None if there is none."""
    level = divide_nodes(content)
    while True:
        group = _find_nearest(level, wanted)
        if group is None or group.id == wanted:
            return None if group is None else (group, level)
        if len(group.keys) <= CARDS_MAX:  # its cards are drawn, so no group is inside
            return None
        level = divide_group(content, group)


def find_path(content: Content, wanted: str) -> list[NodeGroup]:
    """Return the group with an id after the groups that contain it, the outermost first; an empty list if unknown."""
    path: list[NodeGroup] = []
    group = _find_nearest(divide_nodes(content), wanted)
    while group is not None:
        path.append(group)
        if group.id == wanted:
            return path
        if len(group.keys) <= CARDS_MAX:  # as above
            return []
        group = _find_nearest(divide_group(content, group), wanted)
    return []


def find_path_of_node(content: Content, key: str) -> list[NodeGroup]:
    """Return the groups that contain a node, the outermost first. The last one shows the node as a card."""
    path: list[NodeGroup] = []
    level = divide_nodes(content)
    while found := next((group for group in level if key in group.keys), None):
        path.append(found)
        level = divide_group(content, found) if len(found.keys) > CARDS_MAX else []
    return path


def _find_nearest(level: list[NodeGroup], wanted: str) -> NodeGroup | None:
    """Return the group with an id, else the group that contains it. A tag may contain a slash."""
    near = [group for group in level if group.id == wanted or wanted.startswith(f"{group.id}/")]
    return max(near, key=lambda group: len(group.id), default=None)


def _find_tag(metadata: dict[str, Any]) -> str | None:
    """Return the first tag of a node."""
    tags = metadata.get("tags")
    first = tags[0] if isinstance(tags, list) and tags else tags
    return first.strip() or None if isinstance(first, str) else None


def _collect_by_name(named: Iterable[tuple[str, str]]) -> list[NodeGroup]:
    keys_by_name: dict[str, list[str]] = {}
    for name, key in named:
        keys_by_name.setdefault(name, []).append(key)
    return [NodeGroup(name, _NAMES.get(name, name), sorted(keys, key=key_order)) for name, keys in keys_by_name.items()]


def _make_group(content: Content, id_: str, keys: Sequence[str]) -> NodeGroup:
    node = content.nodes.get(id_)
    return NodeGroup(id_, _NAMES.get(id_, id_) if node is None else node.title or node.key, sorted(keys, key=key_order))


def _find_parts(content: Content, keys: Sequence[str]) -> list[list[str]]:
    """Return the connected parts of some nodes, the largest first."""
    near: dict[str, list[str]] = {key: [] for key in keys}
    for edge in content.edges:
        if edge.source in near and edge.target in near:
            near[edge.source].append(edge.target)
            near[edge.target].append(edge.source)
    parts = [sorted(part, key=key_order) for part in find_connected_parts(near)]
    return sorted(parts, key=lambda part: (-len(part), key_order(part[0])))


def _divide_part(content: Content, part: list[str]) -> list[NodeGroup]:
    """Return a connected part as one group, or as several if it is large, one for each goal, outcome or output."""
    if len(part) <= PART_MAX:
        return [_make_group(content, part[0], part)]
    inside = set(part)
    edges = [edge for edge in content.edges if edge.source in inside and edge.target in inside]
    causes: dict[str, list[str]] = {key: [] for key in part}
    near: dict[str, list[str]] = {key: [] for key in part}
    for edge in edges:
        if edge.is_causal:
            causes[edge.target].append(edge.source)
        near[edge.source].append(edge.target)
        near[edge.target].append(edge.source)
    for node_type in sorted(LEVELS, key=LEVELS.__getitem__, reverse=True):
        anchors = [key for key in part if content.nodes[key].node_type is node_type]
        if len(anchors) < min(ANCHORS_MIN, -(-len(part) // PART_MAX)):
            continue
        visited: set[str] = set()
        keys_of = _collect_nearest(anchors, causes, visited)
        # What leads to no anchor stands with its nearest neighbour.
        starts = [key for keys in keys_of.values() for key in keys]
        homes = {key: anchor for anchor, keys in keys_of.items() for key in keys}
        for start, keys in _collect_nearest(starts, near, set()).items():
            keys_of[homes[start]] += [key for key in keys if key not in visited]
        return [_make_group(content, anchor, keys) for anchor, keys in keys_of.items()]
    return [_make_group(content, part[0], part)]


def _collect_nearest(starts: Sequence[str], onward: dict[str, list[str]], visited: set[str]) -> dict[str, list[str]]:
    """Return the nodes nearest to each start, with the start itself. The search advances from all starts together."""
    keys_of = {start: [start] for start in starts}
    visited.update(starts)
    front = [(start, start) for start in starts]
    while front:
        following = []
        for home, here in front:
            for neighbour in onward[here]:
                if neighbour not in visited:
                    visited.add(neighbour)
                    keys_of[home].append(neighbour)
                    following.append((home, neighbour))
        front = following
    return keys_of


def _merge_smallest(groups: list[NodeGroup]) -> list[NodeGroup]:
    """Merge the smallest groups if there are too many to be drawn."""
    if len(groups) <= GROUPS_MAX:
        return groups
    kept = {group.id for group in sorted(groups, key=lambda group: -len(group.keys))[: GROUPS_MAX - 1]} - {OTHERS}
    others = sorted((key for group in groups if group.id not in kept for key in group.keys), key=key_order)
    return [*(group for group in groups if group.id in kept), NodeGroup(OTHERS, _NAMES[OTHERS], others)]


BADGE_EXAMPLES_MAX = 8


def is_large(theory: Theory) -> bool:
    """Return True if a plan is drawn as an overview by default."""
    return len(theory.content.nodes) > CARDS_MAX


def build_overview_picture(theory: Theory) -> Picture:
    """Build the picture of all groups, closed."""
    groups = divide_nodes(theory.content)
    plan = build_plan_picture(theory)
    remark = f"overview: {pluralize(len(plan.cards), 'node')} in {pluralize(len(groups), 'group')}"
    cards = _build_cards(plan, groups, Emphasis.PLAIN)
    arrows = _keep_between_bands(cards, _join_edges(plan, _map_cards(plan, groups)))
    return plan._replace(
        subtitle=f"{theory.project} · {theory.display_name} · {remark}",
        cards=cards,
        arrows=arrows,
        lists_assumptions=False,
    )


def build_group_picture(theory: Theory, id_: str) -> Picture | None:
    """Return the picture of one opened group among the groups that it is linked to; None if the group is unknown."""
    opened = find_group(theory.content, id_)
    if opened is None:
        return None
    group, level = opened
    plan = build_plan_picture(theory)
    inner = divide_group(theory.content, group) if len(group.keys) > CARDS_MAX else []
    near = _find_neighbours(plan, group)
    others = [beside for beside in level if beside.id != group.id and not near.isdisjoint(beside.keys)]
    cards = _build_cards(plan, inner, Emphasis.PLAIN) if inner else {key: plan.cards[key] for key in group.keys}
    card_of = {key: key for key in group.keys} | _map_cards(plan, [*inner, *others])
    # What the groups around do to each other is not about this one.
    arrows = [arrow for arrow in _join_edges(plan, card_of) if arrow.edge.source in cards or arrow.edge.target in cards]
    linked = {end for arrow in arrows for end in (arrow.edge.source, arrow.edge.target)}
    around = _build_cards(plan, others, Emphasis.MUTED)
    return plan._replace(
        subtitle=f"{theory.project} · {theory.display_name} · {group.name}: {pluralize(len(group.keys), 'node')}",
        cards=cards | {key: card for key, card in around.items() if key in linked},
        arrows=arrows,
        lists_assumptions=not inner,
    )


def list_groups(theory: Theory, id_: str | None) -> list[NodeGroup]:
    """Return the groups of the overview, or those in an opened group; an empty list if it shows its nodes."""
    if id_ is None:
        return divide_nodes(theory.content)
    opened = find_group(theory.content, id_)
    return divide_group(theory.content, opened[0]) if opened and len(opened[0].keys) > CARDS_MAX else []


def _keep_between_bands(cards: dict[str, Card], arrows: list[Arrow]) -> list[Arrow]:
    """Return the arrows between different types.

    Groups of one type mostly act on each other in both directions, so these arrows would hide the others. They are left
    out where a card has others, and counted in its tooltip.
    """
    between = [
        arrow
        for arrow in arrows
        if cards[arrow.edge.source].node.node_type is not cards[arrow.edge.target].node.node_type
    ]
    linked = {end for arrow in between for end in (arrow.edge.source, arrow.edge.target)}
    kept = {arrow.edge.name for arrow in between}
    return [
        arrow for arrow in arrows if arrow.edge.name in kept or not {arrow.edge.source, arrow.edge.target} <= linked
    ]


def _find_neighbours(plan: Picture, group: NodeGroup) -> set[str]:
    inside = set(group.keys)
    return {
        far_end
        for arrow in plan.arrows
        for end, far_end in (arrow.edge.name[:2], arrow.edge.name[1::-1])
        if end in inside and far_end not in inside
    }


def _build_cards(plan: Picture, groups: list[NodeGroup], emphasis: Emphasis) -> dict[str, Card]:
    """Return a card for the nodes of each type in each group."""
    cards: dict[str, Card] = {}
    for group in groups:
        by_type: dict[NodeType, list[Card]] = {}
        for key in group.keys:
            by_type.setdefault(NodeType(plan.cards[key].node.node_type), []).append(plan.cards[key])
        for node_type, type_cards in by_type.items():
            cards[_name_card(group.id, node_type)] = _build_card(group, node_type, type_cards, emphasis)
    return cards


def _name_card(group: str, node_type: NodeType) -> str:
    return f"{group}:{node_type.lower()}"


def _map_cards(plan: Picture, groups: list[NodeGroup]) -> dict[str, str]:
    """Return the card of a group for each node."""
    return {
        key: _name_card(group.id, NodeType(plan.cards[key].node.node_type)) for group in groups for key in group.keys
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
    by_risk: dict[str | None, list[Badge]] = {}
    for badge in sort_by_severity(badges):
        by_risk.setdefault(badge.risk, []).append(badge)
    return [
        Badge(
            str(len(risk_badges)),
            ", ".join(badge.key for badge in risk_badges),
            risk_badges[0].risk,
            risk_badges[0].status,
        )
        for risk_badges in by_risk.values()
    ]


def _join_edges(plan: Picture, card_of: Mapping[str, str]) -> list[Arrow]:
    """Return one arrow for all edges between two groups."""
    by_ends: dict[tuple[str, str], list[Arrow]] = {}
    joined: list[Arrow] = []
    for arrow in plan.arrows:
        source, target = card_of.get(arrow.edge.source), card_of.get(arrow.edge.target)
        if (source, target) == arrow.edge.name[:2]:
            joined.append(arrow)  # between two nodes of an opened group
        elif source is not None and target is not None and source != target:
            by_ends.setdefault((source, target), []).append(arrow)
    for (source, target), joined_arrows in by_ends.items():
        is_causal = any(arrow.edge.is_causal for arrow in joined_arrows)
        edge = PurposeEdge("", source, target, EdgeType.CONTRIBUTES_TO if is_causal else EdgeType.FEEDBACK)
        badges = [badge for arrow in joined_arrows for badge in arrow.badges]
        joined.append(Arrow(edge, badges, remark=pluralize(len(joined_arrows), "link"), links=len(joined_arrows)))
    return sorted(joined, key=lambda arrow: edge_order(arrow.edge.name))
