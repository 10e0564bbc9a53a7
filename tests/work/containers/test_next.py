"""What is offered next is free, in the promised order, and the same in both dialects."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

import pytest

from groundplan.kernel.errors import GroundplanError, Invalid, NotFound
from tests.engines import person
from tests.proof import scaled
from tests.work.containers.desk import Containers
from tests.work.desk import ManualClock, refused


def taken_in_order(desk: Containers, **given: str) -> list[str]:
    """The tasks that an agent is offered who takes one after the other."""
    agent, taken = desk.by("taker"), []
    while (name := agent.next_task(**given)) is not None:
        if desk.status(name) == "ACTIVE":  # it is somebody's whose claim is over
            agent.revert(name)
        agent.advance(name)
        taken.append(name)
    return taken


def test_tasks_come_by_priority_then_complexity_then_age(desk: Containers) -> None:
    desk.task("late and simple", complexity=1, priority="LOW")
    desk.task("unknown")
    desk.task("hard", complexity=9)
    desk.task("easy", complexity=2)
    desk.task("as easy", complexity=2)
    desk.task("urgent", priority="HIGH", complexity=10)
    desk.plan("said nothing of")

    assert taken_in_order(desk) == [
        "urgent",
        "easy",
        "as easy",
        "hard",
        "unknown",
        "late and simple",
        "said nothing of",
    ]


def test_a_task_that_lapsed_is_ranked_with_the_others(desk: Containers, clock: ManualClock) -> None:
    desk.task("lapsed", priority="HIGH")
    desk.by("ben").advance("lapsed")
    desk.task("new")
    assert desk.next_task() == "new"

    clock.move(hours=1)

    assert taken_in_order(desk) == ["lapsed", "new"]


def test_only_what_is_asked_for_is_offered(desk: Containers) -> None:
    desk.feature("coast")
    desk.feature("hills")
    desk.task("walk", of="coast", priority="LOW")
    desk.task("climb", of="hills", priority="HIGH")
    desk.task("pay")

    assert [desk.next_task(featureId=desk[name]) for name in ("coast", "hills")] == ["walk", "climb"]
    assert [desk.next_task(priority=one) for one in ("HIGH", "medium", "LOW")] == ["climb", "pay", "walk"]
    assert desk.next_task(featureId=desk["coast"], priority="HIGH") is None
    assert desk.next_task(projectId=None, featureId=desk["hills"]) == "climb"


def test_whatever_is_offered_by_priority_has_that_priority(desk: Containers) -> None:
    desk.plan(
        "none\nhigh\nhalf", each={"high": {"properties": {"priority": 7}}, "half": {"properties": {"priority": 2.5}}}
    )

    assert [desk.next_task(priority=one) for one in ("HIGH", "MEDIUM", "LOW")] == ["high", "half", None]


def test_without_a_project_the_best_of_all_is_offered(desk: Containers) -> None:
    other = desk.elsewhere("shop")
    desk.task("walk")
    other.task("sell", priority="HIGH")
    other.feature("till", priority="LOW")
    desk.feature("coast")

    assert desk.name(desk.call("container.next_task").id) == "sell"
    assert desk.name(desk.call("container.next_task", priority="MEDIUM").id) == "walk"
    assert desk.name(desk.call("container.next_feature").id) == "coast"
    assert desk.name(desk.call("container.next_feature", priority="LOW").id) == "till"


def test_without_a_project_the_oldest_of_equals_is_offered(desk: Containers, clock: ManualClock) -> None:
    other = desk.elsewhere("shop")
    other.task("first")
    clock.move(minutes=1)
    desk.task("second")

    assert desk.name(desk.call("container.next_task").id) == "first"


def test_nothing_is_offered_where_there_is_nothing(desk: Containers) -> None:
    desk.feature("coast")

    assert desk.next_task() is None
    assert desk.call("container.next_task") is None
    assert desk.call("container.next_feature", projectId="atlas", priority="HIGH") is None


def test_what_is_not_there_is_not_found(desk: Containers) -> None:
    for operation in ("next_task", "next_feature", "blocked_tasks", "blocked_features"):
        call = f"container.{operation}"
        assert isinstance(refused(partial(desk.call, call, projectId="nowhere")), NotFound)


def test_a_feature_that_is_not_there_and_a_word_that_is_no_priority_are_refused(desk: Containers) -> None:
    desk.task("walk")

    assert isinstance(refused(lambda: desk.next_task(featureId="feature-0")), NotFound)
    assert isinstance(refused(lambda: desk.next_task(featureId=desk["walk"])), NotFound)
    error = refused(lambda: desk.next_task(priority="URGENT"))
    assert isinstance(error, Invalid)
    assert (error.details["field"], error.details["allowed"]) == ("priority", ["HIGH", "MEDIUM", "LOW"])


# --- Features ---


def test_features_come_active_first_then_by_priority_then_by_age(desk: Containers) -> None:
    desk.feature("old")
    desk.feature("high", priority="HIGH")
    desk.feature("begun", priority="LOW")
    desk.feature("blocked", priority="HIGH")
    desk.feature("young")
    desk.task("walk", of="begun")
    desk.hold("blocked")
    desk.advance("walk")

    order = []
    while (feature := desk.call("container.next_feature", projectId="atlas")) is not None:
        order.append(desk.name(feature.id))
        desk.terminate(order[-1])

    assert order == ["begun", "high", "old", "young"]


def test_a_feature_that_is_ready_for_production_is_gone_on_with_by_nobody(desk: Containers) -> None:
    desk.feature("coast")
    desk.advance("coast")
    desk.advance("coast")

    assert desk.call("container.next_feature", projectId="atlas") is None


# --- Blocked ---


def test_what_is_blocked_is_listed_with_why_the_most_important_first(desk: Containers) -> None:
    desk.feature("coast")
    desk.feature("hills")
    desk.task("pay")
    desk.task("walk", of="coast")
    desk.task("climb", of="hills", priority="HIGH")
    desk.hold("climb", "snow")
    desk.depend("pay", "coast")

    tasks = desk.call("container.blocked_tasks", projectId="atlas")
    assert (desk.names(tasks.items), tasks.count) == (["climb", "walk"], 2)
    assert (tasks.items[0].blocked_by, tasks.items[0].blocked_reason) == (["NO_OP"], "snow")
    assert (tasks.items[1].blocked_by, tasks.items[1].blocked_above) == ([], True)
    assert desk.names(desk.call("container.blocked_tasks", featureId=desk["coast"]).items) == ["walk"]
    features = desk.call("container.blocked_features", projectId="atlas")
    assert (desk.names(features.items), features.items[0].blocked_by) == (["coast"], [desk["pay"]])

    desk.close("pay")
    desk.unblock("climb", "NO_OP")

    assert desk.call("container.blocked_tasks").count == desk.call("container.blocked_features").count == 0


def test_what_is_blocked_anywhere_is_listed_without_a_project(desk: Containers) -> None:
    other = desk.elsewhere("shop")
    for one, name in ((desk, "walk"), (other, "sell")):
        one.task(name)
        one.hold(name)
        one.feature(f"around {name}")
        one.hold(f"around {name}")

    assert sorted(desk.names(desk.call("container.blocked_tasks").items)) == ["sell", "walk"]
    assert sorted(desk.names(desk.call("container.blocked_features").items)) == ["around sell", "around walk"]


def test_nobody_is_offered_or_told_of_what_they_may_not_see(desk: Containers) -> None:
    desk.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    hidden = desk.elsewhere("vault")
    hidden.task("secret", priority="HIGH")
    hidden.feature("secrets", priority="HIGH")
    hidden.task("held secret", of="secrets")
    hidden.hold("held secret")
    hidden.feature("held secrets")
    hidden.hold("held secrets")
    cleo = desk.by(person("cleo"))

    for operation in ("next_task", "next_feature"):
        assert cleo.call(f"container.{operation}") is None
        assert isinstance(refused(partial(cleo.call, f"container.{operation}", projectId="vault")), NotFound)
    assert cleo.call("container.blocked_tasks").count == cleo.call("container.blocked_features").count == 0
    for asked in ({"featureId": desk["secrets"]}, {"projectId": "atlas", "featureId": desk["secrets"]}):
        assert isinstance(refused(partial(cleo.call, "container.next_task", **asked)), NotFound)


# --- Both dialects agree ---


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(scaled(1, 8)))
def test_an_agent_without_claims_is_offered_the_same_in_both_dialects(
    desk: Containers, clock: ManualClock, seed: int
) -> None:
    random = Random(seed)  # noqa: S311 - the same every time
    features = [f"f{place}" for place in range(3)]
    for name in features:
        desk.feature(name)
    tasks = [f"t{place}" for place in range(10)]
    for name in tasks:
        desk.task(name, of=random.choice([*features, None]), complexity=random.choice([None, 1, 5]))
    desk.plan("a\n  b\n  c: b", under=random.choice(features))
    everything = [*features, *tasks, "a", "b", "c"]
    moves: list[Callable[..., Any]] = [
        desk.advance,
        desk.terminate,
        desk.hold,
        desk.resolve,
        desk.by("ben").advance,
        desk.by("ben").revert,
    ]
    for _ in range(14):
        name = random.choice(everything)
        with suppress(GroundplanError):  # what the plan forbids is not done
            if random.random() < 0.3:
                desk.depend(random.choice(everything), name)
            else:
                random.choice(moves)(name)
    if random.random() < 0.5:
        clock.move(hours=1)

    offered = set(desk.by("taker").next())
    assert set(taken_in_order(desk)) == offered
