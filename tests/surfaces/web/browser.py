"""A browser of the tests: it keeps cookies, follows no redirect, and reads the proof in forms."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

from groundplan.kernel.actors import Actor, local_actor
from groundplan.kernel.store.store import Store
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.web.pages import AREAS
from groundplan.surfaces.web.server_app import ServerApp, build_server_app
from tests.surfaces.http.client import AppClient, Reply

PORT = 8321
LOOPBACK_EXPOSURE = Exposure(port=PORT)
ADA = local_actor("ada")
AREA = re.compile(r"/p/[^/?]+/([a-z]+)")
OPERATION = re.compile(r'name="operation" value="([^"]*)"')
CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')


def check_operations(path: str, page: str) -> None:
    """Check that the area declares the operations of all forms on one of its pages, since others are refused."""
    if (area := AREAS.get(path)) is not None:
        missing = sorted(name for name in set(OPERATION.findall(page)) if not area.has_form(name))
        assert not missing, f"a form runs {missing}: add it to `operations` of the area {path!r}, or of its view"


class Browser(AppClient):
    """A browser on a server."""

    def __init__(
        self,
        store: Store,
        exposure: Exposure = LOOPBACK_EXPOSURE,
        actor: Actor | None = ADA,
        **options: Any,
    ) -> None:
        self.server: ServerApp = build_server_app(store, exposure, actor=actor, **options)
        super().__init__(self.server.app)
        self.cookies: dict[str, str] = {}

    def close(self) -> None:
        """Stop the server."""
        super().close()
        self.server.close()

    def send(self, method: str, target: str, body: Any = None, **headers: Any) -> Reply:
        """Send one request with the cookies, and keep those that the answer sets."""
        if self.cookies and "cookie" not in headers:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        reply = super().send(method, target, body, **headers)
        for cookie in reply.cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
            if "Max-Age=0;" in cookie:
                del self.cookies[name]
        if found := AREA.match(target):
            check_operations(found[1], reply.body.decode("utf-8", "replace"))
        return reply

    def submit(self, target: str, fields: dict[str, str], **headers: Any) -> Reply:
        """Send a form."""
        raw = urlencode(fields).encode()
        return self.send("POST", target, raw=raw, content_type="application/x-www-form-urlencoded", **headers)

    def log_in(self) -> Reply:
        """Open a one-time address."""
        return self.get(f"/login?code={self.server.codes.issue()}")

    def read_csrf(self) -> str:
        """Return the proof in the form of the start page."""
        reply = self.get("/")
        page = self.get(reply.headers["location"]) if reply.status == 303 else reply
        found = CSRF.search(page.body.decode())
        assert found is not None
        return found[1]
