"""An organization has its people, its settings and its history; administrators look after them."""

from __future__ import annotations

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from groundplan.kernel.access import Role
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.organizations.organization import create_organization
from groundplan.kernel.store.postgres.store import OwnerRequired, PostgresStore
from groundplan.session import Session
from tests.engines import Engine, PostgresEngine, fill_once, person
from tests.kernel.tokens.holders import authenticate, code, create_token, log_in

RESTRICTED = "project_creation_restricted"
ADA, BEN, CLEO = (person(name) for name in ("ada", "ben", "cleo"))


def populate(engine: Engine) -> None:
    trusted = engine.session("ada")
    trusted.call("organization.add_member", name="ada", role="administrator")
    for project in ("atlas", "borealis"):
        trusted.call("project.create", name=project)
    trusted.call("member.add", scopeId="atlas", userId="ben", role="owner")
    trusted.call("member.add", scopeId="borealis", userId="ben", role="editor")
    trusted.call("member.add", scopeId="atlas", userId="bot", role="editor", kind="agent")
    trusted.call("organization.add_member", name="cleo")


@pytest.fixture
def ada(engine: Engine) -> Session:
    """Ada, who administers the organization, with stored roles."""
    fill_once(engine, populate)
    return engine.session(ADA)


# --- Roles -----------------------------------------------------------------------------------------------------------


def test_only_administrators_manage_the_organization(engine: Engine, ada: Session) -> None:
    ben = engine.session(BEN)

    for operation, arguments in (
        ("organization.configure", {"name": "Ben's"}),
        ("organization.add_member", {"name": "dora"}),
        ("organization.remove_member", {"name": "cleo"}),
        ("organization.unlink_account", {"name": "cleo"}),
    ):
        assert code(ben, operation, **arguments) == "administrator_required", operation
    ada.call("organization.add_member", name="ben", role="administrator")
    assert code(ben, "organization.add_member", name="dora") == "ok"
    ada.call("organization.add_member", name="ben", role="member")
    assert code(ben, "organization.add_member", name="emil") == "administrator_required"


def test_an_administrator_sees_no_project_that_is_not_theirs(engine: Engine, ada: Session) -> None:
    ada.call("organization.add_member", name="cleo", role="administrator")
    cleo = engine.session(CLEO)

    assert cleo.call("project.list").projects == []
    assert code(cleo, "member.list", scopeId="atlas") == "not_found"


def test_an_agent_never_administers(engine: Engine, ada: Session) -> None:
    assert code(ada, "organization.add_member", name="bot", role="administrator") == "not_a_person"
    assert code(ada, "organization.add_member", name="bot", email="bot@example.org") == "not_a_person"
    bot = engine.session(Actor("local", "bot", ActorKind.AGENT, Access.OPEN))
    assert code(bot, "organization.configure", name="Bot's") == "agent_not_allowed"


def test_a_limited_token_of_an_administrator_does_not_administer(engine: Engine, ada: Session) -> None:
    for limits in ({"role": Role.EDITOR}, {"projects": ["atlas"]}):
        holder = log_in(engine, ada, kind="person", **limits)
        assert code(holder, "organization.add_member", name="dora") == "token_limited"
        assert code(holder, "organization.leave") == "token_limited"


def test_whoever_lost_the_role_is_refused_though_they_hold_a_token(engine: Engine, ada: Session) -> None:
    ada.call("organization.add_member", name="cleo", role="administrator")
    holder = log_in(engine, engine.session(CLEO), kind="person")
    ada.call("organization.add_member", name="cleo", role="member")

    assert code(holder, "organization.add_member", name="dora") == "administrator_required"


# --- Settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("creators", "cleo_may", "ben_may"),
    [("members", "ok", "ok"), ("owners", RESTRICTED, "ok"), ("administrators", RESTRICTED, RESTRICTED)],
)
def test_a_setting_says_who_may_create_projects(
    engine: Engine, ada: Session, creators: str, cleo_may: str, ben_may: str
) -> None:
    ada.call("organization.configure", project_creators=creators)

    for number, (operation, argument) in enumerate(CREATING):
        fixed = OTHER_ARGUMENTS.get(operation, {})
        answers = [
            code(engine.session(who), operation, **{**fixed, argument: f"new {number} {who.id}"})
            for who in (CLEO, BEN, ADA)
        ]
        assert answers == [cleo_may, ben_may, "ok"], operation


