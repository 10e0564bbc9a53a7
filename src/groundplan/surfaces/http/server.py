"""The server that `groundplan serve` runs: its application, its sockets, and its end."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import BaseRoute, Mount

from groundplan.catalog import OPERATIONS
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.operations.registry import Registry
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.store import Store
from groundplan.surfaces.http.answers import AnswerSender, answer_error, unknown_path
from groundplan.surfaces.http.docs_page import ApiDescription
from groundplan.surfaces.http.event_stream import EventsRoute
from groundplan.surfaces.http.exposure import LOOPBACK, Exposure
from groundplan.surfaces.http.front_door import LOOPBACK_HOSTS, AllowedHosts
from groundplan.surfaces.http.live_events import EventStreams, StreamLimits
from groundplan.surfaces.http.operation_pool import OperationPool
from groundplan.surfaces.http.rest import Authenticate, RestApi, RestMiddleware
from groundplan.surfaces.http.routes import RouteTable
from groundplan.surfaces.vocabularies import PREFIX, HttpVocabulary


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
) -> Starlette:
    """Return the application on an open store. `authenticate` returns the actor of a request, or raises.

    `recheck` does it for streams that are open, if that differs. `routes` are the pages beside REST. The application
    closes the pool.
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
    )
    streams = EventStreams(store, authenticate, recheck=recheck, limits=stream_limits)

    @asynccontextmanager
    async def close_at_end(_app: Starlette) -> AsyncIterator[None]:
        yield
        pool.close()
        streams.stop()
        streams.close()

    app = Starlette(
        routes=[
            *ApiDescription(table).list_routes(),
            *routes,
            EventsRoute(streams, vocabulary),
            Mount(PREFIX, app=rest),
        ],
        middleware=[*middleware, Middleware(AllowedHosts, hosts=hosts), Middleware(RestMiddleware, rest=rest)],
        exception_handlers={HTTPException: _answer_unknown},
        lifespan=close_at_end,
    )
    app.router.redirect_slashes = False
    app.state.event_streams = streams  # the server stops them first: they do not end by themselves
    return app


_build_table = cache(RouteTable)  # a process may have several applications, and most of the time to build one is this


async def _answer_unknown(request: Request, _error: Exception) -> Any:
    """Answer a path that nothing serves."""
    return AnswerSender(answer_error(unknown_path(request.url.path)))


# --- Run it until the process is told to end --------------------------------------------------------------------------

DRAIN_S = 3  # for requests that run when the server is told to end; then they are cancelled
SHUTDOWN_S = 4.8  # then the process ends, whatever still runs: every store survives that
IDLE_S = 30  # an idle connection is closed after it
CONNECTIONS_MAX = 10_000
SPARE_FILES = 100  # of the files that the process may open: for the store and its log


class PortTaken(Unavailable):
    """Another program uses the port."""

    code = "port_taken"

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(f"cannot listen on port {port} of {host}: {reason}; choose another one with --port", port=port)


def open_socket(port: int, host: str = LOOPBACK) -> socket.socket:
    """Return a socket that listens on an address; port 0 takes any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio turns Nagle's algorithm off: else the body waits 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(socket.SOMAXCONN)
    except OSError as error:
        listening.close()
        raise PortTaken(host, port, str(error.strerror)) from None
    return listening


def serve(
    app: Any,
    sockets: Sequence[socket.socket],
    on_ready: Callable[[Callable[[], None]], None] = lambda _stop: None,
    *,
    exposure: Exposure | None = None,
    on_stop: Callable[[], None] = lambda: None,
) -> None:
    """Answer requests until SIGINT or SIGTERM.

    `on_ready` is called when the first request can come, with a function that ends the server. `on_stop` is called
    when it begins to end, to close what would stay open by itself.
    """
    import uvicorn

    from groundplan.surfaces.http.slow_clients import ImpatientProtocol

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_ready(self.stop)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            last_resort.start()
            on_stop()
            await super().shutdown(sockets)

        def stop(self) -> None:
            self.should_exit = True

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            with super().capture_signals():
                yield
                # They were handled by ending; raised again, they would end the process before the store is closed.
                self._captured_signals.clear()

    exposure = exposure or Exposure()
    config = uvicorn.Config(
        app,
        http=ImpatientProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_raise_file_limit(),
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=DRAIN_S,
        lifespan="on",
        proxy_headers=bool(exposure.proxies),
        forwarded_allow_ips=list(exposure.proxies),
        ssl_certfile=exposure.tls.certificate if exposure.tls else None,
        ssl_keyfile=exposure.tls.key if exposure.tls else None,
    )
    last_resort = threading.Timer(SHUTDOWN_S, os._exit, (1,))
    last_resort.daemon = True
    try:
        Server(config).run(sockets=list(sockets))
    finally:
        last_resort.cancel()


def _raise_file_limit() -> int:
    """Allow as many open files as the system does, and return how many connections that is enough for."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS_MAX + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return CONNECTIONS_MAX if soft == resource.RLIM_INFINITY else max(1, min(CONNECTIONS_MAX, soft - SPARE_FILES))
