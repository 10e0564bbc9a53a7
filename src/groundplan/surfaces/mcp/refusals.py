"""How a refusal reads in the answer of a tool: the frame, and the names of what went wrong, are those of its contract.

work, purpose, briefing   {"error": {code, message, details?}}
context                   the same, and error.name: the class its contract gives the refusal
knowledge, containers     {"success": false, "error": {…}}; the code is the contract's name for it or its family, ours
                          is in details.reason, and currentVersion stands beside the code
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
from groundplan.kernel.operations.frames import SUCCESS_ENVELOPE
from groundplan.kernel.operations.registry import Group

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


def refusal(error: GroundplanError, group: Group) -> dict[str, Any]:
    """The body of a refused call to a tool of this group."""
    body = error.body()
    if group is Group.CONTEXT and (name := error.contract_name or _named(error, CONTEXT_NAMES)):
        body["name"] = name
    if group not in SUCCESS_ENVELOPE:
        if group is Group.CONTEXT and error.details:
            body["details"] = _in_camel(error)
        return {"error": body}
    body["code"] = error.contract_code or _named(error, ENVELOPE_CODES)
    body["details"] = {"reason": error.code, **_in_camel(error)}
    if "currentVersion" in error.details:
        body["currentVersion"] = error.details["currentVersion"]
    return {"success": False, "error": body}


def _in_camel(error: GroundplanError) -> dict[str, Any]:
    return {_camel(name): value for name, value in error.details.items()}


def _camel(name: str) -> str:
    """A name of ours in the style of these contracts."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _named(error: GroundplanError, names: dict[type[GroundplanError], str]) -> str | None:
    return next((name for family, name in names.items() if isinstance(error, family)), None)
