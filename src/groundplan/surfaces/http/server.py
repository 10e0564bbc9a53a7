"""A server: the objects that its endpoints share, its sockets, and its shutdown."""

from __future__ import annotations

import os
import resource
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from groundplan.catalog import OPERATIONS
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.store import Store
from groundplan.surfaces.http.authentication import Authenticator
from groundplan.surfaces.http.exposure import LOOPBACK, Exposure
from groundplan.surfaces.http.front_door import RunningRequests
from groundplan.surfaces.http.operation_pool import OperationPool
from groundplan.surfaces.vocabularies import HttpVocabulary

VOCABULARY = HttpVocabulary(OPERATIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The objects that all endpoints of a server share."""

    store: Store
    authenticator: Authenticator
    exposure: Exposure = field(default_factory=Exposure)
    metrics_port: int | None = None  # where metrics need no token
    vocabulary: HttpVocabulary = VOCABULARY
    preferences: Preferences = field(default_factory=lambda: Preferences(vocabulary=VOCABULARY))
    pool: OperationPool = field(default_factory=OperationPool)
    running: RunningRequests = field(default_factory=RunningRequests)


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
    """Return a socket that listens on an address. Port 0 selects any free port."""
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

    class StoppableServer(uvicorn.Server):
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
    # An ordinary end waits for the threads of the pool, and one may wait for a lock of the store, which nobody can end.
    last_resort = threading.Timer(SHUTDOWN_S, os._exit, (1,))
    last_resort.daemon = True
    try:
        StoppableServer(config).run(sockets=list(sockets))
    finally:
        last_resort.cancel()


def _raise_file_limit() -> int:
    """Raise the limit of open files as far as allowed, and return the number of connections that it is enough for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS_MAX + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return CONNECTIONS_MAX if soft == resource.RLIM_INFINITY else max(1, min(CONNECTIONS_MAX, soft - SPARE_FILES))
