"""The view of a briefing, alone and below the node that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from groundplan.surfaces.cli.drawing import GAP, Fields, ForEach, Lines, Part, View, When, format_left_out
from groundplan.surfaces.cli.terminal import INDENT, format_title, format_value, to_one_line
from groundplan.work.evidence_check import format_marks
from groundplan.work.nodes import get_description

EMPTY_TEXT = '""'  # a value like any other: a line without it would look unfinished


def _format_step(step: Any) -> Iterator[str]:
    if step.dangling:
        yield f"{step.key}: the purpose has no such key any more"
        return
    yield f"{format_title(step.key, step.title)} ({str(step.type).lower()})"
    if step.via:
        how = f": {to_one_line(step.via.mechanism)}" if step.via.mechanism else ""
        confidence = f" ({step.via.confidence} confidence)" if step.via.confidence else ""
        yield f"{INDENT}leads to {step.via.to}{how}{confidence}"
    for one in step.assumptions or ():
        yield f"{INDENT}assumption {one.key} ({one.status.replace('_', ' ')}): {to_one_line(one.text)}"


def _format_fact(one: Any) -> str:
    changed = ", changed" if one.changed else ""
    if one.changed_from is not UNSET:
        former = EMPTY_TEXT if one.changed_from == "" else to_one_line(str(format_value(one.changed_from)))
        changed += f" from {former}"
    return f"{to_one_line(one.label)} ({one.pointer}): {_format_fact_value(one)}, {one.provenance}{changed}"


def _format_constraint(one: Any) -> str:
    return f"{one.key}: {_format_fact_value(one)}, {one.provenance}"


def _format_fact_value(one: Any) -> str:
    value = one.excerpt if one.value is UNSET else one.value
    return EMPTY_TEXT if value == "" else to_one_line(str(format_value(value)))


def _format_mark(one: Any) -> str:
    return f"{one.ref} is {one.status.replace('_', ' ')}: {' -> '.join(one.path)}"


def _format_question(question: Any) -> str:
    asked_of = f" asks {to_one_line(question.to)}" if question.to else " asks"
    return f"{question.id}  {to_one_line(question.by)}{asked_of}: {to_one_line(question.question or question.excerpt)}"


def _format_before(one: Any) -> Iterator[str]:
    yield format_title(one.id, f"{one.summary or ''}{f' ({one.outcome})' if one.outcome else ''}")
    if one.state is not UNSET:
        yield f"{INDENT}state: {to_one_line(str(format_value(one.state)))}"
    yield from (
        f"{INDENT}{entry.type}: {to_one_line(entry.ref)} {format_marks(entry)}".rstrip() for entry in one.evidence or ()
    )


def _format_knowledge(one: Any) -> Iterator[str]:
    remarks = (one.molecule, one.type, one.freshness.state if one.freshness else None)
    yield format_title(one.name, ", ".join(to_one_line(remark) for remark in remarks if remark))
    yield from (f"{INDENT}{line}" for line in str(one.text or one.excerpt or "").splitlines())


def _format_overlap(one: Any) -> str:
    return f"{format_title(one.id, one.summary)} ({one.claimed_by}): {', '.join(one.paths)}"


def _format_decision(one: Any) -> str:
    newer = f" (replaced by: {to_one_line(one.replaced_by)})" if one.replaced_by else ""
    return f"{one.at[:10]} {to_one_line(one.text or one.excerpt)}{newer}"


def _list_description(answer: Any) -> list[str]:
    description = get_description(answer.node.properties)
    return [] if description is None else [description]


def _note_left_out(briefing: Any) -> Iterator[Part]:
    if briefing.left_out:
        yield from (GAP, f"Not shown of the briefing: {format_left_out(briefing.left_out)}")
        yield from (f"{INDENT}{call}" for call in briefing.more or ())


BRIEFING = ForEach(
    "briefing",
    Lines("task", lambda task: str(task.description or task.excerpt).splitlines(), title="Description:"),
    Lines("knowledge", _format_knowledge, title="Knowledge:"),
    Lines("missing", title="Missing:"),
    Lines("marks", _format_mark, title="In doubt or changed:"),
    Lines("constraints", _format_constraint, title="Constraints:"),
    Lines("facts", _format_fact, title="Facts:"),
    Lines("questions", _format_question, title="Questions:"),
    Lines("before", _format_before, title="Before:"),
    Lines("overlap", _format_overlap, title="Overlap:"),
    Lines("why", _format_step, title="Why:"),
    Lines("decisions", _format_decision, title="Decisions:"),
    _note_left_out,
)

RENDERERS = {
    "briefing.brief": View(
        Lines("markdown"),
        When(
            "node",
            lambda answer: format_title(answer.node.id, answer.node.summary),
            Fields(("in", lambda answer: " > ".join(to_one_line(one.summary) for one in answer.ancestors or ()))),
            Lines(_list_description, str.splitlines, title="Description:"),
        ),
        BRIEFING,
    ),
}
