"""Whoever loses access sees no later event, also when nothing is written any more; and a sabotaged check is noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from starlette.requests import HTTPConnection

from groundplan.kernel import events
from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import Unauthenticated
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from groundplan.surfaces.http.event_streams import AccessEnded, EventStream, EventStreams, SentPart, encode_change
from tests.engines import Engine
from tests.kernel.tokens.holders import authenticate_token
from tests.manual_clock import ManualClock
from tests.surfaces.http.event_server import event_server
from tests.surfaces.http.test_live_events import get_rev, plan


@pytest.fixture
def ada(engine: Engine) -> Session:
    session = engine.session("ada")
    session.call("project.create", name="atlas")
    return session


def read_token(store: Store) -> Callable[[HTTPConnection], Actor]:
    return lambda connection: authenticate_token(store, connection.headers["authorization"].partition(" ")[2])


def create_token(ada: Session, **arguments: Any) -> tuple[str, str]:
    """Create a token for Ada and return its id and its secret."""
    made = ada.call("token.create", kind="person", name="ada", **arguments)
    return made.token.id, str(made.secret)


def revoke_and_write(engine: Engine, ada: Session, authenticate: Callable[[HTTPConnection], Actor]) -> bool:
    """Revoke the token of a stream, write, and return whether the stream shows that write."""
    token, secret = create_token(ada)
    with event_server(engine.store, authenticate) as server:
        stream = server.follow(authorization=f"Bearer {secret}")
        plan(ada, "coast")
        before = get_rev(engine)
        stream.read_until(before)
        ada.call("token.revoke", id=token)
        plan(ada, "secret")
        while event := stream.next():
            if event.rev > before:
                return True
        assert server.follow(authorization=f"Bearer {secret}").status == 401
    return False


def test_the_holder_of_a_revoked_token_sees_no_later_event(engine: Engine, ada: Session) -> None:
    assert not revoke_and_write(engine, ada, read_token(engine.store))


@pytest.mark.teeth
def test_without_the_recheck_a_revoked_reader_would_see_later_events(engine: Engine, ada: Session) -> None:
    known: dict[str, Actor] = {}

    def remember(connection: HTTPConnection) -> Actor:
        secret = connection.headers["authorization"]
        if secret not in known:
            known[secret] = read_token(engine.store)(connection)
        return known[secret]

    assert revoke_and_write(engine, ada, remember)


def is_event_between_seen(engine: Engine, ada: Session) -> bool:
    """Revoke the token and write just after it was checked; return whether the stream shows that write."""
    token, secret = create_token(ada)
    calls = 0

    def authenticate(connection: HTTPConnection) -> Actor:
        nonlocal calls
        actor = read_token(engine.store)(connection)
        calls += 1
        if calls == 2:  # the first check of the open stream
            ada.call("token.revoke", id=token)
            plan(ada, "secret")
        return actor

    before = get_rev(engine)
    with event_server(engine.store, authenticate) as server:
        events = server.follow(authorization=f"Bearer {secret}").read_until_end()
    assert events[-1].name == "closed"
    return any(event.rev > before for event in events)


def test_a_token_that_is_revoked_during_a_check_shows_no_later_event(engine: Engine, ada: Session) -> None:
    assert not is_event_between_seen(engine, ada)


@pytest.mark.teeth
def test_a_check_before_the_read_would_show_a_later_event(
    engine: Engine, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_then_read(
        self: EventStreams, actor: Actor, position: events.EventPosition, stream: EventStream
    ) -> SentPart:
        try:
            self._authenticator.find_actor_again(stream.connection)
        except Unauthenticated:
            raise AccessEnded from None
        project = str(stream.start.project_id)
        part = self._store.read(actor, lambda tx: events.read_changes(tx, project, position))
        last = part.changes[-1].last if part.changes else position
        return SentPart(b"".join(map(encode_change, part.changes)), last, False, False)

    monkeypatch.setattr(EventStreams, "_read", check_then_read)
    assert is_event_between_seen(engine, ada)


def test_a_stream_ends_when_its_token_expires_though_nothing_is_written(engine: Engine, ada: Session) -> None:
    clock = ManualClock()
    store = engine.store_with_clock(clock)
    _, secret = create_token(Session(store, ada.actor), expires="1h")
    with event_server(store, read_token(store), heartbeat_s=0.01) as server:
        stream = server.follow(authorization=f"Bearer {secret}")
        clock.move(hours=2)
        assert [event.name for event in stream.read_until_end()] == ["hello", "closed"]


def test_a_token_for_other_projects_has_no_stream_here(engine: Engine, ada: Session) -> None:
    ada.call("project.create", name="borealis")
    _, secret = create_token(ada, projects=["borealis"])
    with event_server(engine.store, read_token(engine.store)) as server:
        assert server.follow("atlas", authorization=f"Bearer {secret}").status == 404
        assert server.follow("borealis", authorization=f"Bearer {secret}").status == 200
