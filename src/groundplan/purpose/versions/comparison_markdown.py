"""Write a comparison of two versions as Markdown, in a fixed order that begins with the most important changes."""

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
    """Write the comparison under a heading. `titles` are node titles to show beside the keys."""
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
        f"{name}: {len(changes.added)} added, {len(changes.removed)} removed, {len(changes.changed)} changed."
        for name, changes in comparison.changes_by_kind
    ]
    return " ".join([*counts, f"Rewired nodes: {len(comparison.rewired)}."])


def _build_sections(comparison: Comparison, format_name: Callable[[str], str]) -> Iterator[tuple[str, list[str]]]:
    nodes, edges = comparison.nodes, comparison.edges
    for title, listed, between in (("Added", nodes.added, edges.added), ("Removed", nodes.removed, edges.removed)):
        yield (
            title,
            [
                *(f"**{node.key}** ({node.node_type}) {escape_inline(node.title)}" for node in listed),
                *(f"{format_code_span(edge.key)} ({edge.edge_type})" for edge in between),
            ],
        )
    yield (
        "Retitled",
        [f"**{key}**: {_format_change(change)}" for key, change in _select_changes(nodes.changed, "title")],
    )
    yield (
        "Retyped",
        [
            *(
                f"{format_name(key)}: {_format_change(change)}"
                for key, change in _select_changes(nodes.changed, "node_type")
            ),
            *(
                f"{format_code_span(key)}: {_format_change(change)}"
                for key, change in _select_changes(edges.changed, "edge_type")
            ),
        ],
    )
    others = _select_changes(nodes.changed, "description", "narrative", "owner", "metadata")
    yield "Changed", [f"{format_name(key)}, {change.field}: {_format_change(change)}" for key, change in others]
    yield (
        "Rewired",
        [f"{format_name(node.key)}: {_format_reconnection(node)}" for node in comparison.rewired],
    )
    edge_texts = _select_changes(edges.changed, "mechanism", "confidence")
    yield (
        "Mechanism and confidence",
        [f"{format_code_span(key)}, {change.field}: {_format_change(change)}" for key, change in edge_texts],
    )
    yield "Assumptions", [*_format_assumptions(comparison)]
    yield "Indicators", [*_format_indicators(comparison)]


def _format_assumptions(comparison: Comparison) -> Iterator[str]:
    changes = comparison.assumptions
    yield from (f"added {_format_assumption(assumption)}" for assumption in changes.added)
    yield from (f"removed {_format_assumption(assumption)}" for assumption in changes.removed)
    yield from _format_changes(changes.changed)


def _format_assumption(assumption: ListedAssumption) -> str:
    risk = "" if assumption.risk_level is UNSET else f", risk {assumption.risk_level}"
    return (
        f"**{assumption.key}** on {format_code_span(assumption.on)}{risk}: {escape_inline(assumption.assumption_text)}"
    )


def _format_indicators(comparison: Comparison) -> Iterator[str]:
    changes = comparison.indicators
    yield from (f"added {_format_indicator(indicator)}" for indicator in changes.added)
    yield from (f"removed {_format_indicator(indicator)}" for indicator in changes.removed)
    yield from _format_changes(changes.changed)


def _format_indicator(indicator: ListedIndicator) -> str:
    return f"**{indicator.key}** of {format_code_span(indicator.node)}: {escape_inline(indicator.name)}"


def _format_changes(changed: Iterable[Changed]) -> Iterator[str]:
    for item in changed:
        for change in item.fields:
            yield f"**{item.key}**, {_FIELD_LABELS.get(change.field, change.field)}: {_format_change(change)}"


def _select_changes(changed: Iterable[Changed], *names: str) -> Iterator[tuple[str, FieldDifference]]:
    for item in changed:
        yield from ((item.key, change) for change in item.fields if change.field in names)


def _format_reconnection(node: RewiredNode) -> str:
    return "; ".join([*_format_neighbours("causes", node.causes), *_format_neighbours("effects", node.effects)])


def _format_neighbours(side: str, changes: NeighbourChanges) -> Iterator[str]:
    if changes.added:
        yield f"{side} gained {', '.join(changes.added)}"
    if changes.removed:
        yield f"{side} lost {', '.join(changes.removed)}"


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
