"""Terminal output of the context operations: facts with their sources, missing inputs, suggestions.

A value is printed as one would type it. A text that could be mistaken for a number or for no value is quoted, so that
an unset value, the empty text and an option called "unknown" look different. The command line has no limit on the size
of answers, so a view is always complete.
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
TEXT_CHARS_MAX = 300  # of a value or a quotation; the output says how many characters were cut
OPTIONS_SHOWN_MAX = 10
SHARED = "(shared)"

Fact = PcivInputV1 | PcivConstraintV1 | Suggestion
Pairs = Iterator[tuple[str, str]]


# --- The view ---------------------------------------------------------------------------------------------------------


def draw_view(answer: ContextView) -> None:
    """Print the facts of a run. Missing inputs and warnings come last, where they are seen."""
    draw_pairs((*_about(answer.run), ("version", answer.context_version_id), ("rev", str(answer.rev))))
    marks = {id_: str(number) for number, id_ in enumerate(answer.sources_by_id, 1)}
    _draw_facts("Inputs:", "pointer", (_input_row(one, marks) for one in answer.inputs_by_pointer.values()))
    _draw_facts("Constraints:", "key", (_constraint_row(one, marks) for one in answer.constraints))
    echo_list("Evidence:", _evidence(answer))
    echo_list("Sources:", _sources(answer))
    echo_list("Artifacts:", _artifacts(answer))
    echo_list("Pending suggestions:", _format_suggestions(answer, marks))
    if not answer.inputs_by_pointer and answer.run.status is RunStatus.DRAFT:
        echo("", f"No inputs here. Next: groundplan context set {answer.run.id} /POINTER VALUE")
    echo_list("Missing:", (_missing(answer, pointer) for pointer in answer.missing))
    echo_list("Warnings:", answer.warnings)


def _about(run: PcivRunV1) -> Pairs:
    yield "project", run.scope_id
    yield "run", run.id
    yield "status", run.status
    yield "owner", SHARED if run.user_id is None else run.user_id


def _draw_facts(title: str, key_column: str, rows: Iterable[Sequence[Text]]) -> None:
    cells = list(rows)
    if cells:
        echo("", title, "")
        _draw_table((key_column, "label", "value", "provenance", "sources"), cells, whole=("provenance",))


def _draw_table(titles: Sequence[str], rows: Sequence[Sequence[Text]], *, whole: Collection[str] = ()) -> None:
    """Print a table. The columns named in `whole` keep their full width, because ids are there to be copied."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for index, title in enumerate(titles):
        width = max(len(title), *(row[index].cell_len for row in rows)) if title in whole else None
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
    """Return the numbers of the cited sources; a source that is not on this page is cited by its id."""
    return ", ".join(sorted((marks.get(id_, id_) for id_ in source_ids), key=lambda mark: (len(mark), mark)))


def _options(options: list[str]) -> str:
    more = len(options) - OPTIONS_SHOWN_MAX
    listed = (
        ", ".join(escape_control_chars(_quote_if_ambiguous(option)) for option in options[:OPTIONS_SHOWN_MAX])
        or "no options"
    )
    return f"{listed} and {more} more" if more > 0 else listed


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
    """Yield each suggestion with its author and reason and, in a draft, the command to accept it."""
    by_id = {one.id: one for one in answer.constraints}
    for one in answer.suggestions or ():
        current = answer.inputs_by_pointer.get(one.pointer or "") or by_id.get(one.constraint_id or "")
        instead = f" instead of {_style_value(current)}" if current else ""
        sources = f", sources {cited}" if (cited := _format_citations(one.source_ids, marks)) else ""
        about = _escape_line_breaks(one.pointer or one.key or "")
        yield f"{about}: {_style_value(one)}{instead}, by {one.created_by} ({one.provenance}{sources})"
        if one.rationale:
            yield f"{INDENT}reason: {_truncate(to_one_line(one.rationale))}"
        if one.snippet is not None:
            yield f"{INDENT}evidence: {_quotation(one.snippet)}"
        if answer.run.status is RunStatus.DRAFT:
            yield f"{INDENT}groundplan context accept {answer.run.id} {one.id}   (or reject)"


def _missing(answer: ContextView, pointer: str) -> str:
    one = answer.inputs_by_pointer.get(pointer)
    return format_title(_escape_line_breaks(pointer), one.label if one else "")


# --- Runs -------------------------------------------------------------------------------------------------------------


def draw_run(answer: RunWithRev) -> None:
    """Print a run without its facts."""
    draw_pairs((*_about(answer.run), *_describe_last_change(answer.run), ("rev", str(answer.rev))))


