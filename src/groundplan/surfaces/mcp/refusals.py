"""How a refusal reads in the answer of a tool: the codes are ours, the frame is that of the tool's contract.

work, purpose, briefing   {"error": {code, message, details?}}
context                   the same, and error.name: the class its contract gives the refusal
knowledge, containers     {"success": false, "error": {…}}, and currentVersion beside the code
"""

from __future__ import annotations

from typing import Any

from groundplan.kernel.errors import Forbidden, GroundplanError, NotFound, Unauthenticated
from groundplan.kernel.operations.registry import Group

CONTEXT_NAMES: dict[type[GroundplanError], str] = {
    Unauthenticated: "PcivAuthRequiredError",
    Forbidden: "PcivRlsDeniedError",
    # A scope that is hidden and one that is missing must read alike, so both have the name of the hidden one.
    NotFound: "PcivRlsDeniedError",
}
SUCCESS_ENVELOPE = (Group.KNOWLEDGE, Group.CONTAINERS)


def refusal(error: GroundplanError, group: Group) -> dict[str, Any]:
    """The body of a refused call to a tool of this group."""
    body = error.body()
    if group is Group.CONTEXT:
        names = (name for family, name in CONTEXT_NAMES.items() if isinstance(error, family))
        if name := next(names, None):
            body["name"] = name
    if group not in SUCCESS_ENVELOPE:
        return {"error": body}
    if "currentVersion" in error.details:
        body["currentVersion"] = error.details["currentVersion"]
    return {"success": False, "error": body}
