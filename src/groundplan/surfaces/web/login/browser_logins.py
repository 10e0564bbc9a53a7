"""The cookies of a login: the one that the browser keeps, and the one of a login that has begun at the issuer."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from starlette.requests import Request

from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import Unauthenticated
from groundplan.kernel.store.store import Store
from groundplan.kernel.tokens.sessions import LENGTH_MAX, close_session, open_session
from groundplan.surfaces.http.answers import Answer
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.web.pages import redirect

LABEL_CHARS_MAX = 100

Header = tuple[bytes, bytes]


class BrowserLogins:
    """Opens logins, and writes their cookies."""

    def __init__(self, store: Store, exposure: Exposure) -> None:
        self._store = store
        self._exposure = exposure

    def open(
        self, actor: Actor, request: Request, *headers: Header, is_valid: Callable[[], bool] = lambda: True
    ) -> Answer:
        """Log a person in, and lead the browser to the start page.

        `is_valid` is asked after the login was opened: what ended its reason before that could not end it.

        Raises:
            Unauthenticated: it is not valid any more.
        """
        label = "".join(char for char in request.headers.get("user-agent", "") if char.isprintable() and char.isascii())
        opened = open_session(self._store, actor, label=label[:LABEL_CHARS_MAX].strip() or None)
        if not is_valid():
            close_session(self._store, replace(actor, token_id=opened.id))
            raise Unauthenticated("this account was unlinked a moment ago; ask for an invitation")
        cookie = self.write_cookie(self._exposure.cookie, opened.secret, int(LENGTH_MAX.total_seconds()))
        return redirect("/", [cookie, *headers])

    def write_cookie(self, name: str, value: str, age_s: int) -> Header:
        """Return the header that sets a cookie; an age of 0 removes it."""
        # Lax, so that a link in a chat opens the page. GET changes nothing; all else needs the proof of a form.
        secure = "; Secure" if self._exposure.is_https else ""
        text = f"{name}={value}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Lax{secure}"
        return b"set-cookie", text.encode("ascii")
