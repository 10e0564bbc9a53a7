"""The JSON around an answer or an error: the contract of each tool group decides.

work, purpose, briefing   the answer itself                 {"error": {code, message, details?}}
context                   the answer itself                 the same, and error.name: the contract's class
knowledge, containers     {"success": true, "data": …}      {"success": false, "error": {…}}; the code is the contract's
                                                            name or the family's, ours is in details.reason, and
                                                            currentVersion stands beside the code
"""

from __future__ import annotations

from typing import Any

from groundplan.kernel.errors import (
    Conflict,
    Forbidden,
    GroundplanError,
    Invalid,
    NotFound,
    RuleViolated,
    Unauthenticated,
    Unavailable,
)
from groundplan.kernel.next_steps import Vocabulary
from groundplan.kernel.operations.registry import Group

SUCCESS_ENVELOPE = (Group.KNOWLEDGE, Group.CONTAINERS)
CONTEXT_NAMES: dict[type[GroundplanError], str] = {
    Unauthenticated: "PcivAuthRequiredError",
    Forbidden: "PcivRlsDeniedError",
    # A scope that is hidden and one that is missing must read alike, so both have the name of the hidden one.
    NotFound: "PcivRlsDeniedError",
    Invalid: "PcivSchemaMismatchError",
    GroundplanError: "Error",
}
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


def wrap(group: Group | None, answer: Any) -> Any:
    """Return an answer as the tools of a group give it."""
    return {"success": True, "data": answer} if group in SUCCESS_ENVELOPE else answer


def wrap_error(group: Group | None, error: GroundplanError, vocabulary: Vocabulary) -> dict[str, Any]:
    """Return an error as the tools of a group give it."""
    body = error.body(vocabulary)
    if group is Group.CONTEXT:
        body["name"] = error.contract_name or _lookup_by_family(error, CONTEXT_NAMES)
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


def _to_camel_case(name: str) -> str:
    if name == "left_out":  # spelled alike in every answer
        return name
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _lookup_by_family(error: GroundplanError, names: dict[type[GroundplanError], str]) -> str:
    return next(name for family, name in names.items() if isinstance(error, family))
