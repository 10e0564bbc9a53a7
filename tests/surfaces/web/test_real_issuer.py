"""A login at an issuer that others wrote, over real connections: `oidc-provider-mock`."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from groundplan.surfaces.http.issuer import IdentityProvider, IssuerClient, IssuerSettings
from tests.engines import Engine
from tests.surfaces.web.browser import PORT, Browser

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]  # of a library that it uses

CALLBACK = f"http://localhost:{PORT}/login/issuer/callback"


@pytest.fixture
def issuer() -> Iterator[str]:
    """The address of the issuer, which knows Ada."""
    # Here, because it is slow to import.
    from oidc_provider_mock import User, run_server_in_thread  # type: ignore[import-untyped] # it ships no types

    ada = User(sub="ada-1", claims={"email": "ada@example.org", "email_verified": True})
    with run_server_in_thread(require_client_registration=True, require_nonce=True, user_claims=[ada]) as server:
        yield f"http://localhost:{server.server_port}"


def register(issuer: str) -> IssuerSettings:
    body = {"redirect_uris": [CALLBACK]}
    client = httpx.post(f"{issuer}/oauth2/clients", json=body).json()
    return IssuerSettings(issuer, client["client_id"], client["client_secret"])


def answer_at_issuer(address: str, *, sub: str | None = "ada-1") -> str:
    """Do what a person does at the issuer, and return where the browser is sent."""
    form = {"sub": sub} if sub else {"action": "deny"}
    sent = httpx.post(address, data=form)
    assert sent.status_code == 302
    return sent.headers["location"].partition(f":{PORT}")[2]


def test_a_person_logs_in_at_the_issuer(engine: Engine, issuer: str) -> None:
    ben = engine.session("ben")
    ben.call("project.create", name="atlas")
    ben.call("member.add", scopeId="atlas", userId="ada@example.org", role="viewer")
    settings = register(issuer)
    client = IssuerClient(settings)
    with Browser(engine.store, actor=None, provider=IdentityProvider(settings, client)) as browser:
        denied = answer_at_issuer(browser.get("/login/issuer").headers["location"], sub=None)
        assert browser.get(denied).status == 401

        stranger = answer_at_issuer(browser.get("/login/issuer").headers["location"], sub="mallory")
        assert browser.get(stranger).status == 403

        back = answer_at_issuer(browser.get("/login/issuer").headers["location"])
        assert browser.get(back).status == 303
        assert [one["role"] for one in browser.get("/v1/projects").json["projects"]] == ["viewer"]

        browser.cookies.clear()
        assert browser.get(back).status == 401  # without the login that began it
    client.close()
