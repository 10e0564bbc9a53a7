"""The interface between the protocol and the tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import GroundplanError


class ToolAnswer(NamedTuple):
    """The answer of a tool call: one text, and whether it is an error."""

    text: str
    is_error: bool


class Tools(Protocol):
    """Tools by name. Only the worker calls these methods, one at a time."""

    def listing(self) -> list[dict[str, Any]]:
        """Return the MCP description of every tool, always in the same order."""

    def call(self, name: str, arguments: Mapping[str, Any], cancellation: Cancellation | None = None) -> ToolAnswer:
        """Run one tool. `cancellation` can end it early.

        Raises:
            UnknownTool: there is no such tool.
        """

    def refuse(self, name: str, error: GroundplanError) -> ToolAnswer:
        """Return the answer to a call that was refused before its arguments could be read.

        Raises:
            UnknownTool: there is no such tool.
        """


def build_error_answer(error: GroundplanError) -> ToolAnswer:
    """Return the answer to a refused call of an unknown tool, whose error envelope is not known either."""
    return ToolAnswer(json.dumps({"error": error.to_dict()}, separators=(",", ":")), True)


class DeferredTools:
    """Tools that are built on first use, so that the first answer does not wait for them."""

    def __init__(self, build: Callable[[], Tools]) -> None:
        self._build = build
        self._built: Tools | None = None

    def load(self) -> None:
        """Build the tools now. As `on_ready` of `serve` it runs right after the first answer."""
        self._tools()

    def listing(self) -> list[dict[str, Any]]:
        """As `Tools.listing`."""
        return self._tools().listing()

    def call(self, name: str, arguments: Mapping[str, Any], cancellation: Cancellation | None = None) -> ToolAnswer:
        """As `Tools.call`; if the tools cannot be built, the answer is that error."""
        try:
            tools = self._tools()
        except GroundplanError as error:
            return build_error_answer(error)
        return tools.call(name, arguments, cancellation)

    def refuse(self, name: str, error: GroundplanError) -> ToolAnswer:
        """As `Tools.refuse`; if the tools cannot be built, the answer is that error."""
        try:
            tools = self._tools()
        except GroundplanError as unbuilt:
            return build_error_answer(unbuilt)
        return tools.refuse(name, error)

    def _tools(self) -> Tools:
        if self._built is None:
            self._built = self._build()
        return self._built
