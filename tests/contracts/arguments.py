"""Everything that a request may hold, read from its type: each argument by its path, with its limits and its default.

The schemas that clients read leave these out, and the inside of some arguments with them; the reference has them all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, UNSET, Meta, Struct, UnsetType
from msgspec.structs import FieldInfo

from groundplan.kernel.input_gate.composite_types import is_union, strip_annotated
from groundplan.kernel.input_gate.text_limits import MaxBytes, NormalizedName
from groundplan.kernel.operations.schema import HiddenInSchema, build_json_schema

ELSEWHERE = frozenset({"document.constraints"})  # whose inside is that of an argument of another operation
_BOUNDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument, or one field inside another."""

    path: str  # nodes[].ref
    schema: Mapping[str, Any]
    required: str  # yes, nothing, or for which of several forms
    limits: str


def arguments(shape: type[Struct], within: str = "") -> Iterator[Argument]:
    """Every argument of a request, each followed by what is inside it."""
    yield from _fields({"": shape}, within)


def _fields(forms: Mapping[str, type[Struct]], within: str) -> Iterator[Argument]:
    """The fields of a struct, or of several that a tag tells apart, each once."""
    found: dict[str, dict[str, FieldInfo]] = {}
    for tag, shape in forms.items():
        for field in msgspec.structs.fields(shape):
            if not any(isinstance(extra, HiddenInSchema) for extra in strip_annotated(field.type)[1]):
                found.setdefault(field.encode_name, {})[tag] = field
    for name, by_tag in found.items():
        tag, field = next(iter(by_tag.items()))
        schema = _properties(forms[tag])[name]
        yield Argument(within + name, schema, _required(by_tag, len(forms)), limits(field))
        if within + name not in ELSEWHERE:
            yield from _inside(field.type, within + name)


@cache
def _properties(shape: type[Struct]) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = build_json_schema(shape)["properties"]
    return properties


def _required(by_tag: Mapping[str, FieldInfo], forms: int) -> str:
    tags = [tag for tag, field in by_tag.items() if field.required]
    if len(tags) == forms:
        return "yes"
    return "for " + ", ".join(f"`{tag}`" for tag in tags) if tags else ""


def _inside(hint: Any, path: str) -> Iterator[Argument]:
    shapes, brackets = _structs(hint)
    if len(shapes) == 1:
        yield from _fields({"": shapes[0]}, f"{path}{brackets}.")
    elif shapes:
        config = shapes[0].__struct_config__
        tags = {str(shape.__struct_config__.tag): shape for shape in shapes}
        yield Argument(f"{path}{brackets}.{config.tag_field}", {"enum": list(tags)}, "yes", "")
        yield from _fields(tags, f"{path}{brackets}.")


def _structs(hint: Any) -> tuple[Sequence[type[Struct]], str]:
    """The structs that a value may be or hold, and how to write that it holds several."""
    bare, _ = strip_annotated(hint)
    if get_origin(bare) is list:
        shapes, brackets = _structs(get_args(bare)[0])
        return shapes, f"[]{brackets}"
    options = [_structs(option) for option in get_args(bare)] if is_union(bare) else []
    if options:
        return [shape for shapes, _ in options for shape in shapes], max(brackets for _, brackets in options)
    return ([bare] if isinstance(bare, type) and issubclass(bare, Struct) else []), ""


def limits(field: FieldInfo) -> str:
    """What a value may not exceed, and what it is when left out."""
    found = list(_bounds(field.type))
    default = field.default.value if isinstance(field.default, Enum) else field.default
    if default not in (NODEFAULT, UNSET, None, ""):
        found.append(f"default `{json.dumps(default)}`")
    return ", ".join(found)


def _bounds(hint: Any) -> Iterator[str]:
    bare, extras = strip_annotated(hint)
    is_list = get_origin(bare) is list
    for extra in extras:
        match extra:
            case MaxBytes():
                yield f"≤ {extra.limit_bytes:,} bytes"
            case NormalizedName():
                yield f"≤ {extra.chars_max:,} characters"
            case Meta():
                yield from _meta(extra, is_list=is_list)
    if is_list:
        yield from (f"each {bound}" for bound in _bounds(get_args(bare)[0]))
    for option in get_args(bare) if is_union(bare) else ():
        if option not in (NoneType, UnsetType):
            yield from _bounds(option)


def _meta(meta: Meta, *, is_list: bool) -> Iterator[str]:
    for name, sign in _BOUNDS.items():
        if (bound := getattr(meta, name)) is not None:
            yield f"{sign} {int(bound) if bound == int(bound) else bound:,}"
    if is_list:
        if meta.min_length is not None:
            yield f"{meta.min_length:,} or more items"
        if meta.max_length is not None:
            yield f"{meta.max_length:,} or fewer items"
    elif meta.max_length is not None:
        yield f"≤ {meta.max_length:,} characters"
