"""Answers about work as people read them: a node with the way to it, a tree, lists with what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from groundplan.surfaces.cli.drawing import (
    INDENT,
    draw_pairs,
    draw_table,
    moment,
    one_line,
    say,
    say_list,
    shown,
    titled,
)
from groundplan.work.engine.node import Counts, Evidence, Mention, Node
from groundplan.work.engine.outcome import Outcome
from groundplan.work.graph.connect import Connected
from groundplan.work.graph.next import Offer, Offers
from groundplan.work.graph.open import Opened, ProjectLines
from groundplan.work.graph.plan import Planned
from groundplan.work.graph.reading.context import Context
from groundplan.work.graph.reading.history import FieldChange, History, HistoryEvent
from groundplan.work.graph.reading.orientation import Brief, Orientation
from groundplan.work.graph.reading.tree import NodeTree
from groundplan.work.graph.restructure import Restructured
from groundplan.work.graph.search.query import Found
from groundplan.work.graph.update import Updated

DONE, OPEN = "[x]", "[ ]"
WAY = " > "

Pairs = Iterator[tuple[str, str]]


# --- Projects -------------------------------------------------------------------------------------------------------


def draw_opened(answer: Opened | ProjectLines) -> None:
    """One project with its counts, or all of them."""
    if isinstance(answer, ProjectLines):
        _draw_projects(answer)
        return
    say(titled(answer.root.id, answer.root.summary), counted(answer.summary))
    _say_pairs("policies", answer.policies)


def _draw_projects(answer: ProjectLines) -> None:
    if not answer.projects:
        say("No projects here. Next: groundplan work open NAME --goal 'what it is for'")
        return
    draw_table(
        ("name", "id", "open", "resolved", "changed", "summary"),
        [
            (one.name, one.id, one.unresolved, one.resolved, moment(one.updated_at), one_line(one.summary))
            for one in answer.projects
        ],
    )
    if answer.left_out:
        say(f"and {answer.left_out['projects']} more: groundplan project list")


def draw_orientation(answer: Orientation) -> None:
    """A project at a glance, or the projects to choose from."""
    if answer.project:
        goal = answer.project.goal or answer.project.goal_excerpt
        say(titled(answer.project.name, goal), *(["It is archived."] if answer.project.archived_at else []))
    if answer.counts:
        say(counted(answer.counts))
    say_list("Next:", (titled(one.id, _called(one)) for one in answer.next or ()))
    say_list("Yours:", (titled(one.id, _called(one)) for one in answer.my_claims or ()))
    say_list("Waiting:", (_waiting(one.id, _called(one), one.waits_for) for one in answer.blocked or ()))
    say_list(
        "Plan:",
        (
            f"{DONE if one.resolved else OPEN} {titled(one.id, _called(one))}"
            + (f" ({one.open_children} open below)" if one.open_children else "")
            for one in answer.tree or ()
        ),
    )
    say_list(
        "Lately:",
        (
            f"{one.action} {titled(one.id, _called(one))}{_because(one.decision or one.decision_excerpt)}"
            for one in answer.recent or ()
        ),
    )
    if answer.projects:
        draw_table(
            ("name", "id", "open", "actionable", "summary"),
            [(one.name, one.id, one.unresolved, one.actionable, _called(one)) for one in answer.projects],
        )
    if answer.left_out:
        say(f"not shown: {_counts(answer.left_out)}")
    if answer.hint:
        say("", answer.hint)


def _waiting(id_: str, called: str, waits_for: Sequence[Brief]) -> str:
    return f"{titled(id_, called)} -> {', '.join(titled(one.id, _called(one)) for one in waits_for)}"


def _called(one: Brief) -> str:
    return one.summary or (f"{one.excerpt}…" if one.excerpt else "")


# --- One node -------------------------------------------------------------------------------------------------------


def draw_offers(answer: Offers) -> None:
    """What to do next, each with the way to it and what was done for it."""
    if not answer.nodes:
        say(f"Nothing to offer: {answer.reason}.")
    for place, offer in enumerate(answer.nodes):
        say(*([""] if place else []), titled(offer.node.id, offer.node.summary))
        _draw_indented(_about_offer(offer))


def _about_offer(offer: Offer) -> Pairs:
    yield "in", WAY.join(one_line(one.summary) for one in offer.ancestors)
    if offer.claim is not UNSET:
        yield "claim", shown(offer.claim)
    yield from _about(offer.node)
    if offer.context_links:
        yield from (
            (f"links of {one.node_id}", shown(one.links)) for one in offer.context_links.inherited or () if one.links
        )
    for done in offer.resolved_deps or ():
        yield "after", f"{titled(done.id, done.summary)}{_shown_evidence(done.evidence)}"
    if offer.left_out:
        yield "not shown", _counts(offer.left_out)


def draw_context(answer: Context) -> None:
    """A node, where it stands, what it waits for, and the tree below it."""
    node = answer.node
    say(_marked(node.resolved, node.id, node.summary))
    _draw_indented(_about_context(answer))
    say_list(
        "Waits for:", (_marked(one.node.resolved, one.node.id, one.node.summary) for one in answer.depends_on or ())
    )
    say_list(
        "Waited for by:",
        (_marked(one.node.resolved, one.node.id, one.node.summary) for one in answer.depended_by or ()),
    )
    say_list(
        "Related:",
        (
            f"{one.type} {'->' if one.direction == 'out' else '<-'} {titled(one.id, one.summary)}"
            for one in answer.related or ()
        ),
    )
    if answer.children:
        say_list("Below:", _tree(answer.children))
    if answer.left_out:
        say(f"not shown: {_counts(answer.left_out)}")


def _about_context(answer: Context) -> Pairs:
    if answer.ancestors:
        yield "in", WAY.join(one_line(one.summary) for one in answer.ancestors)
    yield from _about(answer.node)
    if answer.node.updated_at:
        yield "changed", moment(answer.node.updated_at)


def _about(node: Node) -> Pairs:
    """What a node says beside its summary, as far as there is any."""
    own = ((name.removeprefix("_").replace("_", " "), value) for name, value in (node.properties or {}).items())
    for name, value in (("rev", node.rev), ("state", node.state), *own, ("links", node.context_links)):
        if value not in (UNSET, None, [], {}):
            yield name, shown(value)
    for one in node.evidence or ():
        yield "evidence", _said(one)
    if node.evidence_total:
        yield "evidence", f"{node.evidence_total} in all"


def _tree(top: NodeTree, level: int = 0) -> Iterator[str]:
    children = top.children or ()
    for child in children:
        yield INDENT * level + _marked(child.resolved, child.id, child.summary)
        yield from _tree(child, level + 1)
    if top.child_count:
        yield f"{INDENT * level}… {top.child_count - len(children)} more"


# --- Lists ----------------------------------------------------------------------------------------------------------


def draw_found(answer: Found) -> None:
    """A page of nodes."""
    if not answer.nodes:
        say("No such nodes.")
        return
    draw_table(
        ("", "id", "summary", "depth", "state", "properties"),
        [
            (
                DONE if one.resolved else OPEN,
                one.id,
                one_line(one.summary),
                one.depth,
                one.state,
                ", ".join(f"{name.removeprefix('_')} {shown(value)}" for name, value in (one.properties or {}).items()),
            )
            for one in answer.nodes
        ],
    )
    say("", f"{len(answer.nodes)} of {answer.total}.", *_more(answer.next_cursor))


def draw_history(answer: History) -> None:
    """What happened, newest first."""
    if not answer.events:
        say("Nothing is recorded of it.")
        return
    draw_table(
        ("at", "who", "what", "changes", "why"),
        [
            (moment(one.timestamp), one.agent, one.action, "; ".join(_changes(one)), one.decision)
            for one in answer.events
        ],
    )
    say(*_more(answer.next_cursor))


def _changes(event: HistoryEvent) -> Iterator[str]:
    for change in event.changes or ():
        yield _changed(change)
    if event.left_out:
        yield f"{event.left_out['changes']} more"


def _changed(change: FieldChange) -> str:
    if change.field == "evidence" and isinstance(change.after, list):
        return "evidence: " + ", ".join(f"{one['type']}: {one_line(one['ref'])}" for one in change.after)
    before, after = ("" if value in (None, UNSET) else shown(value) for value in (change.before, change.after))
    return f"{change.field}: {before} -> {after or 'none'}" if before else f"{change.field}: {after}"


def _more(cursor: str | UnsetType) -> list[str]:
    return [f"The next page: the same with --cursor {cursor}"] if cursor else []


# --- What a change came to ------------------------------------------------------------------------------------------


def draw_planned(answer: Planned) -> None:
    """The ids that the refs got."""
    draw_table(("ref", "id"), [(one.ref, one.id) for one in answer.created])
    _draw_news(answer.reopened, answer.warnings)


def draw_outcome(answer: Outcome) -> None:
    """What was done, and what came of it."""
    match answer:
        case Updated():
            draw_table(("id", "rev"), [(one.node_id, one.rev) for one in answer.updated])
        case Connected():
            say(f"{answer.applied} applied.")
            if answer.rejected:
                draw_table(
                    ("rejected", "to", "reason", "why"),
                    [(one.from_, one.to, one.reason, one.path or one.near) for one in answer.rejected],
                )
        case Restructured():
            draw_table(("done", "id", "result"), [(one.op, one.node_id, one.result) for one in answer.details])
    total = f" ({answer.newly_actionable_total} in all)" if answer.newly_actionable_total else ""
    say_list(f"Can be started now{total}:", map(_mentioned, answer.newly_actionable or ()))
    say_list("Resolved with it:", answer.auto_resolved or ())
    _draw_news(answer.reopened, answer.warnings)


def _draw_news(reopened: list[Mention] | UnsetType, warnings: list[str] | UnsetType) -> None:
    say_list("Open again:", map(_mentioned, reopened or ()))
    say_list("Mind:", warnings or ())


# --- Words ----------------------------------------------------------------------------------------------------------


def _mentioned(one: Mention) -> str:
    return titled(one.id, one.summary)


def _marked(resolved: bool, id_: str, summary: str) -> str:
    return f"{DONE if resolved else OPEN} {titled(id_, summary)}"


def _said(one: Evidence) -> str:
    by = f" ({one.agent}, {moment(one.timestamp)})" if one.agent and one.timestamp else ""
    return f"{one.type}: {one_line(one.ref)}{by}"


def _shown_evidence(evidence: list[Evidence] | UnsetType) -> str:
    return f" ({'; '.join(map(_said, evidence))})" if evidence else ""


def _because(decision: str | UnsetType) -> str:
    return f", because: {one_line(decision)}" if decision else ""


def counted(counts: Counts) -> str:
    """How much there is to do, in a sentence."""
    return (
        f"{counts.unresolved} open of {counts.total}: {counts.actionable} can be started, {counts.blocked} wait, "
        f"{counts.resolved} resolved."
    )


def _counts(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in left_out.items())


def _say_pairs(title: str, facts: Any) -> None:
    named = [(name, getattr(facts, name)) for name in getattr(facts, "__struct_fields__", ())]
    told = [f"{name.replace('_', ' ')} {shown(value)}" for name, value in named if value not in (UNSET, None)]
    if told:
        say(f"{title}: {', '.join(told)}")


def _draw_indented(pairs: Iterable[tuple[str, str]]) -> None:
    draw_pairs((f"{INDENT}{name}", value) for name, value in pairs)


DRAWINGS: Mapping[str, Callable[[Any], None]] = {
    "work.open": draw_opened,
    "work.plan": draw_planned,
    "work.next": draw_offers,
    "work.claim": draw_offers,
    "work.context": draw_context,
    "work.update": draw_outcome,
    "work.connect": draw_outcome,
    "work.query": draw_found,
    "work.restructure": draw_outcome,
    "work.history": draw_history,
    "work.onboard": draw_orientation,
}
