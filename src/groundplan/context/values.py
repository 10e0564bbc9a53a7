"""Values of facts: five columns, of which one holds the value; their pointers; and their JSON in the database."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import UNSET, Struct, structs
from msgspec.json import Decoder

from groundplan.context.refusals import Invariant, PcivRuntimeInvariantError
from groundplan.context.schemas import (
    ENUM_BYTES_MAX,
    VALUE_BYTES_MAX,
    ConstraintWrite,
    ContextView,
    InputWrite,
    PcivArtifactV1,
    PcivConstraintV1,
    PcivInputV1,
    PcivRunV1,
    PcivSourceV1,
    Provenance,
    SourceParseStatus,
    Suggestion,
    ValueKind,
)
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate import strict_json
from groundplan.kernel.input_gate.text_limits import MaxBytes, apply_marker
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, describe_value, format_argument_path, invalid_argument, quote_text

EXACT_INTEGER_MAX = 2**53  # every integer up to here is exact as a double

COLUMN_BY_KIND: Mapping[ValueKind, str] = {kind: f"value_{kind.value}" for kind in ValueKind}
WIRE_NAME_BY_KIND: Mapping[ValueKind, str] = {kind: f"value{kind.value.capitalize()}" for kind in ValueKind}
COLUMNS = tuple(COLUMN_BY_KIND.values())

_EXPECTED: Mapping[ValueKind, str] = {
    ValueKind.STRING: "a string",
    ValueKind.NUMBER: "a number",
    ValueKind.BOOLEAN: "true or false",
    ValueKind.ENUM: "a string, one of the options",
}


def encode_json(value: Any) -> str:
    """Return a value as the JSON text that is stored."""
    return msgspec.json.encode(value).decode()


class Value(NamedTuple):
    """A value and its kind. None means UNSET; the empty text is a value."""

    kind: ValueKind
    content: Any

    @property
    def is_unset(self) -> bool:
        return self.content is None

    def to_columns(self) -> dict[str, Any]:
        """Return the columns of a row that has this value."""
        return {"value_kind": self.kind, **dict.fromkeys(COLUMNS), COLUMN_BY_KIND[self.kind]: self.content}

    def equals(self, other: Value) -> bool:
        """Return True if both values are equal. They are compared as JSON, in which false and 0 differ."""
        return self.kind is other.kind and encode_json(self.content) == encode_json(other.content)


class ParsedValue(NamedTuple):
    """The value after a request, and whether the request gave it."""

    value: Value
    is_given: bool


class HasValue(Protocol):
    """A row with the five value columns."""

    value_kind: ValueKind


def get_value(row: HasValue) -> Any:
    """Return the typed value of a fact, or None if it is UNSET."""
    return getattr(row, COLUMN_BY_KIND[row.value_kind])


def get_typed_value(row: HasValue) -> Value:
    """Return the value of a row with its kind."""
    return Value(row.value_kind, get_value(row))


def is_unset(row: HasValue) -> bool:
    """Return whether an input or a constraint has no value: all its value columns are null. The empty text is one."""
    return all(getattr(row, column) in (None, UNSET) for column in COLUMNS)


def normalize_number(stored: float) -> float:
    """Return an int if the number is whole and exactly representable, else the float."""
    return int(stored) if stored.is_integer() and abs(stored) <= EXACT_INTEGER_MAX else stored


def parse_value(
    write: InputWrite | ConstraintWrite, before: Value | None, path: ArgumentPath, *, scope_id: str, run_id: str
) -> ParsedValue:
    """Return the value that a fact has after a request."""
    given = {kind: held for kind, column in COLUMN_BY_KIND.items() if (held := getattr(write, column)) is not UNSET}
    filled = [kind for kind, held in given.items() if held is not None]
    kind = _resolve_kind(write, before, filled, path)
    if write.value is not UNSET:
        if filled:
            name = WIRE_NAME_BY_KIND[filled[0]]
            raise invalid_argument((*path, name), f"means the same as value; send only one of value and {name}")
        return ParsedValue(Value(kind, _coerce(kind, write.value, (*path, "value"))), True)
    if before is not None and not before.is_unset and not given and write.provenance is Provenance.UNKNOWN:
        return ParsedValue(Value(kind, None), True)  # of an unknown value there is nothing to keep
    filled_kinds = [before.kind] if before is not None and not before.is_unset and not given else filled
    if any(each is not kind for each in filled_kinds):
        names = ", ".join(WIRE_NAME_BY_KIND[each] for each in filled_kinds)
        raise PcivRuntimeInvariantError(
            Invariant.VALUE_COLUMNS,
            f"a value of kind {kind} belongs in {WIRE_NAME_BY_KIND[kind]} only, not in {names}",
            scope_id=scope_id,
            run_id=run_id,
            field=format_argument_path(path),
        )
    if given:
        return ParsedValue(Value(kind, _coerce(kind, given.get(kind), (*path, WIRE_NAME_BY_KIND[kind]))), True)
    return ParsedValue(Value(kind, before.content if before else None), False)


def _resolve_kind(
    write: InputWrite | ConstraintWrite, before: Value | None, filled: list[ValueKind], path: ArgumentPath
) -> ValueKind:
    if write.value_kind is not UNSET:
        return write.value_kind
    if before is not None:
        return before.kind
    if filled:
        return filled[0]
    match write.value:
        case bool():
            return ValueKind.BOOLEAN
        case int() | float():
            return ValueKind.NUMBER
        case str():
            return ValueKind.STRING
        case list() | tuple() | dict():
            return ValueKind.JSON
    raise missing_argument("valueKind", path, expected="string, number, boolean, enum or json")


def _coerce(kind: ValueKind, value: Any, path: ArgumentPath) -> Any:
    """Return the value converted to its kind, or raise Invalid."""
    if value is None:
        return None
    if kind is ValueKind.JSON:
        encoded = encode_json(value)
        apply_marker(MaxBytes(VALUE_BYTES_MAX), encoded, path)
        return value
    if isinstance(value, str) and kind in (ValueKind.NUMBER, ValueKind.BOOLEAN):
        value = _decode_if_json(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = {ValueKind.NUMBER: is_number, ValueKind.BOOLEAN: isinstance(value, bool)}.get(kind, isinstance(value, str))
    if not fits:
        raise invalid_argument(path, f"must be {_EXPECTED[kind]}, not {describe_value(value)}")
    if is_number:
        return normalize_number(float(value))
    if isinstance(value, str):
        apply_marker(MaxBytes(ENUM_BYTES_MAX if kind is ValueKind.ENUM else VALUE_BYTES_MAX), value, path)
    return value


def _decode_if_json(text: str) -> Any:
    """Return the number or boolean that a client sent as JSON text, else the text itself."""
    try:
        return strict_json.decode(text.encode())
    except Invalid:
        return text


R = TypeVar("R", bound=Struct)

_decode = Decoder().decode

# By column: how to load and how to store a value.
CONVERSIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    **dict.fromkeys(("value_number", "current_number"), (normalize_number, float)),
    **dict.fromkeys(
        ("options", "payload", "raw_meta", "source_ids", "value_json", "current_json"), (_decode, encode_json)
    ),
}


def load_rows(tx: Transaction, query: Query, shape: type[R], /, **parameters: Any) -> list[R]:
    """Return rows with their JSON columns decoded."""
    rows = tx.all(query, shape, **parameters)
    for column, load in _list_decoders(shape):
        for row, stored in zip(rows, map(attrgetter(column), rows), strict=True):
            if stored is not None:
                setattr(row, column, load(stored))
    return rows


def load_row(tx: Transaction, query: Query, shape: type[R], /, **parameters: Any) -> R | None:
    """Return the first row, or None."""
    return next(iter(load_rows(tx, query, shape, **parameters)), None)


def encode_columns(row: Struct) -> dict[str, Any]:
    """Return the columns of a row as they are stored."""
    columns = structs.asdict(row)
    for column in columns.keys() & CONVERSIONS.keys():
        if columns[column] is not None:
            _, store = CONVERSIONS[column]
            columns[column] = store(columns[column])
    return columns


@cache
def _list_decoders(shape: type[Struct]) -> list[tuple[str, Callable[[Any], Any]]]:
    return [(column, CONVERSIONS[column][0]) for column in shape.__struct_fields__ if column in CONVERSIONS]


_STRAY_TILDE = re.compile(r"~(?![01])")


def validate_pointer(text: str, path: ArgumentPath) -> str:
    """Return the text if it is a JSON Pointer below the root."""
    if not text.startswith("/"):
        wrong = f"must be a JSON Pointer that begins with a slash, such as /site/location, not {quote_text(text)}"
        raise invalid_argument(path, wrong, code="invalid_pointer")
    if _STRAY_TILDE.search(text):
        wrong = f"{quote_text(text)} has a ~ that is neither ~0 (for ~) nor ~1 (for /)"
        raise invalid_argument(path, wrong, code="invalid_pointer")
    return text


def split_pointer(pointer: str) -> list[str]:
    """Return the unescaped steps of a pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


