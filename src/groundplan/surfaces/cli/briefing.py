"""Views of what joins the slices: briefings, the inbox, events, searches, coverage and undo."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET

from groundplan.repository.git import WorkingCopy
from groundplan.surfaces.cli.drawing import (
    GAP,
    Fields,
    ForEach,
    Lines,
    Part,
    Rows,
    View,
    When,
    format_left_out,
)
from groundplan.surfaces.cli.terminal import (
    INDENT,
    format_actor,
    format_evidence,
    format_time,
    format_title,
    format_value,
    to_one_line,
)
from groundplan.work.evidence_check import MARKS, EvidenceCheck
from groundplan.work.kinds import DROPPED
from groundplan.work.nodes import get_description

if TYPE_CHECKING:
    from groundplan.briefing.coverage import Coverage
    from groundplan.briefing.inbox import Inbox, InboxItem
    from groundplan.briefing.search import Hit, Hits
    from groundplan.briefing.undo.undo import Undone
    from groundplan.kernel.audit import Change
    from groundplan.kernel.events import EventRecord
    from groundplan.work.graph.history import HistoryChange

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
    asker = format_actor(question.by, question.by_kind)
    return f"{question.id}  {asker}{asked_of}: {to_one_line(question.question or question.excerpt)}"


def _format_before(one: Any) -> Iterator[str]:
    yield format_title(one.id, f"{one.summary or ''}{f' ({one.outcome})' if one.outcome == DROPPED else ''}")
    if one.state is not UNSET:
        yield f"{INDENT}state: {to_one_line(str(format_value(one.state)))}"
    yield from (f"{INDENT}{format_evidence(entry)}" for entry in one.evidence or ())


def _format_knowledge(one: Any) -> Iterator[str]:
    remarks = (one.molecule, one.type, one.freshness.state if one.freshness else None)
    yield format_title(one.name, ", ".join(to_one_line(remark) for remark in remarks if remark))
    yield from (f"{INDENT}{line}" for line in str(one.text or one.excerpt or "").splitlines())


def _format_overlap(one: Any) -> str:
    claimed = f" ({format_actor(one.claimed_by, one.claimed_by_kind)})" if one.claimed_by else ""
    return f"{format_title(one.id, one.summary)}{claimed}: {', '.join(one.paths)}"


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


def _draw_items(answer: Inbox) -> Iterator[Part]:
    if not answer.items:
        yield "Nothing waits for you."
    for item in answer.items:
        where = f"  in {item.project}" if item.project else ""
        yield from (GAP, f"{item.kind}  {item.ref}{where}  since {format_time(item.since)}")
        yield f"{INDENT}{item.text}"
        yield f"{INDENT}{_format_command(item)}"
        if item.alternative:
            yield f"{INDENT}or {item.alternative.call or item.alternative.operation}"


def _format_command(item: InboxItem) -> str:
    """Return the command line; what a person adds is in capitals."""
    given = item.action.arguments
    match item.kind:
        case "fact_missing":
            return f"groundplan context set {shlex.join([given['runId'], item.ref])} VALUE"
        case "review_due":
            words = shlex.join([given["reviews"][0]["assumption"], "STATUS", "--project", given["project"]])
            return f"groundplan purpose review {words} --reason TEXT"
        case "waiver_ending":
            waiver = given["waivers"][0]
            options = ["--project", given["project"], "--owner", waiver["owner"]]
            words = shlex.join([waiver["code"], *waiver["refs"], *options])
            return f"groundplan purpose waive {words} --reason TEXT --due DATE"
        case "at_risk":
            words = shlex.join(["--project", given["project"], "--about", *given["decisions"][0]["about"]])
            return f"groundplan purpose decide TEXT {words} --rationale TEXT"
        case "request":
            words = shlex.join(["--project", given["project"], "--answers", given["decisions"][0]["answers"]])
            return f"groundplan purpose decide TEXT {words} --rationale TEXT"
    return item.action.call or item.action.operation


SHOWN_MAX = 5

# The name of each list for people, and the command that goes on with one of its entries.
GAPS = {
    "unserved": ("purpose that no work serves", "groundplan throughline {} --project PROJECT"),
    "serving_nothing": ("open work that serves nothing", "groundplan throughline {} --project PROJECT"),
    "without_evidence": ("indicators never measured", "groundplan purpose measure {} VALUE --project PROJECT"),
    "resolved_without_evidence": ("resolved work without evidence", "groundplan work context {}"),
    "required_unset": ("required facts without a value", "groundplan context view --project PROJECT"),
    "uncovered_files": ("files that no atom covers", "groundplan knowledge create NAME --type atom --path {}"),
}


class _GapRow(NamedTuple):
    gap: str
    number: int
    entries: str


def _list_gaps(answer: Coverage) -> Iterator[_GapRow]:
    for name, (title, _) in GAPS.items():
        count = getattr(answer.counts, name)
        if count:
            shown = getattr(answer, name)[:SHOWN_MAX]
            more = f" and {count - len(shown):,} more" if count > len(shown) else ""
            yield _GapRow(title, count, f"{', '.join(shown)}{more}")


def _list_next_steps(answer: Coverage) -> Iterator[str]:
    for name, (_, command) in GAPS.items():
        if entries := getattr(answer, name):
            # A file is from the root, where a typed pattern starts at the current folder.
            entry = WorkingCopy().spell_pattern(entries[0]) if name == "uncovered_files" else entries[0]
            yield command.format(entry)


def _note_unchecked(answer: Coverage) -> Iterator[Part]:
    """Yield the files that were not checked; of the lists, the counts tell how long they are."""
    if unchecked := (answer.left_out or {}).get("unchecked_files"):
        yield from (GAP, f"Not checked: {unchecked} files, because there are too many")


def _format_found(hit: Hit) -> str:
    return hit.snippet if hit.title is UNSET or hit.title in hit.snippet else f"{hit.title}: {hit.snippet}"


def _format_more(answer: Hits) -> Iterator[str]:
    if answer.more:
        yield f"More in {', '.join(answer.more)}; add words, or name a slice."


def _join_changes(event: EventRecord) -> str:
    more = [f"{event.left_out['changes']} more"] if event.left_out else []
    return "; ".join([*map(format_change, event.changes or ()), *more])


def _describe_actor(event: EventRecord) -> str:
    return format_actor(event.actor, event.actor_kind)


_EVENTS = View(
    Rows(
        "events",
        "id, at",
        ("who", _describe_actor),
        "what: op, subject",
        ("changes", _join_changes),
        "why: decision",
        empty="No events found.",
        whole=("id",),
    ),
)


def format_change(change: HistoryChange | Change) -> str:
    """Return what an event changed in one field, on one line."""
    write = _join_evidence if change.field == "evidence" else format_value
    before, after = ("" if value in (None, UNSET) else write(value) for value in (change.before, change.after))
    return f"{change.field}: {before} -> {after or 'none'}" if before else f"{change.field}: {after}"


def _join_evidence(entries: list[dict[str, Any]]) -> str:
    marks = [MARKS[EvidenceCheck(one["checked"])] if "checked" in one else "" for one in entries]
    lines = (f"{one['type']}: {to_one_line(one['ref'])} {mark}" for one, mark in zip(entries, marks, strict=True))
    return ", ".join(map(str.rstrip, lines))


def _format_undone(answer: Undone) -> Iterator[str]:
    if not answer.dry_run:
        yield f"{answer.text}."
        return
    yield f"Would be done by {answer.did.operation}: {answer.text}."
    if answer.did.arguments:
        yield format_value(answer.did.arguments)


RENDERERS: dict[str, Callable[..., None]] = {
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
    "briefing.inbox": View(_draw_items),
    "briefing.coverage": View(
        Rows(_list_gaps, "gap, count: number, entries", empty="No gaps."),
        Lines(_list_next_steps, title="Next:"),
        _note_unchecked,
        footer=(),
    ),
    "briefing.search": View(
        Rows("hits", "slice, kind, ref", ("found", _format_found), "project", empty="Nothing found.", whole=("ref",)),
        Lines(_format_more),
    ),
    "event.list": _EVENTS,
    "organization.events": _EVENTS,
    "briefing.undo": View(Lines(_format_undone)),
}
