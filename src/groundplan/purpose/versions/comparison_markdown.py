"""Render a comparison of two versions as Markdown, the most important changes first, in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from groundplan.purpose.markup import escape_inline, format_code_span
from groundplan.purpose.versions.compare import (
    Changed,
    Comparison,
    FieldDifference,
    ListedAssumption,
    ListedIndicator,
    NeighbourChanges,
    RewiredNode,
)

NO_VALUE = "—"
# Labels of fields whose names are not self-explanatory in their section.
_FIELD_LABELS = {
    "assumption_text": "text",
    "risk_level": "risk",
    "review_by": "review by",
    "baseline_verified": "verified",
}


def render_comparison(
    comparison: Comparison, *, from_label: str, to_label: str, titles: Mapping[str, str] | None = None
) -> str:
    """Render the comparison under a heading. `titles` are node titles to show beside the keys."""
    named = _make_namer(titles or {})
    heading = f"## Changes from {escape_inline(from_label)} to {escape_inline(to_label)}"
    if comparison.is_empty:
        return f"{heading}\n\nNo differences.\n"
    blocks = [heading, _format_summary(comparison)]
    for title, lines in _build_sections(comparison, named):
        if lines:
            blocks.append(f"### {title}\n\n" + "\n".join(f"- {line}" for line in lines))
    return "\n\n".join(blocks) + "\n"


def _format_summary(comparison: Comparison) -> str:
    counts = [
        f"{name}: {len(one.added)} added, {len(one.removed)} removed, {len(one.changed)} changed."
        for name, one in comparison.changes_by_kind
    ]
    return " ".join([*counts, f"Rewired nodes: {len(comparison.rewired)}."])


def _build_sections(comparison: Comparison, format_name: Callable[[str], str]) -> Iterator[tuple[str, list[str]]]:
    nodes, edges = comparison.nodes, comparison.edges
    for title, listed, between in (("Added", nodes.added, edges.added), ("Removed", nodes.removed, edges.removed)):
        yield (
            title,
            [
                *(f"**{one.key}** ({one.node_type}) {escape_inline(one.title)}" for one in listed),
                *(f"{format_code_span(one.key)} ({one.edge_type})" for one in between),
            ],
        )
    yield "Retitled", [f"**{key}**: {_format_change(one)}" for key, one in _select_changes(nodes.changed, "title")]
    yield (
        "Retyped",
        [
            *(f"{format_name(key)}: {_format_change(one)}" for key, one in _select_changes(nodes.changed, "node_type")),
            *(
                f"{format_code_span(key)}: {_format_change(one)}"
                for key, one in _select_changes(edges.changed, "edge_type")
            ),
        ],
    )
    others = _select_changes(nodes.changed, "description", "narrative", "owner", "metadata")
    yield "Changed", [f"{format_name(key)}, {one.field}: {_format_change(one)}" for key, one in others]
    yield (
        "Rewired",
        [f"{format_name(one.key)}: {_format_reconnection(one)}" for one in comparison.rewired],
    )
    edge_texts = _select_changes(edges.changed, "mechanism", "confidence")
    yield (
        "Mechanism and confidence",
        [f"{format_code_span(key)}, {one.field}: {_format_change(one)}" for key, one in edge_texts],
    )
    yield "Assumptions", [*_format_assumptions(comparison)]
    yield "Indicators", [*_format_indicators(comparison)]


def _format_assumptions(comparison: Comparison) -> Iterator[str]:
    found = comparison.assumptions
    yield from (f"added {_format_assumption(one)}" for one in found.added)
    yield from (f"removed {_format_assumption(one)}" for one in found.removed)
    yield from _format_changes(found.changed)


def _format_assumption(one: ListedAssumption) -> str:
    risk = "" if one.risk_level is UNSET else f", risk {one.risk_level}"
    return f"**{one.key}** on {format_code_span(one.on)}{risk}: {escape_inline(one.assumption_text)}"


def _format_indicators(comparison: Comparison) -> Iterator[str]:
    found = comparison.indicators
    yield from (f"added {_format_indicator(one)}" for one in found.added)
    yield from (f"removed {_format_indicator(one)}" for one in found.removed)
    yield from _format_changes(found.changed)


def _format_indicator(one: ListedIndicator) -> str:
    return f"**{one.key}** of {format_code_span(one.node)}: {escape_inline(one.name)}"


def _format_changes(changed: Iterable[Changed]) -> Iterator[str]:
    for one in changed:
        for change in one.fields:
            yield f"**{one.key}**, {_FIELD_LABELS.get(change.field, change.field)}: {_format_change(change)}"


def _select_changes(changed: Iterable[Changed], *names: str) -> Iterator[tuple[str, FieldDifference]]:
    for one in changed:
        yield from ((one.key, change) for change in one.fields if change.field in names)


def _format_reconnection(one: RewiredNode) -> str:
    return "; ".join([*_format_neighbours("causes", one.causes), *_format_neighbours("effects", one.effects)])


def _format_neighbours(side: str, one: NeighbourChanges) -> Iterator[str]:
    if one.added:
        yield f"{side} gained {', '.join(one.added)}"
    if one.removed:
        yield f"{side} lost {', '.join(one.removed)}"


def _format_change(change: FieldDifference) -> str:
    return f"{_format_value(change.before)} → {_format_value(change.after)}"


def _format_value(value: Any) -> str:
    if value is None:
        return NO_VALUE
    if isinstance(value, str):
        return escape_inline(value) or '""'
    if isinstance(value, dict):
        return format_code_span(msgspec.json.encode(value, order="sorted").decode())
    return msgspec.json.encode(value).decode()


def _make_namer(titles: Mapping[str, str]) -> Callable[[str], str]:
    return lambda key: f"**{key}** {escape_inline(titles[key])}" if titles.get(key) else f"**{key}**"
