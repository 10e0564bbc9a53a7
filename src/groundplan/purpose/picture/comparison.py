"""Two versions in one picture, by stable key: added, removed and changed items; the rest is muted.

Assumptions and indicators have no cards, so their changes are shown on the card or edge they belong to.
"""

from __future__ import annotations

from typing import Any, TypeVar

from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.model import Content, edge_order, key_order
from groundplan.purpose.picture.picture_model import (
    Arrow,
    Badge,
    Card,
    Emphasis,
    Picture,
    build_plan_picture,
    name_picture,
)
from groundplan.purpose.versions.compare import Changed, Comparison, compare

Drawn = TypeVar("Drawn", Card, Arrow)
Remarks = dict[str, list[str]]  # changes by the key or name of the changed item


def build_comparison_picture(before: Theory, after: Theory) -> Picture:
    """Build the picture of both versions."""
    found = compare(before.content, after.content)
    old, new = build_plan_picture(before), build_plan_picture(after)
    marks = {key: mark for _, sort in found.changes_by_kind for key, mark in _map_emphasis(sort).items()}
    remarks = _collect_remarks(found, before.content, after.content)
    gone = _find_removed_badges(old, marks)

    def mark_changes(one: Drawn, name: str) -> Drawn:
        badges = [badge._replace(emphasis=marks.get(badge.key, Emphasis.PLAIN)) for badge in one.badges]
        told = remarks.get(name, [])
        mark = marks.get(name) or (Emphasis.CHANGED if told else Emphasis.MUTED)
        remark = "\n".join(told) or None
        return one._replace(badges=badges + gone.get(name, []), emphasis=mark, remark=remark)

    cards = {key: mark_changes(card, key) for key, card in new.cards.items()}
    cards |= {key: card._replace(emphasis=Emphasis.REMOVED) for key, card in old.cards.items() if key not in cards}
    arrows = {str(arrow.edge.name): mark_changes(arrow, str(arrow.edge.name)) for arrow in new.arrows}
    removed = {one.key for one in found.edges.removed}
    arrows |= {
        name: arrow._replace(emphasis=Emphasis.REMOVED)
        for arrow in old.arrows
        if (name := str(arrow.edge.name)) in removed
    }
    return Picture(
        name_picture(after),
        f"{after.project} · from {before.display_name} to {after.display_name} · {_summarize_changes(found)}",
        dict(sorted(cards.items(), key=lambda one: key_order(one[0]))),
        sorted(arrows.values(), key=lambda one: edge_order(one.edge.name)),
        after.waivers,
    )


def _map_emphasis(changes: Any) -> dict[str, Emphasis]:
    """Return the change of each item of a kind, by key."""
    return {
        one.key: mark
        for list_, mark in (
            (changes.added, Emphasis.ADDED),
            (changes.removed, Emphasis.REMOVED),
            (changes.changed, Emphasis.CHANGED),
        )
        for one in list_
    }


def _collect_remarks(differences: Comparison, before: Content, after: Content) -> Remarks:
    """Return the changes of nodes and edges, and of their assumptions and indicators."""
    told: Remarks = {}
    for changed in (*differences.nodes.changed, *differences.edges.changed):
        told.setdefault(changed.key, []).append(_describe_change("changed", changed))
    places = _map_subjects(before) | _map_subjects(after)
    for sort in (differences.assumptions, differences.indicators):
        said = {key: f"{key} {mark}" for key, mark in _map_emphasis(sort).items()}
        said |= {one.key: _describe_change(f"{one.key} changed", one) for one in sort.changed}
        for key, text in said.items():
            told.setdefault(places[key], []).append(text)
    return told


def _describe_change(what: str, changed: Changed) -> str:
    return f"{what}: {', '.join(change.field for change in changed.fields)}"


def _map_subjects(content: Content) -> dict[str, str]:
    """Return the node or edge of each assumption and indicator, by key."""
    found = {one.key: str(one.edge or one.node) for one in content.assumptions.values()}
    return found | {one.key: one.node for one in content.indicators.values()}


def _find_removed_badges(old: Picture, marks: dict[str, Emphasis]) -> dict[str, list[Badge]]:
    """Return the removed badges by their node or edge."""
    on = {key: card.badges for key, card in old.cards.items()}
    on |= {str(arrow.edge.name): arrow.badges for arrow in old.arrows}
    return {
        name: [
            badge._replace(emphasis=Emphasis.REMOVED) for badge in badges if marks.get(badge.key) is Emphasis.REMOVED
        ]
        for name, badges in on.items()
    }


def _summarize_changes(differences: Comparison) -> str:
    """Return the number of changes of each kind that has any."""
    told = []
    for name, sort in differences.changes_by_kind:
        counts = ((sort.added, "added"), (sort.removed, "removed"), (sort.changed, "changed"))
        said = [f"{len(list_)} {word}" for list_, word in counts if list_]
        if said:
            told.append(f"{name.lower()} {', '.join(said)}")
    return "; ".join(told) or "nothing changed"
