"""Compare two runs of a scope.

Rows of two runs have different ids, so they are matched by content: inputs by pointer, constraints by key (those of the
same key in order, equal ones first), sources by kind and address.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, TypeVar

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.context.resolve import resolve_context_view, resolve_run_project, run_of_another_scope, stale_run
from groundplan.context.schemas import (
    PcivConstraintV1,
    PcivContextViewV1,
    PcivInputV1,
    PcivSourceV1,
    Pointers,
    Provenance,
    ValueKind,
)
from groundplan.context.values import PointerFilter, Value, encode_json, get_typed_value, get_value
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import DropField, LeftOut, Trimming, take_page
from groundplan.kernel.cursors import Cursor, InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction

T = TypeVar("T")

NAME = "context.diff"
PARTS = ("inputs", "constraints", "sources")
EVIDENCE = ("evidenceSnippet", "snippet")


class FactChange(StrEnum):
    """The ways in which a fact can differ between two runs, the most important first."""

    REMOVED = "removed"
    SET = "set"
    ADDED = "added"
    CHANGED = "changed"
    CLEARED = "cleared"
    PROVENANCE_MOVED = "provenance_moved"
    SOURCES_ADDED = "sources_added"
    SOURCES_REMOVED = "sources_removed"
    REDEFINED = "redefined"


class DiffRuns(Struct, rename="camel", forbid_unknown_fields=True):
    """The runs to compare, and optional pointers; inputs at or below them are compared. The answer is always lean."""

    from_: str = field(name="from")
    to: str
    pointers: Pointers | None = None
    cursor: Cursor = None
    lean: bool | None = None


class FactState(Struct, rename="camel"):
    """A fact in one of the two runs. Null means UNSET; the empty text is a value."""

    value_kind: ValueKind
    value: Any
    provenance: Provenance
    sources: list[str]  # by address


class FieldDiff(Struct):
    """A field of a fact's definition that differs, with both contents."""

    field: str
    before: Any
    after: Any


class InputDiff(Struct):
    """The changes of an input."""

    pointer: str
    change: FactChange
    also: list[FactChange] | UnsetType = UNSET
    before: FactState | UnsetType = UNSET
    after: FactState | UnsetType = UNSET
    fields: list[FieldDiff] | UnsetType = UNSET  # for REDEFINED


class ConstraintDiff(Struct):
    """The changes of a constraint."""

    key: str
    change: FactChange
    also: list[FactChange] | UnsetType = UNSET
    before: FactState | UnsetType = UNSET
    after: FactState | UnsetType = UNSET
    fields: list[FieldDiff] | UnsetType = UNSET  # for REDEFINED


class SourceDiff(Struct):
    """A source that only one of the runs has, or that differs between them."""

    uri: str
    title: str
    change: FactChange
    id: str  # in the `to` run if it is there, else in the `from` run


class RunDiff(Struct):
    """The differences between two runs, and a cursor if not all of them fit."""

    # A single difference can be too long for a page.
    trimming: ClassVar[Trimming] = Trimming(
        *(
            DropField(f"{part}[].{field}")
            for field in ("fields", "before", "after")
            for part in ("inputs", "constraints")
        )
    )

    inputs: list[InputDiff]
    constraints: list[ConstraintDiff]
    sources: list[SourceDiff]
    left_out: LeftOut = UNSET
    next_cursor: str | UnsetType = UNSET


class _Difference(NamedTuple):
    """A difference on a page, with its index among all differences."""

    number: int
    part: str
    item: InputDiff | ConstraintDiff | SourceDiff


def diff(tx: Transaction, request: DiffRuns) -> RunDiff:
    """Compare two runs of one scope.

    Raises:
        NotFound: a run does not exist.
        MixedProjects: the runs belong to two scopes.
        StaleRevision: a run changed since the previous page.
    """
    places = None if request.pointers is None else PointerFilter(request.pointers, ("pointers",))
    if resolve_run_project(tx, request.to, "to") != tx.project.id:
        raise run_of_another_scope(request.to, "to")
    old = resolve_context_view(tx, run_id=request.from_, field="from")
    new = resolve_context_view(tx, run_id=request.to, field="to")
    before, after = old.view, new.view
    query = [before.run.id, after.run.id, request.pointers]
    revs = (old.row.rev, new.row.rev)
    first = 0
    if request.cursor is not None:
        seen_revs, last = _decode_position(tx, query, request.cursor)
        for resolved, rev in zip((old, new), seen_revs, strict=True):
            if resolved.row.rev != rev:
                raise stale_run(resolved.row, rev)  # the number counts the differences of these two revisions
        first = last + 1
    lists: list[Iterator[InputDiff | ConstraintDiff | SourceDiff]] = [
        _diff_inputs(before, after, places),
        _diff_constraints(before, after),
        _format_sources(before, after),
    ]
    differences: list[_Difference] = []
    for part, items in zip(PARTS, lists, strict=True):
        differences += [_Difference(number, part, item) for number, item in enumerate(items, len(differences))]
    return _build_page(tx, query, differences[first:], revs)


