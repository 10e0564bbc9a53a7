"""Logins."""

from __future__ import annotations

import pytest

from groundplan.kernel.access import Role
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.errors import Unauthenticated
from groundplan.kernel.store.authorize import AgentNotAllowed
from groundplan.kernel.store.store import Store
from groundplan.kernel.tokens.authenticate import record_use, verify_token
from groundplan.kernel.tokens.sessions import close_session, open_session
from groundplan.session import Session
from tests.engines import Engine
from tests.kernel.tokens.holders import authenticate, authenticate_token, code
from tests.manual_clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store_at(engine: Engine, ada: Session, clock: ManualClock) -> Store:
    return engine.store_with_clock(clock)


def actor_of(session: Session) -> Actor:
    assert session.actor is not None
    return session.actor


def use(store: Store, text: str) -> None:
    record_use(store, verify_token(store, text))


def test_a_login_acts_as_the_person_who_logged_in(engine: Engine, ada: Session) -> None:
    opened = open_session(engine.store, actor_of(ada))
    actor = authenticate_token(engine.store, opened.secret)

    assert (actor.id, actor.kind, actor.access, actor.is_limited) == ("ada", ActorKind.PERSON, Access.OPEN, False)


def test_somebody_whom_the_organization_does_not_know_yet_can_log_in_in_local_mode(engine: Engine) -> None:
    opened = open_session(engine.store, actor_of(engine.session("a passer-by")))

    assert authenticate_token(engine.store, opened.secret).id == "a passer-by"


def test_only_a_person_logs_in(engine: Engine, ada: Session) -> None:
    scout = authenticate(engine, ada.call("token.create", name="scout").secret)

    with pytest.raises(AgentNotAllowed):
        open_session(engine.store, scout)


def test_a_login_lasts_while_it_is_used(ada: Session, store_at: Store, clock: ManualClock) -> None:
    secret = open_session(store_at, actor_of(ada)).secret
    for _ in range(4):
        clock.move(hours=11, minutes=59)
        use(store_at, secret)

    clock.move(hours=12)
    with pytest.raises(Unauthenticated):
        verify_token(store_at, secret)


def test_a_login_ends_after_thirty_days_even_if_it_is_used(ada: Session, store_at: Store, clock: ManualClock) -> None:
    secret = open_session(store_at, actor_of(ada)).secret
    for _ in range(59):
        clock.move(hours=12, seconds=-1)
        use(store_at, secret)

    clock.move(hours=12, seconds=59)
    with pytest.raises(Unauthenticated):
        verify_token(store_at, secret)


def test_a_login_by_a_token_has_its_limits_and_ends_with_it(engine: Engine, ada: Session) -> None:
    created = ada.call("token.create", kind="person", role="viewer", projects=["atlas"], expires="2h")
    opened = open_session(engine.store, authenticate(engine, created.secret))
    actor = authenticate_token(engine.store, opened.secret)
    limited = engine.session(actor)

    assert (actor.role_max, len(actor.projects or ())) == (Role.VIEWER, 1)
    assert code(limited, "work.plan", project="atlas", nodes=[{"ref": "a", "summary": "A"}]) == "token_limited"
    assert opened.renewable_until == created.token.expires_at
    ada.call("token.revoke", id=created.token.id)
    with pytest.raises(Unauthenticated):
        authenticate_token(engine.store, opened.secret)


def test_a_token_created_in_a_browser_outlives_the_login(engine: Engine, ada: Session) -> None:
    opened = open_session(engine.store, actor_of(ada))
    actor = authenticate_token(engine.store, opened.secret)
    created = engine.session(actor).call("token.create", name="scout")

    close_session(engine.store, actor)

    with pytest.raises(Unauthenticated):
        authenticate_token(engine.store, opened.secret)
    assert authenticate_token(engine.store, created.secret).id == "scout"


def test_logins_are_events(engine: Engine, ada: Session) -> None:
    opened = open_session(engine.store, actor_of(ada))
    close_session(engine.store, authenticate_token(engine.store, opened.secret))

    ops = engine.as_owner(
        "SELECT op, actor_id, subject FROM organization_events WHERE op LIKE 'session.%' ORDER BY rev"
    )
    assert ops == [("session.opened", "ada", opened.id), ("session.closed", "ada", opened.id)]
