"""A note can be taken back, by itself or by an undo, and then no answer but the history shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from groundplan.kernel.answers import encode
from tests.briefing.client import BriefingClient
from tests.engines import person
from tests.errors import error_of

WORDS = "the tide was out"


def note(plan: BriefingClient, name: str = "survey", *words: str, **changes: Any) -> str:
    """Add notes to a node and return their event."""
    plan.update(name, add_evidence=[{"type": "note", "ref": word} for word in words or (WORDS,)], **changes)
    event: str = plan.call("event.list", project=plan.project, limit=1).events[0].id
    return event


def retract(plan: BriefingClient, name: str, event: str, **changes: Any) -> Any:
    return plan.update(name, retract_note=event, **changes)


def undo(plan: BriefingClient, **given: Any) -> Any:
    return plan.call("briefing.undo", project=plan.project, **given)


def notes(plan: BriefingClient, name: str) -> list[str]:
    return [entry.ref for entry in plan.node(name).evidence]


READS: Iterable[tuple[str, Callable[[BriefingClient], Any]]] = [
    ("context", lambda plan: plan.context("survey")),
    ("briefing", lambda plan: plan.call("briefing.brief", node_id=plan["task"], budget=20_000, markdown=True)),
    ("next", lambda plan: plan.call("work.next", project=plan.project, count=9)),
    ("why", lambda plan: plan.call("briefing.throughline", **{"project": plan.project, "from": plan["survey"]})),
    ("search", lambda plan: plan.call("briefing.search", text="tide", project=plan.project)),
    ("query", lambda plan: plan.call("work.query", project=plan.project, filter={"has_evidence_type": "note"})),
    ("export", lambda plan: plan.call("work.export", project=plan.project)),
]


@pytest.mark.parametrize("by_undo", [False, True])
def test_a_note_that_was_taken_back_is_in_no_answer_but_the_history(plan: BriefingClient, by_undo: bool) -> None:
    before = {name: msgspec.to_builtins(read(plan)) for name, read in READS}
    event = note(plan)
    assert WORDS in encode(plan.context("survey")).decode()

    undo(plan) if by_undo else retract(plan, "survey", event)

    for name, read in READS:
        assert WORDS not in encode(read(plan)).decode(), name
        assert msgspec.to_builtins(read(plan)).keys() == before[name].keys()
    [past] = plan.call("event.list", project=plan.project, until=event, limit=1).events
    assert past.changes[0].after == [{"type": "note", "ref": WORDS}]


def test_an_undo_brings_a_note_back_in_its_place_and_a_redo_takes_it_back(plan: BriefingClient) -> None:
    first = note(plan, "walk", "1")
    plan.update("walk", add_evidence=[{"type": "test", "ref": "2"}])
    note(plan, "walk", "3")
    before = plan.node("walk").evidence
    retract(plan, "walk", first)
    assert notes(plan, "walk") == ["2", "3"]

    undo(plan)
    assert plan.node("walk").evidence == before
    undo(plan, redo=True)
    assert notes(plan, "walk") == ["2", "3"]
    undo(plan)
    undo(plan)
    assert notes(plan, "walk") == ["1", "2"]
    undo(plan, redo=True)
    assert plan.node("walk").evidence == before


def test_a_note_goes_with_the_change_that_it_came_with(plan: BriefingClient) -> None:
    note(plan, "task", state="wet", resolved=True)

    undo(plan)

    node = plan.node("task")
    assert (node.resolved, node.state, node.evidence) == (False, UNSET, [])
    undo(plan, redo=True)
    node = plan.node("task")
    assert (node.resolved, node.state, [entry.ref for entry in node.evidence]) == (True, "wet", [WORDS])


def test_one_call_takes_a_note_back_and_writes_a_better_one(plan: BriefingClient) -> None:
    event = note(plan, "walk", "low tide", "by boat")
    plan.update("walk", retract_note=event, add_evidence=[{"type": "note", "ref": "high tide"}])
    assert notes(plan, "walk") == ["high tide"]

    undo(plan)
    assert notes(plan, "walk") == ["low tide", "by boat"]


def test_a_note_tells_by_which_event_it_can_be_taken_back(plan: BriefingClient) -> None:
    note(plan, "walk", "1")
    plan.update("walk", add_evidence=[{"type": "test", "ref": "2"}])
    plan.merge("walk", "task")
    kept, other = plan.node("task").evidence
    assert other.event is UNSET
    assert plan.context("task", lean=True).node.evidence[0].event is UNSET

    retract(plan, "task", kept.event)

    assert notes(plan, "task") == ["2"]
    undo(plan)
    undo(plan)
    assert notes(plan, "walk") == ["1", "2"]


def test_a_note_that_was_taken_back_twice_is_refused(plan: BriefingClient) -> None:
    event = note(plan)
    retract(plan, "survey", event)
    assert error_of(lambda: retract(plan, "survey", event)).code == "already_retracted"

    other = note(plan, "walk")
    undo(plan)
    assert error_of(lambda: retract(plan, "walk", other)).code == "already_retracted"


@pytest.mark.parametrize(("event", "code"), [("9999.0", "not_found"), ("x", "invalid_argument"), ("1.0", "not_found")])
def test_an_event_that_added_no_note_is_refused(plan: BriefingClient, event: str, code: str) -> None:
    assert error_of(lambda: retract(plan, "survey", event)).code == code


def test_a_note_of_another_node_and_evidence_of_another_type_stay(plan: BriefingClient) -> None:
    event = note(plan, "walk")
    assert error_of(lambda: retract(plan, "task", event)).code == "not_found"
    plan.update("walk", add_evidence=[{"type": "test", "ref": "2"}])
    tested = plan.call("event.list", project=plan.project, limit=1).events[0].id
    assert error_of(lambda: retract(plan, "walk", tested)).code == "not_found"
    assert notes(plan, "walk") == [WORDS, "2"]


def test_only_its_author_and_owners_who_are_persons_take_a_note_back(plan: BriefingClient) -> None:
    plan.call("member.add", scopeId=plan.project, userId="ben", role="editor", kind="person")
    ben = plan.by(person("ben"))
    event = note(plan)
    for other in (ben, plan.by("bot")):
        error = error_of(partial(other.update, "survey", retract_note=event))
        assert (error.code, error.details["actor"]) == ("not_your_note", "ada")
    ben.update("walk", add_evidence=[{"type": "note", "ref": WORDS}])
    event = plan.call("event.list", project=plan.project, limit=1).events[0].id

    retract(plan, "walk", event)

    assert notes(plan, "walk") == []


def test_the_only_evidence_of_a_resolved_node_stays_where_evidence_is_required(plan: BriefingClient) -> None:
    event = note(plan, "walk")
    assert len(retract(plan, "walk", event).warnings) == 1
    undo(plan)
    plan.open(policies={"evidence": "require"})

    assert error_of(lambda: retract(plan, "walk", event)).code == "evidence_required"
    assert notes(plan, "walk") == [WORDS]
