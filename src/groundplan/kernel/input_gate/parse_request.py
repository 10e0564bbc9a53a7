"""The arguments of a call as the type its operation declares."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.composite_types import get_record
from groundplan.kernel.input_gate.strict_json import validate_value

T = TypeVar("T", bound=msgspec.Struct)


def parse_request(arguments: Any, shape: type[T]) -> T:
    """The arguments of one call as `shape`; they have been through `decode` or `validate_value` before.

    Raises:
        Invalid: an argument is unknown, missing, of the wrong type, not allowed, or too long; `details.field`
            says which.
    """
    plan = get_record(shape)
    try:
        admitted = msgspec.convert(arguments, shape)
    except msgspec.ValidationError:
        # What msgspec takes as it is needs no unwrapping, so only this request pays for the slow way.
        admitted = _convert(plan.settle(arguments, ()), shape)
    except UnicodeEncodeError:
        validate_value(arguments)  # names the place; it was skipped
        raise
    if plan.has_markers:
        plan.polish(admitted, ())
    return admitted


def _convert(arguments: Any, shape: type[T]) -> T:
    try:
        return msgspec.convert(arguments, shape)
    except msgspec.ValidationError as error:
        # Patterns, dates and checks of the Struct itself: msgspec says "what - at `$.path`".
        sentence, _, place = str(error).partition(" - at ")
        field = place.strip("`").rpartition("$")[2].lstrip(".") or "arguments"
        raise Invalid(f"{field}: {sentence[:1].lower()}{sentence[1:]}", code="invalid_argument", field=field) from None
