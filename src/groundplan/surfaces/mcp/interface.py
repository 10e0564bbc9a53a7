"""What the protocol needs to know of the tools, and nothing more."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from groundplan.kernel.errors import GroundplanError


class ToolAnswer(NamedTuple):
    """What a call gives back: one text, and whether it is a refusal."""

    text: str
    is_error: bool


class Tools(Protocol):
    """Tools by name. Their methods are called from the worker alone, one at a time."""

    def listing(self) -> list[dict[str, Any]]:
        """Every tool as MCP describes it, always in the same order."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Run one tool.

        Raises:
            UnknownTool: there is no such tool.
        """

    def refuse(self, name: str, error: GroundplanError) -> ToolAnswer:
        """The answer to a call that was refused before its arguments could be read, as this tool words it.

        Raises:
            UnknownTool: there is no such tool.
        """


def build_error_answer(error: GroundplanError) -> ToolAnswer:
    """The answer to a refused call when the tool, and with it the frame of its refusals, is not known."""
    return ToolAnswer(json.dumps({"error": error.body()}, separators=(",", ":")), True)


class DeferredTools:
    """Tools that are built when they are first needed, so that the first answer does not wait for them."""

    def __init__(self, build: Callable[[], Tools]) -> None:
        self._build = build
        self._built: Tools | None = None

    def load(self) -> None:
        """Build now. As `on_ready` of `serve` it happens right after the first answer, while that is read."""
        self._tools()

    def listing(self) -> list[dict[str, Any]]:
        """As `Tools.listing`."""
        return self._tools().listing()

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """As `Tools.call`; if the tools cannot be built, for want of their store, the call is refused."""
        try:
            tools = self._tools()
        except GroundplanError as error:
            return build_error_answer(error)
        return tools.call(name, arguments)

    def refuse(self, name: str, error: GroundplanError) -> ToolAnswer:
        """As `Tools.refuse`; tools that cannot be built refuse for that reason, as they do in `call`."""
        try:
            tools = self._tools()
        except GroundplanError as unbuilt:
            return build_error_answer(unbuilt)
        return tools.refuse(name, error)

    def _tools(self) -> Tools:
        if self._built is None:
            self._built = self._build()
        return self._built
