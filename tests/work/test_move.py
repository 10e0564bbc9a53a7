"""graph_restructure move: a node gets another parent."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import NotFound, RuleViolated
from tests.engines import Engine
from tests.errors import error_of
from tests.work.client import WorkClient


def test_a_moved_node_keeps_its_children_edges_and_everything_else(work: WorkClient) -> None:
    work.plan(
        "old\n  a: other\n    b\nnew\nother\nlater: a",
        each={"a": {"properties": {"area": "ui"}, "context_links": ["x"]}},
    )
    before = work.node("a")

    answer = work.move("a", "new")

    after = work.node("a")
    assert answer.applied == 1
    assert [(one.op, work.name(one.node_id)) for one in answer.details] == [("move", "a")]
    assert (after.parent, after.rev) == (work["new"], before.rev + 1)
    assert (after.properties, after.context_links) == (before.properties, before.context_links)
    assert work.names(work.context("a").children.children) == ["b"]
    assert (work.waits_for("a"), work.waits_for("later")) == (["other"], ["a"])


def test_everything_below_gets_the_depth_of_its_new_place(work: WorkClient) -> None:
    work.plan("old\n  a\n    b\nnew\n  deep\n    deeper")

    work.move("a", "deeper")

    depths = {work.name(one.id): one.depth for one in work.call("work.query", project="atlas").nodes}
    assert (depths["a"], depths["b"], depths["old"]) == (4, 5, 1)


@pytest.mark.parametrize("below", ["a", "b", "c"])
def test_a_node_cannot_be_moved_below_itself(work: WorkClient, below: str) -> None:
    work.plan("a\n  b\n    c")

    refusal = error_of(lambda: work.move("a", below))

    assert isinstance(refusal, RuleViolated)
    assert refusal.code == "cycle_detected"
    assert [work.name(one) for one in refusal.details["path"]] == ["a", below, "a"]


def test_the_root_cannot_be_moved(work: WorkClient) -> None:
    work.plan("a")

    assert error_of(lambda: work.move("root", "a")).code == "root_stays"


def test_a_node_cannot_be_moved_below_what_it_depends_on(work: WorkClient) -> None:
    work.plan("a: target\ntarget\n  step")

    refusal = error_of(lambda: work.move("a", "step"))

    assert refusal.code == "cycle_detected"
    assert [work.name(one) for one in refusal.details["path"]] == ["a", "target", "step", "a"]


def test_a_node_cannot_be_moved_below_what_something_below_it_depends_on(work: WorkClient) -> None:
    work.plan("a\n  b: target\ntarget")

    assert error_of(lambda: work.move("a", "target")).code == "cycle_detected"


def test_a_move_frees_the_old_parent_and_holds_the_new_one(work: WorkClient) -> None:
    work.plan("old\n  a\nnew")
    assert work.next() == ["a", "new"]

    answer = work.move("a", "new")

    assert work.names(answer.newly_actionable) == ["old"]
    assert work.next() == ["a", "old"]


def test_an_open_node_reopens_the_resolved_one_it_is_moved_under(work: WorkClient) -> None:
    work.plan("a\nphase\n  done\nafter: phase")
    work.resolve("done", "phase")

    answer = work.move("a", "done")

    assert work.names(answer.reopened) == ["done", "phase"]
    assert work.query(is_blocked=True) == ["after"]


def test_a_resolved_node_reopens_nothing(work: WorkClient) -> None:
    work.plan("a\nphase")
    work.resolve("a", "phase")

    answer = work.move("a", "phase")

    assert answer.reopened is UNSET
    assert work.node("phase").resolved


def test_a_move_to_where_it_is_changes_nothing(engine: Engine, work: WorkClient) -> None:
    work.plan("phase\n  a")
    before = engine.as_owner("SELECT rev FROM projects")

    answer = work.move("a", "phase")

    assert answer.applied == 1
    assert (work.node("a").rev, engine.as_owner("SELECT rev FROM projects")) == (1, before)


def test_a_move_is_kept_in_history(work: WorkClient) -> None:
    work.plan("phase\n  a")
    operation = {"op": "move", "node_id": "a", "new_parent": "root"}

    work.by("ben").restructure(operation, decision="it stands alone")

    event = work.history("a")[-1]
    assert (event.action, event.agent, event.decision) == ("moved", "ben", "it stands alone")
    assert [(one.field, one.before, one.after) for one in event.changes] == [("parent", work["phase"], work["root"])]


def test_a_node_never_changes_its_project_and_the_error_says_what_to_do_instead(work: WorkClient) -> None:
    work.plan("a")
    work.ids["elsewhere"] = work.call("work.open", project="borealis").root.id

    for refused in (lambda: work.move("a", "elsewhere"), lambda: work.merge("a", "elsewhere")):
        refusal = error_of(refused)
        assert (refusal.code, refusal.details["nodes"]) == ("mixed_projects", [work["a"], work["elsewhere"]])
        assert [step.operation for step in refusal.next_steps] == ["work.plan", "work.restructure", "work.update"]
        assert refusal.next_steps[0].arguments == {"project": refusal.details["projects"][1]}


def test_operations_on_nodes_of_two_projects_are_one_call_for_each(work: WorkClient) -> None:
    work.plan("a")
    other = WorkClient(work.session, "borealis", work.ids)
    other.open()
    other.plan("b")

    drops = [{"op": "drop", "node_id": name, "reason": "not needed"} for name in ("a", "b")]
    refusal = error_of(lambda: work.restructure(*drops))

    assert (refusal.code, refusal.next_steps) == ("mixed_projects", ())


@pytest.mark.parametrize(("name", "under"), [("oooooo", "a"), ("a", "oooooo")])
def test_an_unknown_node_is_not_found(work: WorkClient, name: str, under: str) -> None:
    work.plan("a")

    assert isinstance(error_of(lambda: work.move(name, under)), NotFound)


def test_operations_apply_in_order_and_all_or_none(engine: Engine, work: WorkClient) -> None:
    work.plan("a\nb\nc")
    move = {"op": "move", "node_id": "a", "new_parent": "b"}
    back = {"op": "move", "node_id": "b", "new_parent": "a"}
    rows = "SELECT n, parent_n, rev, depth FROM work_nodes ORDER BY n"
    before = engine.as_owner(rows)

    assert error_of(lambda: work.restructure(move, back)).code == "cycle_detected"
    assert engine.as_owner(rows) == before
    home = {"op": "move", "node_id": "a", "new_parent": "c"}
    assert work.restructure(move, home, back).applied == 3
    assert (work.node("b").parent, work.node("a").parent) == (work["a"], work["c"])
