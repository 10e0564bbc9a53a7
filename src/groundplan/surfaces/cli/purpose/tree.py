"""Print a theory of change as a tree: below each node the nodes that lead to it, starting from the goals.

A theory is a graph, so a node with several effects is expanded below the first and only named below the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from groundplan.purpose.exchange.theory import name_relation
from groundplan.purpose.model import EdgeType, NodeType
from groundplan.purpose.open import (
    AssumptionView,
    OpenedPurpose,
    PurposeEdgeView,
    PurposeNodeView,
    orient_edge_view,
)
from groundplan.surfaces.cli.purpose.formatting import ARROW, STYLES
from groundplan.surfaces.cli.screen.control_chars import escape_control_chars
from groundplan.surfaces.cli.screen.styled_text import StyledText
from groundplan.surfaces.cli.terminal import INDENT, to_one_line


class _Step(NamedTuple):
    """A line to print: a node, its depth, and the edge to the node above it."""

    key: str
    depth: int
    edge: PurposeEdgeView | None
    effect: str | None = None  # the node above it


def format_tree(answer: OpenedPurpose) -> Iterator[StyledText]:
    """Yield the lines of a version: its goals, then the nodes that lead to none."""
    nodes = {node.key: node for node in answer.nodes or ()}
    edges = [one for one in answer.edges or () if one.edge_type is not EdgeType.FEEDBACK]
    causes: dict[str, list[tuple[str, PurposeEdgeView]]] = {}
    effects: dict[str, list[str]] = {}
    for edge in edges:
        cause, effect, _ = orient_edge_view(edge, nodes)
        causes.setdefault(effect, []).append((cause, edge))
        effects.setdefault(cause, []).append(effect)
    drawn: set[str] = set()
    goals = [key for key, node in nodes.items() if node.node_type is NodeType.GOAL]
    for key in goals:
        yield from _format_branch(key, nodes, causes, effects, drawn)
    # Then the nodes without effects, and last the nodes in cycles.
    ends = [key for key in nodes if key not in effects]
    left = [key for key in (*ends, *nodes) if key not in drawn]
    if left:
        yield StyledText("")
        yield StyledText("Not connected to a goal:")
    for key in left:
        if key not in drawn:
            yield from _format_branch(key, nodes, causes, effects, drawn, depth=1)


def _format_branch(
    root: str,
    nodes: Mapping[str, PurposeNodeView],
    causes: Mapping[str, Sequence[tuple[str, PurposeEdgeView]]],
    effects: Mapping[str, Sequence[str]],
    drawn: set[str],
    *,
    depth: int = 0,
) -> Iterator[StyledText]:
    """Yield a node and what leads to it. No recursion: a theory may be deeper than Python's stack."""
    waiting = [_Step(root, depth, None)]
    while waiting:
        step = waiting.pop()
        node = nodes.get(step.key)
        is_new = step.key not in drawn
        line = StyledText(f"{INDENT * step.depth}{step.key}")
        line.append(
            f"  {escape_control_chars(to_one_line(node.title))}" if node else "  (on another page)",
            "" if is_new else "dim",
        )
        line.append(_format_edge_note(step.edge))
        if node is not None and is_new:
            line.append(f"  {escape_control_chars(to_one_line(node.owner))}" if node.owner else "", "dim")
            others = [key for key in dict.fromkeys(effects.get(step.key, ())) if key != step.effect]
            line.append(f"  also{ARROW}{', '.join(others)}" if others else "", "cyan")
        elif node is not None:
            line.append("  see above", "dim")
        yield line
        on_edge = (step.edge.assumptions or ()) if step.edge else ()
        on_node = (node.assumptions or ()) if node and is_new else ()
        for one in (*on_edge, *on_node):
            yield format_assumption_line(one, depth=step.depth)
        if is_new:
            drawn.add(step.key)
            below = reversed(causes.get(step.key, ()))
            waiting += [_Step(cause, step.depth + 1, edge, step.key) for cause, edge in below]


def _format_edge_note(edge: PurposeEdgeView | None) -> str:
    if edge is None:
        return ""
    relation = name_relation(edge.edge_type or EdgeType.CONTRIBUTES_TO)
    note = ", ".join(word for word in (relation, edge.confidence) if word)
    return f"  [{note}]" if note else ""


def format_assumption_line(one: AssumptionView, *, depth: int) -> StyledText:
    """Return the line of an assumption."""
    line = StyledText(f"{INDENT * depth}   ? {one.key}  ")
    line.append(one.status.replace("_", " "), STYLES[one.status])
    risk = f", {one.risk_level} risk" if one.risk_level else ""
    due = "".join((f"  {one.owner}" if one.owner else "", f"  by {one.review_by}" if one.review_by else ""))
    line.append(f"{risk}: {escape_control_chars(to_one_line(one.assumption_text))}")
    line.append(escape_control_chars(to_one_line(due) and f"  {to_one_line(due)}"), "dim")
    return line
