"""Leave null, empty and bookkeeping fields out of the JSON of an answer.

The class of an answer takes part by declaring `bookkeeping`, the names of its fields that a lean answer omits; the
classes inside it may declare their own, and one with a method `select_lean` says which part of it is shown. Answers
without it are made lean by their slice. In Python the answer itself stays whole, so that a field that is always there
in its class is always there.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec import UNSET, Struct

from groundplan.kernel.preferences import Preferences


def wants_lean(request: Any, preferences: Preferences, answer: Any) -> bool:
    """Return whether an answer is to be made lean: as the request says, else the session."""
    if getattr(type(answer), "bookkeeping", None) is None or not hasattr(request, "lean"):
        return False
    return preferences.lean if request.lean is None else bool(request.lean)


def make_lean(value: Any) -> Any:
    """Return a value as plain data without the null, empty and bookkeeping fields of its Structs.

    The contents of a dict are data of a caller, in which null has its own meaning; so they are kept.
    """
    if isinstance(value, Struct):
        if (select := getattr(value, "select_lean", None)) is not None:
            value = select()
        omitted: Collection[str] = getattr(type(value), "bookkeeping", ())
        names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
        fields = {wire: make_lean(getattr(value, name)) for name, wire in names if name not in omitted}
        return {wire: field for wire, field in fields.items() if not _is_empty(field)}
    if isinstance(value, list):
        return [make_lean(one) for one in value]
    if isinstance(value, dict):
        return {name: make_lean(one) for name, one in value.items()}
    return value


def _is_empty(value: Any) -> bool:
    return value is UNSET or value is None or (isinstance(value, str | list | dict) and not value)
