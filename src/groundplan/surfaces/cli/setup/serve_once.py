"""Call a server once, as a browser would, and tell what it answered."""

from __future__ import annotations

import http.client
import re
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from groundplan.kernel.errors import Unavailable

TIMEOUT_S = 30.0
PATHS = ("/v1/projects", "/v1/openapi.json")
_PLAN = re.compile(r'href="(/p/[^"/]+/plan)"')


class SeenAnswer(Struct):
    """One answer of the server."""

    path: str
    status: int
    bytes: int
    type: str


class ServerCall:
    """The requests of one visit, sent by a thread beside the server."""

    def __init__(self, login_address: str) -> None:
        self._target = urlsplit(login_address)
        self._seen: list[SeenAnswer] = []
        self._thread: threading.Thread | None = None
        self._failure: str | None = None

    def start(self, stop: Callable[[], None]) -> None:
        """Call the server from a thread, then `stop` it."""

        def run() -> None:
            try:
                self._visit()
            except (OSError, http.client.HTTPException) as error:
                self._failure = str(error) or type(error).__name__
            finally:
                stop()

        self._thread = threading.Thread(target=run, name="once")
        self._thread.start()

    def collect(self) -> list[SeenAnswer]:
        """Return the answers."""
        if self._thread is not None:
            self._thread.join()
        wrong = [f"{answer.path} answered {answer.status}" for answer in self._seen if answer.status not in (200, 303)]
        if self._failure or wrong or not self._seen:
            raise Unavailable(
                f"the server did not answer as it should: {self._failure or '; '.join(wrong)}", code="server_failed"
            )
        return self._seen

    def _visit(self) -> None:
        connection = http.client.HTTPConnection(str(self._target.hostname), self._target.port, timeout=TIMEOUT_S)
        try:
            opened, _ = self._get(connection, f"{self._target.path}?{self._target.query}", {})
            headers = {"Cookie": (opened.getheader("set-cookie") or "").partition(";")[0]}
            first, _ = self._get(connection, "/", headers)
            _, home = self._get(connection, first.getheader("location") or "/", headers)
            for path in PATHS:
                self._get(connection, path, headers)
            if plan := _PLAN.search(home.decode()):
                self._get(connection, plan[1], headers)
        finally:
            connection.close()

    def _get(self, connection: Any, target: str, headers: dict[str, str]) -> tuple[http.client.HTTPResponse, bytes]:
        connection.request("GET", target, headers=headers)
        answer: http.client.HTTPResponse = connection.getresponse()
        body = answer.read()
        kind = (answer.getheader("content-type") or "").partition(";")[0]
        # Without the query string, which has the code of the login.
        self._seen.append(SeenAnswer(target.partition("?")[0], answer.status, len(body), kind))
        return answer, body
