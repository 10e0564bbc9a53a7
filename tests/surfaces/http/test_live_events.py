"""A stream tells what changed in one project, from the audit sequence, and goes on where a client was."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator

import pytest

from groundplan.kernel import events
from groundplan.kernel.actors import Access, Actor, ActorKind, local_actor
from groundplan.kernel.errors import Unauthenticated
from groundplan.kernel.store.queries import Query
from groundplan.session import Session
from tests.engines import Engine, person
from tests.manual_clock import ManualClock
from tests.surfaces.http.event_server import CHANGE, COMMENT, EventServer, event_server

Seen = tuple[int, str, str]  # the revision, the area and a subject


@pytest.fixture
def ada(engine: Engine) -> Session:
    session = engine.session("ada")
    session.call("project.create", name="atlas")
    return session


@pytest.fixture
def server(engine: Engine, ada: Session) -> Iterator[EventServer]:
    with event_server(engine.store) as made:
        yield made


def plan(session: Session, *refs: str, project: str = "atlas") -> list[str]:
    """Plan nodes in one write and return their ids."""
    answer = session.call("work.plan", project=project, nodes=[{"ref": ref, "summary": ref} for ref in refs])
    return [created.id for created in answer.created]


def get_rev(engine: Engine) -> int:
    ((rev,),) = engine.as_owner("SELECT rev FROM projects WHERE name = 'atlas'")
    return int(rev)


def list_recorded(engine: Engine) -> list[Seen]:
    """Return the revision, area and subject of every event, each once."""
    rows = engine.as_owner("SELECT rev, op, subject FROM events")
    return sorted({(rev, _name_area(op), subject) for rev, op, subject in rows})


def _name_area(op: str) -> str:
    word = op.partition(".")[0]
    return "members" if word == "member" else word


def test_a_change_says_of_which_kind_its_actor_is_unless_it_is_a_person(
    engine: Engine, server: EventServer, ada: Session
) -> None:
    stream = server.follow()
    plan(ada, "coast")
    plan(engine.session(local_actor("scout", kind=ActorKind.AGENT)), "hills")

    changes = stream.read_until(get_rev(engine))

    assert [(change.data["actor"], change.data.get("actor_kind")) for change in changes if change.data.get("ids")] == [
        ("ada", None),
        ("scout", "agent"),
    ]


def test_a_stream_begins_now_and_then_names_area_ids_and_actor_of_each_write(
    engine: Engine, server: EventServer, ada: Session
) -> None:
    before = get_rev(engine)
    stream = server.follow()
    assert (stream.status, stream.headers["content-type"]) == (200, "text/event-stream")
    hello = stream.next()
    assert hello is not None
    assert (hello.name, hello.rev, hello.data) == ("hello", before, {"rev": before})

    made = plan(ada, "coast", "hills")
    (change,) = stream.read_until(before + 1)
    assert (change.data["area"], change.data["actor"]) == ("work", "ada")
    assert set(made) <= set(change.data["ids"])

    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    (joined,) = stream.read_until(before + 2)
    assert joined.data == {"area": "members", "ids": ["ben"], "actor": "ada"}


def test_a_client_that_connects_again_gets_exactly_what_it_missed(
    engine: Engine, server: EventServer, ada: Session
) -> None:
    stream = server.follow()
    plan(ada, "coast")
    seen = stream.read_until(get_rev(engine))
    stream.disconnect()
    for ref in ("hills", "lakes"):
        plan(ada, ref)

    again = server.follow(after=stream.last_id, query="?after=1.0")  # the header is newer than the address
    hello = again.next()
    assert hello is not None
    assert (hello.name, hello.id) == ("hello", None)  # an id would skip what is still to come
    missed = again.read_until(get_rev(engine))
    assert [event.rev for event in missed] == [seen[-1].rev + 1, seen[-1].rev + 2]


def test_a_client_that_missed_too_much_is_told_to_read_everything_again(engine: Engine, ada: Session) -> None:
    for ref in ("coast", "hills", "lakes"):
        plan(ada, ref)
    with event_server(engine.store, missed_max=3) as server:
        for position in ("1.0", f"{get_rev(engine) + 1}.0"):  # too far back; ahead, as after a restored backup
            reset = server.follow(after=position).next()
            assert reset is not None
            assert (reset.name, reset.rev) == ("reset", get_rev(engine))
        last = f"{get_rev(engine) - 1}.0"
        assert [event.name for event in server.follow(after=last).read_until(get_rev(engine))] == ["hello", "message"]


def test_a_large_write_is_one_event_of_bounded_size(engine: Engine, server: EventServer, ada: Session) -> None:
    stream = server.follow()
    made = plan(ada, *(f"n{number}" for number in range(events.IDS_MAX + 50)))
    change = stream.read_until(get_rev(engine))[-1]
    assert len(change.data["ids"]) == events.IDS_MAX
    assert change.data["left_out"] >= len(made) - events.IDS_MAX


def test_a_stream_of_a_hidden_project_is_refused_like_one_of_a_missing_project(engine: Engine, ada: Session) -> None:
    with event_server(engine.store, lambda _connection: person("mallory")) as server:
        hidden, missing = server.follow("atlas"), server.follow("other")
    assert hidden.status == missing.status == 404
    assert hidden.body.replace(b"atlas", b"other") == missing.body


@pytest.mark.parametrize("access", list(Access))
def test_a_stream_of_another_organization_is_refused_like_one_of_a_missing_project(
    engine: Engine, ada: Session, access: Access
) -> None:
    engine.create_organization("rival", "mallory")
    ((hidden_id,),) = engine.as_owner("SELECT id FROM projects WHERE name = 'atlas'")
    mallory = Actor("rival", "mallory", ActorKind.PERSON, access)
    with event_server(engine.store, lambda _connection: mallory) as server:
        hidden, by_name, missing = (server.follow(ref) for ref in (hidden_id, "atlas", "other"))
    assert hidden.status == by_name.status == missing.status == 404
    assert hidden.body.replace(hidden_id.encode(), b"other") == missing.body
    assert by_name.body.replace(b"atlas", b"other") == missing.body


def test_requests_that_are_no_stream_are_refused(server: EventServer) -> None:
    assert server.follow(after="yesterday").status == 400
    assert server.follow(query="?since=1.0").status == 400
    assert server.follow(method="POST").status == 405
    assert server.follow(accept="application/json").status == 406


def test_an_idle_stream_has_heartbeats(engine: Engine, ada: Session) -> None:
    with event_server(engine.store, heartbeat_s=0.01) as server:
        stream = server.follow()
        assert [event and event.name for event in (stream.next(comments=True) for _ in range(3))] == [
            "hello",
            COMMENT,
            COMMENT,
        ]


def test_an_archived_project_tells_it_and_has_no_more_events(engine: Engine, server: EventServer, ada: Session) -> None:
    stream = server.follow()
    ada.call("project.archive", project="atlas")
    assert [event.name for event in stream.read_until_end()] == ["hello", "message", "closed"]
    assert server.follow(after=stream.last_id).status == 204  # a browser then does not connect again


def test_a_removed_member_sees_nothing_more(engine: Engine, ada: Session) -> None:
    ada.call("member.add", scopeId="atlas", userId="ben", role="viewer")
    with event_server(engine.store, lambda _connection: person("ben")) as server:
        stream = server.follow()
        before = get_rev(engine)
        ada.call("member.remove", scopeId="atlas", userId="ben")
        plan(ada, "secret")
        received = stream.read_until_end()
    assert [event.name for event in received] == ["hello", "closed"]
    assert max(event.rev for event in received) == before


def test_a_client_that_takes_nothing_is_left_and_loses_nothing(engine: Engine, ada: Session) -> None:
    with event_server(engine.store, send_s=0.01) as server:
        slow = server.follow()
        hello = slow.next()
        assert hello is not None
        slow.stop_reading()
        plan(ada, "coast")
        assert slow.next() is None
        assert len(server.streams) == 0
        again = server.follow(after=slow.last_id)
        assert [event.name for event in again.read_until(get_rev(engine))] == ["hello", "message"]


def test_streams_are_limited_for_each_principal_and_for_the_server(engine: Engine, ada: Session) -> None:
    with event_server(engine.store, per_principal=2, per_server=3) as server:
        first, _second = server.follow(), server.follow()
        assert server.follow().status == 429
        assert server.follow(actor="ben").status == 200
        assert server.follow(actor="cleo").status == 503
        first.disconnect()
        assert first.read_until_end()[-1].name == "hello"
        assert server.follow().status == 200


def test_a_server_that_stops_says_goodbye_to_every_stream(engine: Engine, ada: Session) -> None:
    with event_server(engine.store) as server:
        streams = [server.follow() for _ in range(5)]
        server.stop()
        for stream in streams:
            assert stream.read_until_end()[-1].name == "bye"
        assert server.follow().status == 503
        assert len(server.streams) == 0


def follow_with_interruptions(server: EventServer, engine: Engine, writers: list[threading.Thread]) -> list[Seen]:
    """Follow from the beginning while others write, connect again at random places, and return what was seen."""
    chance = random.Random(7)  # noqa: S311 - not a secret
    seen: list[Seen] = []
    last = "0.0"
    while True:
        stream = server.follow(after=last)
        for _ in range(chance.randrange(1, 6)):
            has_ended = not any(writer.is_alive() for writer in writers)
            if has_ended and last.startswith(f"{get_rev(engine)}."):
                return sorted(seen)
            event = stream.next(comments=True)
            assert event is not None
            if event.name == CHANGE:
                assert event.id is not None
                last = event.id
                seen += [(event.rev, event.data["area"], subject) for subject in event.data["ids"]]
        stream.disconnect()


def write_several(engine: Engine) -> Callable[[], None]:
    def write() -> None:
        session = engine.session("ada")
        for number in range(6):
            plan(session, f"a{number}", f"b{number}")

    return write


def test_a_client_that_is_interrupted_again_and_again_sees_every_event_once(engine: Engine, ada: Session) -> None:
    writers = [threading.Thread(target=write_several(engine)) for _ in range(3)]
    with event_server(engine.store, heartbeat_s=0.05) as server:
        for writer in writers:
            writer.start()
        try:
            assert follow_with_interruptions(server, engine, writers) == list_recorded(engine)
        finally:
            for writer in writers:
                writer.join()


@pytest.mark.teeth
def test_a_stream_ordered_by_time_would_lose_events(
    engine: Engine, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_time = """
SELECT rev, n, at, actor_id AS actor, op, subject
  FROM events
 WHERE tenant_id = :tenant_id
   AND project_id = :project_id
   AND at > coalesce((SELECT e.at FROM events AS e
                       WHERE e.tenant_id = :tenant_id AND e.project_id = :project_id AND e.rev = :rev AND e.n = :n), '')
 ORDER BY at
 LIMIT :at_most"""
    stopped = Session(engine.store_with_clock(ManualClock()), ada.actor)
    created = stopped.call("project.create", name="borealis").project

    def count_changes() -> int:
        start = events.EventPosition(created.rev, 0)
        return len(engine.store.read(ada.actor, lambda tx: events.read_changes(tx, created.id, start)).changes)

    seen = count_changes()
    plan(stopped, "coast", project="borealis")  # at the same time
    assert count_changes() > seen
    monkeypatch.setattr(events.sql, "events_after", Query("events_after", by_time))
    assert count_changes() == 0


def refuse(_connection: object) -> Actor:
    raise Unauthenticated("no token is given")


def test_a_stream_needs_an_identity(engine: Engine, ada: Session) -> None:
    with event_server(engine.store, refuse) as server:
        assert server.follow().status == 401
