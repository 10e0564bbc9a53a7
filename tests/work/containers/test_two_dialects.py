"""One project in two dialects: whatever one of them does, the other one tells the same of it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import GroundplanError
from tests.work.containers.desk import Containers
from tests.work.desk import ManualClock, refused


def agree(desk: Containers, *names: str) -> None:
    """What both dialects say about these nodes, about what is next, and about how much there is."""
    blocked = desk.query(is_blocked=True)
    for name in names:
        context, shown = desk.context(name), desk.shown(name)
        node = context.node
        called = shown.name if desk.kind(name) == "feature" else shown.title
        assert (called, shown.version) == (node.summary, node.rev), name
        assert node.resolved == (shown.status in ("CLOSED", "WILL_NOT_IMPLEMENT")), name
        assert node.properties.get("description") == shown.description
        assert desk.state(name).is_blocked == (name in blocked), name
        if desk.kind(name) == "task":
            assert node.properties.get("_claimed_by", UNSET) == shown.claimed_by, name
        waits = {one.node.id for one in context.depends_on if not one.node.resolved and not node.resolved}
        assert {one for one in shown.blocked_by if one != "NO_OP"} == waits, name
    idle = desk.by("somebody who holds nothing")
    offered = idle.next()
    assert (idle.next_task() in offered) if offered else idle.next_task() is None
    total, resolved, *_ = desk.counts()
    features = desk.call("container.search", containerType="feature", projectId=desk.project)
    counts = desk.project_shown().task_counts
    assert total == 1 + counts.total + features.count
    closed = counts.by_status.get("CLOSED", 0) + counts.by_status.get("WILL_NOT_IMPLEMENT", 0)
    done = sum(one.status in ("CLOSED", "WILL_NOT_IMPLEMENT") for one in features.items)
    assert resolved == closed + done


def test_the_same_project_walked_through_both_dialects_side_by_side(desk: Containers, clock: ManualClock) -> None:
    ben = desk.by("ben")
    everything: list[str] = []

    def after(*made: str) -> None:
        everything.extend(made)
        agree(desk, *everything)

    desk.feature("coast", description="All of it.")
    after("coast")
    desk.task("walk", of="coast", priority="HIGH", description="At low tide.")
    after("walk")
    desk.plan("draw\n  outline\n  colour: outline", under="coast")
    after("draw", "outline", "colour")
    desk.task("print")
    desk.connect("print: coast")
    after("print")
    desk.block("outline", "walk")
    after()
    assert ben.claim() == ["walk"]
    after()
    assert desk.statuses("walk", "coast") == ["ACTIVE", "ACTIVE"]
    clock.move(hours=1)
    after()
    assert desk.status("walk") == "NEW"
    desk.advance("walk")
    after()
    desk.update("walk", release=True)
    after()
    desk.advance("walk")
    desk.advance("walk")
    after()
    desk.resolve("walk")
    after()
    desk.reopen("walk")
    after()
    desk.drop("walk")
    after()
    desk.hold("draw")
    after()
    desk.close("outline")
    after()
    desk.resolve("colour")
    after()
    desk.unblock("draw", "NO_OP")
    after()
    desk.resolve("draw")
    after()
    assert desk.statuses("walk", "outline", "coast") == ["WILL_NOT_IMPLEMENT", "CLOSED", "CLOSED"]
    assert desk.next() == ["print"]
    desk.revert("outline")
    after()
    assert desk.statuses("draw", "coast") == ["NEW", "ACTIVE"]
    desk.terminate("coast")
    after()
    desk.close("print")
    after()


# --- A node of the graph dialect as a task ---


def test_a_node_that_was_planned_is_a_task(desk: Containers) -> None:
    desk.feature("coast")
    desk.plan(
        "draw\n  outline", under="coast", each={"outline": {"properties": {"description": "Thin.", "complexity": 4}}}
    )
    desk.plan("print")

    task = desk.shown("outline")

    assert (task.title, task.status, task.description, task.complexity) == ("outline", "NEW", "Thin.", 4)
    assert (task.priority, task.feature_id, desk.shown("print").feature_id) == (None, desk["coast"], None)
    assert desk.found() == ["draw", "outline", "print"]
    assert desk.found(featureId=desk["coast"]) == ["draw", "outline"]
    changed = desk.change("outline", title="Outline", priority="HIGH", tags="ink").task
    assert (changed.title, changed.priority, changed.tags) == ("Outline", "HIGH", ["ink"])
    assert desk.node("outline").properties == {"description": "Thin.", "complexity": 4, "priority": 3}


def test_a_planned_node_has_the_status_that_its_state_in_the_graph_means(desk: Containers, clock: ManualClock) -> None:
    desk.plan("a\nb\nc\nd", each={"a": {"properties": {"priority": 9}}})

    assert desk.by("ben").claim() == ["a"]
    desk.resolve("b")
    desk.drop("c")

    assert desk.statuses(*"abcd") == ["ACTIVE", "CLOSED", "WILL_NOT_IMPLEMENT", "NEW"]
    assert desk.state("a").pipeline_position == "2/4"
    clock.move(hours=1)
    assert desk.status("a") == "NEW"


def test_a_planned_node_goes_through_the_pipeline(desk: Containers) -> None:
    desk.plan("a")

    assert [desk.advance("a").task.status for _ in range(3)] == ["ACTIVE", "TO_BE_TESTED", "CLOSED"]
    assert desk.node("a").resolved is True


def test_a_node_that_somebody_claimed_is_advanced_to_be_tested(desk: Containers) -> None:
    desk.plan("a")
    ben = desk.by("ben")
    ben.claim()

    answer = ben.advance("a")

    assert (answer.transition.before, answer.transition.after) == ("ACTIVE", "TO_BE_TESTED")
    assert desk.next() == []


def test_priorities_mean_the_same_in_both_dialects(desk: Containers) -> None:
    numbers = {"a": 3, "b": 99, "c": 2, "d": 2.9, "e": 1, "f": 0, "g": -5, "h": "x"}
    desk.plan("\n".join(numbers), each={name: {"properties": {"priority": one}} for name, one in numbers.items()})

    named = [desk.shown(name).priority for name in numbers]

    assert named == ["HIGH", "HIGH", "MEDIUM", "MEDIUM", "LOW", "LOW", "LOW", None]


# --- A container as a node ---


def test_a_task_is_a_node_with_everything_it_says(desk: Containers) -> None:
    desk.feature("coast", description="All of it.")
    desk.task("walk", of="coast", description="At low tide.", summary="s", priority="LOW", complexity=7)

    node = desk.node("walk")

    assert (node.summary, node.parent, node.resolved) == ("walk", desk["coast"], False)
    assert node.properties == {"priority": 1, "complexity": 7, "summary": "s", "description": "At low tide."}
    assert desk.query(text="walk") == ["walk"]
    assert desk.query(ancestor=desk["coast"]) == ["walk"]
    assert [desk.name(one.id) for one in desk.context("walk").ancestors] == ["root", "coast"]


def test_what_the_graph_says_about_a_task_the_container_shows(desk: Containers) -> None:
    desk.task("walk")

    desk.update("walk", summary="Walk", properties={"description": "d", "priority": 3, "complexity": 2})

    task = desk.shown("walk")
    assert (task.title, task.description, task.priority, task.complexity, task.version) == ("Walk", "d", "HIGH", 2, 2)


def test_resolving_a_task_in_the_graph_is_closing_it(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.advance("walk")
    desk.advance("walk")

    desk.resolve("walk")

    assert desk.statuses("walk", "coast") == ["CLOSED", "CLOSED"]
    desk.reopen("walk")
    assert desk.statuses("walk", "coast") == ["NEW", "ACTIVE"]


# --- Merging ---


def test_a_task_that_is_merged_brings_its_sections_and_tags(desk: Containers) -> None:
    desk.task("walk", tags="wet,cold")
    desk.task("stroll", tags="wet,dry")
    for name in ("walk", "stroll"):
        desk.call("section.add", entityType="TASK", entityId=desk[name], title=f"about {name}", content=name)

    desk.merge("stroll", "walk")

    answer = desk.call("container.get", containerType="task", id=desk["walk"], includeSections=True)
    assert answer.task.tags == ["cold", "dry", "wet"]
    assert [(one.title, one.content, one.ordinal) for one in answer.sections] == [
        ("about walk", "walk", 0),
        ("about stroll", "stroll", 1),
    ]
    assert "merged" in refused(lambda: desk.call("container.get", containerType="task", id=desk["stroll"])).message


def test_a_merge_never_gives_a_task_more_tags_than_it_may_have(desk: Containers) -> None:
    desk.task("walk", tags=[f"a{place}" for place in range(50)])
    desk.task("stroll", tags=[f"b{place}" for place in range(50)])

    with suppress(GroundplanError):  # it may as well be refused
        desk.merge("stroll", "walk")

    assert len(desk.shown("walk").tags) <= 50


def test_two_features_become_one_with_the_tasks_of_both(desk: Containers) -> None:
    for name in ("coast", "hills"):
        desk.feature(name)
        desk.tasks(f"a {name}", f"b {name}", of=name)
    desk.close("a hills")
    desk.task("print")
    desk.depend("hills", "print")
    desk.task("pay")
    desk.depend("pay", "hills")

    desk.merge("hills", "coast")

    assert desk.counted("coast") == {"NEW": 3, "CLOSED": 1}
    assert [desk.shown(f"{one} hills").feature_id for one in "ab"] == [desk["coast"]] * 2
    assert (desk.shown("coast").blocked_by, desk.shown("print").blocked_by) == ([desk["pay"]], [desk["coast"]])
    assert desk.next_task() == "pay"
    desk.close("pay")
    for name in ("a coast", "b coast", "b hills"):
        desk.close(name)
    assert (desk.status("coast"), desk.next_task()) == ("CLOSED", "print")


def test_a_feature_and_a_task_are_not_merged(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk")

    for source, target in (("coast", "walk"), ("walk", "coast")):
        assert refused(partial(desk.merge, source, target)).code == "cannot_merge"


def test_a_feature_that_takes_over_a_hold_holds_back_all_its_tasks(desk: Containers) -> None:
    for name in ("coast", "hills"):
        desk.feature(name)
        desk.task(f"in {name}", of=name)
    desk.hold("hills", "snow")

    desk.merge("hills", "coast")

    assert (desk.shown("coast").blocked_reason, desk.next()) == ("snow", [])
    desk.unblock("coast", "NO_OP")
    assert desk.next() == ["in coast", "in hills"]


# --- Holding back what is below ---


@pytest.mark.parametrize("inherits", [False, True])
@pytest.mark.parametrize("how", ["dependency", "hold"])
def test_what_waits_holds_back_what_is_below_a_feature_always_and_below_a_task_by_policy(
    desk: Containers, inherits: bool, how: str
) -> None:
    desk.open(policies={"inherit_dependencies": inherits})
    desk.task("pay", priority="HIGH")
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.task("draw")
    desk.plan("outline", under="draw")
    for name in ("coast", "draw"):
        desk.hold(name) if how == "hold" else desk.depend("pay", name)

    assert desk.next() == (["pay"] if inherits else ["pay", "outline"])
    assert desk.state("outline").is_blocked is inherits
    if inherits:
        assert refused(lambda: desk.advance("outline")).details["blockedAbove"] == [desk["draw"]]

    for name in ("coast", "draw"):
        desk.unblock(name, "NO_OP" if how == "hold" else "pay")

    assert sorted(desk.next()) == ["outline", "pay", "walk"]


def test_switching_the_policy_holds_back_and_lets_go(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.plan("map", under="walk")
    desk.hold("walk")
    desk.hold("coast")
    assert desk.state("map").blocked_above == [desk["coast"]]

    desk.open(policies={"inherit_dependencies": True})
    assert desk.state("map").blocked_above == [desk["walk"], desk["coast"]]
    desk.unblock("coast", "NO_OP")
    assert desk.next() == []

    desk.open(policies={"inherit_dependencies": False})
    assert desk.next() == ["map"]
