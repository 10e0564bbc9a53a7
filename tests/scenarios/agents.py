"""Agents, each with a real server process of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.surfaces.mcp.peer import Child, call

GROUNDPLAN = ("-m", "groundplan", "mcp")


class Agent(Child):
    """An agent with a server process of its own."""

    def __init__(self, db: str, *flags: str) -> None:
        super().__init__("--db", db, *flags, program=GROUNDPLAN)
        self.initialize()

    def answer(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers."""
        return self._ended(tool, arguments, is_error=False)

    def refused(self, tool: str, **arguments: Any) -> Any:
        """Why a tool refuses."""
        return self._ended(tool, arguments, is_error=True)["error"]

    def members(self, operation: str, **arguments: Any) -> Any:
        """What the tool for members answers."""
        return self.answer("members", operation=operation, **arguments)

    def refusal(self, operation: str, **arguments: Any) -> Any:
        """Why the tool for members refuses."""
        return self.refused("members", operation=operation, **arguments)

    def _ended(self, tool: str, arguments: dict[str, Any], *, is_error: bool) -> Any:
        result = self.result("tools/call", call(tool, **arguments))
        assert result["isError"] is is_error, result
        return json.loads(result["content"][0]["text"])


Serve = Callable[..., Agent]
