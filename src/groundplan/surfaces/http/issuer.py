"""The OpenID Connect issuer that logs people in: its settings, its endpoints and its keys.

Endpoints and keys are read when needed and kept for a while. Nothing here writes to the store: `kernel/identities`
decides who a verified identity is.
"""

from __future__ import annotations

import math
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote_plus, urlsplit

import httpx
import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from groundplan.kernel.errors import Invalid, Unavailable
from groundplan.kernel.wording import quote_text

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class IssuerSettings(NamedTuple):
    """The settings of the issuer, all from the configuration of the server."""

    issuer: str
    client_id: str
    client_secret: str | None = None  # None: a public client, which PKCE alone protects
    audiences: tuple[str, ...] = ()  # the names of this server in access tokens; without any, none is accepted
    organization: str = "local"  # the one that its people join
    hosts: tuple[str, ...] = ()  # hosts of its endpoints besides the issuer's own
    person_clients: tuple[str, ...] = ()  # clients whose access tokens act as the person, not as an agent

    @property
    def name(self) -> str:
        """The host of the issuer, for the login page."""
        return urlsplit(self.issuer).netloc

    def allows_url(self, url: str) -> bool:
        """Return True if the server may connect to a URL: of the issuer, or of an allowed host with the same scheme."""
        own, target = urlsplit(self.issuer), urlsplit(url)
        return (
            url.isascii()
            and target.scheme == own.scheme
            and (target.netloc == own.netloc or target.netloc in self.hosts)
        )


def check_issuer(issuer: str, where: str = "oidc_issuer") -> str:
    """Return the address of an issuer if it is valid."""
    try:
        parts = urlsplit(issuer)
        host, _port = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    is_encrypted = parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK_NAMES)
    if not host or not is_encrypted or "@" in parts.netloc or "?" in issuer or "#" in issuer:
        raise Invalid(
            f"{where} must be the https address of the issuer, without query or password, not {quote_text(issuer)}",
            code="config_invalid_value",
            setting=where,
        )
    return issuer


# --- What the issuer publishes ----------------------------------------------------------------------------------------

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
    """The endpoints of the issuer."""

    authorization: str
    token: str
    keys: str
    userinfo: str | None
    takes_basic: bool  # whether a client proves its secret in the header, else in the form


class IdentityProvider:
    """The issuer: its endpoints and keys, as far as they are loaded. Threads share it."""

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
        """Return the endpoints."""
        with self._lock:
            if self._endpoints is None or self._endpoints[0] + KEPT_S < self._clock():
                self._endpoints = (self._clock(), self._ask(self._read_endpoints))
            return self._endpoints[1]

    def find_key(self, key_id: str | None, algorithm: str) -> jwt.PyJWK | None:
        """Return the key of a signature, or None if the issuer does not have it."""
        with self._lock:
            key = _choose_key(self._load_keys(KEPT_S), key_id, algorithm)
            if key is None:
                key = _choose_key(self._load_keys(READ_AGAIN_S), key_id, algorithm)
        return key

    def _load_keys(self, kept_s: float) -> list[dict[str, Any]]:
        """Return the keys, which are requested again after `kept_s` seconds."""
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
        """Request data from the issuer. After a failure, threads do not repeat the request for a moment."""
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


# --- HTTP to the issuer alone: no redirect, bounded in time and size --------------------------------------------------

TIMEOUT_S = 5.0  # of a whole request; a person waits for it
PHASE_TIMEOUT_S = 3.0  # to connect, to send, and for each part of the answer
ANSWER_BYTES_MAX = 256 * 1024


class IssuerUnavailable(Unavailable):
    """The issuer did not answer, or its answer violates the protocol."""

    code = "issuer_unavailable"


class IssuerClient:
    """Sends requests to the configured issuer."""

    def __init__(self, settings: IssuerSettings, transport: httpx.BaseTransport | None = None) -> None:
        self._settings = settings
        # Certificates of the operating system, and no proxy from the environment.
        self._http = httpx.Client(
            verify=ssl.create_default_context(),
            timeout=PHASE_TIMEOUT_S,
            follow_redirects=False,
            trust_env=False,
            transport=transport,
        )

    def get_json(self, url: str, *, token: str | None = None) -> dict[str, Any]:
        """Return the JSON object at an address."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        status, answer = self._send("GET", url, headers=headers)
        if status != httpx.codes.OK:
            raise IssuerUnavailable(f"the issuer {self._settings.name} answered with status {status}; try again later")
        return answer

    def post_form(
        self, url: str, form: Mapping[str, str], *, basic: tuple[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Send a form and return the status and the JSON object of the answer."""
        # The parts are encoded before they are joined (RFC 6749, 2.3.1), since a secret may contain a colon.
        auth = httpx.BasicAuth(*map(quote_plus, basic)) if basic else None
        return self._send("POST", url, data=dict(form), auth=auth)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _send(self, method: str, url: str, **options: Any) -> tuple[int, dict[str, Any]]:
        if not self._settings.allows_url(url):
            raise IssuerUnavailable(
                f"the issuer {self._settings.name} names an endpoint on another host; "
                "if it is right, add the host to oidc_hosts"
            )
        ends_at = time.monotonic() + TIMEOUT_S
        body = bytearray()
        try:
            with self._http.stream(method, url, **options) as response:
                for part in response.iter_bytes():
                    body += part
                    if len(body) > ANSWER_BYTES_MAX or time.monotonic() > ends_at:
                        raise IssuerUnavailable(f"the answer of the issuer {self._settings.name} is too long or slow")
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError):
            raise IssuerUnavailable(
                f"the issuer {self._settings.name} does not answer; try again, or log in with a token"
            ) from None
        try:
            return response.status_code, msgspec.json.decode(body, type=dict[str, Any])
        except msgspec.DecodeError:
            raise IssuerUnavailable(f"the issuer {self._settings.name} did not answer with a JSON object") from None
