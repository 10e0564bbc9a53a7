"""The differences between two versions as a list to read: what changed, from what to what, and what it touches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from groundplan.purpose.model import EdgeName, EdgeType, NodeType
from groundplan.purpose.open import OpenedPurpose
from groundplan.surfaces.web.areas.area import Visit
from groundplan.surfaces.web.areas.throughline.item import Item
from groundplan.surfaces.web.areas.throughline.linked_work import read_linked_work

RISKS = {None: 0, "LOW": 1, "MEDIUM": 2, "HIGH": 3}
KINDS = {"nodes": "part", "edges": "link", "assumptions": "assumption", "indicators": "indicator"}
FIELD_NAMES = {
    "assumption_text": "text",
    "risk_level": "risk",
    "review_by": "review by",
    "node_type": "type",
    "edge_type": "type",
    "baseline_verified": "baseline verified",
}
NO_VALUE = "nothing"


class FieldChange(NamedTuple):
    """A field before and after, in words."""

    name: str
    before: str
    after: str


class ListedChange(NamedTuple):
    """One difference: of a node, a link, an assumption or an indicator."""

    key: str
    sign: str  # added, changed or removed
    kind: str
    title: str
    fields: list[FieldChange]
    has_risen: bool  # an assumption whose risk is higher than before
    shown_at: str  # the card or the link of the picture that has it
    tasks: list[Item]  # work that is tied to it


class _Subjects(NamedTuple):
    """The words for the keys of both versions, and the card or link that each assumption and indicator is on."""

    titles: dict[str, str]
    types: dict[str, str]
    on: dict[str, str]


def list_changes(visit: Visit, comparison: Any, before: OpenedPurpose, after: OpenedPurpose) -> list[ListedChange]:
    """Return the differences, the assumptions whose risk rose first."""
    subjects = _collect_subjects(before, after)
    goals = [node.key for theory in (before, after) for node in theory.nodes or () if node.node_type is NodeType.GOAL]
    work = read_linked_work(visit, goals)
    changes = list(_walk(comparison, subjects, work))
    return sorted(changes, key=lambda one: not one.has_risen)  # stable: the rest in the order of the comparison


def _walk(comparison: Any, subjects: _Subjects, work: Mapping[str, list[Item]]) -> Iterator[ListedChange]:
    for list_, kind in KINDS.items():
        changes = getattr(comparison, list_)
        for sign in ("added", "changed", "removed"):
            for one in getattr(changes, sign):
                shown_at = subjects.on.get(one.key, one.key)
                fields = [_to_words(field) for field in one.fields] if sign == "changed" else []
                yield ListedChange(
                    one.key,
                    sign,
                    subjects.types.get(one.key, kind),
                    subjects.titles.get(one.key, one.key),
                    fields,
                    sign == "changed" and kind == "assumption" and _has_risen(one.fields),
                    shown_at,
                    _find_tasks(work, shown_at),
                )


def _find_tasks(work: Mapping[str, list[Item]], shown_at: str) -> list[Item]:
    """Return the work of a node, or of both ends of a link."""
    ends = shown_at.split("/")[0].split("->")
    return list({task.ref: task for end in ends for task in work.get(end, ())}.values())


def _has_risen(fields: list[Any]) -> bool:
    return any(one.field == "risk_level" and RISKS[one.after or None] > RISKS[one.before or None] for one in fields)


def _to_words(field: Any) -> FieldChange:
    name = FIELD_NAMES.get(field.field, field.field).replace("_", " ")
    return FieldChange(name, _say(field.before), _say(field.after))


def _say(value: Any) -> str:
    if value is None or value == "":
        return NO_VALUE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return value.lower() if isinstance(value, str) and value in RISKS else str(value)


def _collect_subjects(*theories: OpenedPurpose) -> _Subjects:
    """Return the words of both versions; where both have a key, those of the later one."""
    found = _Subjects({}, {}, {})
    for theory in theories:
        for node in theory.nodes or ():
            found.titles[node.key], found.types[node.key] = node.title, node.node_type.lower()
        for edge in theory.edges or ():
            name = _name_edge(edge)
            for one in edge.assumptions or ():
                found.titles[one.key], found.on[one.key] = one.assumption_text, name
        for node in theory.nodes or ():
            for one in node.assumptions or ():
                found.titles[one.key], found.on[one.key] = one.assumption_text, node.key
        for indicator in theory.indicators or ():
            found.titles[indicator.key], found.on[indicator.key] = indicator.name, indicator.node
    for theory in theories:
        for edge in theory.edges or ():
            ends = (found.titles.get(end, end) for end in (edge.source, edge.target))
            found.titles[_name_edge(edge)] = " → ".join(ends)
    return found


def _name_edge(edge: Any) -> str:
    """Return the name of a link, as the comparison and the picture write it."""
    return str(EdgeName(edge.source, edge.target, edge.edge_type or EdgeType.CONTRIBUTES_TO))
