"""Authentication by a token."""

from __future__ import annotations

import logging
from functools import partial

import pytest

from groundplan.kernel.access import Role
from groundplan.kernel.actors import Access, ActorKind
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Unauthenticated
from groundplan.kernel.store.store import Store
from groundplan.kernel.tokens import token
from groundplan.kernel.tokens.authenticate import RefusalCounts, record_use, verify_token
from groundplan.kernel.tokens.token import TokenRow, TokenState
from groundplan.kernel.tokens.token_text import make_secret
from groundplan.session import Session
from tests.engines import Engine, PostgresEngine
from tests.errors import error_of
from tests.kernel.tokens.holders import authenticate_token, create_token
from tests.manual_clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store_at(engine: Engine, ada: Session, clock: ManualClock) -> Store:
    return engine.store_with_clock(clock)


def is_accepted(store: Store, text: str) -> bool:
    try:
        authenticate_token(store, text)
    except Unauthenticated:
        return False
    return True


def test_a_token_proves_who_its_holder_is_and_what_it_may_do_at_most(engine: Engine, ada: Session) -> None:
    (atlas,) = (one.id for one in ada.call("project.list").projects if one.name == "atlas")
    actor = authenticate_token(engine.store, create_token(ada, name="scout", role="editor", projects=["atlas"]))

    assert (actor.organization, actor.id, actor.kind, actor.access) == (
        "local",
        "scout",
        ActorKind.AGENT,
        Access.MEMBERS,
    )
    assert (actor.role_max, actor.projects, actor.responsible) == (Role.EDITOR, frozenset({atlas}), "ada")


def refuse_each(engine: Engine, ada: Session, store: Store, clock: ManualClock) -> dict[str, str]:
    """Return a token that is refused for each reason."""
    session = Session(store, ada.actor)
    created = session.call("token.create", name="scout")
    session.call("token.revoke", id=created.token.id)
    expired = session.call("token.create", name="scout", expires="1h").secret
    clock.move(hours=1)
    return {
        "malformed": created.secret[:-1] + ("0" if created.secret[-1] != "0" else "1"),
        "unknown": make_secret().text,
        "revoked": created.secret,
        "expired": expired,
    }


def test_every_refusal_is_the_same_error_and_the_log_has_the_reason(
    engine: Engine, ada: Session, store_at: Store, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    refused = refuse_each(engine, ada, store_at, clock)
    counts = RefusalCounts()

    with caplog.at_level(logging.WARNING):
        errors = {reason: error_of(partial(verify_token, store_at, text, counts)) for reason, text in refused.items()}

    assert {(type(error), encode(error.to_dict())) for error in errors.values()} == {
        (Unauthenticated, encode(errors["unknown"].to_dict()))
    }
    assert counts == dict.fromkeys(refused, 1)
    assert [reason in line for reason, line in zip(refused, caplog.messages, strict=True)] == [True] * 4
    assert not [text for text in refused.values() if text[:20] in caplog.text]


def test_a_refused_identity_writes_no_row(engine: Engine, ada: Session, store_at: Store, clock: ManualClock) -> None:
    refused = refuse_each(engine, ada, store_at, clock)
    before = engine.dump()

    assert not [text for text in refused.values() if is_accepted(store_at, text)]
    assert engine.as_owner("SELECT count(*) FROM access_tokens") == [(2,)]
    assert engine.dump().keys() == before.keys()


def test_a_token_works_until_the_moment_it_expires(ada: Session, store_at: Store, clock: ManualClock) -> None:
    text = create_token(Session(store_at, ada.actor), name="scout", expires="1h")

    clock.move(minutes=59, seconds=59, milliseconds=999)
    assert is_accepted(store_at, text)
    clock.move(milliseconds=1)
    assert not is_accepted(store_at, text)


def test_a_revoked_token_is_refused_by_the_next_request(engine: Engine, ada: Session) -> None:
    created = ada.call("token.create", name="scout")
    other = engine.another_store()
    assert is_accepted(other, created.secret)

    ada.call("token.revoke", id=created.token.id)

    assert not is_accepted(other, created.secret)


@pytest.mark.teeth
def test_without_the_look_at_the_expiry_an_expired_token_works(
    ada: Session, store_at: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = create_token(Session(store_at, ada.actor), name="scout", expires="1h")
    clock.move(hours=2)
    assert not is_accepted(store_at, text)

    monkeypatch.setattr(
        TokenRow, "get_state", lambda self, _: TokenState.REVOKED if self.revoked_at else TokenState.ACTIVE
    )

    assert is_accepted(store_at, text)


@pytest.mark.teeth
def test_without_the_look_at_the_revocation_a_revoked_token_works(
    engine: Engine, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = ada.call("token.create", name="scout")
    ada.call("token.revoke", id=created.token.id)
    assert not is_accepted(engine.store, created.secret)

    monkeypatch.setattr(TokenRow, "get_state", lambda *_: TokenState.ACTIVE)

    assert is_accepted(engine.store, created.secret)


@pytest.mark.teeth
def test_without_the_kind_of_the_token_an_agent_would_act_as_a_person(
    engine: Engine, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = create_token(ada, name="scout")
    assert authenticate_token(engine.store, text).kind is ActorKind.AGENT

    monkeypatch.setattr(token, "ACTOR_KINDS", dict.fromkeys(token.TokenKind, ActorKind.PERSON))

    assert authenticate_token(engine.store, text).kind is ActorKind.PERSON


def test_the_last_use_is_stored_at_most_once_a_minute(
    engine: Engine, ada: Session, store_at: Store, clock: ManualClock
) -> None:
    text = create_token(Session(store_at, ada.actor), name="scout")
    written = []
    for _ in range(3):
        for _ in range(5):
            written.append(record_use(store_at, verify_token(store_at, text)))
        clock.move(seconds=30)

    assert [n for n, wrote in enumerate(written) if wrote] == [0, 10]
    last_used = engine.as_owner("SELECT last_used_at FROM access_tokens")
    assert last_used == [("2026-03-01T09:01:00.000Z",)]


def test_two_servers_that_see_the_same_use_store_it_once(ada: Session, store_at: Store, clock: ManualClock) -> None:
    verified = verify_token(store_at, create_token(Session(store_at, ada.actor), name="scout"))

    assert [record_use(store_at, verified), record_use(store_at, verified)] == [True, False]


def test_a_use_that_cannot_be_stored_is_no_error(engine: Engine, ada: Session) -> None:
    verified = verify_token(engine.store, create_token(ada, name="scout"))
    closed = engine.another_store()
    closed.close()

    assert not record_use(closed, verified)


def test_a_use_changes_no_revision_and_records_no_event(engine: Engine, ada: Session) -> None:
    verified = verify_token(engine.store, create_token(ada, name="scout"))
    history = "SELECT (SELECT rev FROM organizations), (SELECT count(*) FROM organization_events)"
    before = engine.as_owner(history)

    assert record_use(engine.store, verified)
    assert engine.as_owner(history) == before


def test_the_app_role_reads_no_digest_and_finds_a_token_only_by_one(team: PostgresEngine) -> None:
    ada = team.session("ada")
    create_token(ada, name="scout")
    with pytest.raises(team.refusals, match="permission denied"):
        team.as_app(ada.actor, "SELECT digest FROM access_tokens")

    assert team.as_app(None, "SELECT id FROM access_tokens") == []
    assert team.as_app(None, f"SELECT id FROM gp_find_token('{'0' * 64}')") == []
    ((digest,),) = team.as_owner("SELECT digest FROM access_tokens")
    assert len(team.as_app(None, f"SELECT id FROM gp_find_token('{digest}')")) == 1
