"""Plans of what contains other things, and the way from an annotation to its plan."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, UnsetType

from groundplan.kernel.errors import Invalid, Steps
from groundplan.kernel.input_gate.plan import KINDS, Choice, Number, Plan, Text, kind_of, last_of
from groundplan.kernel.input_gate.text_limits import Marker
from groundplan.kernel.wording import Path, alternatives, nearest, quoted, refusal, rendered


class Array(Plan):
    """A list."""

    def __init__(self, item: Plan, metas: Sequence[Meta]) -> None:
        super().__init__("array", wanted="an array")
        self.item = item
        self.items_min = last_of(metas, "min_length")
        self.items_max = last_of(metas, "max_length")

    def parts(self) -> Iterable[Plan]:
        return (self.item,)

    def settle_kind(self, value: Any, path: Path) -> Any:
        if self.items_max is not None and len(value) > self.items_max:
            sentence = f"must have at most {self.items_max} items, not {len(value)}"
            raise refusal(path, sentence, limit=self.items_max)
        if self.items_min is not None and len(value) < self.items_min:
            sentence = f"must have at least {self.items_min} items, not {len(value)}"
            raise refusal(path, sentence, limit=self.items_min)
        return [self.item.settle(item, (*path, index)) for index, item in enumerate(value)]

    def polish(self, value: Any, path: Path) -> Any:
        if not isinstance(value, list) or not self.marked:
            return value
        return [self.item.polish(item, (*path, index)) for index, item in enumerate(value)]


class Map(Plan):
    """A dict whose keys are the caller's."""

    def __init__(self, item: Plan) -> None:
        super().__init__("object", wanted="an object")
        self.item = item

    def parts(self) -> Iterable[Plan]:
        return (self.item,)

    def settle_kind(self, value: Any, path: Path) -> Any:
        return {key: self.item.settle(item, (*path, key)) for key, item in value.items()}

    def polish(self, value: Any, path: Path) -> Any:
        if not isinstance(value, dict) or not self.marked:
            return value
        return {key: self.item.polish(item, (*path, key)) for key, item in value.items()}


@dataclass(frozen=True, slots=True)
class Argument:
    """One field of a Struct."""

    attribute: str
    plan: Plan
    required: bool


class Record(Plan):
    """A Struct."""

    def __init__(self, shape: type[Struct]) -> None:
        super().__init__("object", wanted="an object")
        config = shape.__struct_config__
        if not config.forbid_unknown_fields:
            raise TypeError(f"{shape.__name__} must be declared with forbid_unknown_fields=True")
        self.shape = shape
        self.tag_field = config.tag_field
        self.tag = config.tag
        # What callers look for here in vain, and which operations take it: a class attribute of the shape.
        self.elsewhere: Mapping[str, Steps] = getattr(shape, "ELSEWHERE", {})

    @cached_property  # not in __init__: a Struct may contain itself
    def arguments(self) -> Mapping[str, Argument]:
        """The fields by their names on the wire."""
        fields = msgspec.structs.fields(self.shape)
        return {f.encode_name: Argument(f.name, compiled(f.type), f.required) for f in fields}

    @cached_property
    def marked_arguments(self) -> Sequence[tuple[str, Argument]]:
        return [(wire, argument) for wire, argument in self.arguments.items() if argument.plan.marked]

    def parts(self) -> Iterable[Plan]:
        return (argument.plan for argument in self.arguments.values())

    def settle_kind(self, value: Any, path: Path) -> Any:
        for key in value:
            if key not in self.arguments and key != self.tag_field:
                raise self._unknown(key, path)
        for wire, argument in self.arguments.items():
            if argument.required and wire not in value:
                raise missing(wire, path, wanted=argument.plan.wanted)
        return {
            key: self.arguments[key].plan.settle(item, (*path, key)) if key in self.arguments else item
            for key, item in value.items()
        }

    def polish(self, value: Any, path: Path) -> Any:
        if isinstance(value, self.shape):
            for wire, argument in self.marked_arguments:
                before = getattr(value, argument.attribute)
                if before is None:
                    continue
                after = argument.plan.polish(before, (*path, wire))
                if after is not before:
                    msgspec.structs.force_setattr(value, argument.attribute, after)  # it may be frozen
        return value

    def _unknown(self, key: Any, path: Path) -> Invalid:
        called, field = f"{quoted(str(key))}{_within(path)}", rendered((*path, str(key)))
        if steps := self.elsewhere.get(key):
            return Invalid(f"unknown argument {called}", code="unknown_argument", next_steps=steps, field=field)
        names = list(self.arguments)
        near = nearest(str(key), names)
        hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(names) or 'none'}"
        details: dict[str, Any] = {"near": near} if near else {}
        return Invalid(f"unknown argument {called}; {hint}", code="unknown_argument", field=field, **details)


