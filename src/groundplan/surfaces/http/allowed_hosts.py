"""Refuse requests that a web page in the user's browser sends: by DNS rebinding or from another origin."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from groundplan.surfaces.http.answers import send_answer
from groundplan.surfaces.http.problems import HttpProblem, answer_problem

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


class AllowedHosts:
    """An ASGI application around another that answers only to its own names."""

    def __init__(self, app: Any, hosts: Collection[str] = LOOPBACK_HOSTS) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and (refusal := self._refuse(scope)) is not None:
            await send_answer(send, answer_problem(refusal))
            return
        await self._app(scope, receive, send)

    def _refuse(self, scope: Any) -> HttpProblem | None:
        given: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            if name in (b"host", b"origin"):
                given.setdefault(name, []).append(value.lower())
        host = b", ".join(given.get(b"host", ())).decode("latin-1")
        if _strip_port(host) not in self._hosts:
            # A page whose name was rebound to this address sends its own name.
            return HttpProblem(421, "unknown_host", "this server does not answer to the host in the request")
        for origin in given.get(b"origin", ()):
            if origin.decode("latin-1").partition("://")[2] != host:
                return HttpProblem(403, "foreign_origin", "a page of another origin must not use this server")
        return None


def _strip_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