def _build_page(tx: Transaction, query: list[Any], rest: list[_Difference], revs: tuple[int, int]) -> RunDiff:
    """Return as many differences as fit."""
    frame = RunDiff([], [], [], dict.fromkeys(PARTS, len(rest)), "")
    page = take_page(
        tx.budget.reserve(frame),
        rest,
        cursor_after=lambda last: encode_cursor(tx, NAME, query, *revs, last.number),
        item=lambda difference: difference.item,
        part=lambda difference: difference.part,
    )
    items = [difference.item for difference in page.rows]
    return RunDiff(
        [difference for difference in items if isinstance(difference, InputDiff)],
        [difference for difference in items if isinstance(difference, ConstraintDiff)],
        [difference for difference in items if isinstance(difference, SourceDiff)],
        page.left_out,
        page.next_cursor,
    )


def _decode_position(tx: Transaction, query: list[Any], cursor: str) -> tuple[tuple[int, int], int]:
    match decode_cursor(tx, NAME, query, cursor):
        case [int() as old, int() as new, int() as number]:
            return (old, new), number
    raise InvalidCursor


def _diff_inputs(
    before: PcivContextViewV1, after: PcivContextViewV1, pointers: PointerFilter | None
) -> Iterator[InputDiff]:
    for pointer in sorted(before.inputs_by_pointer.keys() | after.inputs_by_pointer.keys()):
        if pointers is not None and pointer not in pointers:
            continue
        old, new = before.inputs_by_pointer.get(pointer), after.inputs_by_pointer.get(pointer)
        was = _format_state(old, old.source_ids, before) if old else None
        now = _format_state(new, new.source_ids, after) if new else None
        fields = _diff_definitions(old, new) if old and new else []
        if changes := _classify_changes(was, now, redefined=bool(fields)):
            first, *others = changes
            yield InputDiff(pointer, first, others or UNSET, was or UNSET, now or UNSET, fields or UNSET)


def _diff_constraints(before: PcivContextViewV1, after: PcivContextViewV1) -> Iterator[ConstraintDiff]:
    olds, news = (
        _group_by(before.constraints, lambda constraint: constraint.key),
        _group_by(after.constraints, lambda constraint: constraint.key),
    )

    def state(constraint: PcivConstraintV1, view: PcivContextViewV1) -> FactState:
        return _format_state(constraint, [constraint.source_id] if constraint.source_id else [], view)

    for key in sorted(olds.keys() | news.keys()):
        pairs = _pair_differing(
            [
                (constraint, encode_json([state(constraint, before), _get_definition(constraint)]))
                for constraint in olds.get(key, [])
            ],
            [
                (constraint, encode_json([state(constraint, after), _get_definition(constraint)]))
                for constraint in news.get(key, [])
            ],
        )
        for old, new in pairs:
            was, now = (state(old, before) if old else None), (state(new, after) if new else None)
            fields = _diff_definitions(old, new) if old and new else []
            if changes := _classify_changes(was, now, redefined=bool(fields)):
                first, *others = changes
                yield ConstraintDiff(key, first, others or UNSET, was or UNSET, now or UNSET, fields or UNSET)


def _format_sources(before: PcivContextViewV1, after: PcivContextViewV1) -> Iterator[SourceDiff]:
    olds = _group_by(before.sources_by_id.values(), lambda source: (source.uri, source.kind))
    news = _group_by(after.sources_by_id.values(), lambda source: (source.uri, source.kind))
    for place in sorted(olds.keys() | news.keys()):
        pairs = _pair_differing(
            [(source, encode_json(_get_content(source))) for source in olds.get(place, [])],
            [(source, encode_json(_get_content(source))) for source in news.get(place, [])],
        )
        for old, new in pairs:
            source = new or old
            if source is None:
                continue
            change = FactChange.CHANGED if old and new else FactChange.ADDED if new else FactChange.REMOVED
            yield SourceDiff(source.uri, source.title, change, source.id)


