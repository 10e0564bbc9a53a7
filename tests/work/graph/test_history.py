"""graph_history: all events of a node, page by page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.answers import count_tokens
from groundplan.kernel.errors import GroundplanError, NotFound
from groundplan.session import Session
from tests.engines import Engine, person
from tests.work.graph.plans import encode_text, plan, root_of, session_with_cap


@pytest.fixture
def ada(engine: Engine) -> Session:
    session = engine.session("ada")
    session.call("work.open", project="atlas", goal="A map")
    return session


def pages(session: Session, node_id: str, **arguments: Any) -> list[Any]:
    """Yield every page of a node's history."""
    found = [session.call("work.history", node_id=node_id, **arguments)]
    while found[-1].next_cursor is not UNSET:
        cursor = found[-1].next_cursor
        found.append(session.call("work.history", node_id=node_id, cursor=cursor, **arguments))
    return found


def code_of(session: Session, operation: str, **arguments: Any) -> str:
    with pytest.raises(GroundplanError) as caught:
        session.call(operation, **arguments)
    return caught.value.code


def test_history_tells_who_did_what_and_why_with_the_newest_on_top(engine: Engine, ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a", "properties": {"size": 1}}, decision="we start small")
    ben = engine.session("ben")
    update = {"node_id": ids["a"], "summary": "b", "properties": {"size": None}}
    ben.call("work.update", updates=[update], decision="a better name")

    updated, created = ada.call("work.history", node_id=ids["a"]).events

    assert (updated.agent, updated.action, updated.decision) == ("ben", "updated", "a better name")
    assert msgspec.to_builtins(updated.changes) == [
        {"field": "summary", "before": "a", "after": "b"},
        {"field": "properties.size", "before": 1, "after": None},
    ]
    assert (created.agent, created.action, created.decision) == ("ada", "created", "we start small")
    assert {one.field: one.after for one in created.changes} == {
        "summary": "a",
        "parent": root_of(ada, "atlas"),
        "properties": {"size": 1},
    }
    assert created.timestamp <= updated.timestamp


@pytest.mark.parametrize("lean", [False, True])
def test_history_and_onboarding_say_the_kind_of_who_is_no_person(engine: Engine, ada: Session, lean: bool) -> None:
    ids = plan(ada, "atlas", {"ref": "a"})
    for kind in ActorKind:
        by = engine.session(local_actor(f"robin the {kind}", kind=kind))
        by.call("work.update", updates=[{"node_id": ids["a"], "state": kind}], decision="agreed")

    events = ada.call("work.history", node_id=ids["a"], lean=lean).events
    recent = ada.call("work.onboard", project="atlas", lean=lean).recent

    kinds = {"robin the person": UNSET, "robin the agent": ActorKind.AGENT, "robin the service": ActorKind.SERVICE}
    assert {event.agent: event.agent_kind for event in events} == {"ada": UNSET, **kinds}
    if not lean:  # which says of recent work what was done, and not by whom
        assert {event.agent: event.agent_kind for event in recent} == kinds


def test_pages_lose_nothing_and_repeat_nothing_when_everything_happened_in_one_moment(engine: Engine) -> None:
    store = engine.another_store(clock=lambda: datetime(2026, 3, 1, tzinfo=UTC))
    ada = Session(store, local_actor("ada"))
    ada.call("work.open", project="atlas")
    ids = plan(ada, "atlas", {"ref": "a"})
    for number in range(12):
        steps = [{"node_id": ids["a"], "state": 2 * number + half} for half in range(2)]
        ada.call("work.update", updates=steps)

    for limit in (1, 2, 3, 7, 100):
        read = pages(ada, ids["a"], limit=limit)
        states = [one.changes[0].after for page in read for one in page.events]
        assert states == [*range(23, -1, -1), "a"]
        assert all(len(page.events) == limit for page in read[:-1])


def test_a_page_that_ends_with_the_last_event_has_no_cursor(ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"})

    assert ada.call("work.history", node_id=ids["a"], limit=1).next_cursor is UNSET


def test_the_history_of_a_node_that_was_merged_away_stays_readable(engine: Engine, ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "old"}, {"ref": "new"})
    ada.call("work.restructure", operations=[{"op": "merge", "source": ids["old"], "target": ids["new"]}])

    gone = ada.call("work.history", node_id=ids["old"]).events
    kept = ada.call("work.history", node_id=ids["new"]).events

    assert [one.action for one in gone] == ["merged", "created"]
    assert [one.action for one in kept] == ["merged", "created"]
    assert gone[0].changes[0].after == ids["new"]


def test_whoever_does_not_see_the_project_does_not_see_what_was_merged_there(engine: Engine, ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "old"}, {"ref": "new"})
    ada.call("work.restructure", operations=[{"op": "merge", "source": ids["old"], "target": ids["new"]}])
    ada.call("work.open", project="borealis")
    ada.call("member.add", scopeId="borealis", userId="ben", role="viewer")
    ada.call("member.add", scopeId="atlas", userId="cleo", role="viewer")

    with pytest.raises(NotFound) as hidden:
        engine.session(person("ben")).call("work.history", node_id=ids["old"])

    assert hidden.value.message == f"no node {ids['old']!r} here; work.query finds nodes by text"
    assert engine.session(person("cleo")).call("work.history", node_id=ids["old"]).events


