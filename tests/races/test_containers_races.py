"""Many agents at the containers of one project at once: one wins each version, and every rule holds."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError, StaleVersion
from groundplan.session import Session
from tests.engines import Engine
from tests.proof import scaled
from tests.races.concurrent_calls import run_at_once
from tests.races.test_work_races import assert_derived_columns_match, outcome_codes
from tests.work.containers.client import ContainersClient

pytestmark = [pytest.mark.proof, pytest.mark.slow]

THREADS = 4
ROUNDS = scaled(3, 50)


@pytest.fixture
def clients(engine: Engine) -> list[ContainersClient]:
    """Agents at one project, each with its own connection."""
    first = ContainersClient(Session(engine.another_store(), local_actor("ada")))
    first.open()
    others = [
        ContainersClient(
            Session(engine.another_store(), local_actor(f"agent {n}", kind=ActorKind.AGENT)),
            ids=first.ids,
            features=first.features,
        )
        for n in range(1, THREADS)
    ]
    return [first, *others]


def run_together(*calls: Any) -> list[Any]:
    return run_at_once(list(calls))


def test_of_many_who_advance_from_one_version_one_wins(engine: Engine, clients: list[ContainersClient]) -> None:
    clients[0].task("walk")
    versions = []
    for move in ("advance", "advance", "advance", "revert", "revert", "revert"):
        version = clients[0].version("walk")
        versions.append(version)

        answers = run_together(*(partial(getattr(one, move), "walk", version=version) for one in clients))

        assert sorted(outcome_codes(answers)) == ["ok", *["stale_version"] * (THREADS - 1)]
        assert {one.details["currentVersion"] for one in answers if isinstance(one, GroundplanError)} == {version + 1}
    assert versions == list(range(1, 7))
    assert len(clients[0].history("walk")) == 7
    assert_derived_columns_match(engine)


def test_of_many_who_change_block_and_delete_from_one_version_one_wins(
    engine: Engine, clients: list[ContainersClient]
) -> None:
    for number in range(ROUNDS):
        name = f"t{number}"
        clients[0].task(name)

        answers = run_together(
            partial(clients[0].change, name, description="d", version=1),
            partial(clients[1].block, name, "NO_OP", blockedReason="fog", version=1),
            partial(clients[2].delete, name, version=1),
            partial(clients[3].terminate, name, version=1),
        )

        won = outcome_codes(answers)
        assert won.count("ok") == 1
        assert set(won) <= {"ok", "stale_version", "not_found"}
    assert_derived_columns_match(engine)


def start_all(desk: ContainersClient, tries: int = 40) -> list[str]:
    """Start the next task until there is none, as agents do, and return the started ones."""
    taken: list[str] = []
    for _ in range(tries):
        found = desk.call("container.next_task", projectId="atlas")
        if found is None:
            return taken
        try:
            desk.call("container.advance", containerType="task", id=found.id, version=found.version)
        except StaleVersion:
            continue
        taken.append(found.id)
    raise AssertionError("it never ends")


def test_agents_who_take_what_is_next_never_both_hold_one(engine: Engine, clients: list[ContainersClient]) -> None:
    clients[0].feature("coast")
    for place in range(8):
        clients[0].task(f"t{place}", of="coast" if place % 2 else None)

    taken = run_together(*(partial(start_all, one) for one in clients))

    outcome_codes(taken)
    by = {
        task: desk.session.actor and desk.session.actor.id
        for desk, ids in zip(clients, taken, strict=True)
        for task in ids
    }
    assert Counter(task for ids in taken for task in ids) == Counter(clients[0][f"t{place}"] for place in range(8))
    assert all(clients[0].get(f"t{place}").claimed_by == by[clients[0][f"t{place}"]] for place in range(8))
    assert clients[0].status("coast") == "ACTIVE"
    assert_derived_columns_match(engine)


def test_an_agent_of_each_dialect_never_take_the_same(engine: Engine, clients: list[ContainersClient]) -> None:
    def by_claims(desk: ContainersClient) -> list[str]:
        taken = []
        while names := desk.claim():
            if desk[names[0]] in taken:  # it is offered what it holds
                break
            taken.append(desk[names[0]])
        return taken

    clients[0].tasks(*(f"t{place}" for place in range(8)))

    taken = run_together(*(partial(start_all if place % 2 else by_claims, one) for place, one in enumerate(clients)))

    outcome_codes(taken)
    held = Counter(task for ids in taken for task in ids)
    assert set(held.values()) == {1}
    assert len(held) == 8
    assert_derived_columns_match(engine)


@pytest.mark.parametrize("kind", ["task", "feature"])
def test_of_two_that_shall_block_each_other_one_does(
    engine: Engine, clients: list[ContainersClient], kind: str
) -> None:
    for number in range(ROUNDS):
        a, b = f"a{number}", f"b{number}"
        for name in (a, b):
            getattr(clients[0], kind)(name)

        answers = run_together(partial(clients[1].block, a, b, version=1), partial(clients[2].block, b, a, version=1))

        assert sorted(outcome_codes(answers)) == ["cycle_detected", "ok"]
    assert_derived_columns_match(engine)


def test_a_ring_through_features_is_never_closed(engine: Engine, clients: list[ContainersClient]) -> None:
    for number in range(ROUNDS):
        names = [f"{name}{number}" for name in ("f", "g", "h")]
        for name in names:
            clients[0].feature(name)
            clients[0].task(f"in {name}", of=name)
        f, g, h = names

        answers = run_together(
            partial(clients[1].depend, f"in {g}", f),
            partial(clients[2].depend, h, g),
            partial(clients[3].depend, f"in {f}", f"in {h}"),
        )

        assert sorted(outcome_codes(answers)) == ["cycle_detected", "ok", "ok"]
        assert clients[0].next(), "nothing can be begun any more"
        for name in names:
            clients[0].terminate(name)
    assert_derived_columns_match(engine)


def test_the_last_two_tasks_closed_at_once_close_their_feature_once(
    engine: Engine, clients: list[ContainersClient]
) -> None:
    for number in range(ROUNDS):
        feature, a, b = f"f{number}", f"a{number}", f"b{number}"
        clients[0].feature(feature)
        clients[0].tasks(a, b, of=feature)
        for name in (a, b):
            clients[0].advance(name)
            clients[0].advance(name)

        answers = run_together(partial(clients[1].advance, a), partial(clients[2].advance, b))

        assert outcome_codes(answers) == ["ok", "ok"]
        assert sum(bool(one.feature_transition) for one in answers) == 1
        assert clients[0].status(feature) == "CLOSED"
        assert clients[0].actions(feature).count("resolved") == 1
    assert_derived_columns_match(engine)


def test_a_new_task_and_the_end_of_the_last_one_leave_the_feature_open(
    engine: Engine, clients: list[ContainersClient]
) -> None:
    for number in range(ROUNDS):
        feature, last, new = f"f{number}", f"a{number}", f"n{number}"
        clients[0].feature(feature)
        clients[0].task(last, of=feature)
        clients[0].task(f"after {number}")
        clients[0].depend(feature, f"after {number}")
        clients[0].advance(last)
        clients[0].advance(last)

        answers = run_together(partial(clients[1].advance, last), partial(clients[2].task, new, of=feature))

        assert outcome_codes(answers) == ["ok", "ok"]
        assert clients[0].statuses(feature, last, new) == ["ACTIVE", "CLOSED", "NEW"]
        assert clients[0].state(f"after {number}").is_blocked is True
    assert_derived_columns_match(engine)


def test_deleting_a_blocker_while_others_come_to_wait_for_it_leaves_nobody_waiting(
    engine: Engine, clients: list[ContainersClient]
) -> None:
    for number in range(ROUNDS):
        clients[0].tasks(f"pay{number}", f"a{number}", f"b{number}")

        gone, *waits = run_together(
            partial(clients[1].delete, f"pay{number}", version=1),
            partial(clients[2].depend, f"pay{number}", f"a{number}"),
            partial(clients[3].block, f"b{number}", f"pay{number}", version=1),
        )

        assert outcome_codes([gone]) == ["ok"]
        assert set(outcome_codes(waits)) <= {"ok", "not_found"}
        assert [clients[0].state(f"{name}{number}").is_blocked for name in "ab"] == [False, False]
    assert_derived_columns_match(engine)
