"""Field types: what an input type accepts, compiled once, so that an error can say how to correct a request.

    FieldType           Any, bool, None, and types that only msgspec knows
    ├── Text            str, with limits in characters and in bytes, and names
    ├── Number          int and float
    ├── Choice          Literal and enumerations
    └── in shapes:
        ├── Array           list
        ├── Map             dict with free keys
        ├── Record          Struct
        ├── TaggedUnion     Structs that a tag distinguishes
        └── AnyOf           a union of the others

`coerce` runs on raw values that msgspec did not accept: it decodes JSON that a client sent in a string, and raises an
error that names the problem. `normalize` runs on parsed values with markers: it normalizes names and measures bytes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from msgspec import Meta

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import INTEGER_MAX, decode
from groundplan.kernel.input_gate.text_limits import Marker, apply_marker, too_many_characters
from groundplan.kernel.wording import (
    ArgumentPath,
    describe_value,
    find_nearest,
    format_argument_path,
    format_scalar,
    invalid_argument,
    join_alternatives,
)

JsonKind = Literal["null", "boolean", "number", "string", "array", "object"]

JSON_KINDS: tuple[JsonKind, ...] = ("null", "boolean", "number", "string", "array", "object")

# The order matters for subclasses: bool is a subclass of int, but not a JSON number.
_KINDS_BY_TYPE: Mapping[type, JsonKind] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    tuple: "array",
    dict: "object",
}


def get_json_kind(value: Any) -> JsonKind | None:
    """Return the JSON kind of a raw value; None if it is not JSON."""
    kind = _KINDS_BY_TYPE.get(type(value))
    return kind or next((kind for known, kind in _KINDS_BY_TYPE.items() if isinstance(value, known)), None)


class FieldType:
    """A type of a field. The base class checks only the JSON kind of a value."""

    def __init__(self, *kinds: JsonKind, expected: str) -> None:
        self.kinds = frozenset(kinds)
        self.expected = expected  # the text after "must be"
        self.markers: tuple[Marker, ...] = ()

    def coerce(self, value: Any, path: ArgumentPath) -> Any:
        """Return the value as msgspec accepts it, or raise an error that says what is allowed."""
        if isinstance(value, str) and not self.accepts_text(value):
            value = self._decode_string(value, path)
        if get_json_kind(value) not in self.kinds:
            raise self.build_error(value, path)
        return self.coerce_kind(value, path)

    def coerce_kind(self, value: Any, _path: ArgumentPath) -> Any:
        """Coerce a value whose kind is allowed."""
        return value

    def normalize(self, value: Any, _path: ArgumentPath) -> Any:
        """Return the parsed value with all markers applied."""
        return value

    def list_inner_types(self) -> Iterable[FieldType]:
        """Return the types that this type contains."""
        return ()

    def accepts_text(self, _text: str) -> bool:
        """Return whether a string is a value of this type, not JSON to decode."""
        return "string" in self.kinds

    def build_error(self, value: Any, path: ArgumentPath, *, wanted: str | None = None) -> Invalid:
        """Return the error for a value that is not allowed."""
        return invalid_argument(path, f"must be {wanted or self.expected}, not {describe_value(value)}")

    @cached_property
    def has_markers(self) -> bool:
        """Whether this type or a type that it contains has a marker."""
        return any(field_type.markers for field_type in _walk_types(self))

    def _decode_string(self, text: str, path: ArgumentPath) -> Any:
        """Return the number, boolean, array, object or null that a string encodes as JSON; else the string."""
        try:
            value = decode(text.encode("utf-8", "surrogatepass"), levels_above=len(path))
        except Invalid as error:
            if error.code == "invalid_json" or self.kinds <= {"string", "null"}:
                return text
            details = {**error.details, "field": format_argument_path(path)}
            raise Invalid(f"{format_argument_path(path)}: {error.message}", code=error.code, **details) from None
        return text if isinstance(value, str) or get_json_kind(value) not in self.kinds else value


class Text(FieldType):
    """A string."""

    def __init__(self, metas: Sequence[Meta] = (), markers: Iterable[Marker] = ()) -> None:
        super().__init__("string", expected="a string")
        self.chars_min = get_constraint(metas, "min_length")
        self.chars_max = get_constraint(metas, "max_length")
        self.markers = tuple(markers)

    def coerce_kind(self, value: Any, path: ArgumentPath) -> Any:
        if self.chars_max is not None and len(value) > self.chars_max:
            raise too_many_characters(path, self.chars_max, len(value))
        if self.chars_min is not None and len(value) < self.chars_min:
            sentence = f"must have at least {self.chars_min} characters, not {len(value)}"
            raise invalid_argument(path, sentence, limit=self.chars_min)
        return value

    def normalize(self, value: Any, path: ArgumentPath) -> Any:
        if isinstance(value, str):
            for marker in self.markers:
                value = apply_marker(marker, value, path)
        return value


class Number(FieldType):
    """An integer, or any number."""

    def __init__(self, metas: Sequence[Meta] = (), *, integers_only: bool) -> None:
        bounds = ((words, test, get_constraint(metas, name)) for name, (words, test) in _BOUNDS.items())
        self.bounds = [(words, test, bound) for words, test, bound in bounds if bound is not None]
        limits = " and ".join(f"{words} {bound}" for words, _, bound in self.bounds)
        kind = "a whole number" if integers_only else "a number"
        super().__init__("number", expected=f"{kind}, {limits}" if limits else kind)
        self.whole = integers_only

    def coerce_kind(self, value: Any, path: ArgumentPath) -> Any:
        if self.whole and isinstance(value, float):
            if not value.is_integer() or abs(value) > INTEGER_MAX:
                raise self.build_error(value, path)
            value = int(value)
        for _, test, bound in self.bounds:
            if not test(value, bound):
                raise invalid_argument(path, f"must be {self.expected}, not {describe_value(value)}", limit=bound)
        return value


class Choice(FieldType):
    """One of a few values."""

    def __init__(self, values: Collection[Any]) -> None:
        kinds = {kind for value in values if (kind := get_json_kind(value))}
        super().__init__(*kinds, expected=join_alternatives([format_scalar(value) for value in values]))
        self.values = tuple(values)

    def accepts_text(self, text: str) -> bool:
        return bool(self._find_choices(text))

    def coerce_kind(self, value: Any, path: ArgumentPath) -> Any:
        choices = self._find_choices(value)
        if not choices:
            raise self.build_error(value, path)
        return choices[0]

    def _find_choices(self, value: Any) -> list[Any]:
        """Return the choice that a value means, as declared: 1 for 1.0, and `high` for `HIGH` if no other is alike."""
        equal = [allowed for allowed in self.values if allowed == value]
        alike = [allowed for allowed in self.values if _has_same_letters(allowed, value)]
        return equal or (alike if len(alike) == 1 else [])

    def build_error(self, value: Any, path: ArgumentPath, *, wanted: str | None = None) -> Invalid:
        words = [allowed for allowed in self.values if isinstance(allowed, str)]
        near = find_nearest(value, words) if isinstance(value, str) else None
        sentence = f"must be {wanted or self.expected}, not {describe_value(value)}"
        if near:
            return invalid_argument(path, f"{sentence}; did you mean {near!r}?", allowed=list(self.values), near=near)
        return invalid_argument(path, sentence, allowed=list(self.values))


def _has_same_letters(allowed: Any, value: Any) -> bool:
    return isinstance(allowed, str) and isinstance(value, str) and allowed.casefold() == value.casefold()


_BOUNDS: Mapping[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "ge": ("at least", operator.ge),
    "gt": ("greater than", operator.gt),
    "le": ("at most", operator.le),
    "lt": ("less than", operator.lt),
    "multiple_of": ("a multiple of", lambda value, bound: value % bound == 0),
}


def get_constraint(metas: Sequence[Meta], name: str) -> Any:
    """Return a constraint by name; the outermost annotation wins, as in msgspec."""
    return next((bound for meta in reversed(metas) if (bound := getattr(meta, name)) is not None), None)


def _walk_types(start: FieldType) -> Iterator[FieldType]:
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        field_type = waiting.pop()
        if id(field_type) not in seen:
            seen.add(id(field_type))
            waiting.extend(field_type.list_inner_types())
            yield field_type
