"""The oracle of both dialects, tested by small cases worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.machines.containers_oracle import (
    ACTIVE,
    CLOSED,
    FEATURE,
    NEW,
    NO_OP,
    TASK,
    WILL_NOT_IMPLEMENT,
    ContainerAnswer,
    Containers,
    NewContainer,
    StatusChange,
    TaskCounts,
)
from tests.machines.test_work_oracle import HOUR, NOON, OracleProject, error_of
from tests.machines.work_oracle import ROOT, Node, Policies

pytestmark = [pytest.mark.proof, pytest.mark.slow]

TESTED, READY = "TO_BE_TESTED", "READY_TO_PROD"


class OracleContainers(OracleProject):
    """A project of the oracle in both dialects. Calls use the latest version unless given."""

    work: Containers

    def __init__(self, **policies: Any) -> None:
        super().__init__(**policies)
        self.work = Containers("ship it", "ada", NOON, Policies(**policies))

    def feature(self, name: str, **given: Any) -> None:
        self.do(lambda work: work.create(NewContainer(FEATURE, name, **given), agent="ada", now=self.now))

    def task(self, name: str, feature: str | None = None, **given: Any) -> None:
        above = None if feature is None else self.n(feature)
        self.do(lambda work: work.create(NewContainer(TASK, name, above, **given), agent="ada", now=self.now))

    def tell(
        self, verb: str, name: str, *more: Any, agent: str = "ada", version: int | None = None, **given: Any
    ) -> ContainerAnswer:
        def act(work: Containers) -> ContainerAnswer:
            rev = work.nodes[n].rev if version is None else version
            told: ContainerAnswer = getattr(work, verb)(n, work.kind(n), rev, *more, agent=agent, now=self.now, **given)
            return told

        n = self.n(name)
        told: ContainerAnswer = self.do(act)
        return told

    def do(self, act: Callable[[Any], Any]) -> Any:
        return super().do(act)

    def advance(self, *names: str, agent: str = "ada") -> ContainerAnswer:
        return [self.tell("advance", name, agent=agent) for name in names][-1]

    def finish(self, *names: str) -> ContainerAnswer:
        """Advance to the end of the default pipeline."""
        return [self.tell("advance", name) for name in names for _ in range(3)][-1]

    def block(self, name: str, *by: str, reason: str | None = None) -> ContainerAnswer:
        return self.tell("block", name, [self.n(one) for one in by] or [NO_OP], reason)

    def unblock(self, name: str, *by: str) -> ContainerAnswer:
        return self.tell("unblock", name, [self.n(one) for one in by] or [NO_OP])

    def status(self, *names: str) -> Any:
        found = [self.work.status(self.n(name), self.now) for name in names]
        return found if len(found) > 1 else found[0]

    def next_tasks(self) -> list[str]:
        return self.names(self.work.next_tasks(self.now))

    def next_features(self) -> list[str]:
        return self.names(self.work.next_features(self.now))


# Statuses.


def test_a_task_goes_through_its_pipeline_and_is_claimed_while_it_is_active() -> None:
    board = OracleContainers()
    board.task("t")

    def node() -> Node:
        return board.work.nodes[board.n("t")]

    assert board.status("t") == NEW
    assert board.advance("t").turn == StatusChange(board.n("t"), NEW, ACTIVE)
    assert node().claim is not None
    assert board.advance("t").turn == StatusChange(board.n("t"), ACTIVE, TESTED)
    assert (node().claim, board.ready()) == (None, set())
    assert board.advance("t").turn == StatusChange(board.n("t"), TESTED, CLOSED)
    assert (node().resolved, node().status) == (True, None)
    assert error_of(lambda: board.advance("t")) == {"INVALID_OPERATION"}


def test_what_the_graph_dialect_claims_is_active_while_the_claim_holds() -> None:
    board = OracleContainers()
    board.plan(t="root")
    board.claim("cleo")
    assert board.status("t") == ACTIVE
    board.now += HOUR
    assert board.status("t") == NEW


def test_an_active_task_stays_active_when_its_claim_expired_and_is_offered_again() -> None:
    board = OracleContainers()
    board.task("t")
    board.advance("t", agent="cleo")
    assert board.next_tasks() == []
    board.now += HOUR
    assert (board.status("t"), board.next_tasks(), board.offered("ben")) == (ACTIVE, ["t"], ["t"])


def test_an_active_task_that_somebody_else_left_is_taken_over_before_it_goes_on() -> None:
    board = OracleContainers()
    board.task("t")
    board.advance("t", agent="cleo")
    board.now += HOUR
    assert board.advance("t").turn == StatusChange(board.n("t"), ACTIVE, ACTIVE)
    assert board.advance("t").turn == StatusChange(board.n("t"), ACTIVE, TESTED)


def test_releasing_the_claim_of_an_active_task_makes_it_new() -> None:
    board = OracleContainers()
    board.task("t")
    board.advance("t")
    board.update("t", release=True)
    assert board.status("t") == NEW


def test_a_revert_goes_one_step_back_and_reopens_what_was_closed() -> None:
    board = OracleContainers()
    board.feature("f")
    board.task("t", "f")
    board.finish("t")
    assert board.status("t", "f") == [CLOSED, CLOSED]

    steps = [board.tell("revert", "t").turn for _ in range(3)]
    assert [turn and turn.after for turn in steps] == [TESTED, ACTIVE, NEW]
    assert board.status("f") == ACTIVE
    assert error_of(lambda: board.tell("revert", "t")) == {"INVALID_OPERATION"}


def test_what_was_terminated_cannot_be_reverted_or_terminated_again() -> None:
    board = OracleContainers()
    board.task("t")
    board.tell("terminate", "t", "no longer needed")
    assert board.status("t") == WILL_NOT_IMPLEMENT
    assert error_of(lambda: board.tell("revert", "t")) == {"INVALID_OPERATION"}
    assert error_of(lambda: board.tell("terminate", "t", None)) == {"INVALID_OPERATION"}


def test_a_stale_version_is_a_conflict_and_the_wrong_type_is_not_found() -> None:
    board = OracleContainers()
    board.task("t")
    assert error_of(lambda: board.tell("advance", "t", version=7)) == {"CONFLICT"}
    assert error_of(lambda: board.work.copy().advance(board.n("t"), FEATURE, 1, agent="ada", now=0)) == {"NOT_FOUND"}
    assert error_of(lambda: board.work.copy().advance(ROOT, TASK, 1, agent="ada", now=0)) == {"NOT_FOUND"}


def test_a_step_that_somebody_stands_at_cannot_be_taken_out_of_the_pipeline() -> None:
    board = OracleContainers()
    board.task("t")
    board.advance("t", "t")

    def change() -> None:
        rev = board.work.nodes[ROOT].rev
        board.do(lambda work: work.set_pipelines({TASK: [NEW, ACTIVE, CLOSED]}, rev, agent="ada", now=board.now))

    assert error_of(change) == {"INVALID_OPERATION"}
    board.tell("revert", "t")
    change()
    assert board.advance("t").turn == StatusChange(board.n("t"), ACTIVE, CLOSED)


# Features.


@pytest.mark.parametrize("dialect", ["advance", "claim"])
def test_a_feature_begins_with_its_first_task_in_either_dialect(dialect: str) -> None:
    board = OracleContainers()
    board.feature("f")
    board.task("t", "f")
    if dialect == "advance":
        assert board.advance("t").feature_turn == StatusChange(board.n("f"), NEW, ACTIVE)
    else:
        board.claim("ben")
    assert board.work.nodes[board.n("f")].status == ACTIVE


@pytest.mark.parametrize("dialect", ["advance", "resolve"])
def test_a_feature_ends_with_its_last_task_in_either_dialect_even_while_it_waits(dialect: str) -> None:
    board = OracleContainers()
    board.plan(other="root")
    board.feature("f")
    board.task("a", "f")
    board.task("b", "f")
    board.advance("a", "a", "b", "b")
    board.resolve("a")
    board.block("f", reason="not yet")
    if dialect == "resolve":
        assert board.resolve("b").auto_resolved == (board.n("f"),)
    else:
        assert error_of(lambda: board.advance("b")) == {"BLOCKED"}
        board.unblock("f")
        assert board.advance("b").feature_turn == StatusChange(board.n("f"), ACTIVE, CLOSED)
    assert board.status("f") == CLOSED


def test_a_feature_of_which_everything_was_dropped_is_dropped() -> None:
    board = OracleContainers()
    board.feature("f")
    board.task("a", "f")
    board.task("b", "f")
    board.drop("a")
    assert board.tell("terminate", "b", None).feature_turn == StatusChange(board.n("f"), NEW, WILL_NOT_IMPLEMENT)


def test_the_end_of_a_feature_is_passed_up_through_features_and_no_further() -> None:
    board = OracleContainers()
    for name in ("outer", "inner"):
        board.feature(name)
    board.move("inner", "outer")
    board.task("t", "inner")
    board.finish("t")
    assert (board.status("inner", "outer"), board.work.nodes[ROOT].resolved) == ([CLOSED, CLOSED], False)


def test_taking_the_last_open_task_away_does_not_end_a_feature() -> None:
    board = OracleContainers()
    board.feature("f")
    board.task("a", "f")
    board.task("b", "f")
    board.finish("a")
    board.move("b", "root")
    assert board.status("f") == ACTIVE
    board.move("b", "f")
    board.tell("delete", "b", cascade=False)
    assert board.status("f") == ACTIVE


def test_a_new_task_reopens_its_feature_as_active() -> None:
    board = OracleContainers()
    board.feature("f")
    board.task("a", "f")
    board.drop("a")
    board.plan(b="f")
    assert (board.status("f"), board.work.nodes[board.n("f")].outcome) == (ACTIVE, None)


def test_a_feature_is_never_offered_and_ends_only_after_its_tasks() -> None:
    board = OracleContainers()
    board.feature("f")
    assert (board.ready(), board.offered()) == (set(), [])
    board.task("t", "f")
    board.advance("f", "f")
    assert error_of(lambda: board.advance("f")) == {"INVALID_OPERATION"}


def test_tasks_belong_to_the_nearest_feature_above_them_and_are_counted_there() -> None:
    board = OracleContainers()
    board.feature("outer")
    board.feature("inner")
    board.move("inner", "outer")
    board.plan(a="outer", below_a="a", b="inner", free="root")
    board.drop("below_a")
    assert board.work.tally(board.n("outer")) == TaskCounts(2, 0, 1)
    assert board.work.tally(board.n("inner")) == TaskCounts(1, 0, 0)
    assert board.work.tally() == TaskCounts(4, 0, 1)
    board.move("a", "inner")
    assert board.work.tally(board.n("inner")) == TaskCounts(3, 0, 1)


# Waiting.


def test_a_hold_takes_a_task_away_from_both_dialects_until_it_is_lifted() -> None:
    board = OracleContainers()
    board.task("t")
    board.block("t", reason="no key yet")
    assert (board.next_tasks(), board.offered(), board.blocked()) == ([], [], {"t"})
    assert error_of(lambda: board.advance("t")) == {"BLOCKED"}
    board.unblock("t")
    assert board.next_tasks() == board.offered() == ["t"]


def test_a_hold_stays_with_what_is_resolved_and_counts_again_when_it_is_reopened() -> None:
    board = OracleContainers()
    board.task("t")
    board.block("t", reason="no key yet")
    board.resolve("t")
    assert board.blocked() == set()
    board.reopen("t")
    assert board.blocked() == {"t"}


def test_what_a_feature_waits_for_holds_back_everything_below_it_and_what_a_task_waits_for_does_not() -> None:
    for inherits, blocked in ((False, {"f", "below", "deep", "t"}), (True, {"f", "below", "deep", "t", "part"})):
        board = OracleContainers(inherit_dependencies=inherits)
        board.plan(x="root", t=("root", "x"), part="t")
        board.feature("f")
        board.plan(below="f", deep="below")
        board.block("f", "x")
        assert board.blocked() == blocked
        assert board.names(board.finish("x").unblocked) == ["t", "f"]  # which waited for it themselves
        assert board.blocked() == set()


def test_a_feature_that_waits_twice_holds_back_once() -> None:
    board = OracleContainers()
    board.plan(x="root")
    board.feature("f")
    board.task("t", "f")
    board.block("f", "x")
    board.block("f", reason="and the board")
    assert board.work.blocked_above(board.n("t")) == 1
    board.resolve("x")
    assert board.work.blocked_above(board.n("t")) == 1
    board.unblock("f")
    assert board.work.blocked_above(board.n("t")) == 0


# Impossible plans are refused.


def test_a_feature_cannot_wait_for_its_own_task_nor_a_task_for_its_feature() -> None:
    board = OracleContainers()
    board.feature("f")
    board.task("t", "f")
    assert error_of(lambda: board.block("f", "t")) == error_of(lambda: board.block("t", "f")) == {"CIRCULAR_DEPENDENCY"}


def test_a_loop_through_starts_is_refused_below_features_only_and_one_through_finishes_everywhere() -> None:
    board = OracleContainers()
    for name in ("p", "q"):
        board.feature(name)
        board.task(f"{name}1", name)
    board.block("p", "q")
    assert board.connect("q1", "p1") == ["cycle_detected"]
    assert error_of(lambda: board.block("q1", "p")) == {"CIRCULAR_DEPENDENCY"}

    board.plan(a="root", a1="a", b="root", b1="b")
    assert (board.connect("a", "b"), board.connect("b1", "a1"), board.connect("b1", "a")) == (
        [],
        [],
        ["cycle_detected"],
    )


def test_a_move_into_a_feature_that_closes_a_loop_is_refused() -> None:
    board = OracleContainers()
    board.feature("f")
    board.task("waits")
    board.block("waits", "f")
    assert error_of(lambda: board.move("waits", "f")) == {"cycle_detected"}


# Removal.


def test_a_deleted_node_releases_those_that_waited_for_it_and_takes_its_children_only_when_told_to() -> None:
    board = OracleContainers()
    board.plan(p="root", c="p", w=("root", "c"))
    p, c = board.n("p"), board.n("c")
    assert error_of(lambda: board.tell("delete", "p", cascade=False)) == {"INVALID_OPERATION"}
    assert board.tell("delete", "p", cascade=True).deleted == (p, c)
    assert (board.ready(), board.edges(), set(board.work.deleted)) == ({"w"}, set(), {p, c})
    assert board.work.nodes[board.n("w")].actions == ("created", "disconnected")


def test_a_hold_goes_with_open_work_that_is_merged_and_a_task_never_becomes_a_feature() -> None:
    board = OracleContainers()
    board.plan(a="root", b="root")
    board.feature("f")
    board.block("a", reason="no key yet")
    assert error_of(lambda: board.merge("a", "f")) == error_of(lambda: board.merge("f", "a")) == {"cannot_merge"}
    board.merge("a", "b")
    assert board.blocked() == {"b"}


# What `update` changes.


def test_a_task_that_enters_a_feature_reopens_it_and_one_that_is_in_it_however_deep_stays() -> None:
    board = OracleContainers()
    board.feature("f")
    board.task("done", "f")
    board.plan(deep="done", free="root")
    board.drop("done")
    assert board.status("f") == WILL_NOT_IMPLEMENT

    told = board.tell("revise", "free", {"feature": board.n("f")})
    assert (told.feature_turn, board.status("f")) == (StatusChange(board.n("f"), WILL_NOT_IMPLEMENT, ACTIVE), ACTIVE)
    board.tell("revise", "deep", {"feature": board.n("f")})
    assert board.work.nodes[board.n("deep")].parent == board.n("done")
    board.tell("revise", "free", {"feature": None})
    assert board.work.feature(board.n("free")) is None


def test_what_something_is_related_to_is_said_as_a_whole_and_seen_from_both_sides() -> None:
    board = OracleContainers()
    board.plan(a="root", b="root", c="root")
    a, b, c = (board.n(name) for name in "abc")
    board.tell("revise", "a", {"related": [b]})
    assert (board.work.related(a), board.work.related(b)) == ({b}, {a})
    assert error_of(lambda: board.work.copy().depend(b, a, "RELATES_TO", agent="ada", now=0)) == {"INVALID_OPERATION"}

    board.tell("revise", "b", {"related": [c]})
    assert (board.work.related(a), board.work.related(b)) == (set(), {c})
    assert board.work.nodes[a].actions == ("created", "updated", "disconnected")


def test_to_say_what_is_there_already_changes_nothing_and_true_is_not_one() -> None:
    board = OracleContainers()
    board.plan(t="root")
    board.update("t", properties={"priority": True})
    board.tell("revise", "t", {"priority": "LOW", "title": "t"})
    assert board.work.named_priority(board.n("t")) == "LOW"
    board.tell("revise", "t", {"priority": "LOW", "tags": []})
    assert board.work.nodes[board.n("t")].actions == ("created", "updated", "updated")


# Order of offers.


def test_tasks_are_offered_by_priority_then_complexity_then_age_and_features_begun_first() -> None:
    board = OracleContainers()
    board.task("hard", complexity=9)
    board.task("unknown")
    board.task("easy", complexity=2)
    board.task("urgent", priority="HIGH")
    assert board.next_tasks() == ["urgent", "easy", "hard", "unknown"]

    board.feature("high", priority="HIGH")
    board.feature("begun", priority="LOW")
    board.feature("medium")
    board.advance("begun")
    assert board.next_features() == ["begun", "high", "medium"]
