"""Log in with the one-time address or with a token, and log out. `issuer_login.py` has the login at an issuer."""

from __future__ import annotations

import logging

from starlette.requests import Request
from starlette.routing import BaseRoute

from groundplan.kernel.actors import LOCAL_ORGANIZATION, Actor
from groundplan.kernel.errors import GroundplanError, Unauthenticated
from groundplan.kernel.store.store import Store
from groundplan.kernel.tokens.authenticate import RefusalReason, verify_token
from groundplan.kernel.tokens.sessions import close_session
from groundplan.kernel.tokens.token import TokenKind
from groundplan.surfaces.http.answers import Answer, HttpProblem
from groundplan.surfaces.http.authentication import Authenticator
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.http.operation_pool import OperationPool
from groundplan.surfaces.web.login.browser_logins import BrowserLogins, Header
from groundplan.surfaces.web.login.login_codes import LoginCodes
from groundplan.surfaces.web.page_routes import LOGIN_PATH, Form, make_page_route
from groundplan.surfaces.web.pages import redirect, render_page

log = logging.getLogger(__name__)


class LoginPages:
    """The pages that open and close logins.

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
        """Log in by the code in the address; without one, show the form."""
        code = request.query_params.get("code")
        if code is None or request.method == "HEAD":  # programs that preview an address must not use it up
            return self.ask()
        if self._actor is None or not self._codes.redeem(code):
            log.warning("refused a one-time address")
            self.count_refusal(request, RefusalReason.UNKNOWN)
            return self.ask(Unauthenticated("this address has been used or is too old: it works once, for 15 minutes"))
        return self._logins.open(self._actor, request)

    def log_in(self, request: Request, form: Form) -> Answer:
        """Log in by the token in the form."""
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
        """Return the page that asks for a login; after a refusal with its sentence."""
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
        """Count a login that was refused.

        Raises:
            HttpProblem: there were too many from this address.
        """
        self._authenticator.refusals[reason] += 1
        self._authenticator.limit_refusals(request)
