"""An issuer of the tests: it answers without a network, and signs whatever a test wants."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from groundplan.surfaces.http.issuer import IdentityProvider, IssuerClient, IssuerSettings

ISSUER = "https://login.example.org/realm"
CLIENT = "groundplan-web"
AUDIENCE = "https://plan.example.org"
SETTINGS = IssuerSettings(ISSUER, CLIENT, client_secret="s:ecret &", audiences=(AUDIENCE, f"{AUDIENCE}/mcp"))
REMOVED = object()  # in the place of a claim: the token has none


@cache
def make_key(kind: str = "ES256", number: int = 0) -> Any:
    """Return a private key; the same one for the same arguments."""
    match kind:
        case "ES256":
            return ec.generate_private_key(ec.SECP256R1())
        case "EdDSA":
            return ed25519.Ed25519PrivateKey.generate()
        case "short":
            return rsa.generate_private_key(65537, 1024)  # noqa: S505 - the test refuses it
        case _:
            return rsa.generate_private_key(65537, 2048)


def describe_key(kind: str = "ES256", number: int = 0, **changes: Any) -> dict[str, Any]:
    """Return a public key as the issuer publishes it."""
    algorithm = "RS256" if kind == "short" else kind
    public = json.loads(jwt.get_algorithm_by_name(algorithm).to_jwk(make_key(kind, number).public_key()))
    return {**public, "kid": f"{kind}-{number}", "use": "sig", "alg": algorithm, **changes}


class FakeIssuer:
    """Endpoints, keys and tokens of an issuer, and the requests that it got."""

    def __init__(self, settings: IssuerSettings = SETTINGS) -> None:
        self.settings = settings
        self.keys = [describe_key()]
        self.document: dict[str, Any] = {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/authorize",
            "token_endpoint": f"{ISSUER}/token",
            "jwks_uri": f"{ISSUER}/keys",
            "userinfo_endpoint": f"{ISSUER}/userinfo",
        }
        self.requests: list[httpx.Request] = []
        self.is_gone = False
        self.now_s = 0.0
        self.id_claims: dict[str, Any] = {}
        self.userinfo: dict[str, Any] = {}
        self.challenge = self.nonce = ""
        self.provider = IdentityProvider(
            settings, IssuerClient(settings, httpx.MockTransport(self.answer)), lambda: self.now_s
        )

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Answer one request of the server."""
        self.requests.append(request)
        if self.is_gone:
            raise httpx.ConnectTimeout("no answer")
        match request.url.path.removeprefix("/realm"):
            case "/.well-known/openid-configuration":
                return httpx.Response(200, json=self.document)
            case "/keys":
                return httpx.Response(200, json={"keys": self.keys})
            case "/userinfo":
                return httpx.Response(200, json=self.userinfo)
            case "/token":
                return self._exchange(request)
        return httpx.Response(404, json={})

    def _exchange(self, request: httpx.Request) -> httpx.Response:
        form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if form.get("code") != "right" or base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != self.challenge:
            return httpx.Response(400, json={"error": "invalid_grant"})
        return httpx.Response(200, json={"id_token": self.sign_id(**self.id_claims), "access_token": "opaque"})

    def open_login_page(self, url: str) -> dict[str, str]:
        """Do what a browser and a person do at the issuer; return what it sends back."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        self.challenge, self.nonce = query["code_challenge"], query["nonce"]
        return {"code": "right", "state": query["state"], "iss": ISSUER}

    def sign(self, claims: dict[str, Any], *, kind: str = "ES256", number: int = 0, **header: Any) -> str:
        """Return a token with these claims."""
        kept = {name: value for name, value in claims.items() if value is not REMOVED}
        headers = {name: value for name, value in {"kid": f"{kind}-{number}", **header}.items() if value is not None}
        algorithm = headers.pop("alg", "RS256" if kind == "short" else kind)
        return jwt.encode(kept, make_key(kind, number), algorithm, headers=headers)

    def sign_id(
        self, *, header: dict[str, Any] | None = None, kind: str = "ES256", number: int = 0, **claims: Any
    ) -> str:
        """Return an ID token of Ada, with changes."""
        now = int(time.time())
        usual = {"iss": ISSUER, "sub": "ada-1", "aud": CLIENT, "exp": now + 300, "iat": now, "nonce": self.nonce}
        person = {"email": "ada@example.org", "email_verified": True, "name": "Ada"}
        return self.sign({**usual, **person, **claims}, kind=kind, number=number, **(header or {}))

    def sign_access(
        self, *, header: dict[str, Any] | None = None, kind: str = "ES256", number: int = 0, **claims: Any
    ) -> str:
        """Return an access token of Ada for this server through the client `editor-app`, with changes."""
        now = int(time.time())
        usual = {"iss": ISSUER, "sub": "ada-1", "aud": AUDIENCE, "exp": now + 300, "iat": now, "jti": "1"}
        rights = {"client_id": "editor-app", "scope": "groundplan:editor"}
        return self.sign({**usual, **rights, **claims}, kind=kind, number=number, **{"typ": "at+jwt", **(header or {})})
