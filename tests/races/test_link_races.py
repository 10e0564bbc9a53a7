"""Links that are made while their nodes are merged and their targets come and go."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.errors import GroundplanError
from groundplan.session import Session
from tests.engines import Engine
from tests.manual_clock import ManualClock
from tests.proof import scaled
from tests.purpose.client import PurposeClient, add_node
from tests.races.concurrent_calls import run_at_once
from tests.work.client import WorkClient
from tests.work.conftest import ADA

pytestmark = [pytest.mark.proof, pytest.mark.slow]

ROUNDS = scaled(3, 50)


def run_together(*calls: Callable[[], Any]) -> list[str]:
    """Run the calls at once and return the code of each error, or `ok`; other exceptions are raised."""
    answers = run_at_once(list(calls))
    for one in answers:
        if isinstance(one, Exception) and not isinstance(one, GroundplanError):
            raise one
    return [one.code if isinstance(one, GroundplanError) else "ok" for one in answers]


@pytest.fixture
def clients(engine: Engine) -> list[WorkClient]:
    """Ada, several times, at a project with nodes; each with its own connection."""
    clock = ManualClock()
    first = WorkClient(Session(engine.another_store(clock=clock), ADA))
    first.open()
    first.plan("\n".join(f"n{place}" for place in range(4)))
    return [first, *(WorkClient(Session(engine.another_store(clock=clock), ADA), ids=first.ids) for _ in range(3))]


def revisions(engine: Engine, op: str) -> list[int]:
    return [rev for (rev,) in engine.as_owner(f"SELECT rev FROM events WHERE op = '{op}' ORDER BY rev")]


def test_a_key_that_a_discard_takes_away_is_linked_before_or_not_at_all(
    engine: Engine, clients: list[WorkClient]
) -> None:
    first, second, *_ = clients
    purpose, other = PurposeClient(first.session), PurposeClient(second.session)
    for _ in range(ROUNDS):
        purpose.draft()
        (goal,) = purpose.edit(add_node("GOAL", "health")).created

        codes = run_together(partial(first.update, "n0", serves=[goal.key]), other.discard)

        linked = engine.as_owner(f"SELECT rev FROM links WHERE target = '{goal.key}'")
        assert codes in (["ok", "ok"], ["unknown_key", "ok"])
        assert len(linked) == (codes[0] == "ok")
        assert all(rev < revisions(engine, "purpose.discarded")[-1] for (rev,) in linked)


def test_links_set_while_their_node_is_merged_twice_are_at_the_node_that_is_left(
    engine: Engine, clients: list[WorkClient]
) -> None:
    first, second, third, _ = clients
    purpose = PurposeClient(first.session)
    purpose.draft()
    keys = [one.key for one in purpose.edit(*(add_node("GOAL", f"goal {n}") for n in range(2))).created]
    for number in range(ROUNDS):
        first.plan(f"s{number}\nt{number}\nu{number}")
        source, target, other = (first[f"{letter}{number}"] for letter in "stu")

        codes = run_together(
            partial(first.update, source, serves=[keys[0]]),
            partial(second.merge, source, target),
            partial(third.merge, source, other),
        )

        assert codes == ["ok"] * 3  # the later merge is one of the node that has the source by then
        nodes = f"('{source}', '{target}', '{other}')"
        ((heir,),) = engine.as_owner(f"SELECT id FROM work_nodes WHERE id IN {nodes}")
        found = engine.as_owner(f"SELECT source, target FROM links WHERE source IN {nodes}")
        assert (heir in (target, other), found) == (True, [(heir, keys[0])])


def test_the_same_link_made_by_many_at_once_is_made_once(engine: Engine, clients: list[WorkClient]) -> None:
    purpose = PurposeClient(clients[0].session)
    purpose.draft()
    (goal,) = purpose.edit(add_node("GOAL", "health")).created
    edge = {"from": clients[0]["n0"], "to": goal.key, "type": "serves"}

    answers: list[Any] = run_at_once([partial(client.call, "work.connect", edges=[edge]) for client in clients])

    assert sorted(one.applied for one in answers) == [0, 0, 0, 1]
    events = engine.as_owner("SELECT changes FROM events WHERE op = 'work.connected'")
    assert [json.loads(changes) for (changes,) in events] == [[{"field": "serves", "before": None, "after": goal.key}]]
