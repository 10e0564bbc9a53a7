"""Agents, each with a real server process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from tests.standby import Standby
from tests.surfaces.mcp.connection import Connection, call

STDERR = 2


class Agent(Connection):
    """An agent with its own server process."""

    def __init__(self, program: Standby, db: str, *flags: str) -> None:
        input_fd, to_fd = os.pipe()
        from_fd, output_fd = os.pipe()
        self._server = program.start("mcp", "--db", db, *flags, files=(input_fd, output_fd, STDERR))
        os.close(input_fd)
        os.close(output_fd)
        super().__init__(to_fd, from_fd)
        self.initialize()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self._server.stop()

    def answer(self, tool: str, **arguments: Any) -> Any:
        """Return the answer of a tool."""
        return self._call(tool, arguments, is_error=False)

    def error_of(self, tool: str, **arguments: Any) -> Any:
        """Return the error of a tool."""
        return self._call(tool, arguments, is_error=True)["error"]

    def members(self, operation: str, **arguments: Any) -> Any:
        """Return the answer of the members tool."""
        return self.answer("members", operation=operation, **arguments)

    def members_error(self, operation: str, **arguments: Any) -> Any:
        """Return the error of the members tool."""
        return self.error_of("members", operation=operation, **arguments)

    def _call(self, tool: str, arguments: dict[str, Any], *, is_error: bool) -> Any:
        result = self.result("tools/call", call(tool, **arguments))
        assert result["isError"] is is_error, result
        return json.loads(result["content"][0]["text"])


Serve = Callable[..., Agent]
