"""Log in at the configured OpenID Connect issuer.

GET /login/issuer            leads to the issuer, and keeps the login that has begun in a cookie
GET /login/issuer/callback   the issuer sends the browser back; the account is bound to its person, who is logged in
"""

from __future__ import annotations

import logging

from starlette.requests import Request
from starlette.routing import BaseRoute

from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.identities.bind_login import VerifiedIdentity, bind_login, find_account
from groundplan.kernel.store.store import Store
from groundplan.kernel.tokens.authenticate import RefusalReason
from groundplan.surfaces.http.answers import Answer
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.http.issuer import IdentityProvider
from groundplan.surfaces.http.login_flow import (
    LOGIN_TTL_S,
    IssuerLoginFailed,
    LoginAttempt,
    begin_login,
    finish_login,
)
from groundplan.surfaces.http.operation_pool import OperationPool
from groundplan.surfaces.web.login import BrowserLogins, LoginPages
from groundplan.surfaces.web.page_routes import ISSUER_LOGIN_PATH, Form, make_page_route
from groundplan.surfaces.web.render import redirect

CALLBACK_PATH = f"{ISSUER_LOGIN_PATH}/callback"

log = logging.getLogger(__name__)


class IssuerLogin:
    """The two pages of a login at the issuer."""

    def __init__(
        self, store: Store, provider: IdentityProvider, login: LoginPages, logins: BrowserLogins, exposure: Exposure
    ) -> None:
        self._store = store
        self._provider = provider
        self._login = login
        self._logins = logins
        self._exposure = exposure

    def list_routes(self, pool: OperationPool) -> list[BaseRoute]:
        """Return the routes of the pages."""
        return [
            make_page_route(pool, ISSUER_LOGIN_PATH, {"GET": self.begin}),
            make_page_route(pool, CALLBACK_PATH, {"GET": self.finish}),
        ]

    def begin(self, request: Request, _form: Form) -> Answer:
        """Redirect the browser to the issuer."""
        try:
            address, attempt = begin_login(self._provider, redirect_uri=self._get_redirect_uri(request))
        except GroundplanError as error:
            return self._login.ask(error)
        cookie = self._logins.write_cookie(self._exposure.attempt_cookie, attempt.to_cookie(), LOGIN_TTL_S)
        return redirect(address, [cookie])

    def finish(self, request: Request, _form: Form) -> Answer:
        """Log in the person whom the issuer has authenticated."""
        if request.method == "HEAD":  # programs that preview an address must not use it up
            return self._login.ask()
        forget = self._logins.write_cookie(self._exposure.attempt_cookie, "", 0)
        try:
            attempt = LoginAttempt.from_cookie(request.cookies.get(self._exposure.attempt_cookie, ""))
            if attempt is None:
                raise IssuerLoginFailed("this login began in another browser or too long ago; log in again")
            claims = finish_login(
                self._provider, attempt, request.query_params, redirect_uri=self._get_redirect_uri(request)
            )
            settings = self._provider.settings
            actor = bind_login(self._store, VerifiedIdentity(settings.issuer, *claims, settings.organization))
            return self._logins.open(
                actor, request, forget, is_valid=lambda: self._find_person(claims.subject) == actor.id
            )
        except GroundplanError as error:
            log.warning("refused a login at the issuer: %s", error.code)
            self._login.count_refusal(request, RefusalReason.UNKNOWN)
            return self._login.ask(error, forget)

    def _find_person(self, subject: str) -> str | None:
        settings = self._provider.settings
        return find_account(self._store, settings.organization, settings.issuer, subject, agent="").person

    def _get_redirect_uri(self, request: Request) -> str:
        """Return the address to which the issuer redirects the browser, with the host name that the browser uses."""
        scheme = "https" if self._exposure.is_https else "http"
        return f"{scheme}://{request.headers['host']}{CALLBACK_PATH}"
