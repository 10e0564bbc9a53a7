"""The oracle itself, tested by small cases worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.machines.work_calls import NOWHERE
from tests.machines.work_oracle import (
    DEPENDS_ON,
    MS_PER_MINUTE,
    ROOT,
    Answer,
    Counts,
    Drop,
    Item,
    Link,
    Merge,
    Move,
    NewNode,
    Policies,
    Refusal,
    Work,
)

pytestmark = [pytest.mark.proof, pytest.mark.slow]

NOON = 0
HOUR = 60 * MS_PER_MINUTE


class OracleProject:
    """One project of the oracle, with nodes named by their summaries."""

    def __init__(self, **policies: Any) -> None:
        self.work = Work("ship it", "ada", NOON, Policies(**policies))
        self.now = NOON

    def plan(self, **nodes: Any) -> Answer:
        """Plan nodes: `a="p"` is a below p; `a=("p", "x", "y")` also waits for x and y. Names of this batch win."""

        def ref(name: str) -> str | int:
            return name if name in nodes else self.n(name)

        def planned(name: str, told: str | tuple[str, ...]) -> NewNode:
            parent, *waits_for = (told,) if isinstance(told, str) else told
            return NewNode(name, name, ref(parent), [ref(one) for one in waits_for])

        return self.do(lambda work: work.plan([planned(*one) for one in nodes.items()], agent="ada", now=self.now))

    def update(self, name: str, *, agent: str = "ada", **changes: Any) -> Answer:
        item = Item(self.n(name), **changes)
        return self.do(lambda work: work.update([item], agent=agent, now=self.now))

    def resolve(self, *names: str, agent: str = "ada") -> Answer:
        items = [Item(self.n(name), resolved=True) for name in names]
        return self.do(lambda work: work.update(items, agent=agent, now=self.now))

    def reopen(self, name: str) -> Answer:
        return self.update(name, resolved=False)

    def connect(self, source: str, target: str, *, remove: bool = False) -> list[str]:
        """Return the reasons of a rejection."""
        link = Link(self.n(source), DEPENDS_ON, self.n(target), remove)
        return [why for _, why in self.do(lambda work: work.connect([link], agent="ada", now=self.now)).rejected]

    def move(self, name: str, new_parent: str) -> Answer:
        return self.restructure(Move(self.n(name), self.n(new_parent)))

    def merge(self, source: str, target: str) -> Answer:
        return self.restructure(Merge(self.n(source), self.n(target)))

    def drop(self, name: str) -> Answer:
        return self.restructure(Drop(self.n(name), "no longer needed"))

    def restructure(self, operation: Move | Merge | Drop) -> Answer:
        return self.do(lambda work: work.restructure([operation], agent="ada", now=self.now))

    def claim(self, agent: str) -> list[str]:
        taken = self.do(lambda work: work.take(agent=agent, now=self.now)).claimed
        return self.names(n for n, *_ in taken)

    def do(self, act: Callable[[Work], Answer]) -> Answer:
        """Run a call on a copy, all or nothing, one millisecond after the last."""
        self.now += 1
        tried = self.work.copy()
        answer = act(tried)
        self.work = tried
        return answer

    def n(self, name: str) -> int:
        return ROOT if name == "root" else next(n for n, node in self.work.nodes.items() if node.summary == name)

    def names(self, numbers: Any) -> list[str]:
        return [self.work.nodes[n].summary for n in numbers]

    def offered(self, agent: str = "ada") -> list[str]:
        return self.names(self.work.offered(agent, self.now))

    def ready(self) -> set[str]:
        return set(self.names(self.work.actionable()))

    def blocked(self) -> set[str]:
        return set(self.names(self.work.blocked()))

    def edges(self) -> set[tuple[str, ...]]:
        return {tuple(self.names((edge.source, edge.target))) for edge in self.work.edges}


def error_of(act: Callable[[], Any]) -> set[str]:
    with pytest.raises(Refusal) as refused:
        act()
    return set(refused.value.codes)


# Ready by the contract: unresolved, no unresolved children, all dependencies resolved.


def test_a_leaf_whose_dependencies_are_resolved_is_ready_and_the_root_never_is() -> None:
    desk = OracleProject()
    assert desk.ready() == set()

    desk.plan(phase="root", design="phase", build=("phase", "design"))

    assert (desk.ready(), desk.blocked()) == ({"design"}, {"build"})
    assert desk.work.counts() == Counts(total=4, resolved=0, unresolved=4, blocked=1, actionable=1, dropped=0)


def test_a_batch_may_point_forward() -> None:
    desk = OracleProject()
    desk.plan(build=("phase", "design"), design="phase", phase="root")
    assert (desk.ready(), desk.names(desk.work.ancestors(desk.n("build")))) == ({"design"}, ["phase", "ship it"])


def test_finishing_the_only_task_of_a_phase_offers_the_phase_and_the_other_work() -> None:  # W-2
    desk = OracleProject()
    desk.plan(one="root", a="one", two="root", b="two")
    desk.resolve("a")
    assert desk.offered() == ["b", "one"]


def test_a_node_is_blocked_by_its_own_dependencies_only_unless_they_are_inherited() -> None:  # W-6, W-14
    for inherits, ready, blocked in ((False, {"x", "task"}, {"feature"}), (True, {"x"}, {"feature", "task"})):
        desk = OracleProject(inherit_dependencies=inherits)
        desk.plan(x="root", feature=("root", "x"), task="feature")
        assert (desk.ready(), desk.blocked()) == (ready, blocked)


def test_switching_inheritance_changes_what_is_held_back() -> None:
    desk = OracleProject()
    desk.plan(x="root", feature=("root", "x"), task="feature")
    desk.work.set_policies(inherit_dependencies=True)
    assert desk.ready() == {"x"}
    desk.work.set_policies(inherit_dependencies=False)
    assert desk.ready() == {"x", "task"}


# Newly ready nodes.


def test_newly_actionable_is_the_true_difference() -> None:  # W-11
    desk = OracleProject()
    desk.plan(phase="root", a="phase", b="phase", both=("phase", "a", "b"), just_a=("root", "a"))

    assert desk.resolve("a").newly_actionable == {desk.n("just_a")}
    assert desk.resolve("b").newly_actionable == {desk.n("both")}
    assert desk.resolve("both").newly_actionable == {desk.n("phase")}
    assert desk.resolve("phase", "just_a").newly_actionable == set()  # the root is not


def test_what_one_batch_makes_ready_and_finishes_is_not_newly_actionable() -> None:
    desk = OracleProject()
    desk.plan(a="root", b=("root", "a"), c=("root", "b"))
    assert desk.resolve("a", "b").newly_actionable == {desk.n("c")}


def test_a_plan_makes_nothing_newly_actionable() -> None:
    desk = OracleProject()
    assert desk.plan(a="root").newly_actionable == set()


def test_dropping_a_blocker_releases_what_waited_for_it() -> None:  # W-14
    desk = OracleProject()
    desk.plan(blocker="root", below="blocker", waiting=("root", "blocker"))
    assert desk.drop("blocker").newly_actionable == {desk.n("waiting")}
    dropped = [desk.work.nodes[desk.n(name)] for name in ("blocker", "below")]
    assert [(one.resolved, one.outcome, one.evidence[0][:2]) for one in dropped] == [
        (True, "dropped", ("dropped", "no longer needed"))
    ] * 2


def test_taking_away_a_dependency_releases_what_waited_for_it() -> None:
    desk = OracleProject()
    desk.plan(a="root", b=("root", "a"))
    desk.connect("b", "a", remove=True)
    assert desk.ready() == {"a", "b"}


# Impossible plans are refused.


@pytest.mark.parametrize("inherits", [False, True])
def test_two_nodes_cannot_wait_for_each_other(inherits: bool) -> None:  # W-14
    desk = OracleProject(inherit_dependencies=inherits)
    desk.plan(a="root", b=("root", "a"), c=("root", "b"))
    assert [desk.connect("a", "b"), desk.connect("a", "c"), desk.connect("a", "a")] == [["cycle_detected"]] * 3
    assert desk.edges() == {("b", "a"), ("c", "b")}
    assert error_of(lambda: desk.plan(p=("root", "q"), q=("root", "p"))) == {"cycle_detected"}


@pytest.mark.parametrize("inherits", [False, True])
def test_a_node_cannot_depend_on_its_own_ancestor(inherits: bool) -> None:  # W-6
    desk = OracleProject(inherit_dependencies=inherits)
    desk.plan(top="root", middle="top", leaf="middle", other=("root", "top"))
    assert [desk.connect("leaf", name) for name in ("middle", "top", "root")] == [["cycle_detected"]] * 3
    assert error_of(lambda: desk.plan(new=("leaf", "top"))) == {"cycle_detected"}
    assert error_of(lambda: desk.move("other", "leaf")) == {"cycle_detected"}


def test_an_ancestor_may_wait_for_what_is_below_it_unless_that_would_wait_for_it_in_turn() -> None:
    for inherits, rejected in ((False, []), (True, ["cycle_detected"])):
        desk = OracleProject(inherit_dependencies=inherits)
        desk.plan(top="root", leaf="top")
        assert desk.connect("top", "leaf") == rejected


def test_a_loop_through_the_tree_is_refused_where_dependencies_are_inherited() -> None:
    for inherits, rejected in ((False, []), (True, ["cycle_detected"])):
        desk = OracleProject(inherit_dependencies=inherits)
        desk.plan(p="root", p1="p", q="root", q1="q")
        assert desk.connect("p", "q") == []
        assert desk.connect("q1", "p1") == rejected  # q is done after q1, which starts after p1, held back by q


def test_a_loop_that_only_a_finish_closes_is_always_refused() -> None:
    for inherits in (False, True):
        desk = OracleProject(inherit_dependencies=inherits)
        desk.plan(p="root", c=("p", "x"), x="root")
        assert desk.connect("x", "p") == ["cycle_detected"]  # p is done after c, which waits for x


def test_siblings_may_wait_for_each_other_where_dependencies_are_inherited() -> None:
    desk = OracleProject(inherit_dependencies=True)
    desk.plan(p="root", p1="p", p2=("p", "p1"), q=("root", "p"), q1=("q", "p2"))
    assert desk.ready() == {"p1"}


def test_a_move_or_a_new_node_that_closes_a_loop_through_the_tree_is_refused() -> None:
    desk = OracleProject(inherit_dependencies=True)
    desk.plan(p="root", p1="p", q=("root", "p"), free=("root", "q"))
    assert error_of(lambda: desk.move("free", "p")) == {"cycle_detected"}  # p would be done after it, and it after q
    assert error_of(lambda: desk.plan(new=("p1", "q"))) == {"cycle_detected"}
    desk.connect("free", "q", remove=True)
    assert desk.move("free", "q").applied == 1


def test_inheritance_cannot_be_switched_on_while_there_are_loops_through_the_tree() -> None:
    desk = OracleProject()
    desk.plan(p="root", p1="p", q=("root", "p"), q1="q")
    desk.connect("p1", "q1")
    assert error_of(lambda: desk.work.copy().set_policies(inherit_dependencies=True)) == {"cycle_detected"}
    desk.connect("p1", "q1", remove=True)
    desk.work.set_policies(inherit_dependencies=True)


def test_a_node_cannot_be_moved_below_itself() -> None:
    desk = OracleProject()
    desk.plan(a="root", b="a")
    assert error_of(lambda: desk.move("a", "b")) == error_of(lambda: desk.move("a", "a")) == {"cycle_detected"}


# Parents and their children.


def test_a_node_with_open_children_cannot_be_resolved() -> None:
    desk = OracleProject()
    desk.plan(phase="root", task="phase")
    assert error_of(lambda: desk.resolve("phase")) == {"unresolved_children"}
    desk.resolve("task", "phase")
    assert desk.ready() == set()


def test_a_new_or_reopened_child_reopens_everything_above_it() -> None:  # W-7
    desk = OracleProject()
    desk.plan(phase="root", task="phase")
    desk.resolve("task", "phase", "root")

    assert desk.reopen("task").reopened == (desk.n("phase"), ROOT)
    desk.resolve("task", "phase", "root")
    assert desk.plan(more="task").reopened == (desk.n("task"), desk.n("phase"), ROOT)
    assert desk.ready() == {"more"}


def test_an_open_node_moved_below_a_resolved_one_reopens_it_and_a_resolved_node_does_not() -> None:
    desk = OracleProject()
    desk.plan(done="root", finished="root", open="root")
    desk.resolve("done", "finished")
    assert desk.move("finished", "done").reopened == ()
    assert desk.move("open", "done").reopened == (desk.n("done"),)


def test_the_last_child_resolves_its_parent_where_the_project_wants_that() -> None:
    desk = OracleProject(auto_resolve_parents=True)
    desk.plan(x="root", phase="root", step="phase", a="step", b="step", gated=("root", "x"), g="gated")
    desk.resolve("a")
    assert desk.ready() == {"x", "b", "g"}
    desk.resolve("b")
    assert desk.ready() == {"x", "g"}  # step and phase went with b; the root stays open
    desk.drop("g")
    assert (desk.ready(), desk.blocked()) == ({"x"}, {"gated"})  # what still waits is not resolved


def test_dropping_leaves_what_was_resolved_as_it_was() -> None:
    desk = OracleProject()
    desk.plan(phase="root", done="phase", open="phase")
    desk.resolve("done")
    desk.drop("phase")
    assert [desk.work.nodes[desk.n(name)].outcome for name in ("phase", "done", "open")] == ["dropped", None, "dropped"]
    dropped = desk.work.nodes[desk.n("phase")]
    desk.drop("phase")
    assert desk.work.nodes[desk.n("phase")] == dropped
    assert desk.reopen("open").reopened == (desk.n("phase"),)
    assert desk.work.nodes[desk.n("phase")].outcome is None


# Merging.


def test_merging_two_dependent_nodes_leaves_no_node_waiting_for_itself() -> None:  # W-3
    desk = OracleProject()
    desk.plan(a="root", b=("root", "a"), c=("root", "a", "b"), under_a="a")
    desk.merge("a", "b")
    assert (desk.edges(), desk.ready(), desk.blocked()) == ({("c", "b")}, {"under_a"}, {"c"})


def test_a_node_cannot_be_merged_with_itself_its_family_or_the_root() -> None:  # W-3
    desk = OracleProject()
    desk.plan(a="root", b="a", c="b")
    assert error_of(lambda: desk.merge("a", "a")) == {"cannot_merge"}
    assert error_of(lambda: desk.merge("a", "b")) == error_of(lambda: desk.merge("c", "a")) == {"cannot_merge"}
    assert error_of(lambda: desk.merge("root", "a")) == {"root_stays"}


def test_a_child_is_merged_into_its_parent_with_what_is_below_it() -> None:
    desk = OracleProject()
    desk.plan(a="root", b="a", c="b", x="root", y=("root", "b"))
    desk.merge("b", "a")
    assert (desk.edges(), desk.ready(), desk.blocked()) == ({("y", "a")}, {"c", "x"}, {"y"})


def test_a_merge_that_closes_a_loop_is_refused() -> None:
    desk = OracleProject()
    desk.plan(a="root", b=("root", "a"), c=("root", "b"))
    assert error_of(lambda: desk.merge("a", "c")) == {"cycle_detected"}


def test_a_merge_keeps_children_evidence_and_edges() -> None:
    desk = OracleProject()
    desk.plan(x="root", gone=("root", "x"), child="gone", kept="root", waits=("root", "gone"))
    desk.update("gone", add_evidence=[("note", "from gone")], add_links=["a.py", "b.py"])
    desk.update("kept", add_evidence=[("note", "from kept")], add_links=["b.py"])
    desk.merge("gone", "kept")

    kept = desk.work.nodes[desk.n("kept")]
    assert [one.ref for one in kept.evidence] == ["from kept", "from gone"]
    assert kept.links == ("b.py", "a.py")
    assert desk.work.nodes[desk.n("child")].parent == kept.n
    assert desk.edges() == {("kept", "x"), ("waits", "kept")}


def test_merging_open_work_into_a_resolved_node_reopens_it() -> None:
    desk = OracleProject()
    desk.plan(done="root", open="root", finished="root")
    desk.resolve("done", "finished")
    assert desk.merge("finished", "done").reopened == ()
    assert desk.merge("open", "done").reopened == (desk.n("done"),)


# Order of offers.


def test_priority_comes_first_then_depth_then_who_has_waited_longest_then_creation() -> None:
    desk = OracleProject()
    desk.plan(shallow="root", phase="root", deep="phase", deeper="phase", urgent="root", later="root")
    desk.update("urgent", properties={"priority": 5})
    desk.update("later", properties={"priority": -1})
    assert desk.offered() == ["urgent", "later", "deep", "deeper", "shallow"]

    desk.update("deep", summary="deep")  # changes nothing, so it is not updated
    assert desk.offered() == ["urgent", "later", "deep", "deeper", "shallow"]

    desk.update("deep", state="looked at")
    assert desk.offered() == ["urgent", "later", "deeper", "deep", "shallow"]


@pytest.mark.parametrize("value", ["9", True, [9], {"at": 9}, None])
def test_a_priority_that_is_no_number_ranks_as_absent(value: Any) -> None:
    desk = OracleProject()
    desk.plan(odd="root", plain="root", low="root")
    desk.update("low", properties={"priority": -1000})
    desk.update("odd", properties={"priority": value})
    desk.update("plain", state="touched later than odd")
    assert desk.offered() == ["low", "odd", "plain"]


# Claims.


def test_a_claim_hides_a_node_from_others_until_it_expires() -> None:  # W-15
    desk = OracleProject()
    desk.plan(only="root")
    assert (desk.claim("cleo"), desk.offered("cleo"), desk.offered("ada")) == (["only"], ["only"], [])
    taken_at = desk.now

    desk.now = taken_at + HOUR - 1
    assert desk.offered("ada") == []
    desk.now = taken_at + HOUR
    assert desk.offered("ada") == ["only"]


def test_a_late_writer_is_stopped_by_the_fence() -> None:
    desk = OracleProject()
    desk.plan(only="root")
    desk.claim("cleo")
    desk.now += 2 * HOUR
    desk.claim("ada")
    assert desk.work.nodes[desk.n("only")].fence == 2
    assert error_of(lambda: desk.update("only", agent="cleo", claim=1, resolved=True)) == {"stale_claim"}
    desk.update("only", claim=2, resolved=True)


def test_resolving_ends_the_claim() -> None:
    desk = OracleProject()
    desk.plan(only="root")
    desk.claim("cleo")
    desk.resolve("only", agent="ada")
    desk.reopen("only")
    assert desk.offered("ada") == ["only"]


def test_an_enforced_claim_keeps_others_from_resolving() -> None:
    desk = OracleProject(claims="enforced")
    desk.plan(only="root")
    desk.claim("cleo")
    assert error_of(lambda: desk.resolve("only")) == {"claimed_by_another"}
    desk.now += HOUR
    desk.resolve("only")


# Revisions and history.


def test_every_event_is_one_revision_and_nothing_changed_is_no_event() -> None:
    desk = OracleProject()
    desk.plan(a="root", b="root")
    desk.update("a", summary="a", properties={"gone": None}, remove_links=["none"])
    assert desk.work.nodes[desk.n("a")].actions == ("created",)

    desk.update("a", state=1, resolved=True)
    desk.connect("a", "b")
    desk.connect("a", "b")
    assert desk.work.nodes[desk.n("a")].actions == ("created", "resolved", "connected")
    assert desk.work.nodes[desk.n("b")].actions == ("created",)


def test_a_merged_node_keeps_its_past() -> None:
    desk = OracleProject()
    desk.plan(a="root", b="root")
    gone = desk.n("a")
    desk.merge("a", "b")
    assert desk.work.gone[gone].actions == ("created", "merged")


def test_a_merged_node_still_names_its_project() -> None:
    desk = OracleProject()
    desk.plan(a="root", b="root")
    gone = desk.n("a")
    desk.merge("a", "b")
    link = Link(gone, "relates_to", NOWHERE)
    answer = desk.work.connect([link], agent="ada", now=1)
    assert answer.rejected == ((link, "node_not_found"),)
    nowhere = Link(NOWHERE, "relates_to", NOWHERE)
    assert desk.work.connect([nowhere], agent="ada", now=1).rejected == ((nowhere, "node_not_found"),)
