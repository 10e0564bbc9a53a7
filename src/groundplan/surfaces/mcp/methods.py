"""The description of the server, and the answers of its methods, which are the same over stdio and HTTP.

The MCP server over stdio loads this module before its first answer, so it imports very little.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import GroundplanError, Invalid, Unexpected
from groundplan.kernel.wording import find_nearest, quote_text
from groundplan.surfaces.exception_log import log_to_stderr
from groundplan.surfaces.mcp.protocol import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    SERVER_INFO_KEY,
    STATELESS_REVISIONS,
    Message,
    RpcError,
    internal_error,
)

WORKER_METHODS = ("tools/list", "tools/call", "prompts/list", "prompts/get")
CAPABILITIES: Message = {"prompts": {}, "tools": {}}
# How long a stateless client may cache a list: it is fixed for this process, but the next process may be a newer
# version or serve other groups.
CACHE_HINTS: Message = {"ttlMs": 300_000, "cacheScope": "private"}


def check_call_params(method: str, params: Message) -> Message:
    """Return the parameters of a method that the worker runs. Raise if they are invalid."""
    if method not in WORKER_METHODS:
        raise RpcError(METHOD_NOT_FOUND, f"no method {quote_text(method)} in this revision")
    if method in ("tools/list", "prompts/list"):
        if params.get("cursor") is not None:
            raise RpcError(INVALID_PARAMS, f"the answer to {method} has one page; send no cursor")
        return params
    if type(params.get("name")) is not str:
        raise RpcError(INVALID_PARAMS, f"{method} needs a name, which must be a string")
    arguments = params.get("arguments")
    if arguments is not None and type(arguments) is not dict:
        raise RpcError(INVALID_PARAMS, f"the arguments of {method} must be an object")
    if arguments and method == "prompts/get":
        raise RpcError(INVALID_PARAMS, "prompts take no arguments; send only a name")
    return params


def describe_server(version: str) -> Message:
    """Return the name and version of the server."""
    return {"name": "groundplan", "version": version}


def build_discovery(server: Message, instructions: str) -> Message:
    """Return the result of `server/discover`, which the stateless revision has instead of the handshake."""
    value = {
        "supportedVersions": list(STATELESS_REVISIONS),
        "capabilities": CAPABILITIES,
        "instructions": instructions,
        **CACHE_HINTS,
    }
    return _wrap_stateless(value, server)


def answer_method(
    tools: Tools,
    method: str,
    params: Message,
    *,
    stateless_server: Message | None = None,
    cancellation: Cancellation | None = None,
    refusal: Invalid | None = None,
    log: Callable[[str], Unexpected] = log_to_stderr,
) -> Message:
    """Return the result of a method with checked parameters.

    A result of the stateless revision names the server, `stateless_server`. `refusal` is why a call of a tool was
    refused before its arguments were read.
    """
    try:
        value = _build_value(tools, method, params, cancellation, refusal, stateless=stateless_server is not None)
    except RpcError:
        raise
    except GroundplanError as error:
        raise internal_error(error) from None
    except Exception:
        raise internal_error(log(method)) from None
    return value if stateless_server is None else _wrap_stateless(value, stateless_server)


def _build_value(
    tools: Tools,
    method: str,
    params: Message,
    cancellation: Cancellation | None,
    refusal: Invalid | None,
    *,
    stateless: bool,
) -> Message:
    if method == "tools/call":
        answer = _call_tool(tools, params, cancellation, refusal)
        return {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}
    if method == "prompts/get":
        return get_prompt(params["name"])
    hints = CACHE_HINTS if stateless else {}
    if method == "prompts/list":
        return {"prompts": list_prompts(), **hints}
    return {"tools": tools.listing(), **hints}


def _call_tool(tools: Tools, params: Message, cancellation: Cancellation | None, refusal: Invalid | None) -> ToolAnswer:
    name = params.get("name")
    if refusal is None:
        return tools.call(str(name), params.get("arguments") or {}, cancellation)
    return tools.refuse(name, refusal) if type(name) is str else build_error_answer(refusal)


def _wrap_stateless(value: Message, server: Message) -> Message:
    """Return a result with the fields that all stateless results have."""
    return {"resultType": "complete", **value, "_meta": {SERVER_INFO_KEY: server}}


# --- Tools, as the protocol sees them ---------------------------------------------------------------------------------


class ToolAnswer(NamedTuple):
    """The answer of a tool call: a text, and True if the text is an error."""

    text: str
    is_error: bool


class Tools(Protocol):
    """Tools by name. Only the worker thread calls these methods."""

    def listing(self) -> list[dict[str, Any]]:
        """Return the MCP description of every tool, always in the same order."""

    def call(self, name: str, arguments: Mapping[str, Any], cancellation: Cancellation | None = None) -> ToolAnswer:
        """Run one tool. `cancellation` can end it early."""

    def refuse(self, name: str, error: GroundplanError) -> ToolAnswer:
        """Return the answer to a call whose arguments were refused before they were read."""


def build_error_answer(error: GroundplanError) -> ToolAnswer:
    """Return the answer to a refused call of an unknown tool. The error envelope of the tool is unknown, too."""
    return ToolAnswer(json.dumps({"error": error.to_dict()}, separators=(",", ":")), True)


class DeferredTools:
    """Tools that are built on first use, so that the first answer does not wait for them."""

    def __init__(self, build: Callable[[], Tools]) -> None:
        self._build = build
        self._built: Tools | None = None

    def load(self) -> None:
        """Build the tools. As `on_ready` of `serve`, this runs right after the first answer."""
        self._tools()

    def listing(self) -> list[dict[str, Any]]:
        """Return the list of tools."""
        return self._tools().listing()

    def call(self, name: str, arguments: Mapping[str, Any], cancellation: Cancellation | None = None) -> ToolAnswer:
        """Call a tool. If the tools cannot be built, return that error."""
        try:
            tools = self._tools()
        except GroundplanError as error:
            return build_error_answer(error)
        return tools.call(name, arguments, cancellation)

    def refuse(self, name: str, error: GroundplanError) -> ToolAnswer:
        """Return the answer to a refused call. If the tools cannot be built, return that error."""
        try:
            tools = self._tools()
        except GroundplanError as unbuilt:
            return build_error_answer(unbuilt)
        return tools.refuse(name, error)

    def _tools(self) -> Tools:
        if self._built is None:
            self._built = self._build()
        return self._built


# --- Prompts: the skills ----------------------------------------------------------------------------------------------


class UnknownPrompt(RpcError):
    """There is no prompt with this name."""

    def __init__(self, name: str, near: str | None) -> None:
        hint = f"; did you mean {near!r}?" if near else ""
        data = {"code": "unknown_prompt"} | ({"near": near} if near else {})
        super().__init__(INVALID_PARAMS, f"no prompt {quote_text(name)}{hint}", data)


def list_prompts() -> list[dict[str, Any]]:
    """Return the MCP description of every prompt, without `title`, which the first two revisions do not define."""
    from groundplan.skills import SKILL_NAMES, load_skill  # here, because only clients that ask for prompts need it

    skills = map(load_skill, SKILL_NAMES)
    return [{"name": skill.name, "description": skill.description} for skill in skills]


def get_prompt(name: str) -> dict[str, Any]:
    """Return a prompt as one message of the user."""
    from groundplan.skills import SKILL_NAMES, load_skill

    if name not in SKILL_NAMES:
        raise UnknownPrompt(name, find_nearest(name, list(SKILL_NAMES)))
    skill = load_skill(name)
    content = {"type": "text", "text": skill.text}
    return {"description": skill.description, "messages": [{"role": "user", "content": content}]}
