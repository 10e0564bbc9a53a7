"""The JSON around an answer or an error, by tool group.

work, purpose, briefing   the answer itself                 {"error": {code, message, details?}}
context                   the answer itself                 the same, with error.name, a class of the contract or the
                                                            family
knowledge, containers     {"success": true, "data": …}      {"success": false, "error": {…}}; the code is that of the
                                                            contract or the family, our code is details.reason, and
                                                            currentVersion is a field of error

Any answer may have `warnings`, also one whose class has no such field.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from groundplan.kernel.errors import (
    Conflict,
    Forbidden,
    GroundplanError,
    Invalid,
    NotFound,
    RuleViolated,
    Unauthenticated,
    Unavailable,
    Vocabulary,
)
from groundplan.kernel.operations.registry import Group

SUCCESS_ENVELOPE = (Group.KNOWLEDGE, Group.CONTAINERS)
CONTEXT_NAMES: dict[type[GroundplanError], str] = {
    Unauthenticated: "PcivAuthRequiredError",
    Forbidden: "PcivRlsDeniedError",
    # A hidden scope or run and a missing one must give the same answer, so both use the name for a hidden one.
    NotFound: "PcivRlsDeniedError",
    Invalid: "PcivSchemaMismatchError",
    # The contract has no names for these, so they have those of their families.
    Conflict: "Conflict",
    RuleViolated: "RuleViolated",
    Unavailable: "Unavailable",
    GroundplanError: "Unexpected",
}
PLAINLY_MISSING = "NotFound"  # the name of what is missing inside of a scope that the actor sees
ENVELOPE_CODES: dict[type[GroundplanError], str] = {
    Unauthenticated: "UNAUTHENTICATED",
    Forbidden: "FORBIDDEN",
    NotFound: "NOT_FOUND",
    Invalid: "VALIDATION_ERROR",
    Conflict: "CONFLICT",
    RuleViolated: "INVARIANT_VIOLATION",
    Unavailable: "UNAVAILABLE",
    GroundplanError: "INTERNAL_ERROR",
}


def wrap(group: Group | None, answer: Any, warnings: Sequence[str] = ()) -> Any:
    """Return an answer and its warnings in the envelope of a tool group."""
    answer = add_warnings(answer, warnings)
    return {"success": True, "data": answer} if group in SUCCESS_ENVELOPE else answer


def add_warnings(answer: Any, warnings: Sequence[str]) -> Any:
    """Return an answer with its warnings: the answer itself if its class has a field for them, else plain data."""
    if not warnings or hasattr(answer, "warnings"):
        return answer
    plain: dict[str, Any] = msgspec.to_builtins(answer)
    return {**plain, "warnings": plain.get("warnings", list(warnings))}


def wrap_error(group: Group | None, error: GroundplanError, vocabulary: Vocabulary) -> dict[str, Any]:
    """Return an error in the envelope of a tool group."""
    body = error.to_dict(vocabulary)
    if group is Group.CONTEXT or error.has_contract_name:
        body["name"] = get_contract_name(error)
    if group is Group.CONTEXT or group in SUCCESS_ENVELOPE:
        details = {_to_camel_case(name): value for name, value in body.pop("details", {}).items()}
        if group in SUCCESS_ENVELOPE:
            body["code"] = error.contract_code or _lookup_by_family(error, ENVELOPE_CODES)
            details = {"reason": error.code, **details}
            if "currentVersion" in error.details:
                body["currentVersion"] = error.details["currentVersion"]
        if details:
            body["details"] = details
    return {"success": False, "error": body} if group in SUCCESS_ENVELOPE else {"error": body}


def get_contract_name(error: GroundplanError) -> str:
    """Return the name of an error in the contract of facts, which names its error classes."""
    if error.contract_name is None and isinstance(error, NotFound) and not error.may_be_hidden:
        return PLAINLY_MISSING
    return error.contract_name or _lookup_by_family(error, CONTEXT_NAMES)


def _to_camel_case(name: str) -> str:
    if name == "left_out":  # has the same name in every answer
        return name
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _lookup_by_family(error: GroundplanError, names: dict[type[GroundplanError], str]) -> str:
    return next(name for family, name in names.items() if isinstance(error, family))
