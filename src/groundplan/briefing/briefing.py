"""The briefing of a task as callers see it, and as Markdown: its purpose, and the facts and knowledge about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming, encode
from groundplan.purpose.markup import escape_inline, format_code_span
from groundplan.work.answers import TRIMMING
from groundplan.work.evidence_check import format_marks
from groundplan.work.graph.context import Ancestor
from groundplan.work.kinds import DROPPED, Outcome
from groundplan.work.nodes import TRIMMABLE_FIELDS, MergedNode, WorkNode, get_description


class TaskNote(Struct, kw_only=True):
    """The description of the task, where the answer has no room for its properties."""

    description: str | UnsetType = UNSET
    excerpt: str | UnsetType = UNSET


class Via(Struct):
    """The edge by which a step leads to the next one."""

    to: str
    mechanism: str | UnsetType = UNSET
    confidence: str | UnsetType = UNSET


class AssumptionNote(Struct):
    """An assumption of a step or of its edge; refuted also if newer evidence than its latest review refutes it."""

    key: str
    text: str
    risk: str | UnsetType
    status: str


class WhyStep(Struct, kw_only=True):
    """A purpose node between the task and a goal. If the purpose has no node with the key, `dangling` is true."""

    key: str
    type: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    via: Via | UnsetType = UNSET
    assumptions: list[AssumptionNote] | UnsetType = UNSET
    dangling: bool | UnsetType = UNSET


class MarkNote(Struct):
    """An assumption in doubt or a changed fact that the task depends on, until a decision about it is recorded."""

    ref: str
    status: str  # refuted, at_risk, changed or removed
    path: list[str]  # from what the task serves, or from the node that rests on the fact


class FactNote(Struct, kw_only=True):
    """A fact of the run in force. `excerpt` is the beginning of a text that did not fit.

    `changed`: the task or its purpose rests on a former value, which is in `changed_from` if it is short.
    """

    pointer: str
    label: str
    value: Any = UNSET
    excerpt: str | UnsetType = UNSET
    provenance: str
    changed: bool | UnsetType = UNSET
    changed_from: Any = UNSET


class ConstraintNote(Struct, kw_only=True):
    """A constraint of the run in force."""

    key: str
    value: Any = UNSET
    excerpt: str | UnsetType = UNSET
    provenance: str


class KnowledgeNote(Struct, kw_only=True):
    """A knowledge atom that covers files of the task, or a molecule of such atoms."""

    id: str
    name: str
    type: str | UnsetType = UNSET  # `molecule`; not set for an atom
    molecule: str | UnsetType = UNSET  # the name of the atom's molecule
    freshness: Any = UNSET  # as `knowledge.context` returns it, if the atom was checked
    text: str | UnsetType = UNSET
    excerpt: str | UnsetType = UNSET


class QuestionNote(Struct, kw_only=True):
    """A question that waits for a decision: about the task, a node above it, its purpose or its facts."""

    id: str
    question: str | UnsetType = UNSET
    excerpt: str | UnsetType = UNSET
    about: list[str] | UnsetType = UNSET
    by: str
    by_kind: ActorKind | UnsetType = UNSET  # not of a person
    to: str | UnsetType = UNSET
    at: str


class BeforeNote(Struct):
    """A node that was resolved before the task, with its evidence and its state.

    A node that the answer shows elsewhere has only the fields that are not shown there.
    """

    id: str
    summary: str | UnsetType = UNSET
    outcome: Outcome | UnsetType = UNSET
    state: Any = UNSET
    evidence: list[Any] | UnsetType = UNSET


class OverlapNote(Struct):
    """Work in progress on the same files."""

    id: str
    summary: str
    claimed_by: str | None
    paths: list[str]
    claimed_by_kind: ActorKind | UnsetType = UNSET  # not of a person


class DecisionNote(Struct, kw_only=True):
    """A decision that binds the task. `replaced_by` is the text of the decision that replaced it."""

    text: str | UnsetType = UNSET
    excerpt: str | UnsetType = UNSET
    at: str
    replaced_by: str | UnsetType = UNSET


class Briefing(Struct, kw_only=True):
    """What a task needs to know, the most important part first.

    `left_out` counts the entries that did not fit, and `more` names calls that return them.
    """

    task: list[TaskNote] | UnsetType = UNSET  # at most one, and only if the answer does not show its description
    knowledge: list[KnowledgeNote] | UnsetType = UNSET
    missing: list[str] | UnsetType = UNSET
    marks: list[MarkNote] | UnsetType = UNSET  # this and `questions`: only if there are some
    constraints: list[ConstraintNote] | UnsetType = UNSET
    facts: list[FactNote] | UnsetType = UNSET
    questions: list[QuestionNote] | UnsetType = UNSET
    before: list[BeforeNote] | UnsetType = UNSET
    overlap: list[OverlapNote] | UnsetType = UNSET
    why: list[WhyStep] | UnsetType = UNSET
    decisions: list[DecisionNote] | UnsetType = UNSET
    left_out: LeftOut = UNSET
    more: list[str] | UnsetType = UNSET


class TaskBriefing(Struct, kw_only=True):
    """A task with its briefing, or both as one text of Markdown."""

    trimming: ClassVar[Trimming] = Trimming(
        *TRIMMING,
        CutLists(("ancestors",), from_start=True),
        *(DropField(f"node.{part}") for part in TRIMMABLE_FIELDS),
    )

    node: WorkNode | UnsetType = UNSET
    ancestors: list[Ancestor] | UnsetType = UNSET
    briefing: Briefing | UnsetType = UNSET
    markdown: str | UnsetType = UNSET
    left_out: LeftOut = UNSET


# --- Write a briefing as Markdown -------------------------------------------------------------------------------------
# Stored text stands on one line, escaped, or whole in a fenced block

TEXT_CHARS_MAX = 40_000  # no stored text is longer, so none is cut

_TICKS = re.compile(r"`{3,}")


def format_briefing(answer: TaskBriefing) -> str:
    """Return the task and its briefing as Markdown."""
    node = answer.node
    if node is UNSET:
        return ""
    lines = [f"# {_escape(node.summary)}", ""]
    location = (
        f", in {' > '.join(_escape(ancestor.summary) for ancestor in answer.ancestors)}" if answer.ancestors else ""
    )
    lines.append(f"Task {format_code_span(node.id)}, {_describe_outcome(node)}{location}")
    if description := get_description(node.properties):
        lines += _format_section("Description", [description], _format_text)
    lines += _format_section("Merged into it", node.merged, _format_merged)
    if isinstance(answer.briefing, Briefing):
        lines += _list_sections(answer.briefing)
    return "\n".join(lines) + "\n"


def _list_sections(briefing: Briefing) -> Iterator[str]:
    yield from _format_section(
        "Description", briefing.task, lambda task: _format_text(str(task.description or task.excerpt))
    )
    yield from _format_section("Knowledge", briefing.knowledge, _format_knowledge)
    yield from _format_section("Missing", briefing.missing, lambda pointer: [f"- {format_code_span(pointer)}"])
    yield from _format_section("In doubt or changed", briefing.marks, _format_mark)
    yield from _format_section("Constraints", briefing.constraints, _format_constraint)
    yield from _format_section("Facts", briefing.facts, _format_fact)
    yield from _format_section("Questions", briefing.questions, _format_question)
    yield from _format_section("Before", briefing.before, _format_before)
    yield from _format_section("Overlap", briefing.overlap, _format_overlap)
    yield from _format_section("Why", briefing.why, _format_step)
    yield from _format_section("Decisions", briefing.decisions, _format_decision)
    if briefing.left_out:
        counts = ", ".join(f"{count} {name}" for name, count in briefing.left_out.items())
        calls = "".join(f"; {_escape(call)}" for call in briefing.more or ())
        yield from ("", f"Not shown: {counts}{calls}.")


def _format_section(title: str, entries: Any, format_entry: Callable[[Any], Iterable[str]]) -> Iterator[str]:
    if entries:
        yield from ("", f"## {title}", "")
        for entry in entries:
            yield from format_entry(entry)


def _format_step(step: WhyStep) -> Iterator[str]:
    if step.dangling:
        yield f"- {format_code_span(step.key)}: the purpose has no such key any more"
        return
    yield f"- {format_code_span(step.key)} {_escape(str(step.title))} ({str(step.type).lower()})"
    if step.via:
        how = f": {_escape(step.via.mechanism)}" if step.via.mechanism else ""
        confidence = f" (confidence {step.via.confidence})" if step.via.confidence else ""
        yield f"  - leads to {format_code_span(step.via.to)}{how}{confidence}"
    yield from (_format_assumption(note) for note in step.assumptions or ())


def _format_assumption(assumption: AssumptionNote) -> str:
    risk = f", risk {str(assumption.risk).lower()}" if assumption.risk else ""
    state = f"{assumption.status.replace('_', ' ')}{risk}"
    return f"  - assumption {format_code_span(assumption.key)} ({state}): {_escape(assumption.text)}"


def _format_mark(mark: MarkNote) -> list[str]:
    way = " -> ".join(map(format_code_span, mark.path))
    return [f"- {format_code_span(mark.ref)} is {mark.status.replace('_', ' ')}: {way}"]


def _format_fact(fact: FactNote) -> list[str]:
    changed = "" if not fact.changed else ", changed"
    if fact.changed_from is not UNSET:
        changed += f" from {_format_plain(fact.changed_from)}"
    return [
        f"- {_escape(fact.label)} {format_code_span(fact.pointer)}: {_format_value(fact)} ({fact.provenance}{changed})"
    ]


def _format_constraint(constraint: ConstraintNote) -> list[str]:
    return [f"- {format_code_span(constraint.key)}: {_format_value(constraint)} ({constraint.provenance})"]


def _format_value(note: FactNote | ConstraintNote) -> str:
    return _format_plain(note.excerpt if note.value is UNSET else note.value)


def _format_plain(value: Any) -> str:
    return _escape(value) if isinstance(value, str) and value else format_code_span(encode(value).decode())


def _format_question(question: QuestionNote) -> list[str]:
    to = f" asks {_escape(question.to)}" if question.to else " asks"
    text = _escape(str(question.question or question.excerpt))
    return [f"- {format_code_span(question.id)} {_escape(question.by)}{_format_kind(question.by_kind)}{to}: {text}"]


def _format_kind(kind: ActorKind | UnsetType) -> str:
    return f" ({kind})" if kind else ""


def _format_merged(merged: MergedNode) -> Iterator[str]:
    yield f"- {format_code_span(merged.id)} {_escape(merged.summary)}"
    if merged.description:
        yield from _format_text(merged.description)


def _describe_outcome(node: WorkNode) -> str:
    return "dropped" if node.outcome == DROPPED else "resolved" if node.resolved else "open"


def _format_before(node: BeforeNote) -> Iterator[str]:
    outcome = f" ({node.outcome})" if node.outcome == DROPPED else ""
    yield f"- {format_code_span(node.id)} {_escape(node.summary or '')}{outcome}"
    if node.state is not UNSET:
        yield f"  - state: {_format_plain(node.state)}"
    yield from (
        f"  - {_escape(entry.type)}: {_escape(entry.ref)} {format_marks(entry)}".rstrip()
        for entry in node.evidence or ()
    )


def _format_knowledge(atom: KnowledgeNote) -> Iterator[str]:
    area = f", in {_escape(atom.molecule)}" if atom.molecule else ""
    remarks = [str(atom.type)] if atom.type else []
    remarks += [atom.freshness.state] if atom.freshness else []
    remark = f" ({', '.join(remarks)})" if remarks else ""
    yield from (f"### {_escape(atom.name)}{area}{remark}", "")
    yield from _format_text(str(atom.text or atom.excerpt or ""))


def _format_text(text: str) -> Iterator[str]:
    fence = max((len(run) for run in _TICKS.findall(text)), default=2) * "`" + "`"
    yield from (fence, *text.splitlines(), fence, "")


def _format_overlap(overlap: OverlapNote) -> list[str]:
    kind = _format_kind(overlap.claimed_by_kind)
    claimed_by = f", claimed by {_escape(overlap.claimed_by)}{kind}" if overlap.claimed_by else ""
    paths = ", ".join(map(format_code_span, overlap.paths))
    return [f"- {format_code_span(overlap.id)} {_escape(overlap.summary)}{claimed_by}: {paths}"]


def _format_decision(decision: DecisionNote) -> list[str]:
    newer = f" (replaced by: {_escape(decision.replaced_by)})" if decision.replaced_by else ""
    return [f"- {decision.at[:10]} {_escape(str(decision.text or decision.excerpt))}{newer}"]


def _escape(text: str) -> str:
    return escape_inline(text, chars_max=TEXT_CHARS_MAX)
