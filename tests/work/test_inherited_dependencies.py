"""The policy inherit_dependencies: a node's dependencies block its descendants, and cycles run through the tree."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.errors import RuleViolated
from tests.engines import Engine
from tests.errors import error_of
from tests.work.client import WorkClient


@pytest.fixture
def inheriting(work: WorkClient) -> WorkClient:
    """A project with inherited dependencies."""
    work.open(policies={"inherit_dependencies": True})
    return work


def test_by_default_a_dependency_of_a_parent_does_not_hold_its_children_back(work: WorkClient) -> None:
    work.plan("blocker\nphase: blocker\n  a")

    assert work.next() == ["a", "blocker"]
    assert work.query(is_blocked=True) == ["phase"]


def test_a_dependency_of_a_parent_holds_everything_below_it_back(inheriting: WorkClient) -> None:
    inheriting.plan("blocker\nphase: blocker\n  a\n    b\n  c")

    assert inheriting.next() == ["blocker"]
    assert inheriting.query(is_blocked=True) == ["phase", "a", "b", "c"]
    assert inheriting.counts() == (6, 0, 6, 4, 1)


def test_what_was_held_back_is_released_with_the_dependency(inheriting: WorkClient) -> None:
    inheriting.plan("blocker\nphase: blocker\n  a\n  b: a")

    answer = inheriting.resolve("blocker")

    assert inheriting.names(answer.newly_actionable) == ["a"]
    assert inheriting.counts() == (5, 1, 4, 1, 1)


def test_two_dependencies_above_must_both_be_done(inheriting: WorkClient) -> None:
    inheriting.plan("one\ntwo\nphase: one\n  step: two\n    a")

    inheriting.resolve("one")
    assert "a" not in inheriting.next()
    assert inheriting.names(inheriting.resolve("two").newly_actionable) == ["a"]


def test_a_blocked_feature_shows_none_of_its_tasks(inheriting: WorkClient) -> None:
    inheriting.plan("feature 1\n  task 1\nfeature 2: feature 1\n  task 2")

    assert inheriting.next() == ["task 1"]
    inheriting.resolve("task 1", "feature 1")
    assert inheriting.next() == ["task 2"]


CHANGES: dict[str, Any] = {
    "a new dependency": lambda work: work.connect("phase: blocker"),
    "a move below what waits": lambda work: work.move("phase", "waiting"),
    "a reopened dependency": lambda work: work.connect("phase: done") and work.reopen("done"),
    "a merge with what waits": lambda work: work.merge("waiting", "phase"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_everything_below_is_held_back_by(inheriting: WorkClient, change: str) -> None:
    inheriting.plan("blocker\nwaiting: blocker\nphase\n  a\n    b\ndone")
    inheriting.resolve("done")
    assert "b" in inheriting.next()

    CHANGES[change](inheriting)

    assert "b" not in inheriting.next()
    assert {"a", "b"} <= set(inheriting.query(is_blocked=True))


RELEASES: dict[str, Any] = {
    "the dependency is taken away": lambda work: work.disconnect("phase: blocker"),
    "the dependency is resolved": lambda work: work.resolve("blocker"),
    "the dependency is dropped": lambda work: work.drop("blocker"),
    "it is moved away": lambda work: work.move("a", "root"),
    "the policy is switched off": lambda work: work.open(policies={"inherit_dependencies": False}),
}


@pytest.mark.parametrize("change", RELEASES)
def test_what_is_held_back_is_released_when(inheriting: WorkClient, change: str) -> None:
    inheriting.plan("blocker\nphase: blocker\n  a\n    b")
    assert inheriting.next() == ["blocker"]

    RELEASES[change](inheriting)

    assert inheriting.next()[0] == "b"


def test_a_new_child_of_what_waits_is_held_back_from_the_start(inheriting: WorkClient) -> None:
    inheriting.plan("blocker\nphase: blocker")

    inheriting.plan("a\n  b", under="phase")

    assert inheriting.next() == ["blocker"]


def test_switching_on_holds_back_what_is_there(work: WorkClient) -> None:
    work.plan("blocker\nphase: blocker\n  a\n    b")
    assert work.next() == ["b", "blocker"]

    opened = work.open(policies={"inherit_dependencies": True})

    assert (opened.summary.blocked, opened.summary.actionable) == (3, 1)
    assert work.next() == ["blocker"]


def test_a_held_back_node_is_not_resolved_by_its_last_child(work: WorkClient) -> None:
    work.open(policies={"inherit_dependencies": True, "auto_resolve_parents": True})
    work.plan("blocker\nphase: blocker\n  step\n    a")

    work.resolve("a")

    assert work.filter_open(["step", "phase"]) == ["step", "phase"]


# --- Cycles through the tree ---

TREE = """
    p
      p1
    q
      q1
