"""JSON Schemas of input types, by wire names.

Every client reads them in every session, so they are small: names, types and required fields, without references,
titles and null. Defaults are in the reference; errors name limits and unknown arguments. The input gate accepts more
spellings than a schema shows. A document that is read once can have the limits, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Meta, Struct

from groundplan.kernel.input_gate.text_limits import NormalizedName, NotBlank
from groundplan.kernel.input_gate.types import TypeDescription, TypeKind, describe_type

JsonSchema = dict[str, Any]

_TYPES: Mapping[TypeKind, str] = {
    TypeKind.INTEGER: "integer",
    TypeKind.NUMBER: "number",
    TypeKind.BOOLEAN: "boolean",
    TypeKind.NULL: "null",
}


class CollapsedInSchema:
    """A marker for a field that a schema shows as a plain object. The reference describes its content."""


class HiddenInSchema:
    """A marker for a field that schemas leave out. It is accepted because answers contain it."""


def build_json_schema(shape: type[Struct]) -> JsonSchema:
    """Return the JSON Schema (2020-12) of a Struct, without references."""
    return _build_struct_schema(shape, ())


def add_limits(schema: JsonSchema, shape: type[Struct]) -> None:
    """Add the limits of the fields of a Struct to its schema, at every depth."""
    for field in msgspec.structs.fields(shape):
        if field.encode_name in schema["properties"]:
            _add_limits(schema["properties"][field.encode_name], describe_type(field.type), ())


def build_merged_schema(variants: Mapping[str, type[Struct]], selector: str = "operation") -> JsonSchema:
    """Return one schema for a tool with several operations that `selector` distinguishes."""
    schemas = [_build_struct_schema(shape, ()) for shape in variants.values()]
    return _merge_schemas(selector, list(variants), schemas)


def _merge_schemas(selector: str, variants: Sequence[Any], schemas: Sequence[JsonSchema]) -> JsonSchema:
    properties: JsonSchema = {selector: {"enum": list(variants)}}
    for variant, schema in zip(variants, schemas, strict=True):
        for name, argument in schema["properties"].items():
            if properties.setdefault(name, argument) != argument:
                raise ValueError(f"argument {name!r} of {variant!r} differs from the one of the same name before it")
    required = [schema.get("required", ()) for schema in schemas]
    always = [name for name in properties if name != selector and all(name in names for names in required)]
    return {"type": "object", "properties": properties, "required": [selector, *always]}


def _build_struct_schema(shape: type[Struct], ancestors: tuple[type[Struct], ...]) -> JsonSchema:
    if shape in ancestors:
        raise ValueError(f"{shape.__name__} contains itself; a schema without references cannot describe it")
    config = shape.__struct_config__
    properties: JsonSchema = {}
    required: list[str] = []
    if config.tag_field is not None:
        properties[config.tag_field] = {"const": config.tag}
        required.append(config.tag_field)
    for field in msgspec.structs.fields(shape):
        described = describe_type(field.type)
        if any(isinstance(extra, HiddenInSchema) for extra in described.extras):
            continue
        properties[field.encode_name] = _build_type_schema(described, (*ancestors, shape))
        if field.required:
            required.append(field.encode_name)
    schema: JsonSchema = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def _build_type_schema(described: TypeDescription, ancestors: tuple[type[Struct], ...]) -> JsonSchema:
    if any(isinstance(extra, CollapsedInSchema) for extra in described.extras):
        return {"type": "object"}
    schema = _build_unannotated_schema(described, ancestors)
    for meta in described.extras:
        if isinstance(meta, Meta):
            if meta.description is not None:
                schema["description"] = meta.description
            given = meta.extra_json_schema or {}
            if "type" in given:  # it replaces the type of the annotation
                schema.pop("anyOf", None)
            schema.update(given)
    return schema


def _build_unannotated_schema(described: TypeDescription, ancestors: tuple[type[Struct], ...]) -> JsonSchema:
    match described.kind:
        case TypeKind.UNION:
            options = described.options_without_null
            if len(options) > 1 and all(_get_tag(option) for option in options):
                return _build_tagged_union_schema([option.type for option in options], ancestors)
            return _build_union_schema([_build_type_schema(option, ancestors) for option in options])
        case TypeKind.CHOICE:
            return {"enum": [value for value in described.choices if value is not None]}
        case TypeKind.ARRAY | TypeKind.MAP if described.item is not None:
            name, inside = (
                ("array", "items") if described.kind is TypeKind.ARRAY else ("object", "additionalProperties")
            )
            items = _build_type_schema(described.item, ancestors)
            return {"type": name, inside: items} if items else {"type": name}
        case TypeKind.STRUCT:
            return _build_struct_schema(described.type, ancestors)
        case TypeKind.ANY:
            return {}
    return {"type": _TYPES.get(described.kind, "string")}


def _build_union_schema(options: list[JsonSchema]) -> JsonSchema:
    if len(options) == 1:
        return options[0]
    if all(option.keys() == {"type"} for option in options):
        return {"type": [option["type"] for option in options]}
    return {"anyOf": options}


def _build_tagged_union_schema(options: Sequence[type[Struct]], ancestors: tuple[type[Struct], ...]) -> JsonSchema:
    """Return one object schema for Structs with a tag. Errors name the required fields of each Struct."""
    schemas = [_build_struct_schema(option, ancestors) for option in options]
    field = str(options[0].__struct_config__.tag_field)
    for schema in schemas:
        del schema["properties"][field]
    return _merge_schemas(field, [option.__struct_config__.tag for option in options], schemas)


def _get_tag(option: TypeDescription) -> Any:
    return option.type.__struct_config__.tag if option.kind is TypeKind.STRUCT else None


def _add_limits(schema: JsonSchema, described: TypeDescription, outer: tuple[Any, ...]) -> None:
    extras = (*described.extras, *outer)
    options = described.options_without_null
    if described.kind is TypeKind.UNION:
        if len(options) == 1:
            _add_limits(schema, options[0], extras)
        elif "anyOf" in schema:
            for option, inside in zip(options, schema["anyOf"], strict=False):
                _add_limits(inside, option, extras)
        return
    kind = schema.get("type")
    for extra in extras:
        for name, keyword in _LIMITS.get(kind if isinstance(kind, str) else "", {}).items():
            if (limit := getattr(extra, name, None)) is not None:
                schema[keyword] = limit
        if isinstance(extra, NormalizedName | NotBlank) and kind == "string":
            schema["minLength"] = 1
    if described.kind is TypeKind.STRUCT and "properties" in schema:
        add_limits(schema, described.type)
    elif described.item is not None and isinstance(schema.get("items"), dict):
        _add_limits(schema["items"], described.item, ())


# By type in a schema: attribute of a Meta or a marker → keyword. A limit in bytes is one in characters, too.
_TEXT_LIMITS = {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"}
_NUMBER_LIMITS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_LIMITS: Mapping[str, Mapping[str, str]] = {
    "string": {**_TEXT_LIMITS, "chars_max": "maxLength", "limit_bytes": "maxLength"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "integer": _NUMBER_LIMITS,
    "number": _NUMBER_LIMITS,
}
