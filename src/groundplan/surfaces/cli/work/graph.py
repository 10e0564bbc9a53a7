"""Terminal output of the work operations: nodes with their ancestors, trees, lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from groundplan.surfaces.cli.terminal import (
    INDENT,
    draw_pairs,
    draw_table,
    echo,
    echo_list,
    format_time,
    format_title,
    format_value,
    to_one_line,
)
from groundplan.work.engine.node import Evidence, NodeSummary, WorkCounts, WorkNode
from groundplan.work.graph.connect import Connected
from groundplan.work.graph.next import Offer, Offers
from groundplan.work.graph.open import OpenedProject, ProjectLines
from groundplan.work.graph.plan import Planned
from groundplan.work.graph.reading.context import NodeContext
from groundplan.work.graph.reading.history import History, HistoryChange, HistoryEvent
from groundplan.work.graph.reading.orientation import NodeBrief, Orientation
from groundplan.work.graph.reading.tree import NodeTree
from groundplan.work.graph.restructure import Restructured
from groundplan.work.graph.search.query import FoundNodes
from groundplan.work.graph.side_effects import SideEffects
from groundplan.work.graph.update import Updated

DONE, OPEN = "[x]", "[ ]"
PATH_SEPARATOR = " > "

Pairs = Iterator[tuple[str, str]]


# --- Projects -------------------------------------------------------------------------------------------------------


def draw_open(answer: OpenedProject | ProjectLines) -> None:
    """Print one project with its counts, or all projects."""
    if isinstance(answer, ProjectLines):
        _draw_projects(answer)
        return
    echo(format_title(answer.root.id, answer.root.summary), format_counts(answer.summary))
    _echo_fields("policies", answer.policies)


def _draw_projects(answer: ProjectLines) -> None:
    if not answer.projects:
        echo("No projects here. Next: groundplan work open NAME --goal 'what it is for'")
        return
    draw_table(
        ("name", "id", "open", "resolved", "changed", "summary"),
        [
            (one.name, one.id, one.unresolved, one.resolved, format_time(one.updated_at), to_one_line(one.summary))
            for one in answer.projects
        ],
    )
    if answer.left_out:
        echo(f"and {answer.left_out['projects']} more: groundplan project list")


def draw_orientation(answer: Orientation) -> None:
    """Print the overview of a project, or the projects to choose from."""
    if answer.project:
        goal = answer.project.goal or answer.project.goal_excerpt
        echo(
            format_title(answer.project.name, goal),
            *(["Status: archived"] if answer.project.archived_at else []),
        )
    if answer.counts:
        echo(format_counts(answer.counts))
    echo_list("Ready to start:", (format_title(one.id, _get_summary(one)) for one in answer.next or ()))
    echo_list("Claimed by you:", (format_title(one.id, _get_summary(one)) for one in answer.my_claims or ()))
    echo_list("Blocked:", (_format_waiting(one.id, _get_summary(one), one.waits_for) for one in answer.blocked or ()))
    echo_list(
        "Plan:",
        (
            f"{DONE if one.resolved else OPEN} {format_title(one.id, _get_summary(one))}"
            + (f" ({one.open_children} open below)" if one.open_children else "")
            for one in answer.tree or ()
        ),
    )
    echo_list(
        "Recent changes:",
        (
            f"{one.action} {format_title(one.id, _get_summary(one))}"
            f"{_format_reason(one.decision or one.decision_excerpt)}"
            for one in answer.recent or ()
        ),
    )
    if answer.projects:
        draw_table(
            ("name", "id", "open", "actionable", "summary"),
            [(one.name, one.id, one.unresolved, one.actionable, _get_summary(one)) for one in answer.projects],
        )
    if answer.left_out:
        echo(f"not shown: {_format_left_out(answer.left_out)}")
    if answer.hint:
        echo("", answer.hint)


def _format_waiting(id_: str, summary: str, waits_for: Sequence[NodeBrief]) -> str:
    return f"{format_title(id_, summary)} -> {', '.join(format_title(one.id, _get_summary(one)) for one in waits_for)}"


def _get_summary(one: NodeBrief) -> str:
    return one.summary or (f"{one.excerpt}…" if one.excerpt else "")


# --- One node -------------------------------------------------------------------------------------------------------


def draw_offers(answer: Offers) -> None:
    """Print the offered nodes with their ancestors and resolved dependencies."""
    if not answer.nodes:
        echo(f"No node is available: {answer.reason}.")
    for index, offer in enumerate(answer.nodes):
        echo(*([""] if index else []), format_title(offer.node.id, offer.node.summary))
        _draw_indented(_about_offer(offer))


def _about_offer(offer: Offer) -> Pairs:
    yield "in", PATH_SEPARATOR.join(to_one_line(one.summary) for one in offer.ancestors)
    if offer.claim is not UNSET:
        yield "claim", format_value(offer.claim)
    yield from _about(offer.node)
    if offer.context_links:
        yield from (
            (f"links of {one.node_id}", format_value(one.links))
            for one in offer.context_links.inherited or ()
            if one.links
        )
    for done in offer.resolved_deps or ():
        yield "after", f"{format_title(done.id, done.summary)}{_format_evidence_list(done.evidence)}"
    if offer.left_out:
        yield "not shown", _format_left_out(offer.left_out)


def draw_context(answer: NodeContext) -> None:
    """Print a node with its ancestors, its dependencies and the tree below it."""
    node = answer.node
    echo(_format_node(node.resolved, node.id, node.summary))
    _draw_indented(_about_context(answer))
    echo_list(
        "Depends on:",
        (_format_node(one.node.resolved, one.node.id, one.node.summary) for one in answer.depends_on or ()),
    )
    echo_list(
        "Required by:",
        (_format_node(one.node.resolved, one.node.id, one.node.summary) for one in answer.depended_by or ()),
    )
    echo_list(
        "Related:",
        (
            f"{one.type} {'->' if one.direction == 'out' else '<-'} {format_title(one.id, one.summary)}"
            for one in answer.related or ()
        ),
    )
    if answer.children:
        echo_list("Children:", _tree(answer.children))
    if answer.left_out:
        echo(f"not shown: {_format_left_out(answer.left_out)}")


def _about_context(answer: NodeContext) -> Pairs:
    if answer.ancestors:
        yield "in", PATH_SEPARATOR.join(to_one_line(one.summary) for one in answer.ancestors)
    yield from _about(answer.node)
    if answer.node.updated_at:
        yield "changed", format_time(answer.node.updated_at)


def _about(node: WorkNode) -> Pairs:
    """Yield the fields of a node besides its summary that have a value."""
    properties = ((name.removeprefix("_").replace("_", " "), value) for name, value in (node.properties or {}).items())
    for name, value in (("rev", node.rev), ("state", node.state), *properties, ("links", node.context_links)):
        if value not in (UNSET, None, [], {}):
            yield name, format_value(value)
    for one in node.evidence or ():
        yield "evidence", _format_evidence(one)
    if node.evidence_total:
        yield "evidence", f"{node.evidence_total} in total"


def _tree(top: NodeTree, level: int = 0) -> Iterator[str]:
    children = top.children or ()
    for child in children:
        yield INDENT * level + _format_node(child.resolved, child.id, child.summary)
        yield from _tree(child, level + 1)
    if top.child_count:
        yield f"{INDENT * level}… {top.child_count - len(children)} more"


# --- Lists ----------------------------------------------------------------------------------------------------------


def draw_nodes(answer: FoundNodes) -> None:
    """Print a page of nodes."""
    if not answer.nodes:
        echo("No nodes found.")
        return
    draw_table(
        ("", "id", "summary", "depth", "state", "properties"),
        [
            (
                DONE if one.resolved else OPEN,
                one.id,
                to_one_line(one.summary),
                one.depth,
                one.state,
                ", ".join(
                    f"{name.removeprefix('_')} {format_value(value)}" for name, value in (one.properties or {}).items()
                ),
            )
            for one in answer.nodes
        ],
    )
    echo("", f"{len(answer.nodes)} of {answer.total}.", *_format_next_page(answer.next_cursor))


def draw_history(answer: History) -> None:
    """Print the events of a node, newest first."""
    if not answer.events:
        echo("No events recorded.")
        return
    draw_table(
        ("at", "who", "what", "changes", "why"),
        [
            (format_time(one.timestamp), one.agent, one.action, "; ".join(_changes(one)), one.decision)
            for one in answer.events
        ],
    )
    echo(*_format_next_page(answer.next_cursor))


def _changes(event: HistoryEvent) -> Iterator[str]:
    for change in event.changes or ():
        yield _format_change(change)
    if event.left_out:
        yield f"{event.left_out['changes']} more"


def _format_change(change: HistoryChange) -> str:
    if change.field == "evidence" and isinstance(change.after, list):
        return "evidence: " + ", ".join(f"{one['type']}: {to_one_line(one['ref'])}" for one in change.after)
    before, after = ("" if value in (None, UNSET) else format_value(value) for value in (change.before, change.after))
    return f"{change.field}: {before} -> {after or 'none'}" if before else f"{change.field}: {after}"


def _format_next_page(cursor: str | UnsetType) -> list[str]:
    return [f"Next page: add --cursor {cursor}"] if cursor else []


# --- Changes and side effects ----------------------------------------------------------------------------------------


def draw_plan(answer: Planned) -> None:
    """Print the id of each created node by its ref."""
    draw_table(("ref", "id"), [(one.ref, one.id) for one in answer.created])
    _draw_side_effects(answer.reopened, answer.warnings)


def draw_outcome(answer: SideEffects) -> None:
    """Print the changes and their side effects."""
    match answer:
        case Updated():
            draw_table(("id", "rev"), [(one.node_id, one.rev) for one in answer.updated])
        case Connected():
            echo(f"{answer.applied} applied.")
            if answer.rejected:
                draw_table(
                    ("rejected", "to", "reason", "why"),
                    [(one.from_, one.to, one.reason, one.path or one.near) for one in answer.rejected],
                )
        case Restructured():
            draw_table(("done", "id", "result"), [(one.op, one.node_id, one.result) for one in answer.details])
    total = f" ({answer.newly_actionable_total} in total)" if answer.newly_actionable_total else ""
    echo_list(f"Now ready to start{total}:", map(_format_mention, answer.newly_actionable or ()))
    echo_list("Resolved automatically:", answer.auto_resolved or ())
    _draw_side_effects(answer.reopened, answer.warnings)


def _draw_side_effects(reopened: list[NodeSummary] | UnsetType, warnings: list[str] | UnsetType) -> None:
    echo_list("Reopened:", map(_format_mention, reopened or ()))
    echo_list("Warnings:", warnings or ())


# --- Formatting -----------------------------------------------------------------------------------------------------


def _format_mention(one: NodeSummary) -> str:
    return format_title(one.id, one.summary)


def _format_node(resolved: bool, id_: str, summary: str) -> str:
    return f"{DONE if resolved else OPEN} {format_title(id_, summary)}"


def _format_evidence(one: Evidence) -> str:
    by = f" ({one.agent}, {format_time(one.timestamp)})" if one.agent and one.timestamp else ""
    return f"{one.type}: {to_one_line(one.ref)}{by}"


def _format_evidence_list(evidence: list[Evidence] | UnsetType) -> str:
    return f" ({'; '.join(map(_format_evidence, evidence))})" if evidence else ""


def _format_reason(decision: str | UnsetType) -> str:
    return f", because: {to_one_line(decision)}" if decision else ""


def format_counts(counts: WorkCounts) -> str:
    """Return the counts of open, ready, blocked and resolved nodes as a sentence."""
    return (
        f"{counts.unresolved} open of {counts.total}: {counts.actionable} ready to start, {counts.blocked} blocked, "
        f"{counts.resolved} resolved."
    )


def _format_left_out(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in left_out.items())


def _echo_fields(title: str, struct: Any) -> None:
    fields = [(name, getattr(struct, name)) for name in getattr(struct, "__struct_fields__", ())]
    parts = [f"{name.replace('_', ' ')} {format_value(value)}" for name, value in fields if value not in (UNSET, None)]
    if parts:
        echo(f"{title}: {', '.join(parts)}")


def _draw_indented(pairs: Iterable[tuple[str, str]]) -> None:
    draw_pairs((f"{INDENT}{name}", value) for name, value in pairs)


RENDERERS: Mapping[str, Callable[[Any], None]] = {
    "work.open": draw_open,
    "work.plan": draw_plan,
    "work.next": draw_offers,
    "work.claim": draw_offers,
    "work.context": draw_context,
    "work.update": draw_outcome,
    "work.connect": draw_outcome,
    "work.query": draw_nodes,
    "work.restructure": draw_outcome,
    "work.history": draw_history,
    "work.onboard": draw_orientation,
}
