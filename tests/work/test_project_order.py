"""The order of a project: while it holds, writes need no search for loops, and it never lets a loop through."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from random import Random
from types import ModuleType
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import RuleViolated
from groundplan.work.waiting import cycles, order
from tests.engines import Engine
from tests.work.client import WorkClient

NODES = 40


class SearchedForLoops(Exception):
    """A write walked through the graph, although keys should have been enough."""


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every search for loops fail."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise SearchedForLoops

    monkeypatch.setattr(cycles, "_load_smaller", refuse)


def is_ordered(engine: Engine) -> bool:
    ((found,),) = engine.as_owner("SELECT is_ordered FROM work_projects")
    return bool(found)


@pytest.mark.usefixtures("no_search")
def test_a_plan_with_dependencies_on_existing_nodes_needs_no_search(engine: Engine, work: WorkClient) -> None:
    work.plan("build\n  walls\n  roof: walls\nsell")

    work.plan("paint: roof\nclean: paint, sell", under="build")
    work.plan("visit: walls", under="sell")

    assert is_ordered(engine)


@pytest.mark.usefixtures("no_search")
def test_a_node_that_is_needed_by_an_older_one_moves_before_it(engine: Engine, work: WorkClient) -> None:
    work.plan("build\n  walls")
    for name in ("ground", "permit", "money"):
        work.plan(name)
    assert work.connect("walls: ground", "ground: permit", "permit: money", "build: money").rejected is UNSET
    assert is_ordered(engine)


@pytest.mark.usefixtures("no_search")
def test_moved_merged_and_reopened_nodes_keep_the_order_without_a_search(engine: Engine, work: WorkClient) -> None:
    work.plan("a\n  b\nc\n  d: b\ne: c")
    work.resolve("b")
    work.move("e", "a")  # a was created before e
    work.reopen("b")
    work.plan("f: d\ng: f")
    work.merge("f", "g")

    assert is_ordered(engine)


def test_a_dependency_against_the_order_that_closes_a_loop_is_refused(engine: Engine, work: WorkClient) -> None:
    work.plan("p\n  c\nq\n  d")
    assert work.connect("c: q").rejected is UNSET

    (refused,) = work.connect("d: p").rejected
    assert refused.reason == "cycle_detected"

    with pytest.raises(RuleViolated) as error:
        work.plan("x: c", under="d")
    assert error.value.code == "cycle_detected"
    assert is_ordered(engine)


def test_a_plan_whose_dependency_is_behind_its_parent_moves_what_it_waits_for(engine: Engine, work: WorkClient) -> None:
    work.plan("first\nsecond\n  part")

    work.plan("needs: part", under="first")  # first now waits for a part of second

    assert is_ordered(engine)
    assert work.connect("part: first").rejected[0].reason == "cycle_detected"


def test_a_planned_node_before_what_it_waits_for_comes_behind_its_children(engine: Engine, work: WorkClient) -> None:
    work.plan("first\nsecond\nneeded\nlast")
    work.connect("second: needed")  # which goes behind the keys of new children of the first
    nodes = [
        {"ref": "above", "summary": "above", "parent_ref": work["first"], "depends_on": ["far"]},
        {"ref": "below", "summary": "below", "parent_ref": "above", "depends_on": [work["needed"]]},
        {"ref": "far", "summary": "far", "parent_ref": work["last"]},
    ]

    ids = {one.ref: one.id for one in work.call("work.plan", nodes=nodes).created}

    assert is_ordered(engine)
    loop = work.call("work.connect", edges=[{"from": ids["below"], "to": ids["above"], "type": "depends_on"}])
    assert loop.rejected[0].reason == "cycle_detected"
    keys: dict[str, str] = dict(engine.as_owner("SELECT summary, order_key FROM work_nodes"))
    assert keys["needed"] < keys["below"] < keys["above"] < keys["first"]
    assert keys["far"] < keys["above"]


def test_a_plan_that_reopens_what_it_depends_on_is_refused(engine: Engine, work: WorkClient) -> None:
    work.plan("a\n  b")
    work.resolve("b", "a")

    with pytest.raises(RuleViolated) as error:
        work.plan("c: a", under="b")  # reopens b and a, and a is finished after c

    assert error.value.code == "cycle_detected"
    assert is_ordered(engine)


@pytest.mark.usefixtures("no_search")
def test_new_nodes_at_both_ends_of_the_order_may_wait_for_each_other(engine: Engine, work: WorkClient) -> None:
    work.plan("early\nlate")

    first = {"ref": "a", "summary": "a", "parent_ref": work["early"], "depends_on": ["b"]}
    work.call("work.plan", nodes=[first, {"ref": "b", "summary": "b", "parent_ref": work["late"]}])

    assert is_ordered(engine)


@pytest.mark.parametrize(
    ("module", "limit", "least"),
    [(order, "NODES_MOVED_MAX", (0,)), (order, "LEVELS_MAX", 0), (order, "KEY_CHARS_MAX", 0)],
    ids=["nodes", "levels", "characters"],
)
def test_a_project_whose_order_would_cost_too_much_uses_the_search(
    engine: Engine, work: WorkClient, monkeypatch: pytest.MonkeyPatch, module: ModuleType, limit: str, least: Any
) -> None:
    work.plan("a\n  b\nc\n  d\ne")
    with monkeypatch.context() as patched:
        patched.setattr(module, limit, least)
        assert work.connect("b: d").rejected is UNSET
    assert not is_ordered(engine)

    assert work.connect("d: a").rejected[0].reason == "cycle_detected"
    work.plan("f: e", under="d")
    with pytest.raises(RuleViolated):
        work.plan("g: a", under="d")


def test_nodes_that_were_moved_before_each_other_many_times_leave_room_for_more(
    engine: Engine, work: WorkClient
) -> None:
    names = [f"n{at}" for at in range(80)]
    work.plan("\n".join(names))
    for at in range(5, 79):
        assert work.connect(f"n2: n{at}").rejected is UNSET  # moves it right before n2

    for at in range(5, 79):
        work.plan(f"child{at}: n{at}", under="n1")  # n1 was right before n2

    assert is_ordered(engine)


def test_inherited_waiting_uses_the_search(engine: Engine, work: WorkClient) -> None:
    work.plan("a\n  b\nc\n  d")
    work.open(policies={"inherit_dependencies": True})

    assert work.connect("a: c").rejected is UNSET
    assert work.connect("d: b").rejected[0].reason == "cycle_detected"  # b starts after c, which waits for d
    assert not is_ordered(engine)


def test_any_sequence_of_writes_accepts_exactly_the_waits_that_close_no_loop(
    engine: Engine, work: WorkClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order, "NODES_MOVED_MAX", (2, 12))  # so that all ways through the order are taken
    random = Random(4)  # noqa: S311 - the same every time
    waits = Waits()
    for at in range(NODES):
        name, existing = f"n{at}", [*waits.parents, "root"]
        above, awaited = random.choice(existing), random.choice(existing)
        if awaited != "root" and not waits.has_loop(waiting=name, awaited=awaited, above=above):
            work.plan(f"{name}: {awaited}", under=above)
            waits.dependencies.add((name, awaited))
        else:
            if awaited != "root":
                with pytest.raises(RuleViolated):
                    work.plan(f"{name}: {awaited}", under=above)
            work.plan(name, under=above)
        waits.parents[name] = above
        source, target = random.choice(list(waits.parents)), random.choice(list(waits.parents))
        is_accepted = source != target and not waits.has_loop(waiting=source, awaited=target)
        rejected = work.connect(f"{source}: {target}").rejected
        if is_accepted:
            waits.dependencies.add((source, target))
        assert is_accepted == (rejected is UNSET or rejected[0].reason == "already_connected")


class Waits:
    """Who waits for whom, kept apart from the product: parents for their children, and nodes for their dependencies."""

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}
        self.dependencies: set[tuple[str, str]] = set()

    def has_loop(self, *, waiting: str, awaited: str, above: str | None = None) -> bool:
        """Return whether one more dependency, of a new node below `above` if that is given, would close a loop."""
        parents = self.parents | ({waiting: above} if above is not None else {})
        steps: dict[str, set[str]] = {}
        for source, target in [*self.dependencies, (waiting, awaited), *((up, name) for name, up in parents.items())]:
            steps.setdefault(source, set()).add(target)
        try:
            tuple(TopologicalSorter(steps).static_order())
        except CycleError:
            return True
        return False
