"""Parse the arguments of a call into the input type of its operation.

Tools have three names for the project of a request; each is accepted for the others. A request that says its project by
what it names, such as a node, may name the project as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import msgspec

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.input_gate.types import get_record
from groundplan.kernel.wording import describe_value, invalid_argument

PROJECT_NAMES = ("project", "projectId", "scopeId")
PROJECT_FIELDS = ("project", "project_id", "scope_id")  # of typed requests

T = TypeVar("T", bound=msgspec.Struct)


def parse_request(arguments: Any, shape: type[T]) -> T:
    """Return the arguments of a call as an instance of `shape`. They must have passed `decode` or `validate_value`."""
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


def read_project_name(request: Any) -> str | None:
    """Return the project that a typed request names, if it does."""
    names = (getattr(request, field, None) for field in PROJECT_FIELDS)
    return next((name for name in names if isinstance(name, str)), None)


def unify_project_names(arguments: Mapping[str, Any], known: Collection[str]) -> Mapping[str, Any]:
    """Return the arguments with the project under its declared name; unchanged if none or several names are used."""
    names = [name for name in PROJECT_NAMES if name in known]
    given = [name for name in PROJECT_NAMES if name in arguments]
    if len(names) != 1 or not any(name not in known for name in given):
        return arguments
    [own] = names
    values = {name: arguments[name] for name in given if arguments[name] is not None}
    rest = {name: value for name, value in arguments.items() if name not in given}
    if not values:
        return rest
    first, *others = values
    for alternative in others:
        if values[alternative] != values[first]:
            shown = f"is {describe_value(values[alternative])}, but {first} is {describe_value(values[first])}"
            raise invalid_argument((alternative,), f"{shown}; both name the project, send one")
    return {own: values[first], **rest}


def separate_project(arguments: Any, known: Collection[str]) -> tuple[Any, str | None]:
    """Return the arguments without a project name that the operation does not declare, and that project."""
    if not isinstance(arguments, Mapping) or not any(name in arguments for name in PROJECT_NAMES):
        return arguments, None
    if any(name in known for name in PROJECT_NAMES):
        return arguments, None
    [first, *_] = (name for name in PROJECT_NAMES if name in arguments)
    rest = dict(unify_project_names(arguments, [first]))
    project = rest.pop(first, None)
    if project is None:
        return rest, None
    if not isinstance(project, str):
        raise invalid_argument((first,), f"must be a string, not {describe_value(project)}")
    return rest, apply_marker(NormalizedName(), project, (first,))
