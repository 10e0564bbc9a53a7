"""graph_restructure drop: a node and its descendants are given up for a recorded reason."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import NotFound, RuleViolated
from tests.engines import Engine
from tests.errors import error_of
from tests.work.client import WorkClient

OUTCOMES = "SELECT id, outcome FROM work_nodes WHERE outcome IS NOT NULL"


def test_a_drop_resolves_the_node_and_everything_below_and_nothing_else(engine: Engine, work: WorkClient) -> None:
    work.plan("phase\n  a\n    b\n  c\nother")

    answer = work.drop("phase")

    assert [(one.op, work.name(one.node_id)) for one in answer.details] == [("drop", "phase")]
    assert work.filter_open(["phase", "a", "b", "c", "other"]) == ["other"]
    assert {work.name(one) for one, _ in engine.as_owner(OUTCOMES)} == {"phase", "a", "b", "c"}


def test_everything_dropped_has_the_reason_as_its_own_evidence(work: WorkClient) -> None:
    work.plan("phase\n  a\n  b")
    work.update("a", add_evidence=[{"type": "note", "ref": "half done"}])

    work.by("ben").drop("phase", "out of scope")

    for name in ("phase", "a", "b"):
        evidence = work.node(name).evidence[-1]
        assert (evidence.type, evidence.ref, evidence.agent) == ("dropped", "out of scope", "ben")
    assert len(work.node("a").evidence) == 2
    assert work.query(has_evidence_type="dropped") == ["phase", "a", "b"]


def test_what_was_done_below_stays_as_it_is(engine: Engine, work: WorkClient) -> None:
    work.plan("phase\n  done\n  a")
    work.resolve("done")
    before = work.node("done")

    work.drop("phase")

    assert work.node("done") == before
    assert {work.name(one) for one, _ in engine.as_owner(OUTCOMES)} == {"phase", "a"}


def test_a_drop_unblocks_and_tells(work: WorkClient) -> None:
    work.plan("phase\n  a\n  b: a\nlater: b\neven later: later\nouter\n  only")

    answer = work.drop("phase")
    assert work.names(answer.newly_actionable) == ["later"]
    assert work.names(work.drop("only").newly_actionable) == ["outer"]


def test_a_dropped_blocker_blocks_nobody(work: WorkClient) -> None:
    work.plan("blocker\na: blocker")

    work.drop("blocker")

    assert work.next() == ["a"]


def test_dropping_an_unknown_node_is_not_found(work: WorkClient) -> None:
    assert isinstance(error_of(lambda: work.drop("oooooo")), NotFound)


def test_dropping_what_is_resolved_says_so_and_changes_nothing(engine: Engine, work: WorkClient) -> None:
    work.plan("done\ndropped\n  below")
    work.resolve("done")
    work.drop("dropped")
    before = engine.as_owner("SELECT rev FROM projects"), *map(work.node, ("done", "dropped", "below"))

    for name in ("done", "dropped", "below"):
        [detail] = work.drop(name, "once more").details
        assert (detail.node_id, detail.result) == (work[name], "already resolved")

    assert (engine.as_owner("SELECT rev FROM projects"), *map(work.node, ("done", "dropped", "below"))) == before


def test_a_parent_and_its_child_are_dropped_in_one_call_in_any_order(work: WorkClient) -> None:
    work.plan("phase\n  a\nother\n  b")

    answer = work.restructure(
        *({"op": "drop", "node_id": name, "reason": "x"} for name in ("phase", "a", "b", "other"))
    )

    assert answer.applied == 4
    assert [one.result for one in answer.details] == ["dropped with 1 below", "already resolved", "dropped", "dropped"]
    assert [len(work.node(name).evidence) for name in ("phase", "a", "b", "other")] == [1, 1, 1, 1]


def test_an_owner_drops_the_root_and_everything_with_it(work: WorkClient) -> None:
    work.plan("phase\n  a\ndone")
    work.resolve("done")

    [detail] = work.drop("root", "the project was cancelled").details

    assert detail.result == "dropped with 2 below"
    assert work.filter_open(["root", "phase", "a"]) == []
    assert work.node("root").evidence[-1].ref == "the project was cancelled"
    assert work.node("done").evidence == []
    assert work.plan("b").reopened[0].id == work["root"]


def test_who_is_no_owner_cannot_drop_the_root_and_is_told_of_the_archive(engine: Engine, work: WorkClient) -> None:
    work.plan("a")
    agent = WorkClient(engine.session(local_actor("robin", kind=ActorKind.AGENT)), work.project, work.ids)

    refusal = error_of(lambda: agent.drop("root"))

    assert isinstance(refusal, RuleViolated)
    assert refusal.code == "root_stays"
    [step] = refusal.next_steps
    assert (step.operation, step.arguments) == ("project.archive", {"project": work.project})
    assert not work.node("a").resolved


def test_a_drop_without_a_reason_is_refused(work: WorkClient) -> None:
    work.plan("a")
    operation = {"op": "drop", "node_id": work["a"]}

    assert error_of(lambda: work.call("work.restructure", operations=[operation])).code == "missing_argument"


def test_every_dropped_node_tells_so_in_its_history(work: WorkClient) -> None:
    work.plan("phase\n  a")

    operation = {"op": "drop", "node_id": "phase", "reason": "out of scope"}
    work.restructure(operation, decision="the customer said so")

    for name in ("phase", "a"):
        event = work.history(name)[-1]
        assert (event.action, event.agent, event.decision) == ("dropped", "ada", "the customer said so")
        changes = {one.field: (one.before, one.after) for one in event.changes}
        assert changes["resolved"] == (False, True)
        assert changes["outcome"] == (None, "dropped")
        assert changes["evidence"][1][0]["ref"] == "out of scope"


def test_a_new_child_of_a_dropped_node_reopens_it(engine: Engine, work: WorkClient) -> None:
    work.plan("phase\n  a")
    work.drop("phase")

    planned = work.plan("b", under="phase")

    assert work.names(planned.reopened) == ["phase"]
    assert {work.name(one) for one, _ in engine.as_owner(OUTCOMES)} == {"a"}


def test_what_is_resolved_in_a_dropped_part_is_dropped_only_once(work: WorkClient) -> None:
    work.plan("phase\n  a\n  b")
    work.drop("a")

    assert work.drop("phase").newly_actionable is UNSET
    assert len(work.node("a").evidence) == 1


@pytest.mark.parametrize("wrong", ["oooooo", "root"])
def test_a_bad_operation_leaves_the_good_ones_undone(engine: Engine, work: WorkClient, wrong: str) -> None:
    work.plan("a\nb: a")
    before = engine.as_owner("SELECT rev FROM projects"), work.counts()
    good = {"op": "drop", "node_id": "a", "reason": "x"}

    error_of(lambda: work.restructure(good, {"op": "move", "node_id": wrong, "new_parent": "b"}))

    assert (engine.as_owner("SELECT rev FROM projects"), work.counts()) == before
    assert work.node("a").evidence == []
