"""A login binds an account to the person who was invited, once, and nobody else is let in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.identities.bind_login import bind_login
from groundplan.kernel.tokens.sessions import open_session
from groundplan.session import Session
from tests.engines import Engine, fill_once, person
from tests.kernel.identities.logins import ADA, OTHER_ADA, log_in
from tests.kernel.tokens.holders import authenticate
from tests.manual_clock import ManualClock

STORED = (
    "SELECT (SELECT count(*) FROM identities), (SELECT count(*) FROM user_memberships), (SELECT count(*) FROM events)"
)


def populate(engine: Engine) -> None:
    ben = engine.session("ben")
    ben.call("project.create", name="atlas")
    ben.call("member.add", scopeId="atlas", userId="Ada@Example.org", role="editor")


@pytest.fixture
def ben(engine: Engine) -> Session:
    """Ben, who owns a project and has invited Ada to it."""
    fill_once(engine, populate)
    return engine.session(person("ben"))


def test_the_first_login_binds_the_account_to_the_invited_person(engine: Engine, ben: Session) -> None:
    actor = bind_login(engine.store, ADA)

    assert actor == Actor("local", "ada@example.org", ActorKind.PERSON, Access.MEMBERS)
    assert [one.role for one in engine.session(actor).call("project.list").projects] == ["editor"]
    assert engine.session("ben").call("invitation.list").invitations == []
    used = engine.session("ben").call("invitation.list", ended=True).invitations
    assert [(one.email, one.state) for one in used] == [("ada@example.org", "accepted")]


def test_later_logins_find_the_person_and_write_nothing(engine: Engine, ben: Session) -> None:
    bind_login(engine.store, ADA)
    (before,) = engine.as_owner("SELECT rev FROM organizations WHERE id = 'local'")

    # A provider may change the address; the account is known by its issuer and subject.
    assert log_in(engine.store, ADA, email="ada@elsewhere.example") == "ada@example.org"
    assert log_in(engine.store, ADA, email="not an address") == "ada@example.org"
    assert log_in(engine.store, ADA, email=None, email_verified=False) == "ada@example.org"
    assert engine.as_owner("SELECT rev FROM organizations WHERE id = 'local'") == [before]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"email_verified": False}, "email_not_verified"),
        ({"email": None}, "email_not_verified"),
        ({"email": ""}, "email_not_verified"),
        ({"email": "mallory@example.org"}, "not_invited"),
        ({"email": "\u0430da@example.org"}, "not_invited"),  # a Cyrillic letter
        ({"email": "\uff41da@example.org"}, "not_invited"),  # a full-width letter
        ({"email": "ada@example.org.evil.example"}, "not_invited"),
        ({"email": "ada@exämple.org"}, "not_invited"),
        ({"email": "ada@EXAMPLE.ORG\u200b"}, "invalid_argument"),
        ({"email": "ada@example.org@evil.example"}, "invalid_argument"),
        ({"email": "ada"}, "invalid_argument"),
        ({"organization": "nowhere"}, "not_found"),
        ({"issuer": ""}, "invalid_identity"),
        ({"subject": "x" * 256}, "invalid_identity"),
        ({"subject": "a\0"}, "control_character"),
    ],
)
def test_nobody_else_is_let_in(engine: Engine, ben: Session, changes: dict[str, str], code: str) -> None:
    before = engine.as_owner(STORED)

    assert log_in(engine.store, ADA, **changes) == code
    assert engine.as_owner(STORED) == before


@pytest.mark.parametrize("spelling", ["ADA@EXAMPLE.ORG", "ada@Example.org", " ada@example.org "])
def test_an_address_in_other_letters_is_the_same_address(engine: Engine, ben: Session, spelling: str) -> None:
    assert log_in(engine.store, ADA, email=spelling) == "ada@example.org"


def test_an_invitation_is_used_once(engine: Engine, ben: Session) -> None:
    bind_login(engine.store, ADA)

    assert log_in(engine.store, OTHER_ADA) == "not_invited"
    assert log_in(engine.store, ADA, issuer="https://other.example") == "not_invited"


def test_an_expired_invitation_is_refused_and_another_one_works(engine: Engine) -> None:
    clock = ManualClock()
    store = engine.store_with_clock(clock)
    ben = Session(store, engine.session("ben").actor)
    ben.call("project.create", name="atlas")
    ben.call("member.add", scopeId="atlas", userId="ada@example.org", role="viewer")
    clock.move(days=14)

    assert log_in(store, ADA) == "invitation_expired"
    renewed = ben.call("member.add", scopeId="atlas", userId="ada@example.org", role="viewer").invitation
    assert renewed.state == "open"
    assert log_in(store, ADA) == "ada@example.org"


def test_a_revoked_invitation_lets_nobody_in(engine: Engine, ben: Session) -> None:
    trusted = engine.session("ben")
    (invitation,) = trusted.call("invitation.list").invitations
    revoked = trusted.call("invitation.revoke", id=invitation.id).invitation

    assert revoked.state == "revoked"
    assert log_in(engine.store, ADA) == "not_invited"
    assert trusted.call("invitation.revoke", id=invitation.id).invitation == revoked


def test_a_used_invitation_cannot_be_revoked(engine: Engine, ben: Session) -> None:
    (invitation,) = engine.session("ben").call("invitation.list").invitations
    bind_login(engine.store, ADA)

    with pytest.raises(GroundplanError) as refused:
        engine.session("ben").call("invitation.revoke", id=invitation.id)
    assert refused.value.code == "invitation_is_final"


def test_an_allowed_domain_joins_without_projects(engine: Engine, ben: Session) -> None:
    engine.session("ben").call("organization.configure", allowed_domains=["Example.ORG"])

    actor = bind_login(engine.store, replace(ADA, email="cleo@example.org", subject="c-1"))
    assert actor.id == "cleo@example.org"
    assert engine.session(actor).call("project.list").projects == []
    assert engine.session(actor).call("organization.view").organization.role == "member"
    # The domain itself, and nothing below or beside it.
    for email in ("cleo@sub.example.org", "cleo@notexample.org", "cleo@example.org.evil.example"):
        assert log_in(engine.store, ADA, email=email, subject="c-2") == "not_invited"


def test_a_second_account_with_an_address_that_is_bound_is_refused(engine: Engine, ben: Session) -> None:
    engine.session("ben").call("organization.configure", allowed_domains=["example.org"])
    bind_login(engine.store, ADA)

    assert log_in(engine.store, OTHER_ADA) == "account_mismatch"
    engine.session("ben").call("organization.unlink_account", name="ada@example.org")
    assert log_in(engine.store, OTHER_ADA) == "not_invited"
    engine.session("ben").call("organization.add_member", name="ada@example.org", email="ada@example.org")
    assert log_in(engine.store, OTHER_ADA) == "ada@example.org"
    assert log_in(engine.store, ADA) == "account_mismatch"


def test_an_agent_is_never_bound(engine: Engine, ben: Session) -> None:
    trusted = engine.session("ben")
    trusted.call("organization.configure", allowed_domains=["example.org"])
    trusted.call("member.add", scopeId="atlas", userId="bot@example.org", role="viewer", kind="agent")

    trusted.call("member.add", scopeId="atlas", userId="bot@example.org", role="editor")

    assert log_in(engine.store, ADA, email="bot@example.org") == "account_mismatch"
    assert trusted.call("invitation.list").invitations[0].email == "ada@example.org"


def test_whoever_was_removed_does_not_come_back_by_the_domain(engine: Engine, ben: Session) -> None:
    trusted = engine.session("ben")
    trusted.call("organization.configure", allowed_domains=["example.org"])
    bind_login(engine.store, ADA)
    trusted.call("organization.remove_member", name="ada@example.org")

    assert log_in(engine.store, ADA) == "person_removed"
    assert log_in(engine.store, ADA, email="another@example.org") == "person_removed"
    trusted.call("member.add", scopeId="atlas", userId="ada@example.org", role="viewer")
    assert log_in(engine.store, ADA) == "ada@example.org"


def test_an_administrator_binds_an_account_to_a_person_of_another_name(engine: Engine, ben: Session) -> None:
    trusted = engine.session("ben")
    added = trusted.call("organization.add_member", name="ben", email="Ben@Example.org", role="administrator")
    assert (added.member.role, added.invitation.email) == ("administrator", "ben@example.org")

    assert log_in(engine.store, ADA, email="ben@example.org", subject="b-1") == "ben"
    # The address stands for Ben from now on.
    assert trusted.call("member.add", scopeId="atlas", userId="ben@example.org", role="owner").member.user_id == "ben"
    with pytest.raises(GroundplanError) as refused:
        trusted.call("organization.add_member", name="finn", email="ben@example.org")
    assert refused.value.code == "address_in_use"


def test_the_same_account_is_another_person_in_each_organization(engine: Engine, ben: Session) -> None:
    engine.create_organization("rival", "mallory")
    mallory = engine.session(Actor("rival", "mallory", ActorKind.PERSON, Access.OPEN))
    bind_login(engine.store, ADA)

    assert log_in(engine.store, ADA, organization="rival") == "not_invited"
    mallory.call("organization.add_member", name="ada@example.org")
    there = bind_login(engine.store, replace(ADA, organization="rival"))
    assert there == Actor("rival", "ada@example.org", ActorKind.PERSON, Access.MEMBERS)
    assert engine.session(there).call("project.list").projects == []


def test_a_login_opens_a_session_and_removal_ends_it(engine: Engine, ben: Session) -> None:
    opened = open_session(engine.store, bind_login(engine.store, ADA))
    assert authenticate(engine, opened.secret).id == "ada@example.org"

    removed = engine.session("ben").call("organization.remove_member", name="ada@example.org")

    assert removed.tokens_revoked == 1
    with pytest.raises(GroundplanError) as refused:
        authenticate(engine, opened.secret)
    assert refused.value.code == "unauthenticated"


def test_a_login_that_was_let_in_before_the_removal_opens_no_session(engine: Engine, ben: Session) -> None:
    actor = bind_login(engine.store, ADA)
    engine.session("ben").call("organization.remove_member", name="ada@example.org")

    with pytest.raises(GroundplanError) as refused:
        open_session(engine.store, actor)
    assert refused.value.code == "not_found"


def test_the_first_login_is_in_the_history_by_the_person(engine: Engine, ben: Session) -> None:
    bind_login(engine.store, ADA)
    events = engine.session("ben").call("organization.events", limit=2).events

    assert [(one.op, one.actor) for one in events] == [
        ("identity.bound", "ada@example.org"),
        ("invitation.accepted", "ada@example.org"),
    ]


def test_an_unlinked_account_does_not_come_back_by_the_domain(engine: Engine, ben: Session) -> None:
    bind_login(engine.store, ADA)
    engine.session("ben").call("organization.configure", allowed_domains=["example.org"])
    engine.session("ben").call("organization.unlink_account", name="ada@example.org")

    assert log_in(engine.store, ADA) == "not_invited"


@pytest.mark.parametrize("email", ["\u212aen@example.org", "ken@ban\u212a.example", "a\u037eb@example.org"])
def test_a_letter_that_stands_for_an_ascii_letter_is_refused(engine: Engine, ben: Session, email: str) -> None:
    engine.session("ben").call("member.add", scopeId="atlas", userId="ken@example.org", role="owner")

    with pytest.raises(GroundplanError):
        bind_login(engine.store, replace(ADA, subject="mallory", email=email))
    waiting = {one.email for one in engine.session("ben").call("invitation.list").invitations}
    assert waiting == {"ada@example.org", "ken@example.org"}