CREATING = [
    ("project.create", "name"),
    ("member.bootstrap", "scopeId"),
    ("work.open", "project"),
    ("context.create_draft", "scopeId"),
    ("container.create", "name"),
]
OTHER_ARGUMENTS = {"container.create": {"containerType": "project"}}


def test_a_person_without_projects_creates_one_and_owns_it(engine: Engine, ada: Session) -> None:
    cleo = engine.session(CLEO)
    made = cleo.call("project.create", name="cleo's own").project

    assert made.role is Role.OWNER
    assert [one.user_id for one in cleo.call("member.list", scopeId=made.id).members] == ["cleo"]


def test_new_projects_begin_with_the_policies_of_the_organization(engine: Engine, ada: Session) -> None:
    ada.call("organization.configure", default_policies={"evidence": "require", "agents": "viewer"})
    ada.call("organization.configure", default_policies={"claims": "enforced"})
    settings = ada.call("organization.view").settings
    assert settings.default_policies == {"evidence": "require", "claims": "enforced", "agents": "viewer"}

    for number, (operation, argument) in enumerate(CREATING):
        ada.call(operation, **{**OTHER_ARGUMENTS.get(operation, {}), argument: f"new {number}"})
        policies = ada.call("work.open", project=f"new {number}").policies
        assert (policies.evidence, policies.claims, policies.agents) == ("require", "enforced", "viewer"), operation
        events = ada.call("event.list", project=f"new {number}", op="project.configured").events
        assert [one.changes[0].after for one in events] == ["require"], operation
    # A request has the last word, and projects that exist keep theirs.
    assert ada.call("work.open", project="own way", policies={"evidence": "off"}).policies.evidence == "off"
    assert ada.call("work.open", project="atlas").policies is UNSET


def test_settings_that_do_not_change_are_not_in_the_history(engine: Engine, ada: Session) -> None:
    for _ in range(2):
        ada.call("organization.configure", name="Maps", allowed_domains=["Example.org", "example.ORG"])

    events = ada.call("organization.events").events
    assert [one.op for one in events if one.op in ("organization.renamed", "organization.configured")] == [
        "organization.configured",
        "organization.renamed",
    ]
    assert ada.call("organization.view").settings.allowed_domains == ["example.org"]
    assert ada.call("organization.configure", allowed_domains=["none"]).settings.allowed_domains == []


@pytest.mark.parametrize("domain", ["", "example", "exa mple.org", "-a.org", "\ufb01.org", "\u00c9.org", "a@b.org"])
def test_a_malformed_domain_is_refused(engine: Engine, ada: Session, domain: str) -> None:
    with pytest.raises(GroundplanError) as refused:
        ada.call("organization.configure", allowed_domains=[domain])
    assert refused.value.status == 400


# --- Leaving ---------------------------------------------------------------------------------------------------------


def test_removing_somebody_takes_them_out_of_everything(engine: Engine, ada: Session) -> None:
    ben = engine.session(BEN)
    own, of_bot = create_token(ben, kind="person"), create_token(ben, kind="agent", name="bot")
    child = create_token(engine.session(authenticate(engine, own)), kind="agent", name="helper")
    of_ada = create_token(ada, kind="agent", name="bot")
    before = {one.name: one.rev for one in ada.call("project.list").projects}

    removed = ada.call("organization.remove_member", name="ben")

    assert (removed.removed, removed.tokens_revoked) == ("ben", 3)
    for secret in (own, of_bot, child):
        with pytest.raises(GroundplanError):
            authenticate(engine, secret)
    assert authenticate(engine, of_ada).id == "bot"
    assert code(ben, "project.list") == "not_found"
    for project in ("atlas", "borealis"):
        assert "ben" not in {one.user_id for one in ada.call("member.list", scopeId=project).members}
        (event,) = ada.call("event.list", project=project, limit=1).events
        assert (event.op, event.subject, event.actor) == ("member.removed", "ben", "ada")
        assert [one.field for one in event.changes] == ["role"]
    assert {one.name: one.rev - before[one.name] for one in ada.call("project.list").projects} == {
        "atlas": 1,
        "borealis": 1,
    }


