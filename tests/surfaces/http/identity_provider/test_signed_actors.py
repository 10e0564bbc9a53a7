"""Requests with an access token of the issuer: who they act as, and with which rights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from groundplan.kernel.identities.bind_login import VerifiedIdentity, bind_login
from tests.engines import Engine
from tests.surfaces.http.client import Reply
from tests.surfaces.http.identity_provider.issuer import ISSUER, SETTINGS, FakeIssuer
from tests.surfaces.web.browser import Browser


@pytest.fixture
def issuer() -> FakeIssuer:
    return FakeIssuer(SETTINGS._replace(person_clients=("own-app",)))


@pytest.fixture
def server(engine: Engine, issuer: FakeIssuer) -> Iterator[Browser]:
    """A server on a project of Ben in which Ada is an editor and `editor-app` an agent."""
    ben = engine.session("ben")
    ben.call("project.create", name="atlas")
    ben.call("member.add", scopeId="atlas", userId="ada@example.org", role="editor")
    ben.call("member.add", scopeId="atlas", userId="editor-app", role="editor", kind="agent")
    bind_login(engine.store, VerifiedIdentity(ISSUER, "ada-1", "ada@example.org", True, None, "local"))
    with Browser(engine.store, actor=None, provider=issuer.provider) as browser:
        yield browser


def ask(server: Browser, token: str) -> Reply:
    return server.get("/v1/projects", authorization=f"Bearer {token}")


def plan(server: Browser, token: str) -> Reply:
    body = {"nodes": [{"ref": "a", "summary": "Time each step"}]}
    return server.send("POST", "/v1/projects/atlas/work/nodes", body, authorization=f"Bearer {token}")


def list_roles(reply: Reply) -> list[str]:
    return [project["role"] for project in reply.json["projects"]]


def test_a_client_acts_as_the_agent_of_its_name_for_the_person(
    server: Browser, issuer: FakeIssuer, engine: Engine
) -> None:
    token = issuer.sign_access()

    assert list_roles(ask(server, token)) == ["editor"]
    assert plan(server, token).status == 201
    event = engine.session("ben").call("event.list", project="atlas").events[0]
    assert event.actor == "editor-app"


def test_without_a_scope_an_access_token_reads_only(server: Browser, issuer: FakeIssuer) -> None:
    token = issuer.sign_access(scope="openid")

    assert list_roles(ask(server, token)) == ["viewer"]
    assert plan(server, token).status == 403


def test_the_agent_loses_what_its_person_loses(server: Browser, issuer: FakeIssuer, engine: Engine) -> None:
    engine.session("ben").call("member.add", scopeId="atlas", userId="ada@example.org", role="viewer")

    assert plan(server, issuer.sign_access()).status == 403


def test_a_client_of_the_persons_own_acts_as_the_person(server: Browser, issuer: FakeIssuer, engine: Engine) -> None:
    assert plan(server, issuer.sign_access(client_id="own-app")).status == 201
    event = engine.session("ben").call("event.list", project="atlas").events[0]
    assert event.actor == "ada@example.org"


@pytest.mark.parametrize(
    "claims",
    [
        {"sub": "mallory-1"},
        {"client_id": "unknown-app"},
        {"client_id": "ada@example.org"},  # a person, not an agent
        {"client_id": "ben"},
        {"sub": "editor-app"},  # a client for itself
    ],
)
def test_an_account_or_a_client_that_is_not_known_here_gets_nothing(
    server: Browser, issuer: FakeIssuer, claims: dict[str, Any]
) -> None:
    reply = ask(server, issuer.sign_access(**claims))

    assert (reply.status, reply.code) == (403, "account_unknown")


def test_an_id_token_or_a_foreign_token_is_refused_and_counted(server: Browser, issuer: FakeIssuer) -> None:
    for token in (issuer.sign_id(), issuer.sign_access(aud="https://other.example.org"), "a.b.c"):
        assert ask(server, token).status == 401
    assert sum(server.server.authenticator.refusals.values()) == 3


def test_an_access_token_is_no_login(server: Browser, issuer: FakeIssuer) -> None:
    server.cookies["groundplan_session_8321"] = issuer.sign_access(client_id="own-app")

    assert server.get("/v1/projects").status == 401


def test_who_leaves_is_refused_by_the_next_request(server: Browser, issuer: FakeIssuer, engine: Engine) -> None:
    token = issuer.sign_access()
    assert ask(server, token).status == 200
    engine.session("ben").call("organization.remove_member", name="ada@example.org")

    assert ask(server, token).status == 403


def test_while_the_issuer_is_gone_unknown_keys_are_unavailable_and_own_tokens_work(
    server: Browser, issuer: FakeIssuer, engine: Engine
) -> None:
    issuer.is_gone = True
    own = engine.session("ben").call("token.create", kind="person").secret

    assert ask(server, issuer.sign_access()).status == 503
    assert ask(server, own).status == 200


def test_the_metadata_names_the_issuer(server: Browser) -> None:
    described = server.get("/.well-known/oauth-protected-resource/mcp").json

    assert described["authorization_servers"] == [ISSUER]