def draw_draft(answer: RunWithRev) -> None:
    """Print a draft and the next command."""
    draw_run(answer)
    echo("", f"Next: groundplan context set {answer.run.id} /POINTER VALUE")


def draw_import(answer: ImportedContext) -> None:
    """Print the draft that an import created."""
    draw_pairs((*_about(answer.run), *_describe_last_change(answer.run), ("rev", str(answer.rev))))
    echo_list("Warnings:", answer.warnings)
    echo("", f"Next: groundplan context commit {answer.run.id}")


def draw_commit(answer: Committed) -> None:
    """Print a committed run and its missing inputs."""
    draw_pairs((*_about(answer.run), *_describe_last_change(answer.run)))
    echo_list("Missing:", map(_escape_line_breaks, answer.missing))
    echo_list("Warnings:", answer.warnings)


def draw_runs(answer: Runs) -> None:
    """Print a page of the runs of a project."""
    if not answer.runs:
        echo("No runs here. Next: groundplan context draft --project PROJECT")
        return
    rows = [
        (one.id, one.status, SHARED if one.user_id is None else one.user_id, format_time(one.updated_at))
        for one in answer.runs
    ]
    _draw_table(("run", "status", "owner", "changed"), _cells(rows), whole=("run", "status"))
    if answer.next_cursor:
        echo(f"Next page: add --cursor {answer.next_cursor}")


def draw_discard(answer: DiscardedRun) -> None:
    """Print the id of the discarded draft."""
    echo(f"Discarded {answer.discarded}.")


def draw_delete(answer: DeletedRun) -> None:
    """Print the id of the deleted run."""
    echo(f"Deleted {answer.deleted}.")


def _describe_last_change(run: PcivRunV1) -> Pairs:
    if run.committed_at is None:
        yield "changed", format_time(run.updated_at)
    else:
        yield "committed", format_time(run.committed_at)


# --- Differences -----------------------------------------------------------------------------------------------------


def draw_diff(answer: RunDiff) -> None:
    """Print every fact that differs between two runs."""
    if not (answer.inputs or answer.constraints or answer.sources):
        echo("No differences.")
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


# --- Edits ------------------------------------------------------------------------------------------------------------


def draw_edit(answer: EditedRun) -> None:
    """Print the ids of the written facts, and the pending suggestions with the commands to decide on them."""
    pending = {(one.pointer or None, one.constraint or None) for one in answer.suggested}
    rows = [
        *(("source", "", one.id) for one in answer.sources),
        *(
            ("input", _escape_line_breaks(one.pointer), one.id)
            for one in answer.inputs
            if (one.pointer, None) not in pending
        ),
        *(
            ("constraint", _escape_line_breaks(one.key), one.id)
            for one in answer.constraints
            if (None, one.key) not in pending
        ),
        *(("artifact", "", one.id) for one in answer.artifacts),
    ]
    if rows:
        _draw_table(("written", "", "id"), _cells(rows), whole=("written", "id"))
        echo("")
    echo(f"Run {answer.run.id} is at rev {answer.rev}.")
    echo_list(
        "Pending suggestions:",
        (line for one in answer.suggested for line in _format_new_suggestion(answer.run.id, one)),
    )


def _format_new_suggestion(run_id: str, one: NewSuggestion) -> Iterator[str]:
    yield f"{_escape_line_breaks(one.pointer or one.constraint or '')}: {one.reason}"
    yield f"{INDENT}groundplan context accept {run_id} {one.id}   (or reject)"


# --- Values -----------------------------------------------------------------------------------------------------------


def _get_value(one: Fact) -> Any:
    return getattr(one, COLUMN_BY_KIND[one.value_kind])


def _style_value(one: Fact, *, is_required: bool = False) -> Text:
    value = _get_value(one)
    if value is not None:
        return _to_text(_format_value(one.value_kind, value))
    return Text(MISSING, style=WARNING) if is_required else Text(NO_VALUE, style=QUIET)


def _format_value(kind: ValueKind, value: Any) -> str:
    """Return a value as one would type it."""
    if value is None:
        return NO_VALUE
    return _truncate(
        _quote_if_ambiguous(value) if kind in (ValueKind.STRING, ValueKind.ENUM) else encode(value).decode()
    )


def _quote_if_ambiguous(text: str) -> str:
    """Return a text, quoted if it could be mistaken for another kind of value."""
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
    return text if more <= 0 else f"{text[:TEXT_CHARS_MAX]}… ({more} more characters; see --json)"


def _escape_line_breaks(name: str) -> str:
    """Return a name with line breaks escaped, so that it stays on one line."""
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
