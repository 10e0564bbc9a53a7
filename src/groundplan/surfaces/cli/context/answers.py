"""Answers about facts as people read them: what is known and from where, what is missing, what waits for a person.

A value is drawn as one would type it. A text that could be taken for something else (for a number, for no value, for
nothing at all) stands in quotes, so that UNSET, the empty text and a choice called "unknown" are never alike. The
command line has no cap on answers, so a view is always whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from groundplan.context.editing.edit import EditedRun
from groundplan.context.editing.suggestions import NewSuggestion
from groundplan.context.exchange.import_document import ImportedContext
from groundplan.context.runs.commit import Committed
from groundplan.context.runs.create_draft import RunWithRev
from groundplan.context.runs.delete import DeletedRun, DiscardedRun
from groundplan.context.runs.diff import ConstraintDiff, FactState, InputDiff, RunDiff
from groundplan.context.runs.list import Runs
from groundplan.context.schemas import (
    ContextView,
    PcivConstraintV1,
    PcivInputV1,
    PcivRunV1,
    RunStatus,
    Suggestion,
    ValueKind,
)
from groundplan.context.values import COLUMN_BY_KIND
from groundplan.kernel.output_gate import encode
from groundplan.surfaces.cli.failures import escape_control_chars
from groundplan.surfaces.cli.terminal import (
    EMPTY_CELL,
    INDENT,
    console,
    draw_pairs,
    echo,
    echo_list,
    format_time,
    format_title,
    to_one_line,
)

NO_VALUE, MISSING = "unset", "missing"
QUIET, WARNING = "dim", "yellow"
TEXT_CHARS_MAX = 300  # of a value or a quotation in a table; how much more there is, is said
OPTIONS_SHOWN_MAX = 10
SHARED = "(shared)"

Fact = PcivInputV1 | PcivConstraintV1 | Suggestion
Pairs = Iterator[tuple[str, str]]


# --- The view ---------------------------------------------------------------------------------------------------------


def draw_view(answer: ContextView) -> None:
    """The facts of a run; what is missing and what to be careful about stands last, where it is seen."""
    draw_pairs((*_about(answer.run), ("version", answer.context_version_id), ("rev", str(answer.rev))))
    marks = {id_: str(number) for number, id_ in enumerate(answer.sources_by_id, 1)}
    _draw_facts("Inputs:", "pointer", (_input_row(one, marks) for one in answer.inputs_by_pointer.values()))
    _draw_facts("Constraints:", "key", (_constraint_row(one, marks) for one in answer.constraints))
    echo_list("Evidence:", _evidence(answer))
    echo_list("Sources:", _sources(answer))
    echo_list("Artifacts:", _artifacts(answer))
    echo_list("Waiting for a person:", _format_suggestions(answer, marks))
    if not answer.inputs_by_pointer and answer.run.status is RunStatus.DRAFT:
        echo("", f"No inputs here. Next: groundplan context set {answer.run.id} /POINTER VALUE")
    echo_list("Missing:", (_missing(answer, pointer) for pointer in answer.missing))
    echo_list("Mind:", answer.warnings)


def _about(run: PcivRunV1) -> Pairs:
    yield "project", run.scope_id
    yield "run", run.id
    yield "status", run.status
    yield "of", SHARED if run.user_id is None else run.user_id


def _draw_facts(title: str, named: str, rows: Iterable[Sequence[Text]]) -> None:
    found = list(rows)
    if found:
        echo("", title, "")
        _draw_table((named, "label", "value", "provenance", "sources"), found, whole=("provenance",))


def _draw_table(titles: Sequence[str], rows: Sequence[Sequence[Text]], *, whole: Collection[str] = ()) -> None:
    """A table of which some columns are folded only where there is no other way: an id is there to be copied."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for place, title in enumerate(titles):
        width = max(len(title), *(row[place].cell_len for row in rows)) if title in whole else None
        table.add_column(Text(title), overflow="fold", width=width)
    for row in rows:
        table.add_row(*row)
    console().print(table)


def _input_row(one: PcivInputV1, marks: Mapping[str, str]) -> list[Text]:
    value = _style_value(one, is_required=one.required)
    if _get_value(one) is None and one.options is not None:
        value.append(f": {_options(one.options)}")
    label = f"{to_one_line(one.label)} (required)" if one.required else to_one_line(one.label)
    return [
        _to_text(_escape_line_breaks(one.pointer)),
        _to_text(label),
        value,
        _to_text(one.provenance),
        _to_text(_format_citations(one.source_ids, marks)),
    ]


def _constraint_row(one: PcivConstraintV1, marks: Mapping[str, str]) -> list[Text]:
    cited = _format_citations([one.source_id] if one.source_id else [], marks)
    return [
        _to_text(_escape_line_breaks(one.key)),
        _to_text(to_one_line(one.label)),
        _style_value(one),
        _to_text(one.provenance),
        _to_text(cited),
    ]


