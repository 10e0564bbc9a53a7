"""How the command line takes the fields of a request: the type of an option, and the shape of its JSON."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

from groundplan.kernel.input_gate.types import TypeDescription, TypeKind, describe_type
from groundplan.kernel.operations.schema import HiddenInSchema

SHAPE_NAMES_MAX = 8  # a hint, not the reference
_PLAIN = {TypeKind.BOOLEAN: bool, TypeKind.INTEGER: int, TypeKind.NUMBER: float}


class OptionType(NamedTuple):
    """How a field is given on the command line."""

    kind: Any
    is_json: bool = False
    or_text: bool = False  # a single value is sent as a text, not as a list


def resolve_option_type(described: TypeDescription) -> OptionType:
    """Return the type of the option for a field of this type."""
    match described.kind:
        case TypeKind.UNION:
            forms = [resolve_option_type(option) for option in described.options_without_null]
            several = [form for form in forms if form.kind == list[str]]
            if several and len(forms) > 1:
                return several[0]._replace(or_text=True)
            return forms[0] if len(forms) == 1 else OptionType(str, is_json=all(form.is_json for form in forms))
        case TypeKind.CHOICE:
            values = tuple(value for value in described.choices if value is not None)
            return OptionType(Literal[values] if all(isinstance(value, str) for value in values) else str)
        case TypeKind.ARRAY if described.item is not None:
            # Items of any type and choices are taken as texts: the operation itself checks each.
            is_text = described.item.kind in (TypeKind.ANY, TypeKind.CHOICE)
            item = OptionType(str) if is_text else resolve_option_type(described.item)
            is_plain = item.kind in (str, int, float) and not item.is_json
            return OptionType(list[item.kind]) if is_plain else OptionType(str, is_json=True)  # type: ignore[name-defined] # a value
        case TypeKind.MAP | TypeKind.STRUCT | TypeKind.ANY:
            return OptionType(str, is_json=True)
    return OptionType(_PLAIN.get(described.kind, str))


def format_json_shape(described: TypeDescription) -> str:
    """Return the shape of an object or of a list of objects, such as `[{ref, summary, …}]`; else an empty text."""
    options = described.options_without_null
    if len(options) == 1 and options[0].item is not None:
        inside = format_json_shape(options[0].item)
        return f"[{inside}]" if inside and options[0].kind is TypeKind.ARRAY else ""
    if any(option.kind is not TypeKind.STRUCT for option in options):
        return ""
    if len(options) > 1:
        tags = [str(option.type.__struct_config__.tag) for option in options]
        return f"{{{options[0].type.__struct_config__.tag_field}: {'|'.join(_shorten(tags))}, …}}"
    fields = msgspec.structs.fields(options[0].type)
    return f"{{{', '.join(_shorten([field.encode_name for field in fields if not _is_hidden(field)]))}}}"


def _is_hidden(field: msgspec.structs.FieldInfo) -> bool:
    return any(isinstance(extra, HiddenInSchema) for extra in describe_type(field.type).extras)


def _shorten(names: list[str]) -> list[str]:
    return names if len(names) <= SHAPE_NAMES_MAX else [*names[:SHAPE_NAMES_MAX], "…"]
