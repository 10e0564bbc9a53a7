"""The live events of an organization, and the end of every stream of somebody who is removed from it."""

from __future__ import annotations

import time

import pytest

from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.session import Session
from tests.engines import Engine, person
from tests.surfaces.http.event_server import OpenStream, ReceivedEvent, event_server
from tests.surfaces.http.test_event_access import read_token

STREAMS = 200
REVOKED_S_MAX = 1.0


@pytest.fixture
def ada(engine: Engine) -> Session:
    session = engine.session("ada")
    session.call("project.create", name="atlas")
    for name in ("ben", "cleo"):
        session.call("member.add", scopeId="atlas", userId=name, role="viewer")
    return session


def create_token(engine: Engine, name: str) -> str:
    return str(engine.session(person(name)).call("token.create", kind="person").secret)


def read_next(stream: OpenStream) -> ReceivedEvent:
    event = stream.next()
    assert event is not None
    return event


def test_a_member_follows_who_comes_and_goes(engine: Engine, ada: Session) -> None:
    secret = create_token(engine, "ben")
    with event_server(engine.store, read_token(engine.store)) as server:
        stream = server.follow(None, authorization=f"Bearer {secret}")
        hello = read_next(stream)
        ada.call("organization.add_member", name="dora@example.org")
        joined = read_next(stream)
        again = server.follow(None, after=f"{hello.rev}.0", authorization=f"Bearer {secret}")

        assert (hello.name, joined.data["area"], joined.data["ids"]) == ("hello", "organization", ["dora@example.org"])
        again.next()
        # The invitation of the same write is for administrators.
        assert read_next(again).data == joined.data


def test_a_stream_shows_nothing_of_another_organization(engine: Engine, ada: Session) -> None:
    engine.create_organization("rival", "mallory")
    mallory = engine.session(Actor("rival", "mallory", ActorKind.PERSON, Access.OPEN))
    with event_server(engine.store, read_token(engine.store)) as server:
        stream = server.follow(None, authorization=f"Bearer {create_token(engine, 'ben')}")
        stream.next()
        mallory.call("organization.add_member", name="trudy")
        ada.call("organization.add_member", name="dora")

        assert read_next(stream).data["ids"] == ["dora"]
        hidden = server.follow("mallory's own", authorization=f"Bearer {create_token(engine, 'ben')}")
        assert hidden.status == 404


def test_whoever_is_removed_or_leaves_gets_no_further_event(engine: Engine, ada: Session) -> None:
    with event_server(engine.store, read_token(engine.store)) as server:
        streams = [
            server.follow(project, authorization=f"Bearer {create_token(engine, name)}")
            for name in ("ben", "cleo")
            for project in ("atlas", None)
        ]
        for stream in streams:
            stream.next()
        ada.call("organization.remove_member", name="ben")
        engine.session(person("cleo")).call("organization.leave")
        ada.call("organization.add_member", name="dora")

        assert [stream.read_until_end()[-1].name for stream in streams] == ["closed"] * 4
        assert server.follow(None, authorization="Bearer x").status == 401


@pytest.mark.proof
@pytest.mark.slow
def test_two_hundred_streams_end_within_a_second_of_the_removal(engine: Engine, ada: Session) -> None:
    secret = create_token(engine, "ben")
    with event_server(engine.store, read_token(engine.store), per_principal=STREAMS) as server:
        streams = [server.follow(authorization=f"Bearer {secret}") for _ in range(STREAMS)]
        began = time.monotonic()
        ada.call("organization.remove_member", name="ben")
        for stream in streams:
            assert stream.read_until_end()[-1].name == "closed"
        elapsed_s = time.monotonic() - began

    assert elapsed_s <= REVOKED_S_MAX
