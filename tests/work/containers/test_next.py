"""The next tasks are unblocked and unclaimed, in a fixed order, and the same in both dialects."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

import pytest

from groundplan.kernel.errors import GroundplanError, Invalid, NotFound
from tests.engines import person
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.proof import scaled
from tests.work.containers.client import ContainersClient


def start_all_in_order(client: ContainersClient, **given: str) -> list[str]:
    """Return the tasks that one agent gets who always starts the next one."""
    agent, taken = client.by("taker"), []
    while (name := agent.next_task(**given)) is not None:
        if client.status(name) == "ACTIVE":  # started by an agent whose claim has expired
            agent.revert(name)
        agent.advance(name)
        taken.append(name)
    return taken


def test_tasks_come_by_priority_then_complexity_then_age(client: ContainersClient) -> None:
    client.task("late and simple", complexity=1, priority="LOW")
    client.task("unknown")
    client.task("hard", complexity=9)
    client.task("easy", complexity=2)
    client.task("as easy", complexity=2)
    client.task("urgent", priority="HIGH", complexity=10)
    client.plan("said nothing of")

    assert start_all_in_order(client) == [
        "urgent",
        "easy",
        "as easy",
        "hard",
        "unknown",
        "late and simple",
        "said nothing of",
    ]


def test_a_task_that_lapsed_is_ranked_with_the_others(client: ContainersClient, clock: ManualClock) -> None:
    client.task("lapsed", priority="HIGH")
    client.by("ben").advance("lapsed")
    client.task("new")
    assert client.next_task() == "new"

    clock.move(hours=1)

    assert start_all_in_order(client) == ["lapsed", "new"]


def test_only_what_is_asked_for_is_offered(client: ContainersClient) -> None:
    client.feature("coast")
    client.feature("hills")
    client.task("walk", of="coast", priority="LOW")
    client.task("climb", of="hills", priority="HIGH")
    client.task("pay")

    assert [client.next_task(featureId=client[name]) for name in ("coast", "hills")] == ["walk", "climb"]
    assert [client.next_task(priority=one) for one in ("HIGH", "medium", "LOW")] == ["climb", "pay", "walk"]
    assert client.next_task(featureId=client["coast"], priority="HIGH") is None
    assert client.next_task(projectId=None, featureId=client["hills"]) == "climb"


def test_whatever_is_offered_by_priority_has_that_priority(client: ContainersClient) -> None:
    client.plan(
        "none\nhigh\nhalf", each={"high": {"properties": {"priority": 7}}, "half": {"properties": {"priority": 2.5}}}
    )

    assert [client.next_task(priority=one) for one in ("HIGH", "MEDIUM", "LOW")] == ["high", "half", None]


def test_without_a_project_the_best_of_all_is_offered(client: ContainersClient) -> None:
    other = client.create_project("shop")
    client.task("walk")
    other.task("sell", priority="HIGH")
    other.feature("till", priority="LOW")
    client.feature("coast")

    assert client.name(client.call("container.next_task").id) == "sell"
    assert client.name(client.call("container.next_task", priority="MEDIUM").id) == "walk"
    assert client.name(client.call("container.next_feature").id) == "coast"
    assert client.name(client.call("container.next_feature", priority="LOW").id) == "till"


def test_without_a_project_the_oldest_of_equals_is_offered(client: ContainersClient, clock: ManualClock) -> None:
    other = client.create_project("shop")
    other.task("first")
    clock.move(minutes=1)
    client.task("second")

    assert client.name(client.call("container.next_task").id) == "first"


def test_nothing_is_offered_where_there_is_nothing(client: ContainersClient) -> None:
    client.feature("coast")

    assert client.next_task() is None
    assert client.call("container.next_task") is None
    assert client.call("container.next_feature", projectId="atlas", priority="HIGH") is None


def test_what_is_not_there_is_not_found(client: ContainersClient) -> None:
    for operation in ("next_task", "next_feature", "blocked_tasks", "blocked_features"):
        call = f"container.{operation}"
        assert isinstance(error_of(partial(client.call, call, projectId="nowhere")), NotFound)


def test_a_feature_that_is_not_there_and_a_word_that_is_no_priority_are_refused(client: ContainersClient) -> None:
    client.task("walk")

    assert isinstance(error_of(lambda: client.next_task(featureId="feature-0")), NotFound)
    assert isinstance(error_of(lambda: client.next_task(featureId=client["walk"])), NotFound)
    error = error_of(lambda: client.next_task(priority="URGENT"))
    assert isinstance(error, Invalid)
    assert (error.details["field"], error.details["allowed"]) == ("priority", ["HIGH", "MEDIUM", "LOW"])


# --- Features ---


def test_features_come_active_first_then_by_priority_then_by_age(client: ContainersClient) -> None:
    client.feature("old")
    client.feature("high", priority="HIGH")
    client.feature("begun", priority="LOW")
    client.feature("blocked", priority="HIGH")
    client.feature("young")
    client.task("walk", of="begun")
    client.hold("blocked")
    client.advance("walk")

    order = []
    while (feature := client.call("container.next_feature", projectId="atlas")) is not None:
        order.append(client.name(feature.id))
        client.terminate(order[-1])

    assert order == ["begun", "high", "old", "young"]


def test_a_feature_that_is_ready_for_production_is_gone_on_with_by_nobody(client: ContainersClient) -> None:
    client.feature("coast")
    client.advance("coast")
    client.advance("coast")

    assert client.call("container.next_feature", projectId="atlas") is None


# --- Blocked ---


def test_what_is_blocked_is_listed_with_why_the_most_important_first(client: ContainersClient) -> None:
    client.feature("coast")
    client.feature("hills")
    client.task("pay")
    client.task("walk", of="coast")
    client.task("climb", of="hills", priority="HIGH")
    client.hold("climb", "snow")
    client.depend("pay", "coast")

    tasks = client.call("container.blocked_tasks", projectId="atlas")
    assert (client.names(tasks.items), tasks.count) == (["climb", "walk"], 2)
    assert (tasks.items[0].blocked_by, tasks.items[0].blocked_reason) == (["NO_OP"], "snow")
    assert (tasks.items[1].blocked_by, tasks.items[1].blocked_above) == ([], True)
    assert client.names(client.call("container.blocked_tasks", featureId=client["coast"]).items) == ["walk"]
    features = client.call("container.blocked_features", projectId="atlas")
    assert (client.names(features.items), features.items[0].blocked_by) == (["coast"], [client["pay"]])

    client.close("pay")
    client.unblock("climb", "NO_OP")

    assert client.call("container.blocked_tasks").count == client.call("container.blocked_features").count == 0


def test_what_is_blocked_anywhere_is_listed_without_a_project(client: ContainersClient) -> None:
    other = client.create_project("shop")
    for one, name in ((client, "walk"), (other, "sell")):
        one.task(name)
        one.hold(name)
        one.feature(f"around {name}")
        one.hold(f"around {name}")

    assert sorted(client.names(client.call("container.blocked_tasks").items)) == ["sell", "walk"]
    assert sorted(client.names(client.call("container.blocked_features").items)) == ["around sell", "around walk"]


def test_nobody_is_offered_or_told_of_what_they_may_not_see(client: ContainersClient) -> None:
    client.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    hidden = client.create_project("vault")
    hidden.task("secret", priority="HIGH")
    hidden.feature("secrets", priority="HIGH")
    hidden.task("held secret", of="secrets")
    hidden.hold("held secret")
    hidden.feature("held secrets")
    hidden.hold("held secrets")
    cleo = client.by(person("cleo"))

    for operation in ("next_task", "next_feature"):
        assert cleo.call(f"container.{operation}") is None
        assert isinstance(error_of(partial(cleo.call, f"container.{operation}", projectId="vault")), NotFound)
    assert cleo.call("container.blocked_tasks").count == cleo.call("container.blocked_features").count == 0
    for asked in ({"featureId": client["secrets"]}, {"projectId": "atlas", "featureId": client["secrets"]}):
        assert isinstance(error_of(partial(cleo.call, "container.next_task", **asked)), NotFound)


# --- Both dialects agree ---


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(scaled(1, 8)))
def test_an_agent_without_claims_is_offered_the_same_in_both_dialects(
    client: ContainersClient, clock: ManualClock, seed: int
) -> None:
    random = Random(seed)  # noqa: S311 - the same every time
    features = [f"f{place}" for place in range(3)]
    for name in features:
        client.feature(name)
    tasks = [f"t{place}" for place in range(10)]
    for name in tasks:
        client.task(name, of=random.choice([*features, None]), complexity=random.choice([None, 1, 5]))
    client.plan("a\n  b\n  c: b", under=random.choice(features))
    everything = [*features, *tasks, "a", "b", "c"]
    moves: list[Callable[..., Any]] = [
        client.advance,
        client.terminate,
        client.hold,
        client.resolve,
        client.by("ben").advance,
        client.by("ben").revert,
    ]
    for _ in range(14):
        name = random.choice(everything)
        with suppress(GroundplanError):  # what the plan forbids is not done
            if random.random() < 0.3:
                client.depend(random.choice(everything), name)
            else:
                random.choice(moves)(name)
    if random.random() < 0.5:
        clock.move(hours=1)

    offered = set(client.by("taker").next())
    assert set(start_all_in_order(client)) == offered