def test_the_root_has_a_history_of_work_only(ada: Session) -> None:
    ada.call("project.archive", project="atlas")

    assert [one.action for one in ada.call("work.history", node_id=root_of(ada, "atlas")).events] == ["created"]


def test_a_cursor_leads_on_only_where_it_came_from(engine: Engine, ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"}, {"ref": "b"})
    for node in ids.values():
        ada.call("work.update", updates=[{"node_id": node, "state": 1}])
    cursor = ada.call("work.history", node_id=ids["a"], limit=1).next_cursor

    assert ada.call("work.history", node_id=ids["a"], limit=5, cursor=cursor).events[0].action == "created"
    assert code_of(ada, "work.history", node_id=ids["b"], cursor=cursor) == "invalid_cursor"
    assert code_of(engine.session("ben"), "work.history", node_id=ids["a"], cursor=cursor) == "invalid_cursor"
    assert code_of(ada, "work.history", node_id=ids["a"], cursor="nonsense") == "invalid_cursor"


@pytest.mark.parametrize("limit", [0, 101])
def test_a_limit_out_of_bounds_is_refused(ada: Session, limit: int) -> None:
    with pytest.raises(GroundplanError) as caught:
        ada.call("work.history", node_id=root_of(ada, "atlas"), limit=limit)
    assert caught.value.status == 400


def test_an_unknown_node_is_not_found(ada: Session) -> None:
    assert code_of(ada, "work.history", node_id="zzzzzz") == "not_found"


def test_a_lean_history_has_no_nulls(ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"})
    ada.call("work.update", updates=[{"node_id": ids["a"], "state": "begun"}])

    answer = encode_text(ada.call("work.history", node_id=ids["a"], lean=True))

    assert "null" not in answer
    assert '{"field":"state","after":"begun"}' in answer


def test_a_page_ends_early_where_the_cap_ends_and_nothing_is_lost(engine: Engine, ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"})
    for number in range(20):
        ada.call("work.update", updates=[{"node_id": ids["a"], "state": f"{number} " + "é" * 400}])

    read = pages(session_with_cap(engine, 500), ids["a"])

    assert all(count_tokens(encode_text(page)) <= 500 for page in read)
    states = [one.changes[0].after.partition(" ")[0] for page in read for one in page.events]
    assert states == [*map(str, range(19, -1, -1)), "a"]


def test_an_event_longer_than_the_cap_goes_out_with_the_changes_that_fit(engine: Engine, ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"})
    long = {"node_id": ids["a"], "summary": "b", "state": "x" * 4_000, "properties": {"size": 3}}
    ada.call("work.update", updates=[long])

    read = pages(session_with_cap(engine, 500), ids["a"])

    assert all(count_tokens(encode_text(page)) <= 500 for page in read)
    updated, created = (one for page in read for one in page.events)
    assert [one.field for one in updated.changes] == ["summary"]
    assert updated.left_out == {"changes": 2}
    assert created.left_out is UNSET
