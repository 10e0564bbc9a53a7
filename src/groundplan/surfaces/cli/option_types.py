"""How the command line takes the fields of a request."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from groundplan.kernel.input_gate.type_description import TypeDescription, TypeKind

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
            # Items of any type are taken as texts: the operation itself checks each.
            is_any = described.item.kind is TypeKind.ANY
            item = OptionType(str) if is_any else resolve_option_type(described.item)
            is_plain = item.kind in (str, int, float) and not item.is_json
            return OptionType(list[item.kind]) if is_plain else OptionType(str, is_json=True)  # type: ignore[name-defined] # a value
        case TypeKind.MAP | TypeKind.STRUCT | TypeKind.ANY:
            return OptionType(str, is_json=True)
    return OptionType(_PLAIN.get(described.kind, str))
