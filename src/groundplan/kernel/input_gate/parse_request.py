"""Parse the arguments of a call into the input type of its operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.composite_types import get_record
from groundplan.kernel.input_gate.project_names import unify_project_names
from groundplan.kernel.input_gate.strict_json import validate_value

T = TypeVar("T", bound=msgspec.Struct)


def parse_request(arguments: Any, shape: type[T]) -> T:
    """Return the arguments of one call as `shape`. They must have passed `decode` or `validate_value`.

    Raises:
        Invalid: an argument is unknown, missing, of the wrong type, not allowed, or too long; `details.field`
            names it.
    """
    record = get_record(shape)
    try:
        request = msgspec.convert(arguments, shape)
    except msgspec.ValidationError:
        # Slow path: only for arguments that msgspec does not accept unchanged.
        if isinstance(arguments, Mapping):
            arguments = unify_project_names(arguments, record.arguments)
        request = _convert(record.coerce(arguments, ()), shape)
    except UnicodeEncodeError:
        validate_value(arguments)  # raises an error that names the argument
        raise
    if record.has_markers:
        record.normalize(request, ())
    return request


def _convert(arguments: Any, shape: type[T]) -> T:
    try:
        return msgspec.convert(arguments, shape)
    except msgspec.ValidationError as error:
        # Patterns, dates and checks in the Struct: msgspec reports "problem - at `$.path`".
        sentence, _, location = str(error).partition(" - at ")
        field = location.strip("`").rpartition("$")[2].lstrip(".") or "arguments"
        raise Invalid(f"{field}: {sentence[:1].lower()}{sentence[1:]}", code="invalid_argument", field=field) from None
