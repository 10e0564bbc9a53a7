"""Log in at the issuer: the authorization code flow with PKCE.

The browser that begins a login keeps its state, nonce and verifier in a cookie, so any server can finish it, and only
in the same browser.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Any, NamedTuple
from urllib.parse import urlencode

from groundplan.kernel.errors import Unauthenticated
from groundplan.surfaces.http.issuer import Endpoints, IdentityProvider, IssuerUnavailable
from groundplan.surfaces.http.issuer_tokens import SignedTokenRefused, verify_id_token

SECRET_BYTES = 32
LOGIN_TTL_S = 600  # how long a person may take at the issuer
SCOPES = "openid email profile"
VALUE_CHARS_MAX = 4096  # of a parameter that the issuer sends back
NAME_CHARS_MAX = 255


class IssuerLoginFailed(Unauthenticated):
    """The login at the issuer did not succeed."""

    code = "issuer_login_failed"


class LoginAttempt(NamedTuple):
    """A login in progress, as it is stored in a cookie."""

    state: str
    nonce: str
    verifier: str

    def to_cookie(self) -> str:
        """Return the login as the text of a cookie."""
        return ".".join(self)

    @classmethod
    def from_cookie(cls, text: str) -> LoginAttempt | None:
        """Return the login in a cookie; None if there is none."""
        parts = text.split(".")
        return cls(*parts) if len(parts) == 3 and all(parts) else None


class LoginClaims(NamedTuple):
    """The claims of the issuer about a person who logged in."""

    subject: str
    email: str | None
    email_verified: bool
    name: str | None


def begin_login(provider: IdentityProvider, *, redirect_uri: str) -> tuple[str, LoginAttempt]:
    """Return the address of the issuer that the browser opens, and the new login."""
    endpoint = provider.load_endpoints().authorization
    if not provider.settings.allows_url(endpoint):
        raise IssuerUnavailable(
            f"the issuer {provider.settings.name} names a login page on another host; add it to oidc_hosts"
        )
    attempt = LoginAttempt(*(token_urlsafe(SECRET_BYTES) for _ in LoginAttempt._fields))
    digest = hashlib.sha256(attempt.verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": provider.settings.client_id,
        "redirect_uri": redirect_uri,
        "scope": SCOPES,
        "state": attempt.state,
        "nonce": attempt.nonce,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}", attempt


def finish_login(
    provider: IdentityProvider, attempt: LoginAttempt, answer: Mapping[str, str], *, redirect_uri: str
) -> LoginClaims:
    """Return the claims of the person who logged in, from the issuer's parameters in the address."""
    code = answer.get("code", "")
    # The issuer names itself (RFC 9207), so that the answer of another one is not taken for its own.
    is_foreign = answer.get("iss", provider.settings.issuer) != provider.settings.issuer
    if is_foreign or not compare_digest(answer.get("state", "").encode(), attempt.state.encode()):
        raise IssuerLoginFailed("this answer belongs to another login; log in again")
    if "error" in answer:
        raise IssuerLoginFailed(
            "the login was cancelled; log in again"
            if answer["error"] == "access_denied"
            else f"{provider.settings.name} refused the login; log in again, or ask who runs this server"
        )
    if not code or len(code) > VALUE_CHARS_MAX:
        raise IssuerLoginFailed("the answer has no code; log in again")
    endpoints = provider.load_endpoints()
    tokens = _exchange_code(provider, endpoints, code, attempt.verifier, redirect_uri)
    try:
        claims = verify_id_token(provider, tokens.get("id_token") or "", nonce=attempt.nonce)
    except SignedTokenRefused as error:
        raise IssuerLoginFailed(
            f"{provider.settings.name} sent an ID token that does not hold; log in again"
        ) from error
    if "email" not in claims:
        claims = {**claims, **_read_userinfo(provider, endpoints, tokens.get("access_token"), claims["sub"])}
    return _read_claims(claims)


def _exchange_code(
    provider: IdentityProvider, endpoints: Endpoints, code: str, verifier: str, redirect_uri: str
) -> dict[str, Any]:
    client_id, secret = provider.settings.client_id, provider.settings.client_secret
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri, "code_verifier": verifier}
    basic = None
    if secret is not None and endpoints.takes_basic:
        basic = (client_id, secret)
    else:
        form |= {"client_id": client_id} | ({"client_secret": secret} if secret is not None else {})
    status, tokens = provider.http.post_form(endpoints.token, form, basic=basic)
    if status != 200 or not isinstance(tokens.get("id_token"), str):
        raise IssuerLoginFailed(
            f"{provider.settings.name} did not accept the login; it may be too old, so log in again"
        )
    return tokens


def _read_userinfo(provider: IdentityProvider, endpoints: Endpoints, token: object, subject: str) -> dict[str, Any]:
    """Return the claims of the issuer about a person whose ID token has no e-mail address."""
    if endpoints.userinfo is None or not isinstance(token, str):
        return {}
    claims = provider.http.get_json(endpoints.userinfo, token=token)
    # An answer about somebody else is not used.
    named = ("email", "email_verified", "name")
    return {key: claims[key] for key in named if key in claims} if claims.get("sub") == subject else {}


def _read_claims(claims: Mapping[str, Any]) -> LoginClaims:
    email, name = claims.get("email"), claims.get("name")
    return LoginClaims(
        claims["sub"],
        email if isinstance(email, str) and email else None,
        # Some issuers send the word instead of the boolean.
        claims.get("email_verified") in (True, "true"),
        name[:NAME_CHARS_MAX] if isinstance(name, str) and name.strip() else None,
    )
