"""The agent of `serve --demo --play` works step by step, and leaves the plan as large as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groundplan import demo
from groundplan.demo import PROJECT
from groundplan.demo.play import AGENT, EVERY_S, GOAL, PlayingAgent
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine

STEPS = [  # of one round, as events; a write has several if it creates or deletes several nodes
    *["work.created"] * 4,
    *["work.claimed", "context.suggested", "work.resolved"],
    *["work.claimed", "knowledge.created", "work.resolved"],
    *["work.claimed", "purpose.reviewed", "work.resolved"],
]
REMOVAL = ["context.rejected", "knowledge.deleted", *["work.deleted"] * 4]


@pytest.fixture
def owner(engine: Engine) -> Session:
    session = Session(engine.store, local_actor(demo.OWNER, kind=ActorKind.PERSON))
    demo.fill(session)
    return session


def read_last_rev(owner: Session) -> int:
    return int(owner.call("event.list", project=PROJECT, limit=1).events[0].id.partition(".")[0])


def list_ops(owner: Session, *, after: int) -> list[str]:
    events = owner.call("event.list", project=PROJECT, limit=200).events
    return [str(event.op) for event in reversed(events) if int(event.id.partition(".")[0]) > after]


def count_things(owner: Session) -> tuple[Any, int, int]:
    return (
        owner.call("work.open", project=PROJECT).summary,
        len(owner.call("knowledge.search", entityType="atom", projectId=PROJECT, limit=100).items),
        sum(item.kind == "suggestion" for item in owner.call("briefing.inbox", project=PROJECT, limit=100).items),
    )


def stop_after(waits: int) -> Callable[[float], bool]:
    """Return a wait that takes no time and ends the play at its last call."""
    asked: list[float] = []

    def wait(seconds: float) -> bool:
        assert seconds == EVERY_S
        asked.append(seconds)
        return len(asked) >= waits

    return wait


def test_every_round_is_the_same_and_leaves_the_plan_as_large_as_it_was(owner: Session) -> None:
    before, begin = count_things(owner), read_last_rev(owner)
    PlayingAgent(owner, PROJECT).play(stop_after(1_000), rounds_max=2)

    assert list_ops(owner, after=begin) == [*STEPS, *REMOVAL] * 2
    assert count_things(owner) == before


def test_the_play_ends_between_two_steps_and_the_next_one_removes_what_is_left(owner: Session) -> None:
    before, begin = count_things(owner), read_last_rev(owner)
    PlayingAgent(owner, PROJECT).play(stop_after(8))
    assert list_ops(owner, after=begin) == STEPS[:10]

    PlayingAgent(owner, PROJECT).play(stop_after(1))
    assert count_things(owner) == before


def test_a_step_that_is_refused_ends_its_round_and_the_next_one_begins_anew(owner: Session) -> None:
    before, begin = count_things(owner), read_last_rev(owner)
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        if len(waits) == 3:  # before the agent suggests a value: somebody deletes what it planned
            PlayingAgent(owner, PROJECT).remove()
        return False

    PlayingAgent(owner, PROJECT).play(wait, rounds_max=2)

    assert list_ops(owner, after=begin)[-len(STEPS) - len(REMOVAL) :] == [*STEPS, *REMOVAL]
    assert count_things(owner) == before


def test_what_people_wrote_with_the_same_words_is_theirs(owner: Session) -> None:
    planned = owner.call("work.plan", project=PROJECT, nodes=[{"ref": "a", "summary": f"{GOAL} again"}])
    PlayingAgent(owner, PROJECT).play(stop_after(1_000), rounds_max=1)

    assert owner.call("work.context", node_id=planned.created[0].id).node.summary == f"{GOAL} again"
    assert {event.actor for event in owner.call("event.list", project=PROJECT, limit=30).events} >= {AGENT}
