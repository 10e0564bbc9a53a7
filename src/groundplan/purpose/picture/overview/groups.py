"""Divide the nodes of a large plan into groups: by tag, by connected part, by the goal that they lead to.

    tags            if at least half of the linked nodes have one in their metadata
    connected parts otherwise; a part that is too large is divided by its nearest goals, below them by outcomes, outputs
    unlinked        the nodes without edges are a group

A group has the key of its first node, its tag, or `unlinked` as id; a group inside a group has both, as `G1/OC4`. So an
id stays the same while other parts of the plan change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from groundplan.purpose.model import LEVELS, Content, key_order

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
    """Some nodes of a plan that one card can stand for."""

    id: str
    name: str
    keys: list[str]  # in key order


def divide_nodes(content: Content) -> list[NodeGroup]:
    """Return the groups of a plan, those with nodes that lead far first."""
    linked = {end for edge in content.edges for end in (edge.source, edge.target)}
    unlinked = [key for key in content.nodes if key not in linked]
    inside = [key for key in content.nodes if key in linked]
    tags = {key: tag for key in inside if (tag := _find_tag(content.nodes[key].metadata)) is not None}
    if inside and len(tags) * 2 >= len(inside):
        groups = _collect_by_name((tags.get(key, UNTAGGED), key) for key in inside)
    else:
        groups = [one for part in _find_parts(content, inside) for one in _divide_part(content, part)]
    groups = _merge_smallest(groups)
    if not unlinked:
        return groups
    # A tag may have the same name. Two groups with one id would hide each other.
    alike = [key for one in groups if one.id == UNLINKED for key in one.keys]
    return [*(one for one in groups if one.id != UNLINKED), _make_group(content, UNLINKED, [*alike, *unlinked])]


def divide_group(content: Content, group: NodeGroup) -> list[NodeGroup]:
    """Return the groups inside a group that is too large to be drawn card by card."""
    groups = [one for part in _find_parts(content, group.keys) for one in _divide_part(content, part)]
    if len(groups) == 1 or any(len(one.keys) == len(group.keys) for one in groups):
        chunks = [group.keys[start : start + CHUNK] for start in range(0, len(group.keys), CHUNK)]
        groups = [_make_group(content, chunk[0], chunk) for chunk in chunks]
    return [one._replace(id=f"{group.id}/{one.id}") for one in _merge_smallest(groups)]


def find_group(content: Content, wanted: str) -> tuple[NodeGroup, list[NodeGroup]] | None:
    """Return a group by its id, with the groups on the same level; None if there is none."""
    level = divide_nodes(content)
    while True:
        found = _find_nearest(level, wanted)
        if found is None or found.id == wanted:
            return None if found is None else (found, level)
        if len(found.keys) <= CARDS_MAX:  # its cards are drawn, so no group is inside
            return None
        level = divide_group(content, found)


def find_path(content: Content, wanted: str) -> list[NodeGroup]:
    """Return a group by its id after the groups that it is inside, the outermost first; none if there is none."""
    path: list[NodeGroup] = []
    found = _find_nearest(divide_nodes(content), wanted)
    while found is not None:
        path.append(found)
        if found.id == wanted:
            return path
        if len(found.keys) <= CARDS_MAX:  # as above
            return []
        found = _find_nearest(divide_group(content, found), wanted)
    return []


def find_path_of_node(content: Content, key: str) -> list[NodeGroup]:
    """Return the groups that a node is inside, the outermost first. The last one shows it as a card."""
    path: list[NodeGroup] = []
    level = divide_nodes(content)
    while found := next((one for one in level if key in one.keys), None):
        path.append(found)
        level = divide_group(content, found) if len(found.keys) > CARDS_MAX else []
    return path


def _find_nearest(level: list[NodeGroup], wanted: str) -> NodeGroup | None:
    """Return the group with an id, else the one that has it inside. A tag may contain a slash."""
    near = [one for one in level if one.id == wanted or wanted.startswith(f"{one.id}/")]
    return max(near, key=lambda one: len(one.id), default=None)


def _find_tag(metadata: dict[str, Any]) -> str | None:
    """Return the first tag of a node."""
    tags = metadata.get("tags")
    first = tags[0] if isinstance(tags, list) and tags else tags
    return first.strip() or None if isinstance(first, str) else None


def _collect_by_name(named: Iterable[tuple[str, str]]) -> list[NodeGroup]:
    found: dict[str, list[str]] = {}
    for name, key in named:
        found.setdefault(name, []).append(key)
    return [NodeGroup(name, _NAMES.get(name, name), sorted(keys, key=key_order)) for name, keys in found.items()]


def _make_group(content: Content, id_: str, keys: Sequence[str]) -> NodeGroup:
    node = content.nodes.get(id_)
    return NodeGroup(id_, _NAMES.get(id_, id_) if node is None else node.title or node.key, sorted(keys, key=key_order))


def _find_parts(content: Content, keys: Sequence[str]) -> list[list[str]]:
    """Return the connected parts among some nodes, the largest first."""
    near: dict[str, list[str]] = {key: [] for key in keys}
    for edge in content.edges:
        if edge.source in near and edge.target in near:
            near[edge.source].append(edge.target)
            near[edge.target].append(edge.source)
    seen: set[str] = set()
    parts: list[list[str]] = []
    for start in keys:
        if start not in seen:
            part = _walk([start], near, seen)
            parts.append(sorted((key for keys_ in part.values() for key in keys_), key=key_order))
    return sorted(parts, key=lambda part: (-len(part), key_order(part[0])))


def _divide_part(content: Content, part: list[str]) -> list[NodeGroup]:
    """Return a connected part as one group, or a large one divided by the highest nodes of which it has enough."""
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
        seen: set[str] = set()
        found = _walk(anchors, causes, seen)
        # What leads to no anchor stands with its nearest neighbour.
        starts = [key for keys in found.values() for key in keys]
        homes = {key: anchor for anchor, keys in found.items() for key in keys}
        for start, keys in _walk(starts, near, set()).items():
            found[homes[start]] += [key for key in keys if key not in seen]
        return [_make_group(content, anchor, keys) for anchor, keys in found.items()]
    return [_make_group(content, part[0], part)]


def _walk(starts: Sequence[str], onward: dict[str, list[str]], seen: set[str]) -> dict[str, list[str]]:
    """Return what is nearest to each start, with the start itself. All starts walk at the same pace."""
    found = {start: [start] for start in starts}
    seen.update(starts)
    front = [(start, start) for start in starts]
    while front:
        following = []
        for home, here in front:
            for one in onward[here]:
                if one not in seen:
                    seen.add(one)
                    found[home].append(one)
                    following.append((home, one))
        front = following
    return found


def _merge_smallest(groups: list[NodeGroup]) -> list[NodeGroup]:
    """Put the smallest groups together, if there are too many to be drawn."""
    if len(groups) <= GROUPS_MAX:
        return groups
    kept = {one.id for one in sorted(groups, key=lambda one: -len(one.keys))[: GROUPS_MAX - 1]} - {OTHERS}
    others = sorted((key for one in groups if one.id not in kept for key in one.keys), key=key_order)
    return [*(one for one in groups if one.id in kept), NodeGroup(OTHERS, _NAMES[OTHERS], others)]
