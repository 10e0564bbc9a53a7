"""A client of MCP over HTTP, without a network and without the SDK: it sends what a test tells it to."""

from __future__ import annotations

import json
from typing import Any

from groundplan.kernel.actors import local_actor
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.web.server_app import build_server_app
from tests.surfaces.http.client import AppClient, Reply
from tests.surfaces.mcp.connection import envelope

STATELESS = "2026-07-28"
HANDSHAKE = "2025-11-25"
NAMED = {"tools/call": "name", "prompts/get": "name"}  # the parameter that the header Mcp-Name repeats


def create_token(store: Store, name: str = "ada", **arguments: Any) -> str:
    """Return a new token; by default one of a person whom the store trusts."""
    given = {"kind": "person", "trusted": True, **arguments}
    return str(Session(store, local_actor("ada")).call("token.create", name=name, **given).secret)


class McpClient(AppClient):
    """Sends messages to `/mcp` with a token."""

    def __init__(self, store: Store, token: str, exposure: Exposure | None = None, **options: Any) -> None:
        options.setdefault("requests_per_s", 1_000_000)
        self.server = build_server_app(store, exposure or Exposure(port=8321), **options)
        super().__init__(self.server.app)
        self.token = token

    def close(self) -> None:
        """Stop the server."""
        super().close()
        self.server.close()

    def exchange(self, message: Any, *, verb: str = "POST", target: str = "/mcp", **headers: Any) -> Reply:
        """Send a message with the headers that every client sends; None leaves one out."""
        given = {"authorization": f"Bearer {self.token}", "accept": "application/json, text/event-stream", **headers}
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        given.setdefault("content_type", "application/json")
        sent = {name: value for name, value in given.items() if value is not None}
        return self.send(verb, target, raw=raw if verb == "POST" else None, **sent)

    def open_session(self, revision: str = HANDSHAKE, **headers: Any) -> str:
        """Open a session, and return its id."""
        reply = self.exchange(build_handshake(revision), **headers)
        assert reply.status == 200, reply.body
        session = reply.headers["mcp-session-id"]
        initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert self.exchange(initialized, mcp_session_id=session, **headers).status == 202
        return session

    def ask(
        self, method: str, params: dict[str, Any] | None = None, *, session: str | None = None, **headers: Any
    ) -> Reply:
        """Send a request in a session, or else of the stateless revision."""
        params = params or {}
        if session is not None:
            return self.exchange(build(method, params), mcp_session_id=session, **headers)
        own = {"mcp_protocol_version": STATELESS, "mcp_method": method}
        if method in NAMED:
            own["mcp_name"] = str(params[NAMED[method]])
        return self.exchange(build(method, envelope(**params)), **{**own, **headers})

    def result(self, method: str, params: dict[str, Any] | None = None, *, session: str | None = None) -> Any:
        """Return the result of a request."""
        reply = self.ask(method, params, session=session)
        assert reply.status == 200, reply.body
        return reply.json["result"]


def build(method: str, params: dict[str, Any], request_id: int | str = 1) -> dict[str, Any]:
    """Return a JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def build_handshake(revision: str = HANDSHAKE) -> dict[str, Any]:
    """Return the request that opens a session."""
    client = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    return build("initialize", client)
