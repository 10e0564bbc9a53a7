"""Read the view of a run, complete or in pages, with its warnings and the facts that it displaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Annotated, Any, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from groundplan.context.hydrate import hydrate
from groundplan.context.resolve import (
    ResolvedView,
    RunRow,
    is_in_force,
    load_suggestions,
    resolve_context_view,
    stale_run,
)
from groundplan.context.schemas import (
    ContextView,
    DisplacedFact,
    Displacement,
    Pointers,
    Provenance,
    ResolvePrefer,
    RunStatus,
    Suggestion,
    ValueColumns,
)
from groundplan.context.values import PointerFilter, get_value, load_rows, strip_row, strip_view
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import count_chars, take_page
from groundplan.kernel.cursors import Cursor, InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.operations.schema import CollapsedInSchema, HiddenInSchema
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text

MESSAGE_POINTERS_MAX = 10  # in one sentence; the complete list is in the details or the answer


def collect_warnings(row: RunRow, missing: list[str], *, unbacked: list[str], pending_count: int) -> list[str]:
    """Return the warnings about a run: its facts that lack a value or a source, and the number of its suggestions."""
    warnings = []
    if row.is_draft:
        warnings.append("this run is a draft: nothing in it is committed yet")
    if missing:
        advice = "; assume no value" if row.status is not RunStatus.DRAFT else ""
        warnings.append(f"required and not set: {format_pointers(missing)}{advice}")
    if unbacked:
        warnings.append(
            f"source-backed, but without a source: {format_pointers(unbacked)}; a commit needs one for each"
        )
    if pending_count:
        after = "" if row.is_draft else "; a draft with copyFrom copies them"
        warnings.append(f"suggestions that wait for a person: {pending_count}{after}")
    return warnings


def format_pointers(pointers: list[str]) -> str:
    """Return pointers as a list for a sentence; of many, only the first are named."""
    listed = ", ".join(quote_text(pointer)[1:-1] for pointer in pointers[:MESSAGE_POINTERS_MAX])
    more = len(pointers) - MESSAGE_POINTERS_MAX
    return listed if more <= 0 else f"{listed} and {more} more"


sql = load_queries(__file__)


class DisplacedRow(ValueColumns):
    """An input, by its pointer, or a constraint, by its key, in its state before it was displaced."""

    pointer: str | None
    key: str | None
    change: Displacement


class DisplacedFacts(NamedTuple):
    """The displaced inputs and constraints."""

    inputs: list[DisplacedRow]
    constraints: list[DisplacedRow]

    def __bool__(self) -> bool:
        return bool(self.inputs or self.constraints)

    def select(self, names: Collection[str]) -> DisplacedFacts:
        """Return those that have one of the names of a merge."""
        return DisplacedFacts(
            [row for row in self.inputs if row.pointer in names],
            [row for row in self.constraints if f"constraint:{row.key}" in names],
        )

    @property
    def pointers(self) -> list[str]:
        return [row.pointer for row in self.inputs if row.pointer is not None]

    @property
    def keys(self) -> list[str]:
        return [row.key for row in self.constraints if row.key is not None]


def find_displaced(tx: Transaction, *, before_id: str | None, run_id: str) -> DisplacedFacts:
    """Return the facts of a person in the run `before_id` that the other run displaces; none without `before_id`."""
    rows = [] if before_id is None else load_rows(tx, sql.displaced, DisplacedRow, before_id=before_id, run_id=run_id)
    return DisplacedFacts(
        [row for row in rows if row.pointer is not None], [row for row in rows if row.pointer is None]
    )


NAME = "context.view"
LEFT_OUT_MAX = 10**6  # the largest count for which left_out reserves room
# The parts of a view in the order in which they fill pages: missing and known inputs first.
PARTS = ("missing", "inputs", "constraints", "sources", "artifacts", "suggestions", "displaced")
OUTCOMES = ("placed", "kept", "replaced", "unplaced")  # of the facts that were written into a document


class ViewContext(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope and run to view, by default the run in force. Pointers select inputs at or below them."""

    scope_id: Name
    prefer: ResolvePrefer | None = None
    run_id: str | None = None
    pointers: Pointers | None = None
    cursor: Cursor = None
    user_id: Name | None = None
    hydrate: Annotated[dict[str, Any], CollapsedInSchema()] | None = None
    overwrite: bool = False
    lean: bool | None = None
    debug: Annotated[bool, HiddenInSchema()] = False  # part of the contract; it has no effect


class _Entry(NamedTuple):
    """An item of a page: its index among all items of the view, its part, and its name in the part."""

    number: int
    part: str
    name: str
    item: Any
    is_passed_over: bool = False  # it is too large for any page, and `item` is a warning about it


