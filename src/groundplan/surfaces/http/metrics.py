"""Routes for operators: `/healthz`, `/readyz`, and `/metrics` in the text format of Prometheus.

Labels are route templates and statuses, so their number is bounded.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sized
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.routing import Route as StarletteRoute

from groundplan.kernel.actors import NOBODY, Access, ActorKind
from groundplan.kernel.errors import Forbidden, NotFound
from groundplan.kernel.store.store import RETRIES
from groundplan.kernel.tokens.authenticate import RefusalCounts
from groundplan.session import Session
from groundplan.surfaces.http.answers import Answer, AnswerSender, answer_request
from groundplan.surfaces.http.front_door import OPERATOR_PATHS, ROUTE_OF_REQUEST, RunningRequests, is_on_port
from groundplan.surfaces.http.log_lines import ObservedRequest
from groundplan.surfaces.http.server import Server

METRICS_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class ServerMetrics:
    """The metrics of one server since its start. It is safe in several threads."""

    def __init__(self, running: RunningRequests, sessions: Sized, refusals: RefusalCounts) -> None:
        """`sessions` are the open sessions of MCP."""
        self._running = running
        self._sessions = sessions
        self._refusals = refusals
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: dict[str, list[int]] = {}  # by route; the last one is above every bound
        self._seconds: dict[str, float] = {}

    def observe(self, observed: ObservedRequest) -> None:
        """Count a request."""
        with self._lock:
            self._requests[observed.method, observed.route, observed.status] += 1
            buckets = self._buckets.setdefault(observed.route, [0] * (len(BOUNDS_S) + 1))
            buckets[bisect_left(BOUNDS_S, observed.seconds)] += 1
            self._seconds[observed.route] = self._seconds.get(observed.route, 0.0) + observed.seconds

    def render(self) -> bytes:
        """Return all metrics as text."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._list_lines()).encode()

    def _list_lines(self) -> Iterator[str]:
        yield from _describe("requests_total", "counter", "Answered requests by route and status.")
        for (method, route, status), count in sorted(self._requests.items()):
            yield _format("requests_total", count, method=method, route=route, status=str(status))
        yield from _describe(
            "request_seconds", "histogram", "Time from the head of a request to the end of its answer."
        )
        for route, buckets in sorted(self._buckets.items()):
            total = 0
            for bound, count in zip([*map(str, BOUNDS_S), "+Inf"], buckets, strict=True):
                total += count
                yield _format("request_seconds_bucket", total, route=route, le=bound)
            yield _format("request_seconds_sum", round(self._seconds[route], 6), route=route)
            yield _format("request_seconds_count", total, route=route)
        yield from _describe("refused_identities_total", "counter", "Refused tokens and logins by reason.")
        for reason, count in sorted(self._refusals.items()):
            yield _format("refused_identities_total", count, reason=reason.value)
        yield from _describe("requests_running", "gauge", "Requests that run now, with streams.")
        yield _format("requests_running", self._running.requests)
        yield from _describe("open_streams", "gauge", "Event streams that are open now.")
        yield _format("open_streams", self._running.streams)
        yield from _describe("mcp_sessions", "gauge", "Sessions of MCP that are open now.")
        yield _format("mcp_sessions", len(self._sessions))
        yield from _describe("store_retries_total", "counter", "Transactions that the store had to try again.")
        yield _format("store_retries_total", RETRIES["transactions"])


def _describe(name: str, kind: str, meaning: str) -> tuple[str, str]:
    return f"# HELP groundplan_{name} {meaning}", f"# TYPE groundplan_{name} {kind}"


def _format(name: str, value: float, **labels: str) -> str:
    return f"groundplan_{name}{_format_labels(labels)} {value}"


def _format_labels(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in labels.items()) + "}" if labels else ""


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


# --- The addresses ----------------------------------------------------------------------------------------------------

READY_CHECKED_EVERY_S = 1.0  # anybody may ask, and each check is a read
_TEXT = b"text/plain; charset=utf-8"


class HealthRoutes:
    """The routes for operators."""

    def __init__(self, server: Server, metrics: ServerMetrics) -> None:
        self._server = server
        self._metrics = metrics
        self._ready_until_s = 0.0

    def list_routes(self) -> list[BaseRoute]:
        """Return the routes."""
        reads: list[Callable[[Request], Answer]] = [_answer_alive, self._check_store, self._show_metrics]
        return [self._make_route(path, read) for path, read in zip(OPERATOR_PATHS, reads, strict=True)]

    def _make_route(self, path: str, read: Callable[[Request], Answer]) -> StarletteRoute:
        async def answer(request: Request) -> Any:
            request.scope[ROUTE_OF_REQUEST] = path
            if read is _answer_alive:  # without a thread: it is about the process alone
                return AnswerSender(_answer_alive(request))
            running = self._server.pool.run(lambda: read(request), request.receive)
            answered = await answer_request(running, self._server.vocabulary)
            return AnswerSender(answered or Answer(400, b""))  # nobody reads it

        return StarletteRoute(path, answer, methods=["GET"])

    def _check_store(self, _request: Request) -> Answer:
        if time.monotonic() >= self._ready_until_s:
            with suppress(NotFound):  # nobody has an organization, and the store has said so
                Session(self._server.store, NOBODY).call("project.list")
            self._ready_until_s = time.monotonic() + READY_CHECKED_EVERY_S
        return Answer(200, b"ready\n", content_type=_TEXT)

    def _show_metrics(self, request: Request) -> Answer:
        if not is_on_port(request.scope, self._server.metrics_port):
            actor = self._server.authenticator.find_actor(request)
            if actor.kind is not ActorKind.SERVICE and actor.access is not Access.OPEN:
                raise Forbidden("metrics are for services and for owners of the organization; send the token of one")
        return Answer(200, self._metrics.render(), content_type=METRICS_TYPE)


def _answer_alive(_request: Request) -> Answer:
    return Answer(200, b"alive\n", content_type=_TEXT)