class Variants(Plan):
    """Structs told apart by the value of one field."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = {record.tag: record for record in records}
        self.tag_field = str(records[0].tag_field)
        self.tags = Choice(self.records)
        super().__init__("object", wanted=f"an object with {self.tag_field!r} {self.tags.wanted}")

    def parts(self) -> Iterable[Plan]:
        return self.records.values()

    def settle_kind(self, value: Any, path: Path) -> Any:
        if self.tag_field not in value:
            raise missing(self.tag_field, path, wanted=self.tags.wanted)
        tag = self.tags.settle(value[self.tag_field], (*path, self.tag_field))
        return {**self.records[tag].settle_kind(value, path), self.tag_field: tag}

    def polish(self, value: Any, path: Path) -> Any:
        for record in self.records.values():
            value = record.polish(value, path)
        return value


class Either(Plan):
    """A union."""

    def __init__(self, options: Sequence[Plan]) -> None:
        kinds = {kind for option in options for kind in option.kinds}
        super().__init__(*kinds, wanted=alternatives([option.wanted for option in options]))
        self.options = options

    def parts(self) -> Iterable[Plan]:
        return self.options

    def takes_text(self, text: str) -> bool:
        return any(option.takes_text(text) for option in self.options)

    def settle_kind(self, value: Any, path: Path) -> Any:
        *others, last = (option for option in self.options if kind_of(value) in option.kinds)
        if isinstance(value, str) and not self.takes_text(value):
            raise last.refuse(value, path, wanted=self.wanted)
        for option in others:
            try:
                return option.settle(value, path)
            except Invalid:
                continue
        return last.settle(value, path)

    def polish(self, value: Any, path: Path) -> Any:
        for option in self.options:
            value = option.polish(value, path)
        return value


@cache
def record_of(shape: type[Struct]) -> Record:
    """The plan of an input type."""
    return Record(shape)


def compiled(hint: Any, extras: tuple[Any, ...] = ()) -> Plan:
    """The plan of an annotation that stands on a field."""
    hint, extras = peeled(hint, extras)
    metas = [extra for extra in extras if isinstance(extra, Meta)]
    origin = get_origin(hint) or hint
    if is_union(hint):
        return _either([compiled(arg, extras) for arg in get_args(hint) if arg is not UnsetType])
    if origin is Literal:
        return Choice(get_args(hint))
    if origin is Any or not isinstance(origin, type):
        return Plan(*KINDS, wanted="any value")
    if issubclass(origin, Enum):
        return Choice([member.value for member in origin])
    if issubclass(origin, Struct):
        return record_of(origin)
    if origin is str:
        return Text(metas, [extra for extra in extras if isinstance(extra, Marker)])
    if origin is int or origin is float:
        return Number(metas, whole=origin is int)
    if origin is bool:
        return Plan("boolean", wanted="true or false")
    if origin is type(None):
        return Plan("null", wanted="null")
    if origin is list:
        return Array(compiled(*get_args(hint) or (Any,)), metas)
    if origin is dict:
        return Map(compiled((get_args(hint) or (str, Any))[1]))
    if get_args(hint):
        raise TypeError(f"{hint} cannot be checked on its way in; use list or dict")
    return Plan(*KINDS, wanted=f"a {origin.__name__}")  # dates and the like: msgspec knows them


def is_union(hint: Any) -> bool:
    """Whether an annotation offers a choice of types."""
    return get_origin(hint) in (Union, types.UnionType)


def peeled(hint: Any, extras: tuple[Any, ...] = ()) -> tuple[Any, tuple[Any, ...]]:
    """An annotation without `Annotated` and `NewType` around it, and what was annotated, outermost last."""
    while True:
        if get_origin(hint) is Annotated:
            hint, extras = hint.__origin__, (*hint.__metadata__, *extras)
        elif hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        else:
            return hint, extras


def missing(name: str, path: Path, *, wanted: str, next_steps: Steps = ()) -> Invalid:
    """The refusal of an object that lacks an argument."""
    return Invalid(
        f"missing argument {name!r}{_within(path)}; it must be {wanted}",
        code="missing_argument",
        next_steps=next_steps,
        field=rendered((*path, name)),
    )


def _within(path: Path) -> str:
    return f" in {rendered(path)}" if path else ""


def _either(options: list[Plan]) -> Plan:
    records = [option for option in options if isinstance(option, Record)]
    if len(records) > 1:
        options = [Variants(records), *(option for option in options if not isinstance(option, Record))]
    return options[0] if len(options) == 1 else Either(options)
