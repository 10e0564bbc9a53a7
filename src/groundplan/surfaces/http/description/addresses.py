"""The addresses that describe the API: the OpenAPI document, its page and the style of the page. No actor is needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.routing import Route as StarletteRoute

from groundplan.kernel.answers import encode
from groundplan.surfaces.http.answers import COMPRESSED_BYTES_MIN, JSON_TYPE, Answer, AnswerSender, Headers, compress
from groundplan.surfaces.http.monitoring.request_monitor import ROUTE_OF_REQUEST
from groundplan.surfaces.http.negotiation import GZIP_CODINGS, accepts
from groundplan.surfaces.http.problems import answer_problem, method_not_allowed
from groundplan.surfaces.http.routes import RouteTable
from groundplan.surfaces.route_paths import PREFIX

STYLE = Path(__file__).parent / "page" / "docs.css"
# Nothing but the style sheet of this server is loaded, and no other page may show this one in a frame.
CONTENT_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
METHODS = ("GET", "HEAD")


class ApiDescription:
    """The description of a table of routes; each part is built at the first request for it."""

    def __init__(self, table: RouteTable) -> None:
        self._table = table

    @cached_property
    def document(self) -> dict[str, Any]:
        """The OpenAPI document."""
        from groundplan.surfaces.http.description.openapi import (
            build_openapi,  # here, because few processes are asked for it
        )

        return build_openapi(self._table)

    @cached_property
    def encoded_document(self) -> bytes:
        """The OpenAPI document as JSON."""
        return encode(self.document)

    @cached_property
    def page(self) -> bytes:
        """The page for people."""
        from groundplan.surfaces.http.description.docs_page import render_page

        return render_page(self.document)

    @cached_property
    def style(self) -> bytes:
        """The style sheet of the page."""
        return STYLE.read_bytes()

    def list_routes(self) -> list[StarletteRoute]:
        """Return the routes of the description."""
        policy: Headers = [(b"content-security-policy", CONTENT_POLICY.encode()), (b"referrer-policy", b"no-referrer")]
        return [
            _make_route("openapi.json", lambda: self.encoded_document, JSON_TYPE, []),
            _make_route("docs", lambda: self.page, b"text/html; charset=utf-8", policy),
            _make_route(STYLE.name, lambda: self.style, b"text/css; charset=utf-8", []),
        ]


def _make_route(name: str, read: Callable[[], bytes], content_type: bytes, headers: Headers) -> StarletteRoute:
    async def answer(request: Request) -> Any:
        request.scope[ROUTE_OF_REQUEST] = f"{PREFIX}/{name}"
        if request.method not in METHODS:
            return AnswerSender(answer_problem(method_not_allowed(request.method, METHODS)))
        body, more = read(), list(headers)
        if len(body) > COMPRESSED_BYTES_MIN:
            more.append((b"vary", b"Accept-Encoding"))
            if accepts(request.headers.get("accept-encoding", ""), GZIP_CODINGS):
                more.append((b"content-encoding", b"gzip"))
                body = compress(body)

        return AnswerSender(Answer(200, body, more, content_type))

    route = StarletteRoute(f"{PREFIX}/{name}", answer)
    route.methods = None  # every method: a Mount stands behind these routes, so others are refused here
    return route
