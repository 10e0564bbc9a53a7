"""events: what happened in a project, filtered and page by page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel import events as events_module
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.events import EventPosition, read_changes
from groundplan.session import Session
from tests.engines import Engine, person
from tests.manual_clock import ManualClock
from tests.work.graph.plans import plan, session_with_cap


@pytest.fixture
def ada(engine: Engine) -> Session:
    session = engine.session("ada")
    session.call("work.open", project="atlas", goal="A map")
    return session


def list_all(session: Session, **arguments: Any) -> list[Any]:
    """Return the events of all pages."""
    pages = [session.call("event.list", project="atlas", **arguments)]
    while pages[-1].next_cursor is not UNSET:
        pages.append(session.call("event.list", project="atlas", cursor=pages[-1].next_cursor, **arguments))
    return [event for page in pages for event in page.events]


def ids_of(session: Session, **arguments: Any) -> list[str]:
    return [event.id for event in list_all(session, **arguments)]


def code_of(session: Session, **arguments: Any) -> str:
    with pytest.raises(GroundplanError) as caught:
        session.call("event.list", project="atlas", **arguments)
    return caught.value.code


def test_the_newest_event_is_first_and_says_who_did_what_to_what_and_why(engine: Engine, ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"})
    engine.session("ben").call("work.update", updates=[{"node_id": ids["a"], "summary": "b"}], decision="a better name")

    newest, *older = ada.call("event.list", project="atlas").events

    assert (newest.actor, newest.op, newest.subject) == ("ben", "work.updated", ids["a"])
    assert newest.decision == "a better name"
    assert [(one.field, one.before, one.after) for one in newest.changes] == [("summary", "a", "b")]
    assert [one.op for one in older][-1] == "project.created"
    assert newest.id == "3.0"


def test_an_event_says_of_which_kind_its_actor_is_unless_it_is_a_person(engine: Engine, ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"})
    for name, kind in (("scout", ActorKind.AGENT), ("ci", ActorKind.SERVICE)):
        session = engine.session(local_actor(name, kind=kind))
        session.call("work.update", updates=[{"node_id": ids["a"], "summary": name}])
    engine.session(local_actor("scout", kind=ActorKind.AGENT)).call("project.create", name="south")

    events = ada.call("event.list", project="atlas").events
    of_organization = ada.call("organization.events").events

    assert [(event.actor, event.actor_kind) for event in events[:3]] == [
        ("ci", ActorKind.SERVICE),
        ("scout", ActorKind.AGENT),
        ("ada", UNSET),
    ]
    assert (of_organization[0].actor, of_organization[0].actor_kind) == ("scout", ActorKind.AGENT)


def test_after_an_event_the_oldest_is_first_and_the_ids_are_those_of_the_stream(engine: Engine, ada: Session) -> None:
    plan(ada, "atlas", {"ref": "a"}, {"ref": "b"})
    project = engine.as_owner("SELECT id FROM projects")[0][0]
    streamed = engine.store.read(ada.actor, lambda tx: read_changes(tx, project, EventPosition(1, 0))).changes

    listed = ids_of(ada, since="1.0")

    assert listed[-2:] == ["2.0", "2.1"]
    assert str(streamed[-1].last) == listed[-1]
    assert ids_of(ada, since=listed[-1]) == []
    assert ids_of(ada, since="99.0") == []


def test_pages_neither_repeat_nor_lose_an_event_and_keep_their_filters(ada: Session) -> None:
    plan(ada, "atlas", *({"ref": f"n{number}"} for number in range(9)))
    for arguments in ({}, {"since": "0.0"}, {"op": "work"}, {"actor": "ada", "since": "0.0"}):
        whole = ids_of(ada, limit=200, **arguments)
        assert ids_of(ada, limit=2, **arguments) == whole
        assert len(whole) == len(set(whole)) >= 9
    cursor = ada.call("event.list", project="atlas", limit=2).next_cursor
    assert code_of(ada, limit=2, cursor=cursor, op="work") == "invalid_cursor"


def test_filters_combine_and_an_op_is_a_kind_or_a_whole_slice(engine: Engine, ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"}, {"ref": "b"})
    engine.session("ben").call("work.update", updates=[{"node_id": ids["a"], "resolved": True}])

    def ops(**arguments: Any) -> set[str]:
        return {event.op for event in list_all(ada, **arguments)}

    assert ops(actor="ben") == {"work.resolved"}
    assert ops(op="work.resolved") == {"work.resolved"}
    assert {op.partition(".")[0] for op in ops(op="work")} == {"work"}
    assert {"project.created"} <= ops(op="project") <= {"project.created", "project.configured"}
    assert ops(op="wor") == set()
    assert ops(subject=ids["a"], actor="ada") == {"work.created"}
    assert [one.op for one in list_all(ada, subject=ids["a"], since="0.0")] == ["work.created", "work.resolved"]
    assert [one.op for one in list_all(ada, subject=ids["a"])] == ["work.resolved", "work.created"]
    assert ops(subject=ids["b"], actor="ben") == set()
    assert ops(actor="nobody") == set()


def test_a_rare_actor_costs_a_bounded_look_on_each_page_and_is_still_found(
    engine: Engine, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.session("ben").call("work.plan", project="atlas", nodes=[{"ref": "b", "summary": "b"}])
    plan(ada, "atlas", *({"ref": f"n{number}"} for number in range(20)))
    monkeypatch.setattr(events_module, "EVENTS_LOOKED_AT_MAX", 5)

    first = ada.call("event.list", project="atlas", actor="ben")

    assert first.events == []
    assert first.next_cursor is not UNSET
    assert [one.op for one in list_all(ada, actor="ben")] == ["work.created"]
    assert [one.op for one in list_all(ada, actor="ben", since="0.0")] == ["work.created"]


def test_a_time_is_where_its_first_write_is_and_until_counts_its_last(engine: Engine) -> None:
    clock = ManualClock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    ada = Session(engine.store_with_clock(clock), local_actor("ada"))
    ada.call("work.open", project="atlas")
    for _ in range(7):
        clock.move(days=1)
        plan(ada, "atlas", {"ref": "a"})

    def days(**arguments: Any) -> set[int]:
        return {int(event.at[8:10]) for event in list_all(ada, **arguments)}

    assert days(since="2026-03-04") == {4, 5, 6, 7, 8}
    assert days(since="2026-03-04T12:00:00Z", until="2026-03-06T12:00:00.000Z") == {4, 5, 6}
    assert days(since="2026-03-04T12:00:00.001Z") == {5, 6, 7, 8}
    assert days(until="2026-03-02") == {1, 2}
    assert days(until="2026-02-28") == set()
    assert days(since="2027-01-01") == set()
    assert days(since="2020-01-01") == days() == {*range(1, 9)}
    assert days(since="2026-03-03", until="3.0") == {3}


@pytest.mark.parametrize("text", ["", "42", "1.-1", "yesterday", "2026-13-01", "2026-03-01T12:00:00"])
def test_a_beginning_that_is_neither_an_event_nor_a_time_is_refused(ada: Session, text: str) -> None:
    assert code_of(ada, since=text) == "invalid_position"
    assert code_of(ada, until=text) == "invalid_position"


def test_only_members_see_the_events_and_a_hidden_project_looks_like_a_missing_one(
    engine: Engine, ada: Session
) -> None:
    ada.call("member.add", scopeId="atlas", userId="cleo", role="viewer", kind="person")

    assert engine.session(person("cleo")).call("event.list", project="atlas").events
    with pytest.raises(GroundplanError) as hidden:
        engine.session(person("mallory")).call("event.list", project="atlas")
    assert hidden.value.code == "not_found"


def test_an_answer_stays_within_its_cap_and_the_next_page_goes_on(engine: Engine, ada: Session) -> None:
    plan(ada, "atlas", *({"ref": f"n{number}", "summary": "x" * 400} for number in range(20)))
    whole = ids_of(ada, limit=200)
    capped = session_with_cap(engine, 500)

    page = capped.call("event.list", project="atlas", limit=200)

    assert count_tokens(encode(page)) <= 500
    assert 1 <= len(page.events) < len(whole)
    assert ids_of(capped, limit=200) == whole
