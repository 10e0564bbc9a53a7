"""What the issuer publishes: its endpoints and its keys. Both are read when needed and kept for a while."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from groundplan.surfaces.http.identity_provider.issuer_client import IssuerClient, IssuerUnavailable
from groundplan.surfaces.http.identity_provider.settings import IssuerSettings

KEPT_S = 3600.0
KEPT_WITHOUT_ISSUER_S = 6 * 3600.0  # keys go on to count for so long while the issuer does not answer
REST_S = 5.0  # after a request that the issuer did not answer
READ_AGAIN_S = 30.0  # an unknown key is looked for at most so often, because anybody can name one
KEYS_MAX = 50
RSA_BITS_MIN = 2048
RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
# The key types of each algorithm. None is symmetric: an issuer's public key must never count as a shared secret.
KEY_TYPES = {
    **dict.fromkeys(RSA, ("RSA", None)),
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}

Answered = TypeVar("Answered")


class Endpoints(NamedTuple):
    """The addresses of the issuer."""

    authorization: str
    token: str
    keys: str
    userinfo: str | None
    takes_basic: bool  # whether a client proves its secret in the header, else in the form


class IdentityProvider:
    """The issuer, as far as it is known. Threads share one."""

    def __init__(
        self, settings: IssuerSettings, http: IssuerClient, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.settings = settings
        self.http = http
        self._clock = clock
        self._lock = threading.RLock()  # one thread asks the issuer, and the others use its answer
        self._endpoints: tuple[float, Endpoints] | None = None
        self._keys: tuple[float, list[dict[str, Any]]] | None = None
        self._keys_asked_at = -math.inf
        self._failed_at = -math.inf

    def load_endpoints(self) -> Endpoints:
        """Return the endpoints.

        Raises:
            IssuerUnavailable: the issuer does not answer, or speaks for another one.
        """
        with self._lock:
            if self._endpoints is None or self._endpoints[0] + KEPT_S < self._clock():
                self._endpoints = (self._clock(), self._ask(self._read_endpoints))
            return self._endpoints[1]

    def find_key(self, key_id: str | None, algorithm: str) -> jwt.PyJWK | None:
        """Return the key of a signature, or None if the issuer has none such.

        Raises:
            IssuerUnavailable: the keys are not known, and the issuer does not answer.
        """
        with self._lock:
            found = _choose_key(self._load_keys(KEPT_S), key_id, algorithm)
            if found is None:
                found = _choose_key(self._load_keys(READ_AGAIN_S), key_id, algorithm)
        return found

    def _load_keys(self, kept_s: float) -> list[dict[str, Any]]:
        """Return the keys, asked for at most `kept_s` ago."""
        now = self._clock()
        if self._keys is None or self._keys_asked_at + kept_s < now:
            try:
                self._keys = (now, self._ask(self._read_keys))
                self._keys_asked_at = now
            except IssuerUnavailable:
                if self._keys is None or self._keys[0] + KEPT_WITHOUT_ISSUER_S < now:
                    raise
                self._keys_asked_at = now - kept_s + READ_AGAIN_S  # the old ones count, and are asked for again soon
        return self._keys[1]

    def _ask(self, read: Callable[[], Answered]) -> Answered:
        """Ask the issuer, unless it did not answer a moment ago: the requests of all threads would queue up."""
        if self._failed_at + REST_S > self._clock():
            raise IssuerUnavailable(f"the issuer {self.settings.name} does not answer; try again in {REST_S:.0f} s")
        try:
            return read()
        except IssuerUnavailable:
            self._failed_at = self._clock()
            raise

    def _read_endpoints(self) -> Endpoints:
        issuer = self.settings.issuer
        document = self.http.get_json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        named = [document.get(key) for key in ("authorization_endpoint", "token_endpoint", "jwks_uri")]
        if document.get("issuer") != issuer or not all(isinstance(url, str) for url in named):
            raise IssuerUnavailable(
                f"{self.settings.name} does not describe the issuer {issuer}; check oidc_issuer, to the last slash"
            )
        userinfo = document.get("userinfo_endpoint")
        methods = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        takes_basic = isinstance(methods, list) and "client_secret_basic" in methods
        authorization, token, keys = map(str, named)
        return Endpoints(authorization, token, keys, userinfo if isinstance(userinfo, str) else None, takes_basic)

    def _read_keys(self) -> list[dict[str, Any]]:
        keys = self.http.get_json(self.load_endpoints().keys).get("keys")
        if not isinstance(keys, list):
            raise IssuerUnavailable(f"the issuer {self.settings.name} publishes no keys")
        return [key for key in keys[:KEYS_MAX] if isinstance(key, dict)]


def _choose_key(keys: list[dict[str, Any]], key_id: str | None, algorithm: str) -> jwt.PyJWK | None:
    key_type, curve = KEY_TYPES[algorithm]
    fitting = [
        key
        for key in keys
        if key.get("kty") == key_type
        and (curve is None or key.get("crv") == curve)
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (key_id is None or key.get("kid") == key_id)
    ]
    if len(fitting) != 1:  # without a key id only the one possible key counts
        return None
    try:
        key = jwt.PyJWK(fitting[0], algorithm)
    except jwt.PyJWTError:
        return None
    is_short = isinstance(key.key, RSAPublicKey) and key.key.key_size < RSA_BITS_MIN
    return None if is_short else key
