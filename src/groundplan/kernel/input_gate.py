"""The one way in: bytes become a value, a value becomes an operation's input.

    decode(bytes)      one strict JSON document
    inspect(value)     the same rules for a value that was never bytes
    admit(value, T)    the value as a T: names normalised, strings unwrapped where T wants something else

All three are pure, and whatever they do not let through is an `Invalid` that tells the caller what to change.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_shapes import record_of
from groundplan.kernel.strict_json import BODY_BYTES_MAX, DEPTH_MAX, INTEGER_MAX, decode, inspect
from groundplan.kernel.text_limits import NAME_CHARS_MAX, MaxBytes, Name, NormalizedName

__all__ = [
    "BODY_BYTES_MAX",
    "DEPTH_MAX",
    "INTEGER_MAX",
    "NAME_CHARS_MAX",
    "MaxBytes",
    "Name",
    "NormalizedName",
    "admit",
    "decode",
    "inspect",
]

T = TypeVar("T", bound=msgspec.Struct)


def admit(arguments: Any, shape: type[T]) -> T:
    """The arguments of one call as `shape`; they have been through `decode` or `inspect` before.

    Raises:
        Invalid: an argument is unknown, missing, of the wrong type, not allowed, or too long; `details.field`
            says which.
    """
    plan = record_of(shape)
    try:
        admitted = msgspec.convert(arguments, shape)
    except msgspec.ValidationError:
        # What msgspec takes as it is needs no unwrapping, so only this request pays for the slow way.
        admitted = _converted(plan.settle(arguments, ()), shape)
    except UnicodeEncodeError:
        inspect(arguments)  # names the place; it was skipped
        raise
    if plan.marked:
        plan.polish(admitted, ())
    return admitted


def _converted(arguments: Any, shape: type[T]) -> T:
    try:
        return msgspec.convert(arguments, shape)
    except msgspec.ValidationError as error:
        # Patterns, dates and checks of the Struct itself: msgspec says "what - at `$.path`".
        sentence, _, place = str(error).partition(" - at ")
        field = place.strip("`").rpartition("$")[2].lstrip(".") or "arguments"
        raise Invalid(f"{field}: {sentence[:1].lower()}{sentence[1:]}", code="invalid_argument", field=field) from None
