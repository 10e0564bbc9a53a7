"""A login at the issuer, from the address that the browser opens to the person who came back."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from groundplan.surfaces.http.issuer import IssuerUnavailable
from groundplan.surfaces.http.login_flow import (
    IssuerLoginFailed,
    LoginAttempt,
    LoginClaims,
    begin_login,
    finish_login,
)
from tests.surfaces.http.identity_provider.issuer import ISSUER, REMOVED, SETTINGS, FakeIssuer

BACK = "https://plan.example.org/login/issuer/callback"


def log_in(issuer: FakeIssuer, **changes: str) -> LoginClaims:
    url, attempt = begin_login(issuer.provider, redirect_uri=BACK)
    answer = {**issuer.open_login_page(url), **changes}
    return finish_login(issuer.provider, attempt, answer, redirect_uri=BACK)


def test_a_login_tells_who_the_person_is() -> None:
    assert log_in(FakeIssuer()) == LoginClaims("ada-1", "ada@example.org", True, "Ada")


def test_the_login_page_gets_a_challenge_and_no_secret() -> None:
    issuer = FakeIssuer()
    url, attempt = begin_login(issuer.provider, redirect_uri=BACK)
    query = parse_qs(urlsplit(url).query)

    assert url.startswith(f"{ISSUER}/authorize?")
    assert query["code_challenge_method"] == ["S256"]
    assert query["redirect_uri"] == [BACK]
    assert attempt.verifier not in url
    assert str(SETTINGS.client_secret) not in url
    assert len({*attempt, *begin_login(issuer.provider, redirect_uri=BACK)[1]}) == 6


@pytest.mark.parametrize("methods", [None, ["client_secret_basic"], ["client_secret_post"]])
def test_the_client_proves_its_secret_as_the_issuer_wants(methods: list[str] | None) -> None:
    issuer = FakeIssuer()
    if methods:
        issuer.document["token_endpoint_auth_methods_supported"] = methods
    log_in(issuer)
    sent = next(request for request in issuer.requests if request.url.path.endswith("/token"))
    form = parse_qs(sent.content.decode())

    if methods == ["client_secret_post"]:
        assert form["client_secret"] == [SETTINGS.client_secret]
        assert "authorization" not in sent.headers
    else:
        encoded = base64.b64encode(b"groundplan-web:s%3Aecret+%26").decode()
        assert sent.headers["authorization"] == f"Basic {encoded}"
        assert "client_secret" not in form


def test_a_public_client_sends_no_secret() -> None:
    issuer = FakeIssuer(SETTINGS._replace(client_secret=None))
    log_in(issuer)
    sent = next(request for request in issuer.requests if request.url.path.endswith("/token"))

    assert parse_qs(sent.content.decode())["client_id"] == [SETTINGS.client_id]
    assert "authorization" not in sent.headers


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "other"},
        {"state": ""},
        {"state": "ä"},
        {"iss": "https://evil.example.org"},
        {"code": "wrong"},
        {"code": ""},
        {"code": "a" * 5000},
        {"error": "access_denied"},
        {"error": "server_error", "error_description": "<b>"},
    ],
)
def test_an_answer_of_another_login_or_without_a_right_code_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(IssuerLoginFailed) as refused:
        log_in(FakeIssuer(), **changes)
    assert "<b>" not in str(refused.value)


def test_a_code_works_only_with_the_verifier_of_its_login() -> None:
    issuer = FakeIssuer()
    url, attempt = begin_login(issuer.provider, redirect_uri=BACK)
    answer = issuer.open_login_page(url)

    with pytest.raises(IssuerLoginFailed):
        finish_login(issuer.provider, attempt._replace(verifier="x" * 43), answer, redirect_uri=BACK)


@pytest.mark.parametrize("claims", [{"nonce": "other"}, {"aud": "other"}, {"exp": 1}, {"number": 1}])
def test_an_id_token_that_does_not_hold_logs_nobody_in(claims: dict[str, Any]) -> None:
    issuer = FakeIssuer()
    issuer.id_claims = claims

    with pytest.raises(IssuerLoginFailed):
        log_in(issuer)


@pytest.mark.parametrize(
    ("verified", "counts"), [(True, True), ("true", True), (False, False), (REMOVED, False), ("yes", False), (1, True)]
)
def test_an_address_counts_only_if_the_issuer_verified_it(verified: Any, counts: bool) -> None:
    issuer = FakeIssuer()
    issuer.id_claims = {"email_verified": verified}

    assert log_in(issuer).email_verified is counts


def test_an_address_that_the_id_token_lacks_is_asked_for() -> None:
    issuer = FakeIssuer()
    issuer.id_claims = {"email": REMOVED, "email_verified": REMOVED}
    issuer.userinfo = {"sub": "ada-1", "email": "ada@example.org", "email_verified": True}
    assert log_in(issuer).email == "ada@example.org"

    issuer.userinfo["sub"] = "mallory"
    assert log_in(issuer) == LoginClaims("ada-1", None, False, "Ada")


def test_a_login_page_on_another_host_is_not_opened() -> None:
    issuer = FakeIssuer()
    issuer.document["authorization_endpoint"] = "https://evil.example.org/authorize"

    with pytest.raises(IssuerUnavailable):
        begin_login(issuer.provider, redirect_uri=BACK)


def test_the_cookie_carries_the_login_and_nothing_else_is_one() -> None:
    attempt = LoginAttempt("a", "b", "c")

    assert LoginAttempt.from_cookie(attempt.to_cookie()) == attempt
    for text in ("", "a", "a.b", "a.b.", "a.b.c.d", ".."):
        assert LoginAttempt.from_cookie(text) is None
