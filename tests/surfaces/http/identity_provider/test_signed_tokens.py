"""Which tokens of the issuer count. Each test changes one thing of a token that is accepted."""

from __future__ import annotations

import base64
import hmac
import json
import time
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from groundplan.kernel.access import Role
from groundplan.surfaces.http.issuer_tokens import SignedTokenRefused, verify_access_token, verify_id_token
from tests.surfaces.http.identity_provider.issuer import (
    AUDIENCE,
    CLIENT,
    ISSUER,
    REMOVED,
    SETTINGS,
    FakeIssuer,
    describe_key,
    make_key,
)


class FromNow(int):
    """A number of seconds from now. Not the moment itself, which would be another one in each process."""

    def to_claim(self) -> int:
        return int(time.time()) + self


def to_claims(claims: dict[str, Any]) -> dict[str, Any]:
    return {name: value.to_claim() if isinstance(value, FromNow) else value for name, value in claims.items()}


def refuse_access(issuer: FakeIssuer, token: str) -> str:
    with pytest.raises(SignedTokenRefused) as refused:
        verify_access_token(issuer.provider, token)
    return refused.value.reason


def refuse_id(issuer: FakeIssuer, token: str, nonce: str = "n") -> str:
    with pytest.raises(SignedTokenRefused) as refused:
        verify_id_token(issuer.provider, token, nonce=nonce)
    return refused.value.reason


def encode_part(part: Any) -> str:
    raw = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


# --- Access tokens ---------------------------------------------------------------------------------------------------


def test_an_access_token_for_this_server_says_who_acts_and_through_which_client() -> None:
    issuer = FakeIssuer()
    claims = verify_access_token(issuer.provider, issuer.sign_access())

    assert (claims.subject, claims.client_id, claims.role_max) == ("ada-1", "editor-app", Role.EDITOR)
    assert not claims.is_without_person
    assert verify_access_token(issuer.provider, issuer.sign_access(aud=["other", f"{AUDIENCE}/mcp"])).subject == "ada-1"


@pytest.mark.parametrize("kind", ["ES256", "EdDSA", "RS256"])
def test_keys_of_all_usual_types_count(kind: str) -> None:
    issuer = FakeIssuer()
    issuer.keys = [describe_key("ES256", 7), describe_key(kind)]

    assert verify_access_token(issuer.provider, issuer.sign_access(kind=kind)).subject == "ada-1"


@pytest.mark.parametrize(
    ("scope", "role"),
    [
        ("", Role.VIEWER),
        ("openid", Role.VIEWER),
        ("groundplan:editor", Role.EDITOR),
        ("groundplan:owner groundplan:viewer", Role.OWNER),
        (7, Role.VIEWER),
        (REMOVED, Role.VIEWER),
    ],
)
def test_the_scope_is_the_largest_role_and_without_one_it_is_viewer(scope: Any, role: Role) -> None:
    issuer = FakeIssuer()

    assert verify_access_token(issuer.provider, issuer.sign_access(scope=scope)).role_max == role


