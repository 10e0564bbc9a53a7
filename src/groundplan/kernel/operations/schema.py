"""JSON Schema of an input type as it stands on the wire.

Every client reads these in every session, so they are small: nothing is said twice, referenced or titled, and
null is neither a type nor a default. They show the plain spelling; the input gate is the one that decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, UNSET, Meta, Struct, UnsetType

from groundplan.kernel.input_gate.shapes import is_union, peeled
from groundplan.kernel.input_gate.text_limits import MaxBytes, NormalizedName

Schema = dict[str, Any]

_TYPES: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}

# Meta's names for bounds, as JSON Schema calls them. A smallest length is left out: empty text is rare.
_NUMBER_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_BOUNDS: Mapping[str, Mapping[str, str]] = {
    "string": {"max_length": "maxLength", "pattern": "pattern"},
    "integer": {**_NUMBER_BOUNDS, "multiple_of": "multipleOf"},
    "number": {**_NUMBER_BOUNDS, "multiple_of": "multipleOf"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
}


def json_schema(shape: type[Struct]) -> Schema:
    """The JSON Schema (2020-12) of a Struct, all in one piece."""
    return {**_struct(shape, ()), "additionalProperties": False}


def merged_schema(variants: Mapping[str, type[Struct]], selector: str = "operation") -> Schema:
    """One schema for a tool that serves several operations, told apart by `selector`.

    Raises:
        ValueError: an argument means one thing to one operation and another thing to the next.
    """
    properties: Schema = {selector: {"type": "string", "enum": list(variants)}}
    schemas = [_struct(shape, ()) for shape in variants.values()]
    for variant, schema in zip(variants, schemas, strict=True):
        for name, argument in schema["properties"].items():
            if properties.setdefault(name, argument) != argument:
                raise ValueError(f"argument {name!r} of {variant!r} differs from the one of the same name before it")
    required = [schema.get("required", ()) for schema in schemas]
    always = [name for name in properties if name != selector and all(name in names for names in required)]
    return {
        "type": "object",
        "properties": properties,
        "required": [selector, *always],
        "additionalProperties": False,
    }


def _struct(shape: type[Struct], within: tuple[type[Struct], ...]) -> Schema:
    if shape in within:
        raise ValueError(f"{shape.__name__} contains itself, which no schema without references can say")
    config = shape.__struct_config__
    properties: Schema = {}
    required: list[str] = []
    if config.tag_field is not None:
        properties[config.tag_field] = {"const": config.tag}
        required.append(config.tag_field)
    for field in msgspec.structs.fields(shape):
        schema = _type(field.type, (), (*within, shape))
        if isinstance(default := _plain(field.default), str | int | float):
            schema = {**schema, "default": default}
        properties[field.encode_name] = schema
        if field.required:
            required.append(field.encode_name)
    found: Schema = {"type": "object", "properties": properties}
    return {**found, "required": required} if required else found


def _type(hint: Any, extras: tuple[Any, ...], within: tuple[type[Struct], ...]) -> Schema:
    hint, extras = peeled(hint, extras)
    schema = _bounded(_bare(hint, within), extras)
    for meta in extras:
        if isinstance(meta, Meta):
            if meta.description is not None:
                schema["description"] = meta.description
            schema.update(meta.extra_json_schema or {})
    return schema


def _bare(hint: Any, within: tuple[type[Struct], ...]) -> Schema:
    origin = get_origin(hint) or hint
    if is_union(hint):
        return _union([_type(arg, (), within) for arg in get_args(hint) if arg not in (UnsetType, type(None))])
    if origin is Literal:
        return _enum([value for value in get_args(hint) if value is not None])
    if origin in _TYPES:
        return {"type": _TYPES[origin]}
    if origin is list:
        items = _type((get_args(hint) or (Any,))[0], (), within)
        return {"type": "array", "items": items} if items else {"type": "array"}
    if origin is dict:
        items = _type((get_args(hint) or (str, Any))[1], (), within)
        return {"type": "object", "additionalProperties": items} if items else {"type": "object"}
    if isinstance(origin, type) and issubclass(origin, Enum):
        return _enum([member.value for member in origin])
    if isinstance(origin, type) and issubclass(origin, Struct):
        return _struct(origin, within)
    return {} if origin is Any else {"type": "string"}  # dates and the like are strings on the wire


def _bounded(schema: Schema, extras: Sequence[Any]) -> Schema:
    names = _BOUNDS.get(schema["type"], {}) if isinstance(schema.get("type"), str) else {}
    for extra in extras:
        if isinstance(extra, Meta):
            bounds = {wire: getattr(extra, name) for name, wire in names.items()}
            schema.update({wire: bound for wire, bound in bounds.items() if bound is not None})
        elif isinstance(extra, NormalizedName):
            schema["maxLength"] = extra.chars_max
        elif isinstance(extra, MaxBytes):
            schema["maxLength"] = extra.limit_bytes  # there are never more characters than bytes
    return schema


def _union(options: list[Schema]) -> Schema:
    if len(options) == 1:
        return options[0]
    if all(option.keys() == {"type"} for option in options):
        return {"type": [option["type"] for option in options]}
    return {"anyOf": options}


def _enum(values: Sequence[Any]) -> Schema:
    kinds = {_TYPES[type(value)] for value in values}
    return {"type": kinds.pop(), "enum": list(values)} if len(kinds) == 1 else {"enum": list(values)}


def _plain(default: Any) -> Any:
    if default is NODEFAULT or default is UNSET:
        return None
    return default.value if isinstance(default, Enum) else default
