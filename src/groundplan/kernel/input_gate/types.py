"""Input types: the kinds of annotations, and the values that a field of each type accepts.

`describe_type` is the one walk over annotations: the parser, the JSON Schemas, the options of commands and the
reference read it. From it, field types are compiled once, so that an error can say how to correct a request:

    FieldType           Any, bool, None, and types that only msgspec knows
    ├── Text            str, with limits in characters and in bytes, and names
    ├── Number          int and float
    ├── Choice          Literal and enumerations
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
import threading
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum, auto
from functools import cache, cached_property
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.errors import Invalid, Steps
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
    quote_text,
)

T = TypeVar("T")

_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}
_building = threading.Lock()


class TypeKind(Enum):
    """The kinds of annotations that input types distinguish."""

    ANY = auto()
    NULL = auto()
    BOOLEAN = auto()
    INTEGER = auto()
    NUMBER = auto()
    STRING = auto()
    CHOICE = auto()  # a Literal or an Enum
    ARRAY = auto()
    MAP = auto()  # a dict with arbitrary keys
    STRUCT = auto()
    UNION = auto()
    OTHER = auto()  # dates and similar types, which are strings on the wire


class TypeDescription(msgspec.Struct, frozen=True):
    """An annotation without `Annotated` and `NewType`."""

    kind: TypeKind
    type: Any
    extras: tuple[Any, ...] = ()  # its metadata, outermost last
    options: tuple[TypeDescription, ...] = ()  # of a union, without UNSET
    item: TypeDescription | None = None  # the items of an array, the values of a map
    choices: tuple[Any, ...] = ()

    @property
    def options_without_null(self) -> tuple[TypeDescription, ...]:
        """The options of a union except null; for any other type, the type itself."""
        if self.kind is not TypeKind.UNION:
            return (self,)
        return tuple(option for option in self.options if option.kind is not TypeKind.NULL)


_PLAIN = {
    Any: TypeKind.ANY,
    types.NoneType: TypeKind.NULL,
    bool: TypeKind.BOOLEAN,
    int: TypeKind.INTEGER,
    float: TypeKind.NUMBER,
    str: TypeKind.STRING,
}


def describe_type(hint: Any) -> TypeDescription:
    """Return the description of an annotation. The fields of a Struct are not part of it."""
    hint, extras = _strip_annotated(hint)
    if isinstance(hint, type) and (kind := _PLAIN.get(hint)):  # other annotations need not be hashable
        return TypeDescription(kind, hint, extras)
    origin, args = get_origin(hint) or hint, get_args(hint)
    if origin is Union or origin is types.UnionType:
        options = tuple(describe_type(arg) for arg in args if arg is not UnsetType)
        return TypeDescription(TypeKind.UNION, hint, extras, options)
    if origin is Literal:
        return TypeDescription(TypeKind.CHOICE, hint, extras, choices=args)
    if origin is list:
        return TypeDescription(TypeKind.ARRAY, hint, extras, item=describe_type(args[0] if args else Any))
    if origin is dict:
        return TypeDescription(TypeKind.MAP, hint, extras, item=describe_type(args[1] if args else Any))
    if args:
        raise TypeError(f"{hint} is not supported as an input type; use list or dict")
    if not isinstance(origin, type):
        return TypeDescription(TypeKind.ANY, hint, extras)
    if issubclass(origin, Enum):
        return TypeDescription(TypeKind.CHOICE, hint, extras, choices=tuple(member.value for member in origin))
    return TypeDescription(TypeKind.STRUCT if issubclass(origin, Struct) else TypeKind.OTHER, hint, extras)


def _strip_annotated(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    extras: tuple[Any, ...] = ()
    while True:
        if get_origin(hint) is Annotated:
            hint, extras = hint.__origin__, (*hint.__metadata__, *extras)
        elif hasattr(hint, "__supertype__"):  # a NewType
            hint = hint.__supertype__
        else:
            return hint, extras


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
        """Return the value in the form that msgspec accepts, or raise an error that says what is allowed."""
        if isinstance(value, str) and not self.accepts_text(value):
            value = self._decode_string(value, path)
        if get_json_kind(value) not in self.kinds:
            raise self.build_error(value, path)
        return self.coerce_kind(value, path)

    def coerce_kind(self, value: Any, _path: ArgumentPath) -> Any:
        """Return a value of an allowed kind in the form that msgspec accepts."""
        return value

    def normalize(self, value: Any, _path: ArgumentPath) -> Any:
        """Return the parsed value with all markers applied."""
        return value

    def list_inner_types(self) -> Iterable[FieldType]:
        """Return the types that this type contains."""
        return ()

    def accepts_text(self, _text: str) -> bool:
        """Return True if a string can be a value of this type and is not decoded as JSON."""
        return "string" in self.kinds

    @property
    def takes_empty_text(self) -> bool:
        """True if the empty text can be a value of this type."""
        return "string" in self.kinds

    def build_error(self, value: Any, path: ArgumentPath, *, wanted: str | None = None) -> Invalid:
        """Return the error for a value that is not allowed."""
        return invalid_argument(path, f"must be {wanted or self.expected}, not {describe_value(value)}")

    @cached_property
    def has_markers(self) -> bool:
        """True if this type, or a type that it contains, has a marker."""
        return any(field_type.markers for field_type in _walk_types(self))

    def _decode_string(self, text: str, path: ArgumentPath) -> Any:
        """Return the number, boolean, array, object or null that a string encodes as JSON; else the string itself."""
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

    @property
    def takes_empty_text(self) -> bool:
        return not self.chars_min

    def coerce_kind(self, value: Any, path: ArgumentPath) -> Any:
        if self.chars_max is not None and len(value) > self.chars_max:
            raise too_many_characters(path, self.chars_max, len(value))
        if self.chars_min is not None and len(value) < self.chars_min:
            sentence = f"must have at least {self.chars_min} characters, not {len(value)}" if value else "is empty"
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


class Aliases(NamedTuple):
    """A marker for an enumeration: other words, and the values that they stand for."""

    words: Mapping[str, str]


class Choice(FieldType):
    """One of a few values."""

    def __init__(self, values: Collection[Any], aliases: Mapping[str, str] | None = None) -> None:
        kinds = {kind for value in values if (kind := get_json_kind(value))}
        super().__init__(*kinds, expected=join_alternatives([format_scalar(value) for value in values]))
        self.values = tuple(values)
        self.aliases = aliases or {}

    def accepts_text(self, text: str) -> bool:
        return bool(self._find_choices(text))

    @property
    def takes_empty_text(self) -> bool:
        return self.accepts_text("")

    def coerce_kind(self, value: Any, path: ArgumentPath) -> Any:
        choices = self._find_choices(value)
        if not choices:
            raise self.build_error(value, path)
        return choices[0]

    def _find_choices(self, value: Any) -> list[Any]:
        """Return the choices that a value matches: 1 for 1.0, and `high` for `HIGH` if only its case differs."""
        value = self.aliases.get(value, value) if isinstance(value, str) else value
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
    """Return a constraint by name. The outermost annotation decides, as in msgspec."""
    return next((bound for meta in reversed(metas) if (bound := getattr(meta, name)) is not None), None)


def _walk_types(start: FieldType) -> Iterator[FieldType]:
    visited: set[int] = set()
    waiting = [start]
    while waiting:
        field_type = waiting.pop()
        if id(field_type) not in visited:
            visited.add(id(field_type))
            waiting.extend(field_type.list_inner_types())
            yield field_type


class Array(FieldType):
    """A list."""

    def __init__(self, item: FieldType, metas: Sequence[Meta]) -> None:
        super().__init__("array", expected="an array")
        self.item = item
        self.items_min = get_constraint(metas, "min_length")
        self.items_max = get_constraint(metas, "max_length")

    def list_inner_types(self) -> Iterable[FieldType]:
        return (self.item,)

    def coerce_kind(self, value: Any, path: ArgumentPath) -> Any:
        if self.items_max is not None and len(value) > self.items_max:
            sentence = f"must have at most {self.items_max} items, not {len(value)}"
            raise invalid_argument(path, sentence, limit=self.items_max)
        if self.items_min is not None and len(value) < self.items_min:
            sentence = f"must have at least {self.items_min} items, not {len(value)}"
            raise invalid_argument(path, sentence, limit=self.items_min)
        return [self.item.coerce(item, (*path, index)) for index, item in enumerate(value)]

    def normalize(self, value: Any, path: ArgumentPath) -> Any:
        if not isinstance(value, list) or not self.has_markers:
            return value
        return [self.item.normalize(item, (*path, index)) for index, item in enumerate(value)]


class Map(FieldType):
    """A dict with arbitrary keys."""

    def __init__(self, item: FieldType) -> None:
        super().__init__("object", expected="an object")
        self.item = item

    def list_inner_types(self) -> Iterable[FieldType]:
        return (self.item,)

    def coerce_kind(self, value: Any, path: ArgumentPath) -> Any:
        return {key: self.item.coerce(item, (*path, key)) for key, item in value.items()}

    def normalize(self, value: Any, path: ArgumentPath) -> Any:
        if not isinstance(value, dict) or not self.has_markers:
            return value
        return {key: self.item.normalize(item, (*path, key)) for key, item in value.items()}


class Argument(Struct, frozen=True):
    """One field of a Struct."""

    attribute: str
    field_type: FieldType
    required: bool
    default: Any

    def is_absent(self, value: Any) -> bool:
        """Return whether a value counts as not given: null, or an empty text, where the field does not accept it."""
        if value == "":
            return self.default is None and not self.field_type.takes_empty_text
        return value is None and not self.required and "null" not in self.field_type.kinds

    def says_nothing(self, value: Any) -> bool:
        """Return whether a value is empty, false or the default. Clients that show one form for all fill it in."""
        with suppress(Invalid):
            value = self.field_type.coerce(value, ())
        value = value.strip() if isinstance(value, str) else value
        return value is None or value is False or value in ("", [], {}) or value == self.default


class Record(FieldType):
    """A Struct."""

    def __init__(self, shape: type[Struct]) -> None:
        super().__init__("object", expected="an object")
        config = shape.__struct_config__
        if not config.forbid_unknown_fields:
            raise TypeError(f"{shape.__name__} must be declared with forbid_unknown_fields=True")
        self.shape = shape
        self.tag_field = config.tag_field
        self.tag = config.tag
        # Arguments that belong to other operations, with those operations: a class attribute of the shape.
        self.elsewhere: Mapping[str, Steps] = getattr(shape, "ELSEWHERE", {})
        # Whether rows may also have the names of the attributes, in snake_case: a class attribute of the shape.
        self.accepts_attributes: bool = getattr(shape, "ACCEPTS_ATTRIBUTES", False)
        # Other words for the tag: a class attribute of the shape itself.
        self.aliases: Collection[str] = shape.__dict__.get("ALIASES", ())

    @cached_property  # not in __init__: a Struct may contain itself
    def arguments(self) -> Mapping[str, Argument]:
        """The fields by wire name."""
        fields = msgspec.structs.fields(self.shape)
        return {f.encode_name: Argument(f.name, compile_field_type(f.type), f.required, f.default) for f in fields}

    @cached_property
    def marked_arguments(self) -> Sequence[tuple[str, Argument]]:
        return [(wire, argument) for wire, argument in self.arguments.items() if argument.field_type.has_markers]

    def list_inner_types(self) -> Iterable[FieldType]:
        return (argument.field_type for argument in self.arguments.values())

    def coerce_kind(self, value: Any, path: ArgumentPath) -> Any:
        if self.accepts_attributes:
            value = self._rename_attributes(value, path)
        for key in value:
            if key not in self.arguments and key != self.tag_field:
                raise self._unknown(key, path)
        for wire, argument in self.arguments.items():
            if argument.required and wire not in value:
                raise missing_argument(wire, path, expected=argument.field_type.expected)
        coerced = {}
        for key, item in value.items():
            known = self.arguments.get(key)
            if known is None:
                coerced[key] = item  # the tag
            elif not known.is_absent(item):
                coerced[key] = known.field_type.coerce(item, (*path, key))
        return coerced

    def _rename_attributes(self, value: Mapping[str, Any], path: ArgumentPath) -> Mapping[str, Any]:
        """Return a row with its wire names."""
        renamed = {argument.attribute: wire for wire, argument in self.arguments.items() if argument.attribute != wire}
        for attribute in renamed.keys() & value.keys():
            if renamed[attribute] in value:
                wire = renamed[attribute]
                raise invalid_argument((*path, attribute), f"means the same as {wire}; send only one of them")
        return {renamed.get(key, key): item for key, item in value.items()}

    def normalize(self, value: Any, path: ArgumentPath) -> Any:
        if isinstance(value, self.shape):
            for wire, argument in self.marked_arguments:
                before = getattr(value, argument.attribute)
                if before is None or before is UNSET:
                    continue
                after = argument.field_type.normalize(before, (*path, wire))
                if after is not before:
                    msgspec.structs.force_setattr(value, argument.attribute, after)  # the Struct may be frozen
        return value

    def _unknown(self, key: Any, path: ArgumentPath) -> Invalid:
        location = f" in {format_argument_path(path)}" if path else ""
        named, field = f"{quote_text(str(key))}{location}", format_argument_path((*path, str(key)))
        if steps := self.elsewhere.get(key):
            return Invalid(f"unknown argument {named}", code="unknown_argument", next_steps=steps, field=field)
        names = list(self.arguments)
        near = find_nearest(str(key), names)
        hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(names) or 'none'}"
        details: dict[str, Any] = {"near": near} if near else {}
        return Invalid(f"unknown argument {named}; {hint}", code="unknown_argument", field=field, **details)


class TaggedUnion(FieldType):
    """Structs that are distinguished by the value of one field."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = {record.tag: record for record in records}
        self.tag_field = str(records[0].tag_field)
        self.tags = Choice(self.records, {alias: str(record.tag) for record in records for alias in record.aliases})
        super().__init__("object", expected=f"an object with {self.tag_field!r} {self.tags.expected}")

    def list_inner_types(self) -> Iterable[FieldType]:
        return self.records.values()

    def coerce_kind(self, value: Any, path: ArgumentPath) -> Any:
        if self.tag_field not in value:
            raise missing_argument(self.tag_field, path, expected=self.tags.expected)
        tag = self.tags.coerce(value[self.tag_field], (*path, self.tag_field))
        chosen = self.records[tag]
        given = {key: item for key, item in value.items() if not self._is_ignored(key, item, chosen)}
        return {**chosen.coerce_kind(given, path), self.tag_field: tag}

    def _is_ignored(self, key: Any, item: Any, chosen: Record) -> bool:
        """Return whether only other Structs have the field, and it says nothing."""
        if key in chosen.arguments:
            return False
        owners = [record.arguments[key] for record in self.records.values() if key in record.arguments]
        return any(owner.says_nothing(item) for owner in owners)

    def normalize(self, value: Any, path: ArgumentPath) -> Any:
        for record in self.records.values():
            value = record.normalize(value, path)
        return value