def _classify_changes(before: FactState | None, after: FactState | None, *, redefined: bool) -> list[FactChange]:
    """Return all changes of a fact, the most important first."""
    if after is None:
        return [FactChange.REMOVED]
    if before is None:
        return [FactChange.ADDED] if after.value is None else [FactChange.SET, FactChange.ADDED]
    changes = []
    is_unset = before.value is None and after.value is None
    if not is_unset and not Value(before.value_kind, before.value).equals(Value(after.value_kind, after.value)):
        if before.value is None and after.value is not None:
            changes.append(FactChange.SET)
        elif before.value is not None and after.value is None:
            changes.append(FactChange.CLEARED)
        else:
            changes.append(FactChange.CHANGED)
    if before.provenance is not after.provenance:
        changes.append(FactChange.PROVENANCE_MOVED)
    if set(after.sources) - set(before.sources):
        changes.append(FactChange.SOURCES_ADDED)
    if set(before.sources) - set(after.sources):
        changes.append(FactChange.SOURCES_REMOVED)
    if redefined:
        changes.append(FactChange.REDEFINED)
    return changes


def _format_state(fact: PcivInputV1 | PcivConstraintV1, source_ids: list[str], view: PcivContextViewV1) -> FactState:
    addresses = sorted(view.sources_by_id[id_].uri for id_ in source_ids)
    return FactState(fact.value_kind, get_value(fact), fact.provenance, addresses)


def _get_definition(fact: PcivInputV1 | PcivConstraintV1) -> dict[str, Any]:
    """Return the fields of a fact except its value, provenance and sources."""
    common = {"label": fact.label, "domain": fact.domain, "valueKind": fact.value_kind}
    if isinstance(fact, PcivConstraintV1):
        return {**common, "snippet": fact.snippet}
    own = {"required": fact.required, "fieldType": fact.field_type, "options": fact.options}
    return {**common, **own, "evidenceSnippet": fact.evidence_snippet}


def _diff_definitions(old: PcivInputV1 | PcivConstraintV1, new: PcivInputV1 | PcivConstraintV1) -> list[FieldDiff]:
    """Return the fields that differ. Evidence belongs to a value, so it is ignored where the value changed."""
    before, after = _get_definition(old), _get_definition(new)
    is_other_value = get_value(old) is not None and not get_typed_value(old).equals(get_typed_value(new))
    return [
        FieldDiff(name, before[name], after[name])
        for name in before
        if before[name] != after[name] and not (is_other_value and name in EVIDENCE)
    ]


def _get_content(source: PcivSourceV1) -> tuple[Any, ...]:
    return (
        source.title,
        source.file_id,
        source.mime_type,
        source.size_bytes,
        source.parse_status,
        source.excerpt,
        source.raw_meta,
    )


def _group_by(rows: Any, key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _pair_differing(olds: Sequence[tuple[T, str]], news: Sequence[tuple[T, str]]) -> list[tuple[T | None, T | None]]:
    """Pair the rows of both runs that have one name, without equal rows; each row is given with its content."""
    both = Counter(content for _, content in olds) & Counter(content for _, content in news)
    first, second = _drop_equal(olds, both), _drop_equal(news, both)
    pairs: list[tuple[T | None, T | None]] = list(zip(first, second, strict=False))
    paired = len(pairs)
    return [*pairs, *((old, None) for old in first[paired:]), *((None, new) for new in second[paired:])]


def _drop_equal(rows: Sequence[tuple[T, str]], both: Counter[str]) -> list[T]:
    """Return the rows without those that both runs have; a repeated row is removed once for each match."""
    left = Counter(both)
    differing = []
    for row, content in rows:
        if left[content]:
            left[content] -= 1
        else:
            differing.append(row)
    return differing


OPERATION = declare(
    diff,
    name=NAME,
    summary="Compare two runs.",
    permission=Permission.CONTEXT_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_run_project(tx, request.from_, "from"),
    tool=Tool("context_run", Group.CONTEXT, "diff"),
    http=Route("GET", "/projects/{project}/context/diff"),
)
