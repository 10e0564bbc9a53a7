"""JSON-RPC 2.0 messages, the revisions of MCP, and the envelope of the stateless revision.

    2024-11-05 … 2025-11-25   a handshake (`initialize`), then requests that depend on it
    2026-07-28                no handshake: every request has revision and capabilities in `params._meta`

This module is on the path from process start to the first answer, so it imports very little.
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
HEADER_MISMATCH = -32020  # over HTTP
NOT_JSON = ("invalid_json", "invalid_utf8")  # the input gate's codes for a line that is a parse error

PROTOCOL_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"

RequestId: TypeAlias = int | str
Message: TypeAlias = dict[str, Any]


class RpcError(Exception):
    """A message is refused. The answer is a JSON-RPC error and not the result of a tool."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class UnknownTool(RpcError):
    """No tool has this name."""

    def __init__(self, name: str, near: str | None) -> None:
        hint = f"; did you mean {near!r}?" if near else ""
        data = {"code": "unknown_tool"} | ({"near": near} if near else {})
        super().__init__(INVALID_PARAMS, f"no tool {quote_text(name)}{hint}", data)


def build_result(request_id: RequestId, value: Mapping[str, Any]) -> Message:
    """Return a successful response."""
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def build_error(request_id: RequestId | None, error: RpcError) -> Message:
    """Return an error response. The id is null if that of the request could not be read."""
    body: Message = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def parse_id(message: Message) -> RequestId | None:
    """Return the id of a request if it is a string or an integer (`true` is neither); else None."""
    request_id = message.get("id")
    return request_id if type(request_id) is int or type(request_id) is str else None


def is_response(message: Message) -> bool:
    """Return True if a message is a response. Responses are ignored, because the server sends no requests."""
    return "method" not in message and ("result" in message or "error" in message)


def check_shape(message: Message) -> None:
    """Raise if a message is not a JSON-RPC 2.0 request or notification."""
    if message.get("jsonrpc") != "2.0":
        raise _invalid_request('a message needs "jsonrpc": "2.0"')
    if type(message.get("method")) is not str:
        raise _invalid_request("a message needs a method, which must be a string")
    if "id" in message and parse_id(message) is None:
        raise _invalid_request("the id of a request must be a string or an integer")


def parse_params(message: Message) -> Message:
    """Return the parameters by name. Absent parameters and null both mean none."""
    params = message.get("params")
    if params is None:
        return {}
    if type(params) is dict:
        return params
    if type(params) is list:
        raise RpcError(INVALID_PARAMS, "params must be an object; positional parameters are not supported")
    raise _invalid_request("params must be an object")


def has_envelope(params: Message) -> bool:
    """Return True if a request has the envelope of a stateless revision.

    The version key alone decides, so that an incomplete envelope gets an error that names what is missing.
    """
    meta = params.get("_meta")
    return type(meta) is dict and PROTOCOL_VERSION_KEY in meta


def check_envelope(params: Message) -> str:
    """Return the revision of a stateless request. Raise if its envelope is incomplete or unsupported."""
    meta = params.get("_meta")
    if type(meta) is not dict:
        meta = {}
    missing = [key for key in (PROTOCOL_VERSION_KEY, CLIENT_CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise RpcError(
            INVALID_PARAMS,
            f"params._meta lacks {' and '.join(missing)}; every {STATELESS_REVISIONS[-1]} request needs both",
            {"code": "incomplete_envelope", "missing": missing},
        )
    revision = meta[PROTOCOL_VERSION_KEY]
    if type(revision) is not str:
        raise RpcError(INVALID_PARAMS, f"{PROTOCOL_VERSION_KEY} must be a string")
    if revision not in STATELESS_REVISIONS:
        raise unsupported_revision("Unsupported protocol version", revision)
    if type(meta[CLIENT_CAPABILITIES_KEY]) is not dict:
        raise RpcError(INVALID_PARAMS, f"{CLIENT_CAPABILITIES_KEY} must be an object")
    client = meta.get(CLIENT_INFO_KEY)
    if client is not None and type(client) is not dict:
        raise RpcError(INVALID_PARAMS, f"{CLIENT_INFO_KEY} must be an object")
    return revision


def unsupported_revision(message: str, requested: object) -> RpcError:
    """Return the error that names the supported revisions, so that the client can retry with one."""
    data: Message = {"supported": list(STATELESS_REVISIONS)}
    if type(requested) is str:
        data["requested"] = requested
    return RpcError(UNSUPPORTED_PROTOCOL_VERSION, message, data)


def internal_error(error: GroundplanError) -> RpcError:
    """Return the error for a defect of the server."""
    return RpcError(INTERNAL_ERROR, error.message, {**error.details, "code": error.code})


def unreadable_message(error: GroundplanError) -> RpcError:
    """Return the error for a line that is not JSON or that the input gate refuses."""
    code = PARSE_ERROR if error.code in NOT_JSON else INVALID_REQUEST
    return RpcError(code, error.message, {**error.details, "code": error.code})


def _invalid_request(message: str) -> RpcError:
    return RpcError(INVALID_REQUEST, message, {"code": "invalid_request"})
