"""The three names that tools have for the project of a request; each is accepted for the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from groundplan.kernel.wording import describe_value, invalid_argument

PROJECT_NAMES = ("project", "projectId", "scopeId")


def unify_project_names(arguments: Mapping[str, Any], known: Collection[str]) -> Mapping[str, Any]:
    """Return the arguments with the project under the name that is known; unchanged if none or several are.

    Raises:
        Invalid: two of the names are given with different values.
    """
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
    for other in others:
        if values[other] != values[first]:
            shown = f"is {describe_value(values[other])}, but {first} is {describe_value(values[first])}"
            raise invalid_argument((other,), f"{shown}; both name the project, send one")
    return {own: values[first], **rest}
