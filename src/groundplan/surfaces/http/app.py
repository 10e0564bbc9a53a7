"""The ASGI application of a server: all routes below `/v1`, and the pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import BaseRoute, Mount

from groundplan.catalog import OPERATIONS
from groundplan.surfaces.http.answers import AnswerSender, answer_error, unknown_path
from groundplan.surfaces.http.docs_page import ApiDescription
from groundplan.surfaces.http.event_stream_handler import EventStreamHandler
from groundplan.surfaces.http.event_streams import EventStreams, StreamLimits
from groundplan.surfaces.http.front_door import (
    Check,
    FrontDoor,
    refuse_clear_text,
    refuse_other_host,
    refuse_pages_on_metrics_port,
)
from groundplan.surfaces.http.log_lines import ObservedRequest
from groundplan.surfaces.http.rest import Handler, RestApi
from groundplan.surfaces.http.routes import STREAMS, RouteTable
from groundplan.surfaces.http.server import Server
from groundplan.surfaces.vocabularies import PREFIX


def build_app(
    server: Server,
    *,
    stream_limits: StreamLimits | None = None,
    pages: Sequence[BaseRoute] = (),
    observers: Sequence[Callable[[ObservedRequest], None]] = (),
) -> Starlette:
    """Return the ASGI application of a server. It closes the operation pool when the server ends."""
    table = _build_table()
    streams = EventStreams(server, stream_limits or StreamLimits())
    description = ApiDescription(table)
    handlers: dict[str, Handler] = {
        **dict.fromkeys((stream.name for stream in STREAMS), EventStreamHandler(streams)),
        "openapi.json": description.answer_document,
        "docs": description.answer_page,
        "docs.css": description.answer_style,
    }

    @asynccontextmanager
    async def close_at_end(_app: Starlette) -> AsyncIterator[None]:
        yield
        server.pool.close()
        streams.stop()
        streams.close()

    app = Starlette(
        # The table first: most requests are for it, and one look costs less than the comparison with every page.
        routes=[Mount(PREFIX, app=RestApi(server, table, handlers)), *pages],
        middleware=[
            Middleware(FrontDoor, checks=_list_checks(server), observers=observers, running=server.running),
        ],
        exception_handlers={HTTPException: _answer_unknown},
        lifespan=close_at_end,
    )
    app.router.redirect_slashes = False
    app.state.event_streams = streams  # the server stops them first: they do not end by themselves
    return app


@cache  # a process may have several applications, and most of the time to build one is this
def _build_table() -> RouteTable:
    return RouteTable(OPERATIONS)


def _list_checks(server: Server) -> list[Check]:
    exposure, metrics_port = server.exposure, server.metrics_port
    checks: list[Check] = []
    if metrics_port is not None:
        checks.append(partial(refuse_pages_on_metrics_port, metrics_port))
    if exposure.proxies and not exposure.tls:
        checks.append(partial(refuse_clear_text, metrics_port))
    return [*checks, partial(refuse_other_host, frozenset(host.lower() for host in exposure.hosts))]


async def _answer_unknown(request: Request, _error: Exception) -> Any:
    """Answer a path without a route."""
    return AnswerSender(answer_error(unknown_path(request.url.path)))
