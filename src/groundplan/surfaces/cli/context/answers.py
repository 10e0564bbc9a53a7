"""Views of the context operations: facts with their sources, missing inputs, suggestions.

A value is printed as one would type it. A text that could be mistaken for a number or for no value is quoted, so that
an unset value, the empty text and an option called "unknown" look different. The command line has no limit on the size
of answers, so a view is always complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

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
from groundplan.kernel.answers import encode
from groundplan.surfaces.cli.drawing import (
    GAP,
    WARNINGS,
    Fields,
    Lines,
    Rows,
    View,
    When,
    read,
    to_text,
)
from groundplan.surfaces.cli.screen.text import StyledText, escape_control_chars
from groundplan.surfaces.cli.terminal import EMPTY_CELL, INDENT, format_time, format_title, join_first, to_one_line

if TYPE_CHECKING:
    from groundplan.context.commit import Committed
    from groundplan.context.diff import ConstraintDiff, FactState, InputDiff
    from groundplan.context.edit import EditedRun
    from groundplan.context.runs import RunWithRev
    from groundplan.context.suggestions import NewSuggestion

NO_VALUE, MISSING = "unset", "missing"
QUIET, WARNING = "dim", "yellow"
TEXT_CHARS_MAX = 300  # of a value or a quotation; the output says how many characters were cut
OPTIONS_SHOWN_MAX = 10

Fact = PcivInputV1 | PcivConstraintV1 | Suggestion


# --- The facts of a run ----------------------------------------------------------------------------------------------


def _list_inputs(answer: ContextView) -> Iterator[dict[str, Any]]:
    numbers = _number_sources(answer)
    for one in answer.inputs_by_pointer.values():
        value = _style_value(one, is_required=one.required)
        if _get_value(one) is None and one.options is not None:
            value.append(f": {_format_options(one.options)}")
        label = f"{one.label} (required)" if one.required else one.label
        yield {**_build_row(one, _cite(one.source_ids, numbers)), "label": label, "value": value}


def _list_constraints(answer: ContextView) -> Iterator[dict[str, Any]]:
    numbers = _number_sources(answer)
    for one in answer.constraints:
        yield _build_row(one, _cite([one.source_id] if one.source_id else [], numbers))


def _build_row(one: PcivInputV1 | PcivConstraintV1, cited: str) -> dict[str, Any]:
    return {
        "name": to_text(_get_name(one)),
        "label": one.label,
        "value": _style_value(one),
        "provenance": one.provenance,
        "sources": to_text(cited),
    }


def _number_sources(answer: ContextView) -> dict[str, str]:
    return {id_: str(number) for number, id_ in enumerate(answer.sources_by_id, 1)}


def _cite(source_ids: list[str], numbers: Mapping[str, str]) -> str:
    """Return the numbers of the cited sources; a source that is not on this page is cited by its id."""
    return ", ".join(sorted((numbers.get(id_, id_) for id_ in source_ids), key=lambda mark: (len(mark), mark)))


def _format_options(options: list[str]) -> str:
    quoted = [escape_control_chars(_quote_if_ambiguous(option)) for option in options]
    return join_first(quoted, OPTIONS_SHOWN_MAX) or "no options"


def _format_sources(answer: ContextView) -> Iterator[str]:
    for number, one in enumerate(answer.sources_by_id.values(), 1):
        yield f"{number}  {to_one_line(one.title)}: {_escape_line_breaks(one.uri)} ({one.kind}, {one.parse_status})"
        yield f"   {one.id}"


def _format_artifacts(answer: ContextView) -> Iterator[str]:
    for type_, several in answer.artifacts_by_type.items():
        for one in several:
            yield f"{_escape_line_breaks(type_)}  {to_one_line(one.title)} ({format_time(one.created_at)})"
            yield f"{INDENT}{one.id}"
            yield f"{INDENT}{_truncate(encode(one.payload).decode())}"


def _format_evidence(answer: ContextView) -> Iterator[str]:
    snippets = (
        *((pointer, one.evidence_snippet) for pointer, one in answer.inputs_by_pointer.items()),
        *((one.key, one.snippet) for one in answer.constraints),
    )
    for name, snippet in snippets:
        if snippet is not None:
            yield f"{_escape_line_breaks(name)}: {_quote(snippet)}"


def _format_suggestions(answer: ContextView) -> Iterator[str]:
    """Yield each suggestion with its author and reason and, in a draft, the command to accept it."""
    by_id, numbers = {one.id: one for one in answer.constraints}, _number_sources(answer)
    for one in answer.suggestions or ():
        current = answer.inputs_by_pointer.get(one.pointer or "") or by_id.get(one.constraint_id or "")
        instead = f" instead of {_style_value(current)}" if current else ""
        sources = f", sources {cited}" if (cited := _cite(one.source_ids, numbers)) else ""
        yield f"{_get_name(one)}: {_style_value(one)}{instead}, by {one.created_by} ({one.provenance}{sources})"
        if one.rationale:
            yield f"{INDENT}reason: {_truncate(to_one_line(one.rationale))}"
        if one.snippet is not None:
            yield f"{INDENT}evidence: {_quote(one.snippet)}"
        if answer.run.status is RunStatus.DRAFT:
            yield _format_decision(answer.run.id, one)


def _format_missing(answer: ContextView) -> Iterator[str]:
    for pointer in answer.missing:
        one = answer.inputs_by_pointer.get(pointer)
        yield format_title(_escape_line_breaks(pointer), one.label if one else "")


# --- Runs, differences and edits -------------------------------------------------------------------------------------


def _get_owner(run: PcivRunV1) -> str:
    return "(shared)" if run.user_id is None else run.user_id


def _list_last_change(answer: RunWithRev | Committed) -> Iterator[tuple[str, str]]:
    run = answer.run
    if run.committed_at is None:
        yield "changed", format_time(run.updated_at)
    else:
        yield "committed", format_time(run.committed_at)


def _get_name(one: Any) -> str:
    """Return the pointer of an input or the key of a constraint."""
    return _escape_line_breaks(read(one, "pointer") or read(one, "key") or read(one, "constraint") or "")


def _format_changes(one: InputDiff | ConstraintDiff) -> str:
    return ", ".join(change.replace("_", " ") for change in (one.change, *(one.also or ())))


def _format_state(state: FactState | msgspec.UnsetType) -> str:
    if not state:
        return EMPTY_CELL
    cited = f", from {', '.join(map(_escape_line_breaks, state.sources))}" if state.sources else ""
    return f"{_format_value(state.value_kind, state.value)} ({state.provenance}{cited})"


def _list_written(answer: EditedRun) -> Iterator[dict[str, Any]]:
    pending = {(one.pointer or None, one.constraint or None) for one in answer.suggested}
    for kind in ("source", "input", "constraint", "artifact"):
        for one in getattr(answer, f"{kind}s"):
            names = (read(one, "pointer") or None, read(one, "key") or None)
            if names == (None, None) or names not in pending:
                yield {"written": kind, "name": to_text(_get_name(one)), "id": one.id}


def _format_new_suggestions(answer: EditedRun) -> Iterator[str]:
    for one in answer.suggested:
        yield f"{_get_name(one)}: {one.reason}"
        yield _format_decision(answer.run.id, one)


def _format_decision(run_id: str, one: Suggestion | NewSuggestion) -> str:
    return f"{INDENT}groundplan context accept {run_id} {one.id}   (or reject)"


# --- Values -----------------------------------------------------------------------------------------------------------


def _get_value(one: Fact) -> Any:
    return getattr(one, COLUMN_BY_KIND[one.value_kind])


def _style_value(one: Fact, *, is_required: bool = False) -> StyledText:
    value = _get_value(one)
    if value is not None:
        return to_text(_format_value(one.value_kind, value))
    return StyledText(MISSING, style=WARNING) if is_required else StyledText(NO_VALUE, style=QUIET)


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


def _quote(snippet: str) -> str:
    return _truncate(encode(snippet).decode())


def _truncate(text: str) -> str:
    more = len(text) - TEXT_CHARS_MAX
    return text if more <= 0 else f"{text[:TEXT_CHARS_MAX]}… ({more} more characters; see --json)"


def _escape_line_breaks(name: str) -> str:
    """Return a name with line breaks escaped, so that it stays on one line."""
    return name if name.isprintable() else encode(name).decode()[1:-1]


# --- Views ------------------------------------------------------------------------------------------------------------

RUN = ("project: run.scope_id, run: run.id, status: run.status", ("owner", lambda answer: _get_owner(answer.run)))
FACT = "label, value, provenance, sources"
CHANGE = (
    ("change", _format_changes),
    ("before", lambda one: _format_state(one.before)),
    ("after", lambda one: _format_state(one.after)),
)
HEADER = Fields(*RUN, _list_last_change, "rev")
NEXT_SET = "Next: groundplan context set {run.id} /POINTER VALUE"

RENDERERS = {
    "context.view": View(
        Fields(*RUN, "version: context_version_id, rev"),
        Rows(_list_inputs, "pointer: name", FACT, title="Inputs:", whole=("provenance",)),
        Rows(_list_constraints, "key: name", FACT, title="Constraints:", whole=("provenance",)),
        Lines(_format_evidence, title="Evidence:"),
        Lines(_format_sources, title="Sources:"),
        Lines(_format_artifacts, title="Artifacts:"),
        Lines(_format_suggestions, title="Pending suggestions:"),
        When(
            lambda answer: not answer.inputs_by_pointer and answer.run.status is RunStatus.DRAFT,
            GAP,
            f"No inputs here. {NEXT_SET}",
        ),
        # Last, where they are seen.
        Lines(_format_missing, title="Missing:"),
        WARNINGS,
    ),
    "context.create_draft": View(HEADER, GAP, NEXT_SET),
    "context.commit": View(
        Fields(*RUN, _list_last_change),
        Lines("missing", _escape_line_breaks, title="Missing:"),
        Lines("merged", _escape_line_breaks, title="Merged, as others committed it meanwhile:"),
        Lines("dropped", _escape_line_breaks, title="In force before, and no longer:"),
        WARNINGS,
    ),
    "context.discard": View("Discarded {discarded}."),
    "context.delete": View("Deleted {deleted}."),
    "context.list": View(
        Rows(
            "runs",
            "run: id, status",
            ("owner", _get_owner),
            "changed: updated_at",
            empty="No runs here. Next: groundplan context draft --project PROJECT",
            whole=("run", "status"),
        ),
    ),
    "context.trace": View(
        "{pointer}",
        GAP,
        Rows(
            "runs",
            "run: run_id, status, at, by",
            ("value", lambda one: _format_value(one.value_kind, one.value)),
            "provenance",
        ),
        Rows("resting", "ref, kind, title", title="Rests on it:", empty="Nothing rests on it."),
    ),
    "context.diff": View(
        When(lambda answer: answer.inputs or answer.constraints or answer.sources, otherwise=("No differences.",)),
        Rows("inputs", ("pointer", _get_name), *CHANGE),
        Rows("constraints", ("key", _get_name), *CHANGE, title="Constraints:"),
        Lines(
            "sources",
            lambda one: f"{one.change}  {to_one_line(one.title)} ({_escape_line_breaks(one.uri)})",
            title="Sources:",
        ),
    ),
    "context.edit": View(
        Rows(_list_written, "written", ("", "name"), "id", whole=("written", "id")),
        GAP,
        "Run {run.id} is at rev {rev}.",
        Lines(_format_new_suggestions, title="Pending suggestions:"),
    ),
    "context.import": View(HEADER, WARNINGS, GAP, "Next: groundplan context commit {run.id}"),
}
