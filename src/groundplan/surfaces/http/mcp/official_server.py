"""The official MCP server: it speaks the protocol over HTTP, and our code answers the methods.

The SDK takes a second to import, so only the first request to MCP imports this module.

Its middleware sees a request before the SDK looks at the parameters, and a result that it returns is sent as it is. So
the answers are those of stdio, and nothing is validated twice. That interface may change with a minor version of the
SDK; `pyproject.toml` names the one that is used here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import ServerCapabilities

from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import Unexpected
from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX
from groundplan.surfaces.http.mcp.mcp_request import MCP_REQUEST, SESSION_HEADER, McpRequest
from groundplan.surfaces.http.run_operation import OperationPool
from groundplan.surfaces.mcp.methods import (
    CAPABILITIES,
    INSTRUCTIONS,
    WORKER_METHODS,
    answer_method,
    build_discovery,
    check_call_params,
    describe_server,
)
from groundplan.surfaces.mcp.protocol import STATELESS_REVISIONS, Message, RpcError

CANCELLED_BY_CLIENT = "the client cancelled this request"


class _CapableServer(Server[Any]):
    """A server with our capabilities. The SDK would derive them from handlers, and there are none."""

    def get_capabilities(self, *_options: Any, **_named: Any) -> ServerCapabilities:
        return ServerCapabilities.model_validate(CAPABILITIES)


class OfficialServer:
    """The official server on an event loop, from `start` to `stop`."""

    def __init__(
        self, *, version: str, hosts: Collection[str], pool: OperationPool, log: Callable[[str], Unexpected]
    ) -> None:
        self._description = describe_server(version)
        self._pool = pool
        self._log = log
        server = _CapableServer(self._description["name"], version=version, instructions=INSTRUCTIONS)
        server.middleware[:] = [self._answer]  # without the one for traces
        self._sessions = StreamableHTTPSessionManager(
            server,
            json_response=True,
            security_settings=_allow_only(hosts),
            session_idle_timeout=None,  # `McpSessions` ends and counts them
            max_sessions=None,
            max_request_body_size=BODY_BYTES_MAX,
        )
        self._stopping = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        # It warns about what clients do wrong, with text of theirs.
        logging.getLogger("mcp").setLevel(logging.ERROR)

    async def start(self) -> None:
        """Begin to answer."""
        is_ready = asyncio.Event()
        self._running = asyncio.get_running_loop().create_task(self._run(is_ready))
        await is_ready.wait()

    async def stop(self) -> None:
        """End all sessions."""
        self._stopping.set()
        if self._running is not None:
            await self._running

    async def _run(self, is_ready: asyncio.Event) -> None:
        # In a task of its own, because the SDK wants to leave it in the task that entered it.
        async with self._sessions.run():
            is_ready.set()
            await self._stopping.wait()

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer an ASGI request whose scope has an `McpRequest`."""
        await self._sessions.handle_request(scope, receive, send)

    async def end_session(self, session_id: str, host: str) -> None:
        """End a session as its client could."""
        headers = [(SESSION_HEADER.encode(), session_id.encode()), (b"host", host.encode("latin-1"))]
        scope = {"type": "http", "method": "DELETE", "path": "/", "query_string": b"", "headers": headers}

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_message: Any) -> None:
            pass

        await self._sessions.handle_request(scope, receive, send)

    async def _answer(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None:
            return await call_next(ctx)
        is_stateless = ctx.protocol_version in STATELESS_REVISIONS
        if ctx.method == "server/discover" and is_stateless:
            return build_discovery(self._description)
        if ctx.method not in WORKER_METHODS:
            return await call_next(ctx)
        try:
            return await self._run_method(ctx, self._description if is_stateless else None)
        except RpcError as error:
            raise MCPError(code=error.code, message=error.message, data=error.data) from None

    async def _run_method(self, ctx: ServerRequestContext[Any, Any], stateless_server: Message | None) -> Message:
        http_request: Any = ctx.request
        request: McpRequest = http_request.scope[MCP_REQUEST]
        cancellation = Cancellation()
        call = partial(
            answer_method,
            request.tools,
            ctx.method,
            check_call_params(ctx.method, dict(ctx.params or {})),
            stateless_server=stateless_server,
            cancellation=cancellation,
            log=self._log,
        )
        # The SDK reads nothing more from the client while this runs, so a disconnection is noticed here.
        answer = await self._pool.run(call, http_request.receive, lambda: cancellation.cancel(CANCELLED_BY_CLIENT))
        return answer or {}  # without an answer the client is gone


def _allow_only(hosts: Collection[str]) -> TransportSecuritySettings:
    """Return the names and origins that are answered; `AllowedHosts` has refused the others before."""
    names = sorted({*hosts, *(f"{host}:*" for host in hosts)})
    origins = [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]
    return TransportSecuritySettings(enable_dns_rebinding_protection=True, allowed_hosts=names, allowed_origins=origins)