def _format_citations(source_ids: list[str], marks: Mapping[str, str]) -> str:
    """The sources by their numbers in the list of them; one that is on another page by its id."""
    return ", ".join(sorted((marks.get(id_, id_) for id_ in source_ids), key=lambda mark: (len(mark), mark)))


def _options(options: list[str]) -> str:
    more = len(options) - OPTIONS_SHOWN_MAX
    shown = (
        ", ".join(escape_control_chars(_quote_if_ambiguous(option)) for option in options[:OPTIONS_SHOWN_MAX])
        or "no options"
    )
    return f"{shown} and {more} more" if more > 0 else shown


def _sources(answer: ContextView) -> Iterator[str]:
    for number, one in enumerate(answer.sources_by_id.values(), 1):
        yield f"{number}  {to_one_line(one.title)}: {_escape_line_breaks(one.uri)} ({one.kind}, {one.parse_status})"
        yield f"   {one.id}"


def _artifacts(answer: ContextView) -> Iterator[str]:
    for type_, several in answer.artifacts_by_type.items():
        for one in several:
            yield f"{_escape_line_breaks(type_)}  {to_one_line(one.title)} ({format_time(one.created_at)})"
            yield f"{INDENT}{one.id}"
            yield f"{INDENT}{_truncate(encode(one.payload).decode())}"


def _evidence(answer: ContextView) -> Iterator[str]:
    for pointer, one in answer.inputs_by_pointer.items():
        if one.evidence_snippet is not None:
            yield f"{_escape_line_breaks(pointer)}: {_quotation(one.evidence_snippet)}"
    for constraint in answer.constraints:
        if constraint.snippet is not None:
            yield f"{_escape_line_breaks(constraint.key)}: {_quotation(constraint.snippet)}"


def _format_suggestions(answer: ContextView, marks: Mapping[str, str]) -> Iterator[str]:
    """What was suggested, by whom and why; and in a draft how to decide on it."""
    by_id = {one.id: one for one in answer.constraints}
    for one in answer.suggestions or ():
        stands = answer.inputs_by_pointer.get(one.pointer or "") or by_id.get(one.constraint_id or "")
        instead = f" instead of {_style_value(stands)}" if stands else ""
        sources = f", sources {cited}" if (cited := _format_citations(one.source_ids, marks)) else ""
        about = _escape_line_breaks(one.pointer or one.key or "")
        yield f"{about}: {_style_value(one)}{instead}, by {one.created_by} ({one.provenance}{sources})"
        if one.rationale:
            yield f"{INDENT}because: {_truncate(to_one_line(one.rationale))}"
        if one.snippet is not None:
            yield f"{INDENT}evidence: {_quotation(one.snippet)}"
        if answer.run.status is RunStatus.DRAFT:
            yield f"{INDENT}groundplan context accept {answer.run.id} {one.id}   (or reject)"


def _missing(answer: ContextView, pointer: str) -> str:
    one = answer.inputs_by_pointer.get(pointer)
    return format_title(_escape_line_breaks(pointer), one.label if one else "")


# --- Runs -------------------------------------------------------------------------------------------------------------


def draw_run(answer: RunWithRev) -> None:
    """A run without what is in it."""
    draw_pairs((*_about(answer.run), *_describe_last_change(answer.run), ("rev", str(answer.rev))))


def draw_draft(answer: RunWithRev) -> None:
    """A draft, and how to go on with it."""
    draw_run(answer)
    echo("", f"Next: groundplan context set {answer.run.id} /POINTER VALUE")


def draw_import(answer: ImportedContext) -> None:
    """The draft that a document became."""
    draw_pairs((*_about(answer.run), *_describe_last_change(answer.run), ("rev", str(answer.rev))))
    echo_list("Mind:", answer.warnings)
    echo("", f"Next: groundplan context commit {answer.run.id}")


def draw_commit(answer: Committed) -> None:
    """A run that is final, and what it lacks."""
    draw_pairs((*_about(answer.run), *_describe_last_change(answer.run)))
    echo_list("Missing:", map(_escape_line_breaks, answer.missing))
    echo_list("Mind:", answer.warnings)


def draw_runs(answer: Runs) -> None:
    """The runs of a project, or a page of them."""
    if not answer.runs:
        echo("No runs here. Next: groundplan context draft --project PROJECT")
        return
    rows = [
        (one.id, one.status, SHARED if one.user_id is None else one.user_id, format_time(one.updated_at))
        for one in answer.runs
    ]
    _draw_table(("run", "status", "of", "changed"), _cells(rows), whole=("run", "status"))
    if answer.next_cursor:
        echo(f"The next page: the same with --cursor {answer.next_cursor}")


def draw_discard(answer: DiscardedRun) -> None:
    """Which draft is gone."""
    echo(f"Discarded {answer.discarded}.")


def draw_delete(answer: DeletedRun) -> None:
    """Which run is gone."""
    echo(f"Deleted {answer.deleted}.")


def _describe_last_change(run: PcivRunV1) -> Pairs:
    if run.committed_at is None:
        yield "changed", format_time(run.updated_at)
    else:
        yield "committed", format_time(run.committed_at)


