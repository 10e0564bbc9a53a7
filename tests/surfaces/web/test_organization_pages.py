"""The organization on the pages: its name, its settings, its invitations and its people."""

from __future__ import annotations

from groundplan.kernel.actors import Actor, ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine
from tests.surfaces.web.browser import Browser
from tests.surfaces.web.test_forms import begin, submit

PATH = "/p/atlas/members?view=organization"


def test_an_administrator_changes_settings_and_revokes_invitations(browser: Browser, engine: Engine) -> None:
    begin(browser, engine)
    ada = engine.session("ada")
    ada.call("member.add", scopeId="atlas", userId="dora@example.org", role="viewer")
    (invitation,) = ada.call("invitation.list").invitations

    page = browser.get(PATH).body.decode()
    fields = {"name": "Maps", "project_creators": "owners", "allowed_domains|list": "example.org\nexample.net"}
    assert "dora@example.org" in page
    assert submit(browser, PATH, "organization.configure", **fields).status == 303
    assert submit(browser, PATH, "invitation.revoke", id=invitation.id).status == 303
    assert submit(browser, PATH, "organization.remove_member", name="dora@example.org").status == 303

    found = ada.call("organization.view")
    assert (found.organization.name, found.settings.project_creators) == ("Maps", "owners")
    assert found.settings.allowed_domains == ["example.net", "example.org"]
    assert "dora@example.org" not in browser.get(PATH).body.decode()


def test_a_member_sees_the_people_and_no_forms(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("member.add", scopeId="atlas", userId="ben", role="owner")
    ben = ada.call("token.create", kind="person", name="ben").secret
    with Browser(engine.store) as browser:
        assert browser.submit("/login", {"token": ben}).status == 303
        page = browser.get(PATH).body.decode()

    assert "organization.configure" not in page
    assert "organization.remove_member" not in page
    assert 'data-id="person-ada"' in page


def test_the_pages_name_an_organization_that_is_not_the_first(engine: Engine) -> None:
    engine.create_organization("rival", "mallory")
    mallory = local_actor("mallory", organization="rival")
    Session(engine.store, mallory).call("organization.configure", name="Rival Maps")
    Session(engine.store, mallory).call("project.create", name="atlas")

    assert "Rival Maps" in read_home(engine, mallory)
    engine.session("ada").call("project.create", name="atlas")
    assert "· local" not in read_home(engine, local_actor("ada", kind=ActorKind.PERSON))


def read_home(engine: Engine, actor: Actor) -> str:
    with Browser(engine.store, actor=actor) as browser:
        is_named = "organization rival" in browser.get("/login").body.decode()
        assert is_named == (actor.organization == "rival")
        browser.log_in()
        return browser.get("/p/atlas/home").body.decode()
