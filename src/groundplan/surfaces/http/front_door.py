"""Checks and observers that every request passes before the routes.

Refused are requests that a web page in the user's browser sends, by DNS rebinding or from another origin, and requests
that come past the proxy, which would send tokens in clear. Observed is what was asked, what was answered and how long
it took; never a secret.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

from groundplan.surfaces.http.answers import RETRY_AFTER_S, HttpProblem, answer_error, send_answer, unknown_path
from groundplan.surfaces.http.log_lines import ObservedRequest

ROUTE_OF_REQUEST = "groundplan.route"  # in the scope: the template of the path, set by whoever answers
ACTOR_OF_REQUEST = "groundplan.actor"  # in the scope: who sent it, set by the authenticator
NO_ROUTE = "none"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
ABORTED = 499  # the client disconnected before the answer, as proxies write it
_STREAM = b"text/event-stream"


class RunningRequests:
    """The numbers of running requests and of the streams among them."""

    def __init__(self) -> None:
        self.requests = 0
        self.streams = 0


Check = Callable[[Any], HttpProblem | None]  # the refusal of a request, by its ASGI scope


class FrontDoor:
    """An ASGI application that wraps another one: it observes each request, and refuses it if a check fails."""

    def __init__(
        self,
        app: Any,
        *,
        checks: Sequence[Check],
        observers: Sequence[Callable[[ObservedRequest], None]] = (),
        running: RunningRequests | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._app = app
        self._checks = checks
        self._observers = observers
        self._running = running or RunningRequests()
        self._clock = clock

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on or refuse it, and observe the answer."""
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
            await self._pass_on(scope, receive, observe_answer)
        except asyncio.CancelledError:  # the server ends, and this request did not in time
            if status == ABORTED:
                await send_answer(observe_answer, answer_error(_stopping()), has_body=scope["method"] != "HEAD")
        except Exception:
            status = 500 if status == ABORTED else status
            raise
        finally:
            self._running.requests -= 1
            self._running.streams -= streams
            self._notify_observers(scope, status, self._clock() - started, size)

    async def _pass_on(self, scope: Any, receive: Any, send: Any) -> None:
        refusal = next(filter(None, (check(scope) for check in self._checks)), None)
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await send_answer(send, answer_error(refusal), has_body=scope["method"] != "HEAD")

    def _notify_observers(self, scope: Any, status: int, seconds: float, size: int) -> None:
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


# --- Hosts and origins ------------------------------------------------------------------------------------------------

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
OTHER_SITES = frozenset({"cross-site", "same-site"})  # `same-site` is another port of this machine, or a sister domain
_CHECKED = frozenset({b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode"})


def refuse_other_host(hosts: Collection[str], scope: Any) -> HttpProblem | None:
    """Refuse a request with another host name, or from a page of another origin."""
    given: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        if name in _CHECKED:
            given.setdefault(name, []).append(value.lower())
    host = b", ".join(given.get(b"host", ())).decode("latin-1")
    if host not in hosts and _strip_port(host) not in hosts:
        # A page whose name was rebound to this address sends its own name.
        return HttpProblem(421, "unknown_host", "this server does not answer to the host in the request")
    for origin in given.get(b"origin", ()):
        if origin.decode("latin-1").partition("://")[2] != host:
            return _refuse_origin()
    site = b", ".join(given.get(b"sec-fetch-site", ())).decode("latin-1")
    # A link from another site may be followed; its forms, scripts and pictures get nothing.
    follows_link = scope["method"] in ("GET", "HEAD") and given.get(b"sec-fetch-mode") == [b"navigate"]
    return _refuse_origin() if site in OTHER_SITES and not follows_link else None


def _refuse_origin() -> HttpProblem:
    return HttpProblem(403, "foreign_origin", "a page of another origin must not use this server")


def _strip_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


# --- Ports and encryption ---------------------------------------------------------------------------------------------

OPERATOR_PATHS = ("/healthz", "/readyz", "/metrics")
WITHOUT_SECRETS = frozenset({"/healthz", "/readyz"})  # asked by machines that watch the server


def refuse_clear_text(metrics_port: int | None, scope: Any) -> HttpProblem | None:
    """Refuse a request that was not encrypted according to the proxy.

    The server believes `X-Forwarded-Proto` of the stated proxies alone, so nobody else can claim it. The port of the
    metrics has no secrets.
    """
    if scope["scheme"] == "https" or is_on_port(scope, metrics_port) or scope["path"] in WITHOUT_SECRETS:
        return None
    problem = "this server answers only through its proxy, over https; the proxy must set X-Forwarded-Proto"
    return HttpProblem(403, "not_encrypted", problem)


def refuse_pages_on_metrics_port(metrics_port: int, scope: Any) -> HttpProblem | None:
    """Refuse all paths on the metrics port except those for operators."""
    is_refused = is_on_port(scope, metrics_port) and scope["path"] not in OPERATOR_PATHS
    return unknown_path(scope["path"]) if is_refused else None


def is_on_port(scope: Any, port: int | None) -> bool:
    """Return True if a request arrived at a port."""
    return port is not None and scope.get("server") is not None and scope["server"][1] == port
