"""What this server is for clients that look for an access token: protected resource metadata of RFC 9728.

    POST /mcp without a token   401, WWW-Authenticate: Bearer resource_metadata="https://plan.example.org/.well-known/…/mcp"
    GET that address            the resource, and the authorization servers whose tokens it takes, if there are any

The address comes from the request: its `Host` is one that the server answers to, and its scheme is that of the server
or of a stated proxy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.routing import Route as StarletteRoute

from groundplan.kernel.answers import encode
from groundplan.surfaces.http.answers import Answer, AnswerSender
from groundplan.surfaces.http.monitoring.request_monitor import ROUTE_OF_REQUEST

MCP_PATH = "/mcp"
METADATA_PATH = "/.well-known/oauth-protected-resource"


def list_resources(scope: Any) -> tuple[str, str]:
    """Return the identifiers of the protected resources, for a token to name as audience: the server, and its MCP."""
    host = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1").lower()
    origin = f"{scope['scheme']}://{host}"
    return origin, origin + MCP_PATH


def build_challenge(scope: Any) -> str:
    """Return the value of `WWW-Authenticate` for a request to MCP that has no valid token."""
    origin, _ = list_resources(scope)
    has_token = any(name == b"authorization" for name, _ in scope["headers"])
    metadata = f'Bearer resource_metadata="{origin}{METADATA_PATH}{MCP_PATH}"'
    return f'{metadata}, error="invalid_token"' if has_token else metadata


def list_metadata_routes(authorization_servers: Sequence[str] = ()) -> list[BaseRoute]:
    """Return the addresses of the metadata. Anybody may read them: whoever asks has no token yet."""

    def make_route(path: str, index: int) -> StarletteRoute:
        async def answer(request: Request) -> Any:
            request.scope[ROUTE_OF_REQUEST] = path
            described: dict[str, Any] = {
                "resource": list_resources(request.scope)[index],
                "resource_name": "Groundplan",
                "bearer_methods_supported": ["header"],
            }
            if authorization_servers:
                described["authorization_servers"] = list(authorization_servers)
            return AnswerSender(Answer(200, encode(described)))

        return StarletteRoute(path, answer, methods=["GET"])

    return [make_route(path, index) for index, path in enumerate((METADATA_PATH, METADATA_PATH + MCP_PATH))]
