"""Log in with a one-time address or a token, and log out. `issuer_login.py` has the login at an issuer."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from hashlib import sha256

from msgspec.structs import replace
from starlette.requests import Request
from starlette.routing import BaseRoute

from groundplan.kernel.actors import LOCAL_ORGANIZATION, Actor
from groundplan.kernel.errors import GroundplanError, Unauthenticated
from groundplan.kernel.store.store import Store
from groundplan.kernel.tokens.authenticate import RefusalReason, verify_token
from groundplan.kernel.tokens.sessions import LENGTH_MAX, close_session, open_session
from groundplan.kernel.tokens.token import TokenKind
from groundplan.surfaces.http.answers import Answer, HttpProblem
from groundplan.surfaces.http.authentication import Authenticator
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.http.operation_pool import OperationPool
from groundplan.surfaces.web.page_routes import LOGIN_PATH, Form, make_page_route
from groundplan.surfaces.web.render import redirect, render_page

log = logging.getLogger(__name__)
LABEL_CHARS_MAX = 100
Header = tuple[bytes, bytes]
CODE_TTL_S = 900.0  # time to copy an address from a terminal, not to find it in yesterday's log


class LoginCodes:
    """The unused login codes, in the memory of this process. They are safe in several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends_s: dict[bytes, float] = {}  # by digest, so that no comparison tells how much of a code is right
        self._lock = threading.Lock()

    def issue(self) -> str:
        """Return a new code."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._ends_s[_compute_digest(code)] = self._clock() + CODE_TTL_S
        return code

    def redeem(self, code: str) -> bool:
        """Return True if a code is valid, and invalidate it."""
        with self._lock:
            ends_s = self._ends_s.pop(_compute_digest(code), None)
            return ends_s is not None and self._clock() < ends_s


def _compute_digest(code: str) -> bytes:
    return sha256(code.encode("utf-8", "surrogatepass")).digest()


class BrowserLogins:
    """Opens logins and writes their cookies."""

    def __init__(self, store: Store, exposure: Exposure) -> None:
        self._store = store
        self._exposure = exposure

    def open(
        self, actor: Actor, request: Request, *headers: Header, is_valid: Callable[[], bool] = lambda: True
    ) -> Answer:
        """Log a person in, and redirect the browser to the start page.

        `is_valid` is called when the login is stored. If its reason was revoked meanwhile, it is ended at once.
        """
        label = "".join(char for char in request.headers.get("user-agent", "") if char.isprintable() and char.isascii())
        opened = open_session(self._store, actor, label=label[:LABEL_CHARS_MAX].strip() or None)
        if not is_valid():
            close_session(self._store, replace(actor, token_id=opened.id))
            raise Unauthenticated("this account was unlinked a moment ago; ask for an invitation")
        cookie = self.write_cookie(self._exposure.cookie, opened.secret, int(LENGTH_MAX.total_seconds()))
        return redirect("/", [cookie, *headers])

    def write_cookie(self, name: str, value: str, age_s: int) -> Header:
        """Return the header that sets a cookie. An age of 0 removes the cookie."""
        # Lax, so that a link in a chat opens the page. GET changes nothing; all else needs the proof of a form.
        secure = "; Secure" if self._exposure.is_https else ""
        text = f"{name}={value}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Lax{secure}"
        return b"set-cookie", text.encode("ascii")


class LoginPages:
    """The pages for login and logout.

    `actor` is who opens the one-time address; None if nobody can. `issuer` is the name of the issuer where people can
    log in; None if there is none.
    """

    def __init__(
        self,
        store: Store,
        authenticator: Authenticator,
        codes: LoginCodes,
        actor: Actor | None,
        exposure: Exposure,
        logins: BrowserLogins,
        issuer: str | None = None,
    ) -> None:
        self._store = store
        self._authenticator = authenticator
        self._codes = codes
        self._actor = actor
        self._exposure = exposure
        self._logins = logins
        self._issuer = issuer

    def list_routes(self, pool: OperationPool) -> list[BaseRoute]:
        """Return the routes of the pages."""
        return [
            make_page_route(pool, LOGIN_PATH, {"GET": self.show, "POST": self.log_in}),
            make_page_route(pool, "/logout", {"POST": self.log_out}),
        ]

    def show(self, request: Request, _form: Form) -> Answer:
        """Log in with the code in the address; without a code, show the form."""
        code = request.query_params.get("code")
        if code is None or request.method == "HEAD":  # programs that preview an address must not use it up
            return self.ask()
        if self._actor is None or not self._codes.redeem(code):
            log.warning("refused a one-time address")
            self.count_refusal(request, RefusalReason.UNKNOWN)
            return self.ask(Unauthenticated("this address has been used or is too old: it works once, for 15 minutes"))
        return self._logins.open(self._actor, request)

    def log_in(self, request: Request, form: Form) -> Answer:
        """Log in with the token in the form."""
        try:
            verified = verify_token(self._store, form.get("token", "").strip(), self._authenticator.refusals)
        except Unauthenticated as error:
            self._authenticator.limit_refusals(request)
            return self.ask(error)
        if verified.kind is not TokenKind.PERSON:
            return self.ask(
                Unauthenticated("only the token of a person logs in; agents and services send theirs with each request")
            )
        return self._logins.open(verified.actor, request)

    def log_out(self, request: Request, _form: Form) -> Answer:
        """Close the login."""
        principal = self._authenticator.authenticate(request)
        if not principal.is_login:
            raise HttpProblem(
                400, "no_login", "only a login can be closed; revoke a token with groundplan token revoke"
            )
        close_session(self._store, principal.actor)
        return redirect(LOGIN_PATH, [self._logins.write_cookie(self._exposure.cookie, "", 0)])

    def ask(self, refusal: GroundplanError | None = None, *headers: Header) -> Answer:
        """Return the page with the login form, after a refusal with its message."""
        message = f"{refusal.problem[0].upper()}{refusal.problem[1:]}." if refusal else ""
        status = refusal.status if refusal else 200
        organization = "" if self._actor is None else self._actor.organization
        return render_page(
            "login.html",
            status=status,
            headers=headers,
            message=message,
            issuer=self._issuer,
            organization="" if organization == LOCAL_ORGANIZATION else organization,
        )

    def count_refusal(self, request: Request, reason: RefusalReason) -> None:
        """Count a refused login."""
        self._authenticator.refusals[reason] += 1
        self._authenticator.limit_refusals(request)
