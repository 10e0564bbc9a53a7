"""Refuse requests that come past the proxy, which would send tokens in clear."""

from __future__ import annotations

from typing import Any

from groundplan.surfaces.http.answers import send_answer
from groundplan.surfaces.http.problems import HttpProblem, answer_problem

WITHOUT_SECRETS = frozenset({"/healthz", "/readyz"})  # asked by machines that watch the server


class EncryptedOnly:
    """An ASGI application around another that answers only what the proxy says was encrypted.

    The server believes `X-Forwarded-Proto` of the stated proxies alone, so nobody else can claim it. The port of the
    metrics has no secrets.
    """

    def __init__(self, app: Any, metrics_port: int | None = None) -> None:
        self._app = app
        self._metrics_port = metrics_port

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and scope["scheme"] != "https" and not self._is_harmless(scope):
            problem = "this server answers only through its proxy, over https; the proxy must set X-Forwarded-Proto"
            await send_answer(send, answer_problem(HttpProblem(403, "not_encrypted", problem)))
            return
        await self._app(scope, receive, send)

    def _is_harmless(self, scope: Any) -> bool:
        server = scope.get("server")
        is_metrics = self._metrics_port is not None and server is not None and server[1] == self._metrics_port
        return is_metrics or scope["path"] in WITHOUT_SECRETS
