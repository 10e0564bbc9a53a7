"""Typed values stored in five columns; only the column of the value's kind may be filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec import UNSET

from groundplan.context.invariants import Invariant, PcivRuntimeInvariantError
from groundplan.context.limits import ENUM_BYTES_MAX, VALUE_BYTES_MAX
from groundplan.context.schemas import ConstraintWrite, InputWrite, Provenance, ValueKind
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate import strict_json
from groundplan.kernel.input_gate.text_limits import MaxBytes, apply_marker
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.wording import ArgumentPath, describe_value, format_argument_path, invalid_argument

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
    """A kind and the value held. None means UNSET; the empty text is a value."""

    kind: ValueKind
    content: Any

    @property
    def is_unset(self) -> bool:
        return self.content is None

    def to_columns(self) -> dict[str, Any]:
        """Return the columns of a row that has this value."""
        return {"value_kind": self.kind, **dict.fromkeys(COLUMNS), COLUMN_BY_KIND[self.kind]: self.content}

    def equals(self, other: Value) -> bool:
        """Return whether both values are equal. They are compared as JSON, in which false is not 0."""
        return self.kind is other.kind and encode_json(self.content) == encode_json(other.content)


class ParsedValue(NamedTuple):
    """The value after a request, and whether the request gave it."""

    value: Value
    is_given: bool


class HasValue(Protocol):
    """A row with the five columns of a value."""

    value_kind: ValueKind


def get_value(one: HasValue) -> Any:
    """Return the typed value of a fact, or None if it is UNSET."""
    return getattr(one, COLUMN_BY_KIND[one.value_kind])


def get_typed_value(one: HasValue) -> Value:
    """Return the value of a row with its kind."""
    return Value(one.value_kind, get_value(one))


def normalize_number(stored: float) -> float:
    """Return an int where the number is whole and exact, else the float."""
    return int(stored) if stored.is_integer() and abs(stored) <= EXACT_INTEGER_MAX else stored


def parse_value(
    write: InputWrite | ConstraintWrite, before: Value | None, path: ArgumentPath, *, scope_id: str, run_id: str
) -> ParsedValue:
    """Return the value that a fact has after a request.

    Raises:
        Invalid: the value is not of its kind or too long, or its kind is unknown.
        PcivRuntimeInvariantError: the value is in the column of another kind, or in several columns.
    """
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
