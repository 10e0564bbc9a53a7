"""Refuse requests that a web page in the user's browser sends: by DNS rebinding or from another origin."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from groundplan.surfaces.http.answers import send_answer
from groundplan.surfaces.http.problems import HttpProblem, answer_problem

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
OTHER_SITES = frozenset({"cross-site", "same-site"})  # `same-site` is another port of this machine, or a sister domain
_CHECKED = frozenset({b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode"})


class AllowedHosts:
    """An ASGI application around another that answers only to its own names."""

    def __init__(self, app: Any, hosts: Collection[str] = LOOPBACK_HOSTS) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and (refusal := self._refuse(scope)) is not None:
            await send_answer(send, answer_problem(refusal), has_body=scope["method"] != "HEAD")
            return
        await self._app(scope, receive, send)

    def _refuse(self, scope: Any) -> HttpProblem | None:
        given: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            if name in _CHECKED:
                given.setdefault(name, []).append(value.lower())
        host = b", ".join(given.get(b"host", ())).decode("latin-1")
        if host not in self._hosts and _strip_port(host) not in self._hosts:
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
