"""Verify the tokens that the issuer signed, and find the actor of an access token.

    ID token                               who logged in
    access token (RFC 9068)                who sends a request, and through which client:
      client_id in oidc_person_clients     the person, up to the role of the scope
      any other client                     the agent of that name, for the person: with no more rights than either has

The account must belong to a person of the organization, which is looked up for every request: whoever leaves, or is
removed, is refused by the next one.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import UTC, datetime
from hmac import compare_digest
from typing import Any, NamedTuple

import jwt

from groundplan.kernel.access import Role
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.clock import format_timestamp
from groundplan.kernel.errors import Forbidden, Unauthenticated
from groundplan.kernel.identities.bind_login import find_account
from groundplan.kernel.store.store import Store
from groundplan.kernel.tokens.authenticate import RefusalCounts, RefusalReason, VerifiedToken
from groundplan.kernel.tokens.token import TokenKind
from groundplan.surfaces.http.issuer import KEY_TYPES, IdentityProvider

TOKEN_CHARS_MAX = 16 * 1024
SUBJECT_CHARS_MAX = 255  # of the specification
LEEWAY_S = 30  # that the clocks of the issuer and of this server may differ


class SignedTokenRefused(Unauthenticated):
    """A token of the issuer is not accepted. The reason goes to the log; the caller only learns of the refusal."""

    code = "signed_token_refused"

    def __init__(self, reason: str) -> None:
        super().__init__("this token is not accepted; get a new one from the issuer for this server")
        self.reason = reason


def decode_signed_token(
    provider: IdentityProvider,
    token: str,
    *,
    types: Collection[str],
    audiences: Collection[str],
    required: Collection[str],
) -> dict[str, Any]:
    """Return the claims of a valid token that the issuer signed for one of these audiences.

    `types` are the accepted values of `typ` in lower case; an empty one stands for none.
    """
    if len(token) > TOKEN_CHARS_MAX:
        raise SignedTokenRefused("too long")
    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError:
        raise SignedTokenRefused("malformed") from None
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in KEY_TYPES:
        raise SignedTokenRefused("algorithm")
    # The type keeps an ID token from counting as an access token, and the other way round (RFC 8725, 3.11).
    if str(header.get("typ", "")).lower().removeprefix("application/") not in types:
        raise SignedTokenRefused("type")
    if "crit" in header or not isinstance(key_id, str | None):
        raise SignedTokenRefused("header")
    key = provider.find_key(key_id, algorithm)
    if key is None:
        raise SignedTokenRefused("key")
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            audience=audiences,
            issuer=provider.settings.issuer,
            leeway=LEEWAY_S,
            options={"require": [*required, "iss", "sub", "aud", "exp", "iat"]},
        )
    except jwt.PyJWTError as error:
        raise SignedTokenRefused(type(error).__name__) from None
    except (ValueError, TypeError, OverflowError):  # a claim of an unexpected type
        raise SignedTokenRefused("claims") from None
    if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= SUBJECT_CHARS_MAX:
        raise SignedTokenRefused("sub")
    return claims


# --- ID tokens --------------------------------------------------------------------------------------------------------

ID_TOKEN_TYPES = ("", "jwt")


def verify_id_token(provider: IdentityProvider, token: str, *, nonce: str) -> dict[str, Any]:
    """Return the claims of an ID token for the login with this nonce."""
    client_id = provider.settings.client_id
    claims = decode_signed_token(provider, token, types=ID_TOKEN_TYPES, audiences=[client_id], required=("nonce",))
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    # A token for several clients names the one that asked for it.
    if claims.get("azp", client_id if len(audiences) == 1 else None) != client_id:
        raise SignedTokenRefused("azp")
    if not isinstance(claims["nonce"], str) or not compare_digest(claims["nonce"].encode(), nonce.encode()):
        raise SignedTokenRefused("nonce")
    return claims


# --- Access tokens ----------------------------------------------------------------------------------------------------

ACCESS_TOKEN_TYPES = ("at+jwt",)
SCOPE_PREFIX = "groundplan:"  # groundplan:viewer, groundplan:editor, groundplan:owner


class AccessClaims(NamedTuple):
    """The claims of an access token: the person, the client that acts for them, and the largest role."""

    subject: str
    client_id: str
    role_max: Role
    issued_at_s: float
    expires_at_s: float

    @property
    def is_without_person(self) -> bool:
        """True if a client got the token for itself (RFC 9068, 5) and not for a person."""
        return self.subject == self.client_id


def verify_access_token(provider: IdentityProvider, token: str) -> AccessClaims:
    """Return the claims of an access token for this server."""
    audiences = provider.settings.audiences
    if not audiences:
        raise SignedTokenRefused("not configured")
    claims = decode_signed_token(
        provider, token, types=ACCESS_TOKEN_TYPES, audiences=audiences, required=("client_id", "jti")
    )
    client_id = claims["client_id"]
    if not isinstance(client_id, str) or not client_id:
        raise SignedTokenRefused("client_id")
    role = _read_role(claims.get("scope", ""))
    return AccessClaims(claims["sub"], client_id, role, float(claims["iat"]), float(claims["exp"]))


def _read_role(scope: object) -> Role:
    """Return the largest role in the scopes; viewer if they contain none."""
    words = scope.split() if isinstance(scope, str) else []
    named = [role for role in Role if f"{SCOPE_PREFIX}{role}" in words]
    return named[-1] if named else Role.VIEWER


# --- Actors -----------------------------------------------------------------------------------------------------------

log = logging.getLogger(__name__)


class AccountUnknown(Forbidden):
    """The access token is genuine, but its account or its client is unknown."""

    code = "account_unknown"


class SignedActors:
    """A verifier of the issuer's access tokens that returns their actors."""

    def __init__(self, store: Store, provider: IdentityProvider, refusals: RefusalCounts) -> None:
        self._store = store
        self._provider = provider
        self._refusals = refusals

    def verify(self, token: str) -> VerifiedToken:
        """Return the actor of an access token."""
        try:
            claims = verify_access_token(self._provider, token)
        except SignedTokenRefused as error:
            self._refusals[RefusalReason.MALFORMED] += 1
            log.warning("refused a token of the issuer: %s", error.reason)
            raise
        actor = self._build_actor(claims)
        kind = TokenKind.PERSON if actor.kind is ActorKind.PERSON else TokenKind.AGENT
        issued_at, expires_at = (
            format_timestamp(datetime.fromtimestamp(at_s, UTC)) for at_s in (claims.issued_at_s, claims.expires_at_s)
        )
        return VerifiedToken(actor, kind, issued_at, expires_at, renewable_until=None, is_use_due=False)

    def _build_actor(self, claims: AccessClaims) -> Actor:
        settings = self._provider.settings
        account = find_account(
            self._store, settings.organization, settings.issuer, claims.subject, agent=claims.client_id
        )
        if claims.is_without_person or account.person is None:
            raise AccountUnknown("this account is not known here; log in with a browser once, then try again")
        if claims.client_id in settings.person_clients:
            return Actor(
                settings.organization, account.person, ActorKind.PERSON, Access.MEMBERS, role_max=claims.role_max
            )
        if not account.knows_agent:
            raise AccountUnknown(
                f"the client {claims.client_id!r} is not known here; an owner adds it to a project as an agent of this "
                "name, with groundplan member add NAME --kind agent",
                client=claims.client_id,
            )
        return Actor(
            settings.organization,
            claims.client_id,
            ActorKind.AGENT,
            Access.MEMBERS,
            responsible=account.person,
            role_max=claims.role_max,
            sponsor=account.person,
        )
