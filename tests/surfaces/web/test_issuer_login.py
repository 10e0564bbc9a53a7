"""Logging in at an OpenID Connect issuer, as a browser does it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from groundplan.kernel.actors import Actor
from groundplan.kernel.identities.bind_login import VerifiedIdentity, bind_login
from groundplan.kernel.store.store import Store
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.web import issuer_login
from tests.engines import Engine
from tests.surfaces.http.client import Reply
from tests.surfaces.http.identity_provider.issuer import FakeIssuer
from tests.surfaces.web.browser import PORT, Browser

BEGUN = f"groundplan_login_{PORT}"
SESSION = f"groundplan_session_{PORT}"


@pytest.fixture
def issuer() -> FakeIssuer:
    return FakeIssuer()


@pytest.fixture
def visitor(engine: Engine, issuer: FakeIssuer) -> Iterator[Browser]:
    """A browser on a server with an issuer, and a project of Ben, who has added Ada's address."""
    ben = engine.session("ben")
    ben.call("project.create", name="atlas")
    ben.call("member.add", scopeId="atlas", userId="ada@example.org", role="editor")
    with Browser(engine.store, actor=None, provider=issuer.provider) as browser:
        yield browser


def log_in(browser: Browser, issuer: FakeIssuer, **changes: str) -> Reply:
    """Follow the button of the login page, log in at the issuer, and come back."""
    begun = browser.get("/login/issuer")
    assert begun.status == 303
    answer = {**issuer.open_login_page(begun.headers["location"]), **changes}
    return browser.get(f"/login/issuer/callback?{urlencode(answer)}")


def test_the_login_page_leads_to_the_issuer(visitor: Browser) -> None:
    page = visitor.get("/login").body.decode()

    assert 'href="/login/issuer"' in page
    assert "login.example.org" in page
    assert 'name="token"' in page


def test_a_person_whose_address_was_added_is_logged_in_with_the_role_that_they_got(
    visitor: Browser, issuer: FakeIssuer
) -> None:
    reply = log_in(visitor, issuer)

    assert (reply.status, reply.headers["location"]) == (303, "/")
    assert set(visitor.cookies) == {SESSION}  # that of the attempt is gone
    assert [(project["name"], project["role"]) for project in visitor.get("/v1/projects").json["projects"]] == [
        ("atlas", "editor")
    ]


def test_a_second_login_is_the_same_person_also_after_their_address_changed(
    visitor: Browser, issuer: FakeIssuer
) -> None:
    log_in(visitor, issuer)
    visitor.cookies.clear()
    issuer.id_claims = {"email": "other@example.org", "email_verified": False}

    assert log_in(visitor, issuer).status == 303
    assert [project["name"] for project in visitor.get("/v1/projects").json["projects"]] == ["atlas"]


@pytest.mark.parametrize(
    "claims",
    [
        {"email": "mallory@example.org"},
        {"email": "ada@example.org.evil.example"},
        {"email_verified": False},
        {"email": "not an address"},
        {"email": "<script>@example.org"},
        {"nonce": "other"},
        {"aud": "other"},
    ],
)
def test_nobody_else_is_let_in_and_the_page_says_what_to_do(
    visitor: Browser, issuer: FakeIssuer, claims: dict[str, Any]
) -> None:
    issuer.id_claims = claims
    reply = log_in(visitor, issuer)

    assert reply.status in {400, 401, 403}
    assert b'role="alert"' in reply.body
    assert b"<script>@" not in reply.body
    assert visitor.cookies == {}


def test_a_login_ends_in_the_browser_where_it_began(visitor: Browser, issuer: FakeIssuer) -> None:
    begun = visitor.get("/login/issuer")
    answer = urlencode(issuer.open_login_page(begun.headers["location"]))
    visitor.cookies.clear()

    assert visitor.get(f"/login/issuer/callback?{answer}").status == 401
    assert visitor.cookies == {}


def test_the_answer_to_another_login_is_refused(visitor: Browser, issuer: FakeIssuer) -> None:
    assert log_in(visitor, issuer, state="stolen").status == 401
    assert log_in(visitor, issuer, iss="https://evil.example.org").status == 401
    assert log_in(visitor, issuer, error="access_denied").status == 401
    assert visitor.cookies == {}


def test_an_answer_works_once(visitor: Browser, issuer: FakeIssuer) -> None:
    begun = visitor.get("/login/issuer")
    address = f"/login/issuer/callback?{urlencode(issuer.open_login_page(begun.headers['location']))}"
    assert visitor.send("HEAD", address).status == 200
    assert visitor.get(address).status == 303
    visitor.cookies.clear()

    assert visitor.get(address).status == 401


def test_without_the_issuer_the_page_says_so_and_a_token_still_logs_in(
    visitor: Browser, issuer: FakeIssuer, engine: Engine
) -> None:
    issuer.is_gone = True
    reply = visitor.get("/login/issuer")
    assert (reply.status, b'name="token"' in reply.body) == (503, True)

    token = engine.session("ben").call("token.create", kind="person").secret
    assert visitor.submit("/login", {"token": token}).status == 303


def test_who_leaves_the_organization_is_out_and_cannot_log_in_again(
    visitor: Browser, issuer: FakeIssuer, engine: Engine
) -> None:
    log_in(visitor, issuer)
    engine.session("ben").call("organization.remove_member", name="ada@example.org")

    assert visitor.get("/v1/projects").status == 401
    assert log_in(visitor, issuer).status == 403


def test_over_https_the_cookie_of_the_attempt_is_for_this_host_alone(engine: Engine, issuer: FakeIssuer) -> None:
    exposure = Exposure(port=PORT, allowed_hosts=("plan.example.org",), proxies=("127.0.0.1",))
    with Browser(engine.store, exposure, actor=None, provider=issuer.provider) as browser:
        reply = browser.get("/login/issuer", host="plan.example.org", x_forwarded_proto="https")

    cookie = reply.headers["set-cookie"]
    assert cookie.startswith("__Host-groundplan_login=")
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
    assert "redirect_uri=https%3A%2F%2Fplan.example.org%2Flogin%2Fissuer%2Fcallback" in reply.headers["location"]


def test_without_an_issuer_there_is_no_such_page(browser: Browser) -> None:
    assert browser.get("/login/issuer").status == 404
    assert b"/login/issuer" not in browser.get("/login").body


def test_an_account_that_is_unlinked_during_its_login_gets_no_session(
    visitor: Browser, issuer: FakeIssuer, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unlink_after_binding(store: Store, identity: VerifiedIdentity) -> Actor:
        actor = bind_login(store, identity)
        engine.session("ben").call("organization.unlink_account", name=actor.id)
        return actor

    monkeypatch.setattr(issuer_login, "bind_login", unlink_after_binding)
    reply = log_in(visitor, issuer)

    assert (reply.status, visitor.cookies) == (401, {})
    assert [one.kind for one in engine.session("ben").call("token.list").tokens] == []  # no login that works