"""


def test_a_loop_through_two_trees_is_refused_and_named(inheriting: WorkClient) -> None:
    inheriting.plan(TREE)
    inheriting.connect("p: q")

    (rejected,) = inheriting.connect("q1: p1").rejected

    assert rejected.reason == "cycle_detected"
    path = [inheriting.name(one) for one in rejected.path]
    assert path[0] == path[-1] == "q1"
    assert {"q1", "p1", "p", "q"} == set(path)


def test_the_same_is_no_loop_where_dependencies_are_not_inherited(work: WorkClient) -> None:
    work.plan(TREE)

    assert work.connect("p: q", "q1: p1").applied == 2


def test_a_node_cannot_depend_on_a_node_below_it(inheriting: WorkClient) -> None:
    inheriting.plan("p\n  q\n    r")

    assert [one.reason for one in inheriting.connect("p: r", "p: q").rejected] == ["cycle_detected"] * 2


def test_dependencies_between_children_of_two_trees_in_both_directions_are_no_loop(inheriting: WorkClient) -> None:
    inheriting.plan("p\n  p1\n  p2\nq\n  q1\n  q2")

    assert inheriting.connect("p1: q1", "q2: p2").applied == 2


def test_a_plan_with_a_loop_through_the_tree_is_refused(engine: Engine, inheriting: WorkClient) -> None:
    before = engine.as_owner("SELECT rev FROM projects")

    refusal = error_of(lambda: inheriting.plan("p: q\n  p1\nq\n  q1: p1"))

    assert isinstance(refusal, RuleViolated)
    assert refusal.code == "cycle_detected"
    assert set(refusal.details["path"]) == {"p", "p1", "q", "q1"}
    assert engine.as_owner("SELECT rev FROM projects") == before


def test_a_plan_that_closes_a_loop_through_existing_nodes_is_refused(inheriting: WorkClient) -> None:
    inheriting.plan("p: q\n  p1\nq")

    refusal = error_of(lambda: inheriting.plan("q1: p1", under="q"))

    assert refusal.code == "cycle_detected"
    assert "q1" in refusal.details["path"]


def test_a_move_that_closes_a_loop_through_the_tree_is_refused(inheriting: WorkClient) -> None:
    inheriting.plan("p: q\n  p1\nq\nx: p1")

    refusal = error_of(lambda: inheriting.move("x", "q"))

    assert refusal.code == "cycle_detected"
    assert inheriting.node("x").parent == inheriting["root"]


def test_a_merge_that_closes_a_loop_through_the_tree_is_refused(inheriting: WorkClient) -> None:
    inheriting.plan("p: q\n  p1\nq\nx\n  x1: p1")

    assert error_of(lambda: inheriting.merge("x", "q")).code == "cycle_detected"


def test_switching_on_is_refused_while_there_are_loops(engine: Engine, work: WorkClient) -> None:
    work.plan(TREE)
    work.connect("p: q", "q1: p1")
    before = engine.as_owner("SELECT rev FROM projects")

    refusal = error_of(lambda: work.open(policies={"inherit_dependencies": True}))

    assert refusal.code == "cycle_detected"
    assert {"p", "p1", "q", "q1"} == {work.name(one) for one in refusal.details["path"]}
    assert engine.as_owner("SELECT rev FROM projects") == before
    work.disconnect("q1: p1")
    work.open(policies={"inherit_dependencies": True})
    assert work.next() == ["q1"]