# --- What is different ------------------------------------------------------------------------------------------------


def draw_diff(answer: RunDiff) -> None:
    """What became of every fact that is not the same in both runs."""
    if not (answer.inputs or answer.constraints or answer.sources):
        echo("Both runs say the same.")
    titles = ("change", "before", "after")
    if answer.inputs:
        _draw_table(
            ("pointer", *titles), _cells((_escape_line_breaks(one.pointer), *_change(one)) for one in answer.inputs)
        )
    if answer.constraints:
        echo(*([""] if answer.inputs else []), "Constraints:", "")
        _draw_table(
            ("key", *titles), _cells((_escape_line_breaks(one.key), *_change(one)) for one in answer.constraints)
        )
    echo_list(
        "Sources:",
        (f"{one.change}  {to_one_line(one.title)} ({_escape_line_breaks(one.uri)})" for one in answer.sources),
    )


def _change(one: InputDiff | ConstraintDiff) -> tuple[str, str, str]:
    changes = ", ".join(change.replace("_", " ") for change in (one.change, *(one.also or ())))
    return changes, _state(one.before), _state(one.after)


def _state(state: FactState | msgspec.UnsetType) -> str:
    if not state:
        return EMPTY_CELL
    cited = f", from {', '.join(map(_escape_line_breaks, state.sources))}" if state.sources else ""
    return f"{_format_value(state.value_kind, state.value)} ({state.provenance}{cited})"


# --- What was written -------------------------------------------------------------------------------------------------


def draw_edit(answer: EditedRun) -> None:
    """The ids of what was written, and how to decide on what waits instead."""
    waits = {(one.pointer or None, one.key or None) for one in answer.suggested}
    rows = [
        *(("source", "", one.id) for one in answer.sources),
        *(
            ("input", _escape_line_breaks(one.pointer), one.id)
            for one in answer.inputs
            if (one.pointer, None) not in waits
        ),
        *(
            ("constraint", _escape_line_breaks(one.key), one.id)
            for one in answer.constraints
            if (None, one.key) not in waits
        ),
        *(("artifact", "", one.id) for one in answer.artifacts),
    ]
    if rows:
        _draw_table(("written", "", "id"), _cells(rows), whole=("written", "id"))
        echo("")
    echo(f"Run {answer.run.id} is at rev {answer.rev}.")
    echo_list(
        "Waiting for a person:",
        (line for one in answer.suggested for line in _format_new_suggestion(answer.run.id, one)),
    )


def _format_new_suggestion(run_id: str, one: NewSuggestion) -> Iterator[str]:
    yield f"{_escape_line_breaks(one.pointer or one.key or '')}: {one.reason}"
    yield f"{INDENT}groundplan context accept {run_id} {one.id}   (or reject)"


# --- Values -----------------------------------------------------------------------------------------------------------


def _get_value(one: Fact) -> Any:
    return getattr(one, COLUMN_BY_KIND[one.value_kind])


def _style_value(one: Fact, *, is_required: bool = False) -> Text:
    held = _get_value(one)
    if held is not None:
        return _to_text(_format_value(one.value_kind, held))
    return Text(MISSING, style=WARNING) if is_required else Text(NO_VALUE, style=QUIET)


def _format_value(kind: ValueKind, held: Any) -> str:
    """A value as it is typed."""
    if held is None:
        return NO_VALUE
    return _truncate(_quote_if_ambiguous(held) if kind in (ValueKind.STRING, ValueKind.ENUM) else encode(held).decode())


def _quote_if_ambiguous(text: str) -> str:
    """A text, in quotes where it could be taken for something else."""
    is_clear = text.isprintable() and text == " ".join(text.split())
    is_plain = is_clear and text not in ("", NO_VALUE, MISSING) and not _is_json(text)
    return text if is_plain else encode(text).decode()


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _quotation(snippet: str) -> str:
    return _truncate(encode(snippet).decode())


def _truncate(text: str) -> str:
    more = len(text) - TEXT_CHARS_MAX
    return text if more <= 0 else f"{text[:TEXT_CHARS_MAX]}… ({more} characters more, with --json)"


def _escape_line_breaks(name: str) -> str:
    """A name as it is, with breaks spelled out: a line means something here."""
    return name if name.isprintable() else encode(name).decode()[1:-1]


def _to_text(text: str) -> Text:
    return Text(escape_control_chars(text))


def _cells(rows: Iterable[Sequence[str]]) -> list[list[Text]]:
    return [[_to_text(cell) for cell in row] for row in rows]


RENDERERS: Mapping[str, Callable[[Any], None]] = {
    "context.view": draw_view,
    "context.create_draft": draw_draft,
    "context.fetch_run": draw_run,
    "context.update_draft": draw_run,
    "context.commit": draw_commit,
    "context.discard": draw_discard,
    "context.delete": draw_delete,
    "context.list": draw_runs,
    "context.diff": draw_diff,
    "context.edit": draw_edit,
    "context.import": draw_import,
}
