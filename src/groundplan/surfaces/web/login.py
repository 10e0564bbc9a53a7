"""Log in with the one-time address or with a token, and log out."""

from __future__ import annotations

import logging

from starlette.requests import Request
from starlette.routing import BaseRoute

from groundplan.kernel.actors import LOCAL_ORGANIZATION, Actor
from groundplan.kernel.errors import Unauthenticated
from groundplan.kernel.store.store import Store
from groundplan.kernel.tokens.authenticate import RefusalReason, verify_token
from groundplan.kernel.tokens.sessions import LENGTH_MAX, close_session, open_session
from groundplan.kernel.tokens.token import TokenKind
from groundplan.surfaces.http.answers import Answer
from groundplan.surfaces.http.authentication import Authenticator
from groundplan.surfaces.http.listening.exposure import Exposure
from groundplan.surfaces.http.problems import HttpProblem
from groundplan.surfaces.http.run_operation import OperationPool
from groundplan.surfaces.web.login_codes import LoginCodes
from groundplan.surfaces.web.page_routes import LOGIN_PATH, Form, make_page_route
from groundplan.surfaces.web.pages import redirect, render_page

LABEL_CHARS_MAX = 100

log = logging.getLogger(__name__)


class LoginPages:
    """The pages that open and close logins. `actor` is who opens the one-time address; None if nobody can."""

    def __init__(
        self, store: Store, authenticator: Authenticator, codes: LoginCodes, actor: Actor | None, exposure: Exposure
    ) -> None:
        self._store = store
        self._authenticator = authenticator
        self._codes = codes
        self._actor = actor
        self._exposure = exposure

    def list_routes(self, pool: OperationPool) -> list[BaseRoute]:
        """Return the routes of the pages."""
        return [
            make_page_route(pool, LOGIN_PATH, {"GET": self.show, "POST": self.log_in}),
            make_page_route(pool, "/logout", {"POST": self.log_out}),
        ]

    def show(self, request: Request, _form: Form) -> Answer:
        """Log in by the code in the address; without one, show the form."""
        code = request.query_params.get("code")
        if code is None or request.method == "HEAD":  # programs that preview an address must not use it up
            return self._ask("")
        if self._actor is None or not self._codes.redeem(code):
            self._authenticator.refusals[RefusalReason.UNKNOWN] += 1
            log.warning("refused a one-time address")
            self._limit(request)
            return self._ask("This address has been used or is too old: it works once, for 15 minutes.")
        return self._open(self._actor, request)

    def log_in(self, request: Request, form: Form) -> Answer:
        """Log in by the token in the form."""
        try:
            verified = verify_token(self._store, form.get("token", "").strip(), self._authenticator.refusals)
        except Unauthenticated as error:
            self._limit(request)
            return self._ask(f"{error.problem[0].upper()}{error.problem[1:]}.")
        if verified.kind is not TokenKind.PERSON:
            return self._ask("Only the token of a person logs in; agents and services send theirs with each request.")
        return self._open(verified.actor, request)

    def log_out(self, request: Request, _form: Form) -> Answer:
        """Close the login."""
        principal = self._authenticator.authenticate(request)
        if not principal.is_login:
            raise HttpProblem(
                400, "no_login", "only a login can be closed; revoke a token with groundplan token revoke"
            )
        close_session(self._store, principal.actor)
        return redirect(LOGIN_PATH, [self._make_cookie("", 0)])

    def _open(self, actor: Actor, request: Request) -> Answer:
        label = "".join(char for char in request.headers.get("user-agent", "") if char.isprintable() and char.isascii())
        opened = open_session(self._store, actor, label=label[:LABEL_CHARS_MAX].strip() or None)
        return redirect("/", [self._make_cookie(opened.secret, int(LENGTH_MAX.total_seconds()))])

    def _ask(self, message: str) -> Answer:
        organization = "" if self._actor is None else self._actor.organization
        return render_page(
            "login.html",
            status=401 if message else 200,
            message=message,
            organization="" if organization == LOCAL_ORGANIZATION else organization,
        )

    def _limit(self, request: Request) -> None:
        self._authenticator.limit_refusals(request)

    def _make_cookie(self, secret: str, age_s: int) -> tuple[bytes, bytes]:
        # Lax, so that a link in a chat opens the page. GET changes nothing; all else needs the proof of a form.
        secure = "; Secure" if self._exposure.is_https else ""
        text = f"{self._exposure.cookie}={secret}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Lax{secure}"
        return b"set-cookie", text.encode("ascii")
