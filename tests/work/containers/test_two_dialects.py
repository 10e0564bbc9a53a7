"""One project in two dialects: both return the same state after a change in either."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import GroundplanError
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.containers.client import ContainersClient


def assert_dialects_agree(client: ContainersClient, *names: str) -> None:
    """Assert that both dialects agree on these nodes, on what is next, and on the counts."""
    blocked = client.query(is_blocked=True)
    for name in names:
        context, shown = client.context(name), client.get(name)
        node = context.node
        called = shown.name if client.kind(name) == "feature" else shown.title
        assert (called, shown.version) == (node.summary, node.rev), name
        assert node.resolved == (shown.status in ("CLOSED", "WILL_NOT_IMPLEMENT")), name
        assert node.properties.get("description") == shown.description
        assert client.state(name).is_blocked == (name in blocked), name
        if client.kind(name) == "task":
            assert node.properties.get("_claimed_by", UNSET) == shown.claimed_by, name
        waits = {one.node.id for one in context.depends_on if not one.node.resolved and not node.resolved}
        assert {one for one in shown.blocked_by if one != "NO_OP"} == waits, name
    idle = client.by("somebody who holds nothing")
    offered = idle.next()
    assert (idle.next_task() in offered) if offered else idle.next_task() is None
    total, resolved, *_ = client.counts()
    features = client.call("container.search", containerType="feature", projectId=client.project)
    counts = client.get_project().task_counts
    assert total == 1 + counts.total + features.count
    closed = counts.by_status.get("CLOSED", 0) + counts.by_status.get("WILL_NOT_IMPLEMENT", 0)
    done = sum(one.status in ("CLOSED", "WILL_NOT_IMPLEMENT") for one in features.items)
    assert resolved == closed + done


def test_the_same_project_walked_through_both_dialects_side_by_side(
    client: ContainersClient, clock: ManualClock
) -> None:
    ben = client.by("ben")
    everything: list[str] = []

    def after(*made: str) -> None:
        everything.extend(made)
        assert_dialects_agree(client, *everything)

    client.feature("coast", description="All of it.")
    after("coast")
    client.task("walk", of="coast", priority="HIGH", description="At low tide.")
    after("walk")
    client.plan("draw\n  outline\n  colour: outline", under="coast")
    after("draw", "outline", "colour")
    client.task("print")
    client.connect("print: coast")
    after("print")
    client.block("outline", "walk")
    after()
    assert ben.claim() == ["walk"]
    after()
    assert client.statuses("walk", "coast") == ["ACTIVE", "ACTIVE"]
    clock.move(hours=1)
    after()
    assert client.status("walk") == "NEW"
    client.advance("walk")
    after()
    client.update("walk", release=True)
    after()
    client.advance("walk")
    client.advance("walk")
    after()
    client.resolve("walk")
    after()
    client.reopen("walk")
    after()
    client.drop("walk")
    after()
    client.hold("draw")
    after()
    client.close("outline")
    after()
    client.resolve("colour")
    after()
    client.unblock("draw", "NO_OP")
    after()
    client.resolve("draw")
    after()
    assert client.statuses("walk", "outline", "coast") == ["WILL_NOT_IMPLEMENT", "CLOSED", "CLOSED"]
    assert client.next() == ["print"]
    client.revert("outline")
    after()
    assert client.statuses("draw", "coast") == ["NEW", "ACTIVE"]
    client.terminate("coast")
    after()
    client.close("print")
    after()


# --- A node of the graph dialect as a task ---


def test_a_node_that_was_planned_is_a_task(client: ContainersClient) -> None:
    client.feature("coast")
    client.plan(
        "draw\n  outline", under="coast", each={"outline": {"properties": {"description": "Thin.", "complexity": 4}}}
    )
    client.plan("print")

    task = client.get("outline")

    assert (task.title, task.status, task.description, task.complexity) == ("outline", "NEW", "Thin.", 4)
    assert (task.priority, task.feature_id, client.get("print").feature_id) == (None, client["coast"], None)
    assert client.search() == ["draw", "outline", "print"]
    assert client.search(featureId=client["coast"]) == ["draw", "outline"]
    changed = client.change("outline", title="Outline", priority="HIGH", tags="ink").task
    assert (changed.title, changed.priority, changed.tags) == ("Outline", "HIGH", ["ink"])
    assert client.node("outline").properties == {"description": "Thin.", "complexity": 4, "priority": 3}


def test_a_planned_node_has_the_status_that_its_state_in_the_graph_means(
    client: ContainersClient, clock: ManualClock
) -> None:
    client.plan("a\nb\nc\nd", each={"a": {"properties": {"priority": 9}}})

    assert client.by("ben").claim() == ["a"]
    client.resolve("b")
    client.drop("c")

    assert client.statuses(*"abcd") == ["ACTIVE", "CLOSED", "WILL_NOT_IMPLEMENT", "NEW"]
    assert client.state("a").pipeline_position == "2/4"
    clock.move(hours=1)
    assert client.status("a") == "NEW"


def test_a_planned_node_goes_through_the_pipeline(client: ContainersClient) -> None:
    client.plan("a")

    assert [client.advance("a").task.status for _ in range(3)] == ["ACTIVE", "TO_BE_TESTED", "CLOSED"]
    assert client.node("a").resolved is True


def test_a_node_that_somebody_claimed_is_advanced_to_be_tested(client: ContainersClient) -> None:
    client.plan("a")
    ben = client.by("ben")
    ben.claim()

    answer = ben.advance("a")

    assert (answer.transition.before, answer.transition.after) == ("ACTIVE", "TO_BE_TESTED")
    assert client.next() == []


def test_priorities_mean_the_same_in_both_dialects(client: ContainersClient) -> None:
    numbers = {"a": 3, "b": 99, "c": 2, "d": 2.9, "e": 1, "f": 0, "g": -5, "h": "x"}
    client.plan("\n".join(numbers), each={name: {"properties": {"priority": one}} for name, one in numbers.items()})

    named = [client.get(name).priority for name in numbers]

    assert named == ["HIGH", "HIGH", "MEDIUM", "MEDIUM", "LOW", "LOW", "LOW", None]


# --- A container as a node ---


def test_a_task_is_a_node_with_everything_it_says(client: ContainersClient) -> None:
    client.feature("coast", description="All of it.")
    client.task("walk", of="coast", description="At low tide.", summary="s", priority="LOW", complexity=7)

    node = client.node("walk")

    assert (node.summary, node.parent, node.resolved) == ("walk", client["coast"], False)
    assert node.properties == {"priority": 1, "complexity": 7, "summary": "s", "description": "At low tide."}
    assert client.query(text="walk") == ["walk"]
    assert client.query(ancestor=client["coast"]) == ["walk"]
    assert [client.name(one.id) for one in client.context("walk").ancestors] == ["root", "coast"]


def test_what_the_graph_says_about_a_task_the_container_shows(client: ContainersClient) -> None:
    client.task("walk")

    client.update("walk", summary="Walk", properties={"description": "d", "priority": 3, "complexity": 2})

    task = client.get("walk")
    assert (task.title, task.description, task.priority, task.complexity, task.version) == ("Walk", "d", "HIGH", 2, 2)


def test_resolving_a_task_in_the_graph_is_closing_it(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.advance("walk")
    client.advance("walk")

    client.resolve("walk")

    assert client.statuses("walk", "coast") == ["CLOSED", "CLOSED"]
    client.reopen("walk")
    assert client.statuses("walk", "coast") == ["NEW", "ACTIVE"]


# --- Merging ---


def test_a_task_that_is_merged_brings_its_sections_and_tags(client: ContainersClient) -> None:
    client.task("walk", tags="wet,cold")
    client.task("stroll", tags="wet,dry")
    for name in ("walk", "stroll"):
        client.call("section.add", entityType="TASK", entityId=client[name], title=f"about {name}", content=name)

    client.merge("stroll", "walk")

    answer = client.call("container.get", containerType="task", id=client["walk"], includeSections=True)
    assert answer.task.tags == ["cold", "dry", "wet"]
    assert [(one.title, one.content, one.ordinal) for one in answer.sections] == [
        ("about walk", "walk", 0),
        ("about stroll", "stroll", 1),
    ]
    by_old_id = client.call("container.get", containerType="task", id=client["stroll"])
    assert by_old_id.task.id == client["walk"]


def test_a_merge_never_gives_a_task_more_tags_than_it_may_have(client: ContainersClient) -> None:
    client.task("walk", tags=[f"a{place}" for place in range(50)])
    client.task("stroll", tags=[f"b{place}" for place in range(50)])

    with suppress(GroundplanError):  # a refusal is fine too
        client.merge("stroll", "walk")

    assert len(client.get("walk").tags) <= 50


def test_two_features_become_one_with_the_tasks_of_both(client: ContainersClient) -> None:
    for name in ("coast", "hills"):
        client.feature(name)
        client.tasks(f"a {name}", f"b {name}", of=name)
    client.close("a hills")
    client.task("print")
    client.depend("hills", "print")
    client.task("pay")
    client.depend("pay", "hills")

    client.merge("hills", "coast")

    assert client.count_by_status("coast") == {"NEW": 3, "CLOSED": 1}
    assert [client.get(f"{one} hills").feature_id for one in "ab"] == [client["coast"]] * 2
    assert (client.get("coast").blocked_by, client.get("print").blocked_by) == ([client["pay"]], [client["coast"]])
    assert client.next_task() == "pay"
    client.close("pay")
    for name in ("a coast", "b coast", "b hills"):
        client.close(name)
    assert (client.status("coast"), client.next_task()) == ("CLOSED", "print")


def test_a_feature_and_a_task_are_not_merged(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk")

    for source, target in (("coast", "walk"), ("walk", "coast")):
        assert error_of(partial(client.merge, source, target)).code == "cannot_merge"


def test_a_feature_that_takes_over_a_hold_holds_back_all_its_tasks(client: ContainersClient) -> None:
    for name in ("coast", "hills"):
        client.feature(name)
        client.task(f"in {name}", of=name)
    client.hold("hills", "snow")

    client.merge("hills", "coast")

    assert (client.get("coast").blocked_reason, client.next()) == ("snow", [])
    client.unblock("coast", "NO_OP")
    assert client.next() == ["in coast", "in hills"]


# --- Blocked parents ---


@pytest.mark.parametrize("inherits", [False, True])
@pytest.mark.parametrize("how", ["dependency", "hold"])
def test_what_waits_holds_back_what_is_below_a_feature_always_and_below_a_task_by_policy(
    client: ContainersClient, inherits: bool, how: str
) -> None:
    client.open(policies={"inherit_dependencies": inherits})
    client.task("pay", priority="HIGH")
    client.feature("coast")
    client.task("walk", of="coast")
    client.task("draw")
    client.plan("outline", under="draw")
    for name in ("coast", "draw"):
        client.hold(name) if how == "hold" else client.depend("pay", name)

    assert client.next() == (["pay"] if inherits else ["pay", "outline"])
    assert client.state("outline").is_blocked is inherits
    if inherits:
        assert error_of(lambda: client.advance("outline")).details["blockedAbove"] == [client["draw"]]

    for name in ("coast", "draw"):
        client.unblock(name, "NO_OP" if how == "hold" else "pay")

    assert sorted(client.next()) == ["outline", "pay", "walk"]


def test_switching_the_policy_holds_back_and_lets_go(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.plan("map", under="walk")
    client.hold("walk")
    client.hold("coast")
    assert client.state("map").blocked_above == [client["coast"]]

    client.open(policies={"inherit_dependencies": True})
    assert client.state("map").blocked_above == [client["walk"], client["coast"]]
    client.unblock("coast", "NO_OP")
    assert client.next() == []

    client.open(policies={"inherit_dependencies": False})
    assert client.next() == ["map"]


def test_a_feature_resolved_with_its_last_task_warns_of_what_it_still_waits_for(client: ContainersClient) -> None:
    client.task("pay")
    client.feature("coast")
    client.task("walk", of="coast")
    client.depend("pay", "coast")

    updates = [{"node_id": client[name], "resolved": True} for name in ("coast", "walk")]
    warnings = client.session.call("work.update", updates=updates).warnings

    assert f"{client['coast']}: resolved while its dependencies are open" in warnings
