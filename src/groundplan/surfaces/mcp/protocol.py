"""The words of the wire: JSON-RPC 2.0 messages, the revisions of MCP, and the envelope of the stateless one.

    2024-11-05 … 2025-11-25   a handshake first (`initialize`), then requests that rest on it
    2026-07-28                no handshake: every request brings revision and capabilities in `params._meta`

This module is on the path from process start to the first answer, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.wording import quote_text

HANDSHAKE_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_REVISIONS = ("2026-07-28",)
BATCH_REVISION = "2025-03-26"  # the only revision in which one line may carry an array of messages

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_PROTOCOL_VERSION = -32022
NOT_JSON = ("invalid_json", "invalid_utf8")  # the input gate's codes for a line that is a parse error

PROTOCOL_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"

RequestId: TypeAlias = int | str
Message: TypeAlias = dict[str, Any]


class RpcError(Exception):
    """A refusal of the message itself, answered as a JSON-RPC error and not as the result of a tool."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class UnknownTool(RpcError):
    """No tool has this name, or its group is switched off."""

    def __init__(self, name: str, near: str | None) -> None:
        hint = f"; did you mean {near!r}?" if near else ""
        data = {"code": "unknown_tool"} | ({"near": near} if near else {})
        super().__init__(INVALID_PARAMS, f"no tool {quote_text(name)}{hint}", data)


def build_result(request_id: RequestId, value: Mapping[str, Any]) -> Message:
    """A successful response."""
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def build_error(request_id: RequestId | None, error: RpcError) -> Message:
    """An error response; the id is null when the request's own could not be read."""
    body: Message = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def parse_id(message: Message) -> RequestId | None:
    """The id of a request if an answer can carry it: a string or an integer. `true` is neither."""
    request_id = message.get("id")
    return request_id if type(request_id) is int or type(request_id) is str else None


def is_response(message: Message) -> bool:
    """Whether this answers a request. We send none, so whatever it answers was not ours."""
    return "method" not in message and ("result" in message or "error" in message)


def check_shape(message: Message) -> None:
    """Refuse what is not a JSON-RPC 2.0 request or notification."""
    if message.get("jsonrpc") != "2.0":
        raise _invalid_request('a message needs "jsonrpc": "2.0"')
    if type(message.get("method")) is not str:
        raise _invalid_request("a message needs a method, and it is a string")
    if "id" in message and parse_id(message) is None:
        raise _invalid_request("the id of a request is a string or an integer")


def parse_params(message: Message) -> Message:
    """The parameters by name. Absent and null both mean none."""
    params = message.get("params")
    if params is None:
        return {}
    if type(params) is dict:
        return params
    if type(params) is list:
        raise RpcError(INVALID_PARAMS, "parameters are given by name, in an object")
    raise _invalid_request("params is an object")


def has_envelope(params: Message) -> bool:
    """Whether a request speaks a stateless revision.

    The version key alone tells, so that a half-built envelope is answered with what it lacks.
    """
    meta = params.get("_meta")
    return type(meta) is dict and PROTOCOL_VERSION_KEY in meta


def check_envelope(params: Message) -> str:
    """The revision of a stateless request, once its envelope is found complete and the revision served."""
    meta = params.get("_meta")
    if type(meta) is not dict:
        meta = {}
    missing = [key for key in (PROTOCOL_VERSION_KEY, CLIENT_CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise RpcError(
            INVALID_PARAMS,
            f"params._meta lacks {' and '.join(missing)}; every {STATELESS_REVISIONS[-1]} request has both",
            {"code": "incomplete_envelope", "missing": missing},
        )
    revision = meta[PROTOCOL_VERSION_KEY]
    if type(revision) is not str:
        raise RpcError(INVALID_PARAMS, f"{PROTOCOL_VERSION_KEY} is a string")
    if revision not in STATELESS_REVISIONS:
        raise unsupported_revision("Unsupported protocol version", revision)
    if type(meta[CLIENT_CAPABILITIES_KEY]) is not dict:
        raise RpcError(INVALID_PARAMS, f"{CLIENT_CAPABILITIES_KEY} is an object")
    client = meta.get(CLIENT_INFO_KEY)
    if client is not None and type(client) is not dict:
        raise RpcError(INVALID_PARAMS, f"{CLIENT_INFO_KEY} is an object")
    return revision


def unsupported_revision(message: str, requested: object) -> RpcError:
    """The refusal that names what is served; a client reads `supported` and tries again."""
    data: Message = {"supported": list(STATELESS_REVISIONS)}
    if type(requested) is str:
        data["requested"] = requested
    return RpcError(UNSUPPORTED_PROTOCOL_VERSION, message, data)


def internal_error(error: GroundplanError) -> RpcError:
    """A refusal that is no fault of the message."""
    return RpcError(INTERNAL_ERROR, error.message, {**error.details, "code": error.code})


def unreadable_message(error: GroundplanError) -> RpcError:
    """Why a line is not a message: it is no JSON at all, or JSON that we refuse to look into."""
    code = PARSE_ERROR if error.code in NOT_JSON else INVALID_REQUEST
    return RpcError(code, error.message, {**error.details, "code": error.code})


def _invalid_request(message: str) -> RpcError:
    return RpcError(INVALID_REQUEST, message, {"code": "invalid_request"})
