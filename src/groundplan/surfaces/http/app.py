"""The application that `groundplan serve` runs: REST, its OpenAPI document and its page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import BaseRoute, Mount

from groundplan.catalog import OPERATIONS
from groundplan.kernel.operations.registry import Registry
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.store import Store
from groundplan.surfaces.http.allowed_hosts import LOOPBACK_HOSTS, AllowedHosts
from groundplan.surfaces.http.answers import AnswerSender
from groundplan.surfaces.http.description.addresses import ApiDescription
from groundplan.surfaces.http.events.commit_listener import CommitListener
from groundplan.surfaces.http.events.endpoint import EventsRoute
from groundplan.surfaces.http.events.streams import EventStreams, StreamLimits
from groundplan.surfaces.http.monitoring.log_lines import log_exception
from groundplan.surfaces.http.problems import answer_problem, unknown_path
from groundplan.surfaces.http.rest import Authenticate, RestApi, RestFirst
from groundplan.surfaces.http.routes import RouteTable
from groundplan.surfaces.http.run_operation import OperationPool
from groundplan.surfaces.route_paths import PREFIX
from groundplan.surfaces.vocabularies import HttpVocabulary


def build_app(
    store: Store,
    authenticate: Authenticate,
    *,
    operations: Registry = OPERATIONS,
    preferences: Preferences | None = None,
    hosts: Collection[str] = LOOPBACK_HOSTS,
    pool: OperationPool | None = None,
    routes: Sequence[BaseRoute] = (),
    middleware: Sequence[Middleware] = (),
    recheck: Authenticate | None = None,
    stream_limits: StreamLimits | None = None,
    listener: CommitListener | None = None,
    on_close: Callable[[], Awaitable[None]] | None = None,
) -> Starlette:
    """Return the application on an open store. `authenticate` returns the actor of a request, or raises.

    `recheck` does it for streams that are open, if that differs. `routes` are the pages beside REST. The application
    closes the pool and the listener, after `on_close`.
    """
    table = _build_table(operations)
    vocabulary = HttpVocabulary(operations)
    pool = pool or OperationPool()
    rest = RestApi(
        store,
        authenticate,
        table,
        preferences=preferences or Preferences(vocabulary=vocabulary),
        vocabulary=vocabulary,
        pool=pool,
        log=lambda: log_exception("a request"),
    )
    log_streams = partial(log_exception, "a stream of events")
    listener = listener or CommitListener(store, log_streams)
    streams = EventStreams(
        store, authenticate, recheck=recheck, limits=stream_limits, listener=listener, log=log_streams
    )

    @asynccontextmanager
    async def close_at_end(_app: Starlette) -> AsyncIterator[None]:
        yield
        if on_close is not None:
            await on_close()
        pool.close()
        streams.stop()
        streams.close()
        listener.close()

    app = Starlette(
        routes=[
            *ApiDescription(table).list_routes(),
            *routes,
            EventsRoute(streams, vocabulary, log_streams),
            Mount(PREFIX, app=rest),
        ],
        middleware=[*middleware, Middleware(AllowedHosts, hosts=hosts), Middleware(RestFirst, rest=rest)],
        exception_handlers={HTTPException: _answer_unknown},
        lifespan=close_at_end,
    )
    app.router.redirect_slashes = False
    app.state.event_streams = streams  # the server stops them first: they do not end by themselves
    return app


_build_table = cache(RouteTable)  # a process may have several applications, and most of the time to build one is this


async def _answer_unknown(request: Request, _error: Exception) -> Any:
    """Answer a path that nothing serves."""
    return AnswerSender(answer_problem(unknown_path(request.url.path)))