class AnyOf(FieldType):
    """A union."""

    def __init__(self, options: Sequence[FieldType]) -> None:
        kinds = {kind for option in options for kind in option.kinds}
        super().__init__(*kinds, expected=join_alternatives([option.expected for option in options]))
        self.options = options

    def list_inner_types(self) -> Iterable[FieldType]:
        return self.options

    def accepts_text(self, text: str) -> bool:
        return any(option.accepts_text(text) for option in self.options)

    @property
    def takes_empty_text(self) -> bool:
        return any(option.takes_empty_text for option in self.options)

    def coerce_kind(self, value: Any, path: ArgumentPath) -> Any:
        *others, last = (option for option in self.options if get_json_kind(value) in option.kinds)
        if isinstance(value, str) and not self.accepts_text(value):
            raise last.build_error(value, path, wanted=self.expected)
        for option in others:
            try:
                return option.coerce(value, path)
            except Invalid:
                continue
        return last.coerce(value, path)

    def normalize(self, value: Any, path: ArgumentPath) -> Any:
        for option in self.options:
            value = option.normalize(value, path)
        return value


def get_decoder(shape: type[T]) -> msgspec.json.Decoder[T]:
    """Return the decoder of a type. After this call, `msgspec.convert` with the type is also safe in any thread.

    msgspec collects what it has to know about a Struct when the Struct is decoded for the first time. It crashes the
    process if two threads do that for the same Struct at once (msgspec 0.22). So everything that decodes into a type
    that holds a Struct gets its decoder here.
    """
    decoder = _decoders.get(shape)
    if decoder is None:
        with _building:
            decoder = _decoders.setdefault(shape, msgspec.json.Decoder(shape))
    return decoder


