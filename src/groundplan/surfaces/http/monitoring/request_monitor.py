"""Observe every request: what was asked, what was answered, how long it took. Never a secret."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from groundplan.surfaces.http.answers import send_answer
from groundplan.surfaces.http.problems import RETRY_AFTER_S, HttpProblem, answer_problem

ROUTE_OF_REQUEST = "groundplan.route"  # in the scope: the template of the path, set by whoever answers
ACTOR_OF_REQUEST = "groundplan.actor"  # in the scope: who sent it, set by the authenticator
NO_ROUTE = "none"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
ABORTED = 499  # the client disconnected before the answer, as proxies write it
_STREAM = b"text/event-stream"


class ObservedRequest(NamedTuple):
    """One request after its end. The route is a template, because a path may hold what is private."""

    method: str
    route: str
    status: int
    seconds: float
    bytes: int
    actor: str | None
    address: str | None


class RunningRequests:
    """How many requests run, how many of them are streams, and how many sessions of MCP are open."""

    def __init__(self) -> None:
        self.requests = 0
        self.streams = 0
        self.sessions = 0


class RequestMonitor:
    """An ASGI application around another that tells observers about each request."""

    def __init__(
        self,
        app: Any,
        *,
        observers: Sequence[Callable[[ObservedRequest], None]],
        running: RunningRequests,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._app = app
        self._observers = observers
        self._running = running
        self._clock = clock

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, and observe its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, size, streams = ABORTED, 0, 0

        async def observe_answer(message: Any) -> None:
            nonlocal status, size, streams
            if message["type"] == "http.response.start":
                status = message["status"]
                if any(name == b"content-type" and value.startswith(_STREAM) for name, value in message["headers"]):
                    streams = 1
                    self._running.streams += 1
            else:
                size += len(message.get("body", b""))
            await send(message)

        started = self._clock()
        self._running.requests += 1
        try:
            await self._app(scope, receive, observe_answer)
        except asyncio.CancelledError:  # the server ends, and this request did not in time
            if status == ABORTED:
                await send_answer(observe_answer, answer_problem(_stopping()), has_body=scope["method"] != "HEAD")
        except Exception:
            status = 500 if status == ABORTED else status
            raise
        finally:
            self._running.requests -= 1
            self._running.streams -= streams
            self._tell(scope, status, self._clock() - started, size)

    def _tell(self, scope: Any, status: int, seconds: float, size: int) -> None:
        client = scope.get("client")
        method = scope["method"] if scope["method"] in METHODS else "other"
        observed = ObservedRequest(
            method,
            scope.get(ROUTE_OF_REQUEST, NO_ROUTE),
            status,
            seconds,
            size,
            scope.get(ACTOR_OF_REQUEST),
            client[0] if client else None,
        )
        for observe in self._observers:
            observe(observed)


def _stopping() -> HttpProblem:
    headers = {"retry-after": str(RETRY_AFTER_S), "connection": "close"}
    return HttpProblem(
        503, "stopping", "the server is being stopped; nothing was changed, send it again", headers=headers
    )
