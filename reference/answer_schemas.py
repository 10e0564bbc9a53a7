"""JSON Schemas of answers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, defstruct


def build_answer_schema(shape: Any, *, named: Collection[str] = ()) -> dict[str, Any]:
    """Return the JSON Schema of an answer, without references. Unlike that of a request it says where null may occur.

    Types in `named` occur only by their name.
    """
    untagged: dict[str, type[Struct]] = {}
    found = msgspec.json.schema(_distinguish(shape, untagged))
    _, definitions = msgspec.json.schema_components(untagged.values(), ref_template="#/$defs/{name}")
    definitions |= found.get("$defs", {})
    top = found["$ref"].rpartition("/")[2] if "$ref" in found else ""
    inlined: dict[str, Any] = _inline(definitions.get(top, found), definitions, (*named, top))
    return inlined


def _distinguish(shape: Any, untagged: dict[str, type[Struct]]) -> Any:
    """Return a type for which msgspec can make a schema: it does not accept lists of several Structs without tags.

    Those are collected in `untagged`, and replaced by references to their names.
    """
    if not (isinstance(shape, type) and issubclass(shape, Struct)):
        return shape
    fields: list[Any] = []
    for field in msgspec.structs.fields(shape):
        options = get_args(get_args(field.type)[0]) if get_origin(field.type) is list else ()
        structs = [one for one in options if issubclass(one, Struct) and one.__struct_config__.tag is None]
        kind = field.type
        if len(structs) > 1:
            untagged.update({one.__name__: one for one in structs})
            refs = [{"$ref": f"#/$defs/{one.__name__}"} for one in structs]
            kind = list[Annotated[Any, Meta(extra_json_schema={"anyOf": refs})]]
        fields.append((field.name, kind) if field.required else (field.name, kind, field.default))
    return defstruct(shape.__name__, fields, rename="camel") if untagged else shape


def _inline(node: Any, definitions: dict[str, Any], within: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inline(item, definitions, within) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name in within:
            return {"type": "object", "title": name}  # a tree, described one level up, or elsewhere
        return _inline(definitions[name], definitions, (*within, name))
    return {
        key: {name: _inline(value, definitions, within) for name, value in item.items()}
        if key == "properties"
        else _inline(item, definitions, within)
        for key, item in node.items()
        if key not in ("$defs", "title", "description")
    }
