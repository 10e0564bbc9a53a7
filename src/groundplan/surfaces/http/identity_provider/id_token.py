"""The ID token of a login: who logged in."""

from __future__ import annotations

from hmac import compare_digest
from typing import Any

from groundplan.surfaces.http.identity_provider.provider import IdentityProvider
from groundplan.surfaces.http.identity_provider.signed_tokens import SignedTokenRefused, decode_signed_token

ID_TOKEN_TYPES = ("", "jwt")


def verify_id_token(provider: IdentityProvider, token: str, *, nonce: str) -> dict[str, Any]:
    """Return the claims of an ID token that answers the login with this nonce.

    Raises:
        SignedTokenRefused: it is not such a token.
        IssuerUnavailable: the keys are not known, and the issuer does not answer.
    """
    client_id = provider.settings.client_id
    claims = decode_signed_token(provider, token, types=ID_TOKEN_TYPES, audiences=[client_id], required=("nonce",))
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    # A token for several clients names the one that asked for it.
    if claims.get("azp", client_id if len(audiences) == 1 else None) != client_id:
        raise SignedTokenRefused("azp")
    if not isinstance(claims["nonce"], str) or not compare_digest(claims["nonce"].encode(), nonce.encode()):
        raise SignedTokenRefused("nonce")
    return claims
