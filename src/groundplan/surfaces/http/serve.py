"""Run the application on loopback until the process is told to end."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from groundplan.kernel.errors import Unavailable

HOST = "127.0.0.1"
SHUTDOWN_S = 5  # for requests that run when the server is told to end
IDLE_S = 30  # an idle connection is closed after it
CONNECTIONS_MAX = 1_000


class PortTaken(Unavailable):
    """Another program uses the port."""

    code = "port_taken"

    def __init__(self, port: int, reason: str) -> None:
        super().__init__(f"cannot listen on port {port} of {HOST}: {reason}; choose another one with --port", port=port)


def open_socket(port: int) -> socket.socket:
    """Return a socket that listens on loopback; port 0 takes any free one.

    Raises:
        PortTaken: the port is in use, or not for this user.
    """
    # With the protocol named, asyncio turns Nagle's algorithm off: else the body waits 40 ms for an acknowledgement.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(socket.SOMAXCONN)
    except OSError as error:
        listening.close()
        raise PortTaken(port, str(error.strerror)) from None
    return listening


def serve(app: Any, listening: socket.socket, on_ready: Callable[[], None] = lambda: None) -> None:
    """Answer requests on a socket until SIGINT or SIGTERM; `on_ready` is called when the first one can come."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_ready()

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            with super().capture_signals():
                yield
                # They were handled by ending; raised again, they would end the process before the store is closed.
                self._captured_signals.clear()

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=CONNECTIONS_MAX,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=SHUTDOWN_S,
        lifespan="on",
    )
    Server(config).run(sockets=[listening])
