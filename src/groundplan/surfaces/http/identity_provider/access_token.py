"""JWT access tokens (RFC 9068): who sends a request, and through which client."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.access import Role
from groundplan.surfaces.http.identity_provider.provider import IdentityProvider
from groundplan.surfaces.http.identity_provider.signed_tokens import SignedTokenRefused, decode_signed_token

ACCESS_TOKEN_TYPES = ("at+jwt",)
SCOPE_PREFIX = "groundplan:"  # groundplan:viewer, groundplan:editor, groundplan:owner


class AccessClaims(NamedTuple):
    """What an access token says: the person, the client that acts for them, and the largest role."""

    subject: str
    client_id: str
    role_max: Role
    issued_at_s: float
    expires_at_s: float

    @property
    def is_without_person(self) -> bool:
        """Whether a client got the token for itself (RFC 9068, 5): it acts for nobody."""
        return self.subject == self.client_id


def verify_access_token(provider: IdentityProvider, token: str) -> AccessClaims:
    """Return what an access token for this server says.

    Raises:
        SignedTokenRefused: it is not such a token.
        IssuerUnavailable: the keys are not known, and the issuer does not answer.
    """
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
    """Return the largest role that the scopes name; without any, that of a viewer."""
    words = scope.split() if isinstance(scope, str) else []
    named = [role for role in Role if f"{SCOPE_PREFIX}{role}" in words]
    return named[-1] if named else Role.VIEWER
