"""Verify the signature of a token of the issuer, and the claims that every token needs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import jwt

from groundplan.kernel.errors import Unauthenticated
from groundplan.surfaces.http.identity_provider.provider import KEY_TYPES, IdentityProvider

TOKEN_CHARS_MAX = 16 * 1024
SUBJECT_CHARS_MAX = 255  # of the specification
LEEWAY_S = 30  # that the clocks of the issuer and of this server may differ


class SignedTokenRefused(Unauthenticated):
    """A token of the issuer that is not accepted. The reason is for the log; callers learn only that it is refused."""

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
    """Return the claims of a token that the issuer signed for one of these audiences and that is valid now.

    `types` are the accepted values of `typ` in lower case; an empty one stands for none.

    Raises:
        SignedTokenRefused: it is not such a token.
        IssuerUnavailable: the keys are not known, and the issuer does not answer.
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
