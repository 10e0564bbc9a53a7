"""Addresses for operators: `/healthz`, `/readyz` and `/metrics`."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.routing import Route as StarletteRoute

from groundplan.kernel.actors import NOBODY, Access, ActorKind
from groundplan.kernel.errors import Forbidden, GroundplanError, NotFound
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from groundplan.surfaces.http.answers import Answer, AnswerSender, send_answer
from groundplan.surfaces.http.authentication import Authenticator
from groundplan.surfaces.http.monitoring.metrics import METRICS_TYPE, ServerMetrics
from groundplan.surfaces.http.monitoring.request_monitor import ROUTE_OF_REQUEST
from groundplan.surfaces.http.problems import HttpProblem, answer_error, answer_problem, unknown_path
from groundplan.surfaces.http.run_operation import OperationPool
from groundplan.surfaces.vocabularies import HttpVocabulary

PATHS = ("/healthz", "/readyz", "/metrics")
READY_CHECKED_EVERY_S = 1.0  # anybody may ask, and each check is a read
_TEXT = b"text/plain; charset=utf-8"


class HealthRoutes:
    """The addresses for operators."""

    def __init__(
        self,
        store: Store,
        authenticator: Authenticator,
        metrics: ServerMetrics,
        vocabulary: HttpVocabulary,
        port: int | None,
    ) -> None:
        self._store = store
        self._authenticator = authenticator
        self._metrics = metrics
        self._vocabulary = vocabulary
        self._port = port  # where metrics need no token
        self._ready_until_s = 0.0

    def list_routes(self, pool: OperationPool) -> list[BaseRoute]:
        """Return the routes."""
        reads: list[Callable[[Request], Answer]] = [_answer_alive, self._check_store, self._show_metrics]
        return [self._make_route(pool, path, read) for path, read in zip(PATHS, reads, strict=True)]

    def _make_route(self, pool: OperationPool, path: str, read: Callable[[Request], Answer]) -> StarletteRoute:
        async def answer(request: Request) -> Any:
            request.scope[ROUTE_OF_REQUEST] = path
            if read is _answer_alive:  # without a thread: it is about the process alone
                return AnswerSender(_answer_alive(request))
            return AnswerSender(await pool.run(lambda: self._read(read, request), request.receive) or Answer(400, b""))

        return StarletteRoute(path, answer, methods=["GET"])

    def _read(self, read: Callable[[Request], Answer], request: Request) -> Answer:
        try:
            return read(request)
        except HttpProblem as problem:
            return answer_problem(problem)
        except GroundplanError as error:
            return answer_error(error, self._vocabulary)

    def _check_store(self, _request: Request) -> Answer:
        if time.monotonic() >= self._ready_until_s:
            with suppress(NotFound):  # nobody has an organization, and the store has said so
                Session(self._store, NOBODY).call("project.list")
            self._ready_until_s = time.monotonic() + READY_CHECKED_EVERY_S
        return Answer(200, b"ready\n", content_type=_TEXT)

    def _show_metrics(self, request: Request) -> Answer:
        if not is_on_port(request.scope, self._port):
            actor = self._authenticator.authenticate(request).actor
            if actor.kind is not ActorKind.SERVICE and actor.access is not Access.OPEN:
                raise Forbidden("metrics are for services and for owners of the organization; send the token of one")
        return Answer(200, self._metrics.render(), content_type=METRICS_TYPE)


class MetricsPort:
    """An ASGI application around another that answers nothing but the addresses for operators on their own port."""

    def __init__(self, app: Any, port: int | None) -> None:
        self._app = app
        self._port = port

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and is_on_port(scope, self._port) and scope["path"] not in PATHS:
            await send_answer(send, answer_problem(unknown_path(scope["path"])), has_body=scope["method"] != "HEAD")
            return
        await self._app(scope, receive, send)


def is_on_port(scope: Any, port: int | None) -> bool:
    """Return whether a request came in on a port."""
    return port is not None and scope.get("server") is not None and scope["server"][1] == port


def _answer_alive(_request: Request) -> Answer:
    return Answer(200, b"alive\n", content_type=_TEXT)