class PointerFilter:
    """Pointers that select themselves and all below. `/a/` selects everything below `/a`; `/` selects everything."""

    def __init__(self, pointers: Collection[str], path: ArgumentPath) -> None:
        """Raise Invalid if one of the texts is not a pointer."""
        self._pointers = frozenset(validate_pointer(text, (*path, index)) for index, text in enumerate(pointers))

    def __contains__(self, pointer: str) -> bool:
        # Walks the steps of the pointer, which are few, and not the filter's pointers, which may be many.
        if pointer in self._pointers:
            return True
        ends = [index for index, letter in enumerate(pointer) if letter == "/"]
        return any(pointer[:end] in self._pointers or pointer[: end + 1] in self._pointers for end in ends)


DEFAULT_DOMAIN = "general"  # of an input or a constraint written without a domain

# The fields that a reader can do without: ids of rows that have another name, the name that a row is listed under, and
# who wrote it when.
BOOKKEEPING: dict[type[Struct], tuple[str, ...]] = {
    PcivRunV1: ("scope_id", "user_id", "allow_partial", "created_at", "updated_at"),
    PcivSourceV1: ("id", "run_id", "created_at", "origin_id"),
    PcivInputV1: ("id", "run_id", "pointer", "field_type", "updated_by", "updated_at"),
    PcivConstraintV1: ("id", "run_id", "updated_by", "created_at", "updated_at"),
    PcivArtifactV1: ("run_id", "type", "created_at", "origin_id"),
    Suggestion: ("constraint_id", "created_at", "updated_by"),
}
# The content of a field that is the same as none.
DEFAULTS: dict[str, Any] = {"domain": DEFAULT_DOMAIN, "required": False, "parse_status": SourceParseStatus.PENDING}
VALUES = frozenset({*COLUMNS, "before"})  # in these an empty text, array or object is a value
EMPTY: tuple[Any, ...] = (None, [], {})


def strip_row(row: Any) -> None:
    """Remove the null, empty and bookkeeping fields of a row; a value column only if it is null."""
    bookkeeping = BOOKKEEPING.get(type(row), ())
    for name in row.__struct_fields__ if isinstance(row, Struct) else ():
        content = getattr(row, name)
        is_empty = content is None if name in VALUES else content in EMPTY or content == DEFAULTS.get(name, UNSET)
        if name in bookkeeping or is_empty:
            setattr(row, name, UNSET)


def strip_view(view: ContextView) -> None:
    """Remove the null, empty and bookkeeping fields of a view and of the rows in it."""
    strip_row(view.run)
    artifacts = (artifact for several in (view.artifacts_by_type or {}).values() for artifact in several)
    for rows in (view.sources_by_id.values(), view.inputs_by_pointer.values(), view.constraints, artifacts):
        for row in rows:
            strip_row(row)
    for suggestion in view.suggestions or ():
        strip_row(suggestion)
    strip_row(view)
