"""What stands around an answer: the contract of its tool decides, on every surface that gives the tool's answer.

work, purpose, context, briefing   the answer itself
knowledge, containers              {"success": true, "data": …}
"""

from __future__ import annotations

from typing import Any

from groundplan.kernel.operations.registry import Group, Operation

SUCCESS_ENVELOPE = (Group.KNOWLEDGE, Group.CONTAINERS)


def framed(operation: Operation[Any, Any], answer: Any) -> Any:
    """An answer as the operation's tool gives it."""
    if operation.tool is None or operation.tool.group not in SUCCESS_ENVELOPE:
        return answer
    return {"success": True, "data": answer}