@pytest.mark.parametrize("claim", ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"])
def test_an_access_token_without_a_claim_of_the_standard_is_refused(claim: str) -> None:
    issuer = FakeIssuer()
    without: dict[str, Any] = {claim: REMOVED}

    assert refuse_access(issuer, issuer.sign_access(**without)) == "MissingRequiredClaimError"


@pytest.mark.parametrize(
    ("claim", "value", "reason"),
    [
        ("iss", "https://other.example.org", "InvalidIssuerError"),
        ("iss", f"{ISSUER}/", "InvalidIssuerError"),
        ("aud", "https://other.example.org", "InvalidAudienceError"),
        ("aud", [], "MissingRequiredClaimError"),
        ("aud", CLIENT, "InvalidAudienceError"),
        ("exp", FromNow(-60), "ExpiredSignatureError"),
        ("exp", "soon", "DecodeError"),
        ("nbf", FromNow(600), "ImmatureSignatureError"),
        ("iat", FromNow(600), "ImmatureSignatureError"),
        ("iat", "now", "InvalidIssuedAtError"),
        ("sub", "", "sub"),
        ("sub", "a" * 256, "sub"),
        ("sub", 7, "InvalidSubjectError"),
        ("client_id", "", "client_id"),
        ("client_id", 7, "client_id"),
        ("jti", 7, "InvalidJTIError"),
    ],
)
def test_an_access_token_with_a_wrong_claim_is_refused(claim: str, value: Any, reason: str) -> None:
    issuer = FakeIssuer()

    assert refuse_access(issuer, issuer.sign_access(**to_claims({claim: value}))) == reason


@pytest.mark.parametrize("typ", ["JWT", "jwt", "id+jwt", "secevent+jwt", ""])
def test_a_token_of_another_type_is_no_access_token(typ: str) -> None:
    issuer = FakeIssuer()

    assert refuse_access(issuer, issuer.sign_access(header={"typ": typ})) == "type"


def test_an_id_token_is_no_access_token_even_for_the_right_audience() -> None:
    issuer = FakeIssuer()
    token = issuer.sign_id(aud=AUDIENCE, client_id="editor-app", jti="1")

    assert refuse_access(issuer, token) == "type"


def test_an_unsigned_token_is_refused() -> None:
    issuer = FakeIssuer()
    _, body, _ = issuer.sign_access().split(".")

    for algorithm in ("none", "None", "NONE", ""):
        assert refuse_access(issuer, f"{encode_part({'alg': algorithm, 'typ': 'at+jwt'})}.{body}.") == "algorithm"


@pytest.mark.parametrize("algorithm", ["HS256", "HS512"])
def test_the_public_key_is_never_a_shared_secret(algorithm: str) -> None:
    issuer = FakeIssuer()
    issuer.keys = [describe_key("RS256")]
    public = make_key("RS256").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    _, body, _ = issuer.sign_access(kind="RS256").split(".")
    signed = f"{encode_part({'alg': algorithm, 'typ': 'at+jwt', 'kid': 'RS256-0'})}.{body}"
    signature = hmac.digest(public, signed.encode(), f"sha{algorithm[2:]}")

    assert refuse_access(issuer, f"{signed}.{encode_part(signature)}") == "algorithm"


def test_a_published_symmetric_key_does_not_count() -> None:
    issuer = FakeIssuer()
    issuer.keys = [{"kty": "oct", "k": encode_part(b"secret"), "kid": "ES256-0"}]

    assert refuse_access(issuer, issuer.sign_access()) == "key"


def test_a_key_that_the_token_brings_along_does_not_count() -> None:
    issuer = FakeIssuer()
    foreign = issuer.sign_access(number=1, header={"jwk": describe_key(number=1), "kid": "ES256-0"})
    elsewhere = issuer.sign_access(number=1, header={"jku": "https://evil.example.org/keys", "kid": "ES256-1"})

    assert refuse_access(issuer, foreign) == "InvalidSignatureError"
    assert refuse_access(issuer, elsewhere) == "key"
    assert {request.url.host for request in issuer.requests} == {"login.example.org"}


@pytest.mark.parametrize(
    ("published", "reason"),
    [
        (describe_key("ES256", 1, kid="ES256-0"), "InvalidSignatureError"),
        (describe_key(use="enc"), "key"),
        (describe_key(alg="ES384"), "key"),
        ({**describe_key(), "x": "!"}, "key"),
    ],
)
def test_only_a_signing_key_of_the_issuer_counts(published: dict[str, Any], reason: str) -> None:
    issuer = FakeIssuer()
    issuer.keys = [published]

    assert refuse_access(issuer, issuer.sign_access()) == reason


@pytest.mark.filterwarnings("ignore::jwt.InsecureKeyLengthWarning")
def test_a_short_key_does_not_count() -> None:
    issuer = FakeIssuer()
    issuer.keys = [describe_key("short")]

    assert refuse_access(issuer, issuer.sign_access(kind="short")) == "key"


def test_a_changed_token_is_refused() -> None:
    issuer = FakeIssuer()
    header, body, signature = issuer.sign_access().split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    other = encode_part({**claims, "sub": "mallory"})

    assert refuse_access(issuer, f"{header}.{other}.{signature}") == "InvalidSignatureError"
    assert refuse_access(issuer, f"{header}.{body}.{'A' * len(signature)}") == "InvalidSignatureError"


@pytest.mark.parametrize("token", ["", ".", "..", "a.b.c", "a" * 20_000, "ä.ä.ä", "e30.e30.", "\0.\0.\0"])
def test_no_other_text_is_a_token(token: str) -> None:
    assert refuse_access(FakeIssuer(), token) in {"malformed", "algorithm", "too long"}


def test_a_critical_header_that_is_not_known_is_refused() -> None:
    issuer = FakeIssuer()

    assert refuse_access(issuer, issuer.sign_access(header={"crit": ["exp"], "exp": 1})) in {"header", "malformed"}


def test_without_a_configured_audience_no_access_token_counts() -> None:
    issuer = FakeIssuer(SETTINGS._replace(audiences=()))

    assert refuse_access(issuer, issuer.sign_access()) == "not configured"
    assert issuer.requests == []


def test_a_token_that_a_client_got_for_itself_acts_for_nobody() -> None:
    issuer = FakeIssuer()

    assert verify_access_token(issuer.provider, issuer.sign_access(sub="editor-app")).is_without_person


# --- ID tokens -------------------------------------------------------------------------------------------------------


def test_an_id_token_says_who_logged_in() -> None:
    issuer = FakeIssuer()
    issuer.nonce = "n"

    assert verify_id_token(issuer.provider, issuer.sign_id(), nonce="n")["sub"] == "ada-1"
    assert verify_id_token(issuer.provider, issuer.sign_id(aud=[CLIENT, "x"], azp=CLIENT), nonce="n")["sub"] == "ada-1"


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"nonce": "other"}, "nonce"),
        ({"nonce": REMOVED}, "MissingRequiredClaimError"),
        ({"nonce": 7}, "nonce"),
        ({"aud": AUDIENCE}, "InvalidAudienceError"),
        ({"aud": [CLIENT, "other"]}, "azp"),
        ({"azp": "other"}, "azp"),
        ({"iss": "https://other.example.org"}, "InvalidIssuerError"),
        ({"exp": FromNow(-60)}, "ExpiredSignatureError"),
        ({"header": {"typ": "at+jwt"}}, "type"),
    ],
)
def test_an_id_token_of_another_login_client_or_issuer_is_refused(claims: dict[str, Any], reason: str) -> None:
    issuer = FakeIssuer()
    issuer.nonce = "n"

    assert refuse_id(issuer, issuer.sign_id(**to_claims(claims))) == reason
