"""Field types that contain other types, and the compiler from annotations to field types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

import msgspec
from msgspec import UNSET, Meta, Struct

from groundplan.kernel.errors import Invalid, Steps
from groundplan.kernel.input_gate.decoders import get_decoder
from groundplan.kernel.input_gate.field_types import (
    JSON_KINDS,
    Choice,
    FieldType,
    Number,
    Text,
    get_constraint,
    get_json_kind,
)
from groundplan.kernel.input_gate.text_limits import Marker
from groundplan.kernel.input_gate.type_description import TypeDescription, TypeKind, describe_type
from groundplan.kernel.wording import (
    ArgumentPath,
    find_nearest,
    format_argument_path,
    invalid_argument,
    join_alternatives,
    quote_text,
)


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

    def is_absent(self, value: Any) -> bool:
        """Return whether a value means that the field is not given: null, where it has no meaning of its own."""
        return value is None and not self.required and "null" not in self.field_type.kinds


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

    @cached_property  # not in __init__: a Struct may contain itself
    def arguments(self) -> Mapping[str, Argument]:
        """The fields by wire name."""
        fields = msgspec.structs.fields(self.shape)
        return {f.encode_name: Argument(f.name, compile_field_type(f.type), f.required) for f in fields}

    @cached_property
    def marked_arguments(self) -> Sequence[tuple[str, Argument]]:
        return [(wire, argument) for wire, argument in self.arguments.items() if argument.field_type.has_markers]

    def list_inner_types(self) -> Iterable[FieldType]:
        return (argument.field_type for argument in self.arguments.values())

    def coerce_kind(self, value: Any, path: ArgumentPath) -> Any:
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
        named, field = f"{quote_text(str(key))}{_format_location(path)}", format_argument_path((*path, str(key)))
        if steps := self.elsewhere.get(key):
            return Invalid(f"unknown argument {named}", code="unknown_argument", next_steps=steps, field=field)
        names = list(self.arguments)
        near = find_nearest(str(key), names)
        hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(names) or 'none'}"
        details: dict[str, Any] = {"near": near} if near else {}
        return Invalid(f"unknown argument {named}; {hint}", code="unknown_argument", field=field, **details)


class TaggedUnion(FieldType):
    """Structs that the value of one field distinguishes."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = {record.tag: record for record in records}
        self.tag_field = str(records[0].tag_field)
        self.tags = Choice(self.records)
        super().__init__("object", expected=f"an object with {self.tag_field!r} {self.tags.expected}")

    def list_inner_types(self) -> Iterable[FieldType]:
        return self.records.values()

    def coerce_kind(self, value: Any, path: ArgumentPath) -> Any:
        if self.tag_field not in value:
            raise missing_argument(self.tag_field, path, expected=self.tags.expected)
        tag = self.tags.coerce(value[self.tag_field], (*path, self.tag_field))
        chosen = self.records[tag]
        given = {key: item for key, item in value.items() if item is not None or not self._is_foreign(key, chosen)}
        return {**chosen.coerce_kind(given, path), self.tag_field: tag}

    def _is_foreign(self, key: Any, chosen: Record) -> bool:
        """Return whether a field is one of the other Structs only. Clients that show one form send it as null."""
        return key not in chosen.arguments and any(key in record.arguments for record in self.records.values())

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


@cache
def get_record(shape: type[Struct]) -> Record:
    """Return the field type of a Struct."""
    get_decoder(shape)  # so that several threads may convert arguments to the Struct
    return Record(shape)


def compile_field_type(hint: Any) -> FieldType:
    """Return the field type of an annotation."""
    return _compile(describe_type(hint), ())


def _compile(described: TypeDescription, outer: tuple[Any, ...]) -> FieldType:
    """Return the field type; `outer` is the metadata of the union around it, which applies to every option."""
    extras = (*described.extras, *outer)
    metas = [extra for extra in extras if isinstance(extra, Meta)]
    match described.kind:
        case TypeKind.UNION:
            return _make_union([_compile(option, extras) for option in described.options])
        case TypeKind.CHOICE:
            return Choice(described.choices)
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
    return Invalid(
        f"missing argument {name!r}{_format_location(path)}; it must be {expected}",
        code="missing_argument",
        next_steps=next_steps,
        field=format_argument_path((*path, name)),
    )


def _format_location(path: ArgumentPath) -> str:
    return f" in {format_argument_path(path)}" if path else ""


def _make_union(options: list[FieldType]) -> FieldType:
    records = [option for option in options if isinstance(option, Record)]
    if len(records) > 1:
        options = [TaggedUnion(records), *(option for option in options if not isinstance(option, Record))]
    return options[0] if len(options) == 1 else AnyOf(options)
