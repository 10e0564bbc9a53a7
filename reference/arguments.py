"""Every argument of a request, read from its type: its path, its limits and its default.

The schemas that clients read omit limits, defaults and the content of some arguments; the reference has them all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

import msgspec
from msgspec import NODEFAULT, UNSET, Meta, Struct
from msgspec.structs import FieldInfo

from groundplan.kernel.input_gate.text_limits import MaxBytes, NormalizedName
from groundplan.kernel.input_gate.types import TypeDescription, TypeKind, describe_type
from groundplan.kernel.operations.schema import HiddenInSchema, build_json_schema

ELSEWHERE = frozenset({"document.constraints"})  # described as an argument of another operation
_BOUNDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument, or one field inside another."""

    path: str  # nodes[].ref
    schema: Mapping[str, Any]
    required: str  # yes, nothing, or for which tags
    limits: str


def list_arguments(shape: type[Struct]) -> Iterator[Argument]:
    """Yield every argument of a request, each followed by its fields."""
    yield from _list_fields({"": shape}, "")


def _list_fields(shapes: Mapping[str, type[Struct]], within: str) -> Iterator[Argument]:
    """Yield the fields of a Struct, or of several by their tags, each field once."""
    found: dict[str, dict[str, FieldInfo]] = {}
    for tag, shape in shapes.items():
        for field in msgspec.structs.fields(shape):
            if not any(isinstance(extra, HiddenInSchema) for extra in describe_type(field.type).extras):
                found.setdefault(field.encode_name, {})[tag] = field
    for name, by_tag in found.items():
        tag, field = next(iter(by_tag.items()))
        schema = _get_properties(shapes[tag])[name]
        described = describe_type(field.type)
        limits = _format_limits(described, field.default)
        yield Argument(within + name, schema, _format_required(by_tag, len(shapes)), limits)
        if within + name not in ELSEWHERE:
            yield from _list_content(described, within + name)


@cache
def _get_properties(shape: type[Struct]) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = build_json_schema(shape)["properties"]
    return properties


def _format_required(by_tag: Mapping[str, FieldInfo], shapes: int) -> str:
    tags = [tag for tag, field in by_tag.items() if field.required]
    if len(tags) == shapes:
        return "yes"
    return "for " + ", ".join(f"`{tag}`" for tag in tags) if tags else ""


def _list_content(described: TypeDescription, path: str) -> Iterator[Argument]:
    shapes, brackets = _find_structs(described)
    if len(shapes) == 1:
        yield from _list_fields({"": shapes[0]}, f"{path}{brackets}.")
    elif shapes:
        config = shapes[0].__struct_config__
        tags = {str(shape.__struct_config__.tag): shape for shape in shapes}
        yield Argument(f"{path}{brackets}.{config.tag_field}", {"enum": list(tags)}, "yes", "")
        yield from _list_fields(tags, f"{path}{brackets}.")


def _find_structs(described: TypeDescription) -> tuple[Sequence[type[Struct]], str]:
    """Return the Structs that a value may be or contain, and `[]` for each list around them."""
    match described.kind:
        case TypeKind.ARRAY if described.item is not None:
            shapes, brackets = _find_structs(described.item)
            return shapes, f"[]{brackets}"
        case TypeKind.UNION:
            options = [_find_structs(option) for option in described.options]
            return [shape for shapes, _ in options for shape in shapes], max(brackets for _, brackets in options)
        case TypeKind.STRUCT:
            return [described.type], ""
    return [], ""


def _format_limits(described: TypeDescription, default: Any) -> str:
    found = list(_list_limits(described))
    value = default.value if isinstance(default, Enum) else default
    if value not in (NODEFAULT, UNSET, None, ""):
        found.append(f"default `{json.dumps(value)}`")
    return ", ".join(found)


def _list_limits(described: TypeDescription) -> Iterator[str]:
    is_list = described.kind is TypeKind.ARRAY
    for extra in described.extras:
        match extra:
            case MaxBytes():
                yield f"≤ {extra.limit_bytes:,} bytes"
            case NormalizedName():
                yield f"≤ {extra.chars_max:,} characters"
            case Meta():
                yield from _list_bounds(extra, is_list=is_list)
    if is_list and described.item is not None:
        yield from (f"each {limit}" for limit in _list_limits(described.item))
    for option in described.options:
        yield from _list_limits(option)


def _list_bounds(meta: Meta, *, is_list: bool) -> Iterator[str]:
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