def view(tx: Transaction, request: ViewContext) -> ContextView:
    """Return the facts of a run, with its missing inputs and warnings.

    Raises:
        NotFound: the run is not in this scope.
        NoContext: no run was committed.
        StaleRevision: the draft changed since the previous page.
        PcivRuntimeInvariantError: the stored run breaks an invariant.
    """
    query = [tx.project.id, request.prefer, request.run_id, request.pointers, request.user_id]
    first: int | None = None
    run_id, prefer, rev = request.run_id, request.prefer, None
    if request.cursor is not None:
        # All pages of one view show the same run, even if another one is committed in between.
        prefer = None
        run_id, rev, first = _decode_position(tx, query, request.cursor)
    resolved = resolve_context_view(tx, run_id=run_id, prefer=prefer, user_id=request.user_id)
    if rev is not None and rev != resolved.row.rev:
        raise stale_run(resolved.row, rev)  # pages of two revisions would show a state that never existed
    full_view = _build_view(tx, resolved, request.pointers)
    if first is None and request.hydrate is not None:  # the pages after the first do not repeat it
        done = hydrate(full_view, request.hydrate, overwrite=request.overwrite)
        full_view.hydrated = done.target
        for name in OUTCOMES:
            setattr(full_view, name, getattr(done, name))
    if first is not None or tx.budget.is_limited:
        return _build_page(tx, full_view, query, first, lean=bool(request.lean))
    if request.lean:
        strip_view(full_view)
    return full_view


def _build_view(tx: Transaction, resolved: ResolvedView, pointers: list[str] | None) -> ContextView:
    facts, row = resolved
    missing = [
        pointer for pointer, fact in facts.inputs_by_pointer.items() if fact.required and get_value(fact) is None
    ]
    unbacked = [
        *(
            pointer
            for pointer, fact in facts.inputs_by_pointer.items()
            if fact.provenance is Provenance.SOURCE_BACKED and not fact.source_ids
        ),
        *(
            fact.key
            for fact in facts.constraints
            if fact.provenance is Provenance.SOURCE_BACKED and fact.source_id is None
        ),
    ]
    suggestions = load_suggestions(tx, row.id)
    full_view = ContextView(
        facts.run,
        facts.sources_by_id,
        facts.inputs_by_pointer,
        facts.constraints,
        facts.artifacts_by_type,
        row.context_version_id,
        missing,
        collect_warnings(row, missing, unbacked=unbacked, pending_count=len(suggestions)),
        row.rev,
        suggestions or UNSET,
        _load_displaced(tx, row) or UNSET,
    )
    return full_view if pointers is None else _narrow(full_view, pointers, suggestions)


def _load_displaced(tx: Transaction, row: RunRow) -> list[DisplacedFact]:
    """Return the facts of a person that the run in force displaces; nothing for any other run."""
    if row.replaced_run_id is None or not is_in_force(tx, row):
        return []
    displaced = find_displaced(tx, before_id=row.replaced_run_id, run_id=row.id)
    return [
        DisplacedFact(
            pointer=UNSET if fact.pointer is None else fact.pointer,
            constraint=UNSET if fact.key is None else fact.key,
            change=fact.change,
            before=get_value(fact),
            by=row.committed_by or "",
            at=row.context_version_id,
        )
        for fact in (*displaced.inputs, *displaced.constraints)
    ]


def _narrow(full_view: ContextView, pointers: list[str], suggestions: list[Suggestion]) -> ContextView:
    """Keep only inputs at or below the pointers, and only sources that the remaining rows cite."""
    places = PointerFilter(pointers, ("pointers",))
    full_view.inputs_by_pointer = {
        pointer: fact for pointer, fact in full_view.inputs_by_pointer.items() if pointer in places
    }
    full_view.missing = [pointer for pointer in full_view.missing if pointer in full_view.inputs_by_pointer]
    left = [fact for fact in suggestions if fact.pointer is None or fact.pointer in full_view.inputs_by_pointer]
    full_view.suggestions = left or UNSET
    displaced = [fact for fact in full_view.displaced or () if fact.pointer is UNSET or fact.pointer in places]
    full_view.displaced = displaced or UNSET
    named = {id_ for fact in full_view.inputs_by_pointer.values() for id_ in fact.source_ids}
    named |= {fact.source_id for fact in full_view.constraints if fact.source_id}
    named |= {id_ for fact in left for id_ in fact.source_ids}
    full_view.sources_by_id = {id_: fact for id_, fact in full_view.sources_by_id.items() if id_ in named}
    return full_view