@cache
def get_record(shape: type[Struct]) -> Record:
    """Return the field type of a Struct."""
    get_decoder(shape)  # so that several threads may convert arguments to the Struct
    return Record(shape)


def compile_field_type(hint: Any) -> FieldType:
    """Return the field type of an annotation."""
    return _compile(describe_type(hint), ())


def _compile(described: TypeDescription, outer: tuple[Any, ...]) -> FieldType:
    """Return the field type. `outer` is the metadata of the enclosing union, which applies to all of its options."""
    extras = (*described.extras, *outer)
    metas = [extra for extra in extras if isinstance(extra, Meta)]
    match described.kind:
        case TypeKind.UNION:
            return _make_union([_compile(option, extras) for option in described.options])
        case TypeKind.CHOICE:
            return Choice(
                described.choices, next((extra.words for extra in extras if isinstance(extra, Aliases)), None)
            )
        case TypeKind.STRUCT:
            return get_record(described.type)
        case TypeKind.STRING:
            return Text(metas, [extra for extra in extras if isinstance(extra, Marker)])
        case TypeKind.INTEGER | TypeKind.NUMBER:
            return Number(metas, integers_only=described.kind is TypeKind.INTEGER)
        case TypeKind.BOOLEAN:
            return FieldType("boolean", expected="true or false")
        case TypeKind.NULL:
            return FieldType("null", expected="null")
        case TypeKind.ARRAY if described.item is not None:
            return Array(_compile(described.item, ()), metas)
        case TypeKind.MAP if described.item is not None:
            return Map(_compile(described.item, ()))
        case TypeKind.OTHER:
            kinds = (kind for kind in JSON_KINDS if kind != "null")
            return FieldType(*kinds, expected=f"a {described.type.__name__}")  # msgspec checks it
    return FieldType(*JSON_KINDS, expected="any value")


def missing_argument(name: str, path: ArgumentPath, *, expected: str, next_steps: Steps = ()) -> Invalid:
    """Return the error for a missing argument."""
    return invalid_argument(
        (*path, name), f"is missing; it must be {expected}", code="missing_argument", next_steps=next_steps
    )


def _make_union(options: list[FieldType]) -> FieldType:
    records = [option for option in options if isinstance(option, Record)]
    if len(records) > 1:
        options = [TaggedUnion(records), *(option for option in options if not isinstance(option, Record))]
    return options[0] if len(options) == 1 else AnyOf(options)