def test_an_administrator_removes_people_from_projects_that_they_cannot_see(engine: Engine, ada: Session) -> None:
    ada.call("organization.add_member", name="cleo", role="administrator")

    engine.session(CLEO).call("organization.remove_member", name="ben")

    assert "ben" not in {one.user_id for one in ada.call("member.list", scopeId="borealis").members}


def test_the_last_owner_of_a_project_stays_in_the_organization(engine: Engine, ada: Session) -> None:
    last = "pciv_scope_members_last_owner_forbidden"
    secret = create_token(ada, kind="person")

    assert code(engine.session("root"), "organization.remove_member", name="ada") == last
    assert code(ada, "organization.leave") == last
    assert authenticate(engine, secret).id == "ada"
    ada.call("member.add", scopeId="borealis", userId="ben", role="owner")
    assert code(ada, "organization.leave") == "ok"
    assert code(ada, "project.list") == "not_found"


def test_leaving_needs_no_administrator_and_ends_the_own_login(engine: Engine, ada: Session) -> None:
    holder = log_in(engine, engine.session(CLEO), kind="person")

    left = holder.call("organization.leave", op_id="once")

    assert (left.removed, left.tokens_revoked) == ("cleo", 1)
    assert code(holder, "organization.view") == "not_found"


def test_somebody_who_comes_back_has_none_of_their_old_roles(engine: Engine, ada: Session) -> None:
    ada.call("organization.remove_member", name="ben")
    ada.call("organization.add_member", name="ben")

    assert engine.session(BEN).call("project.list").projects == []


# --- History ---------------------------------------------------------------------------------------------------------


def test_a_member_sees_people_and_settings_and_no_addresses_or_foreign_projects(engine: Engine, ada: Session) -> None:
    ada.call("organization.add_member", name="dora@example.org")
    ada.call("token.create", kind="agent", name="scout")
    seen = {one.op for one in engine.session(CLEO).call("organization.events", limit=200).events}

    assert seen == {"organization.member_added", "organization.member_changed"} & seen
    assert "organization.member_added" in seen
    assert {"invitation.created", "token.created", "project.created"} <= {
        one.op for one in ada.call("organization.events", limit=200).events
    }


def test_pages_of_the_history_have_each_event_once(engine: Engine, ada: Session) -> None:
    whole = [one.id for one in ada.call("organization.events", limit=200).events]
    found, cursor = [], None
    while True:
        page = ada.call("organization.events", limit=2, **({"cursor": cursor} if cursor else {}))
        found += [one.id for one in page.events]
        cursor = page.next_cursor
        if not isinstance(cursor, str):
            break

    assert found == whole
    assert len(found) == 4


def test_pages_of_people_have_each_person_once(engine: Engine, ada: Session) -> None:
    first = ada.call("organization.members", limit=2)
    rest = ada.call("organization.members", cursor=first.next_cursor)

    assert [one.name for one in (*first.members, *rest.members)] == ["ada", "ben", "bot", "cleo"]


# --- Several organizations -------------------------------------------------------------------------------------------


def test_the_owner_of_a_postgresql_database_creates_organizations_and_nobody_else(team: PostgresEngine) -> None:
    with pytest.raises(OwnerRequired):
        PostgresStore(team.app_url, as_owner=True)
    store = PostgresStore(team.owner_url, as_owner=True)
    try:
        create_organization(store, "acme", name="Acme", administrator="Ada@Example.org")
        with pytest.raises(GroundplanError) as refused:
            create_organization(store, "acme", name="Acme", administrator="ada")
        assert refused.value.code == "organization_exists"
    finally:
        store.close()
    with pytest.raises(GroundplanError):  # the app role has no right to
        create_organization(team.store, "rival", name="Rival", administrator="mallory")

    ada = team.session(Actor("acme", "ada@example.org", ActorKind.PERSON, Access.MEMBERS))
    assert ada.call("organization.view").organization.role == "administrator"
    assert [one.op for one in ada.call("organization.events").events] == [
        "invitation.created",
        "organization.member_added",
        "organization.created",
    ]
    assert ada.call("project.create", name="atlas").project.role is Role.OWNER


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_new_organization_on_a_file_has_its_administrator(engine: Engine) -> None:
    create_organization(engine.store, "acme", name="Acme", administrator="ada")

    ada = engine.session(replace(ADA, organization="acme"))
    assert [(one.name, one.role) for one in ada.call("organization.members").members] == [("ada", "administrator")]
    assert code(engine.session(ADA), "organization.view") == "not_found"