def _build_page(
    tx: Transaction, full_view: ContextView, query: list[Any], first: int | None, *, lean: bool
) -> ContextView:
    """Return the part of a view that fits, beginning with the item at an index. All pages together are the whole view.

    The items of one revision of a run are always in the same order, so a number is a position. An item that is too
    large for a page of its own is replaced by a warning; else no page after it could be read.
    """
    frame = ContextView(full_view.run, {}, {}, [], {}, full_view.context_version_id, [], [], full_view.rev)
    frame.warnings = list(full_view.warnings) if first is None else []
    frame.suggestions, frame.displaced = [], []
    frame.left_out, frame.next_cursor = dict.fromkeys(PARTS, LEFT_OUT_MAX), ""
    for name in ("hydrated", *OUTCOMES):
        setattr(frame, name, getattr(full_view, name))
    budget = tx.budget.reserve(frame)

    def cursor_at(number: int) -> str:
        return encode_cursor(tx, NAME, query, full_view.run.id, full_view.rev, number)

    rest = [_Entry(number, *item) for number, item in enumerate(_list_items(full_view))][first or 0 :]
    if lean:
        for entry in rest:  # after the names were taken, which are bookkeeping
            strip_row(entry.item)
    # Only the first item can be too large for a page: a later one ends the page and starts the next.
    if rest and count_chars([_measure(rest[0]), cursor_at(rest[0].number + 1)]) > budget.free_chars:
        if frame.hydrated is not UNSET:  # the page is full of the hydrated document, and the facts come on the next
            return _finish(frame, Counter(entry.part for entry in rest), cursor_at(0), lean=lean)
        rest[0] = _replace_with_warning(rest[0])
    page = take_page(
        budget,
        rest,
        cursor_after=lambda last: cursor_at(last.number + 1),
        item=_measure,
        part=lambda entry: entry.part,
    )
    for entry in page.rows:
        _put(frame, entry)
    left = Counter(page.left_out or {})
    left.update(entry.part for entry in page.rows if entry.is_passed_over)
    return _finish(frame, left, page.next_cursor, lean=lean)


def _finish(frame: ContextView, left: Counter[str], next_cursor: str | UnsetType, *, lean: bool) -> ContextView:
    """Return a page with the counts of items that it leaves out, and the cursor of the next page."""
    frame.suggestions, frame.displaced = frame.suggestions or UNSET, frame.displaced or UNSET
    frame.left_out = {part: left[part] for part in PARTS if left[part]} or UNSET
    frame.next_cursor = next_cursor
    if lean:
        strip_row(frame.run)
        strip_row(frame)
    return frame


def _list_items(full_view: ContextView) -> Iterable[tuple[str, str, Any]]:
    """Yield the part, the name and the value of every item, in the order in which they fill pages."""
    for pointer in full_view.missing:
        yield "missing", pointer, pointer
    for pointer, fact in full_view.inputs_by_pointer.items():
        yield "inputs", pointer, fact
    for constraint in full_view.constraints:
        yield "constraints", constraint.key, constraint
    for id_, source in full_view.sources_by_id.items():
        yield "sources", id_, source
    for type_, artifacts in full_view.artifacts_by_type.items():
        for artifact in artifacts:
            yield "artifacts", type_, artifact
    for waiting in full_view.suggestions or ():
        yield "suggestions", waiting.pointer or waiting.key or "", waiting
    # Last, because they are no longer in the view once another run is in force.
    for displaced in full_view.displaced or ():
        yield "displaced", displaced.pointer or displaced.constraint or "", displaced


def _put(frame: ContextView, entry: _Entry) -> None:
    if entry.is_passed_over:
        frame.warnings.append(entry.item)
        return
    match entry.part:
        case "missing":
            frame.missing.append(entry.item)
        case "inputs":
            frame.inputs_by_pointer[entry.name] = entry.item
        case "constraints":
            frame.constraints.append(entry.item)
        case "sources":
            frame.sources_by_id[entry.name] = entry.item
        case "artifacts":
            frame.artifacts_by_type.setdefault(entry.name, []).append(entry.item)
        case "suggestions":
            frame.suggestions = [*(frame.suggestions or ()), entry.item]
        case "displaced":
            frame.displaced = [*(frame.displaced or ()), entry.item]


def _replace_with_warning(entry: _Entry) -> _Entry:
    """Return a warning in place of an entry that is too large for a page."""
    warning = f"too large for an answer: {quote_text(entry.name)[1:-1]}, among {entry.part}"
    return entry._replace(item=warning, is_passed_over=True)


def _measure(entry: _Entry) -> tuple[str, Any]:
    """Return the size of an item in an answer, with its key."""
    return entry.name, entry.item


def _decode_position(tx: Transaction, query: list[Any], cursor: str) -> tuple[str, int, int]:
    match decode_cursor(tx, NAME, query, cursor):
        case [str() as run_id, int() as rev, int() as first]:
            return run_id, rev, first
    raise InvalidCursor


OPERATION = declare(
    view,
    name=NAME,
    summary="Read the facts in force, or of a run: inputs by pointer, constraints, sources, what is missing.",
    permission=Permission.CONTEXT_READ,
    effect=Effect.READ,
    tool=Tool("context_view", Group.CONTEXT),
    http=Route("GET", "/projects/{project}/context/view"),
)
