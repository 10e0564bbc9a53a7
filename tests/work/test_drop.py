"""graph_restructure drop: a node and its descendants are given up for a recorded reason."""

from __future__ import annotations

from importlib import resources

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
        answer = work.drop(name, "once more")
        assert [(one.node_id, one.result) for one in answer.details] == [(work[name], "already resolved")]
        assert answer.warnings == [f"{work[name]}: was resolved already, so nothing changed and the reason is not kept"]

    assert (engine.as_owner("SELECT rev FROM projects"), *map(work.node, ("done", "dropped", "below"))) == before


def test_a_parent_and_its_child_are_dropped_in_one_call_in_any_order(work: WorkClient) -> None:
    work.plan("phase\n  a\nother\n  b")

    answer = work.restructure(
        *({"op": "drop", "node_id": name, "reason": "x"} for name in ("phase", "a", "b", "other"))
    )

    assert (answer.applied, answer.warnings) == (4, UNSET)
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


# --- A dropped node is resolved, and not done -------------------------------------------------------------------------


def test_every_answer_says_of_a_resolved_node_whether_it_was_done_or_dropped(work: WorkClient) -> None:
    work.plan("phase\n  done\n  dropped\n  task: done, dropped\nother")
    work.resolve("done")
    work.drop("dropped")
    outcomes = {"done": "done", "dropped": "dropped"}

    found = work.call("work.query", project="atlas").nodes
    [offered] = work.offers(node_id=work["task"])
    context = work.context("task")
    tree = work.context("phase").children.children

    assert {work.name(node.id): node.outcome for node in found if node.outcome} == outcomes
    assert {work.name(node.id): node.outcome for node in offered.resolved_deps} == outcomes
    assert {work.name(one.node.id): one.node.outcome for one in context.depends_on} == outcomes
    assert {work.name(node.id): node.outcome for node in tree if node.outcome} == outcomes
    assert [work.node(name).outcome for name in ("done", "dropped", "task")] == ["done", "dropped", UNSET]
    assert work.context("done", lean=True, depth=0).node.outcome == "done"

    work.drop("phase")
    assert [one.outcome for one in work.context("task").ancestors] == [UNSET, "dropped"]
    [phase, _] = sorted(work.call("work.onboard", project="atlas").tree, key=lambda branch: branch.outcome or "")[::-1]
    assert (work.name(phase.id), phase.outcome) == ("phase", "dropped")


def test_a_filter_tells_the_done_from_the_dropped_and_counts_them(work: WorkClient) -> None:
    work.plan("a\nb\nc\nd")
    work.resolve("a", "b")
    work.drop("c")

    assert work.query(outcome="done") == ["a", "b"]
    assert work.query(outcome="dropped") == ["c"]
    assert work.query(outcome="dropped", resolved=False) == []
    assert work.query(outcome="done", text="b") == ["b"]
    for outcome, total in (("done", 2), ("dropped", 1)):
        assert work.call("work.query", project="atlas", filter={"outcome": outcome}, limit=1).total == total


def test_dropped_nodes_are_counted_among_the_resolved_ones(work: WorkClient) -> None:
    work.plan("phase\n  a\n  b\nc")
    work.resolve("c")
    work.drop("phase")
    opened = work.call("work.open", project="atlas").summary
    [line] = work.call("work.open").projects

    assert (opened.resolved, opened.dropped) == (4, 3)
    assert (line.resolved, line.dropped) == (4, 3)
    assert work.call("work.onboard", project="atlas").counts == opened

    work.reopen("a")
    assert work.call("work.open", project="atlas").summary.dropped == 1


def test_the_board_has_a_column_for_what_was_dropped(work: WorkClient) -> None:
    work.plan("a\nb\nc")
    work.resolve("a")
    work.drop("b")
    lanes = {lane: work.call("work.outline", project="atlas", lane=lane) for lane in ("resolved", "dropped")}

    assert {lane: (work.names(page.nodes), page.total) for lane, page in lanes.items()} == {
        "resolved": (["a"], 1),
        "dropped": (["b"], 1),
    }


def test_an_outline_counts_what_was_dropped_below_so_that_progress_leaves_it_out(work: WorkClient) -> None:
    work.plan("phase\n  a\n    deep\n  b\n  c")
    work.drop("a")
    work.resolve("b")
    [phase] = work.call("work.outline", project="atlas").nodes

    assert (phase.children, phase.dropped_children, phase.open_children) == (3, 1, 1)
    assert (phase.below, phase.dropped_below, phase.open_below) == (4, 2, 1)


def test_dropping_what_others_wait_for_warns_and_names_them(work: WorkClient) -> None:
    work.plan("phase\n  pump\nwell\ntap: pump\npipe: pump, well\nalso dropped: pump")

    warnings = work.restructure(
        {"op": "drop", "node_id": "phase", "reason": "no money"},
        {"op": "drop", "node_id": "also dropped", "reason": "no money"},
    ).warnings

    assert warnings == [f"{work['pump']}: dropped while others wait for it: {work['tap']}, {work['pipe']}"]
    assert work.drop("tap").warnings is UNSET


def test_of_many_that_wait_the_warning_names_the_first_and_counts_the_rest(work: WorkClient) -> None:
    work.plan("pump\n" + "\n".join(f"tap {n}: pump" for n in range(7)))
    [warning] = work.drop("pump").warnings

    assert warning.endswith(f"{work['tap 4']} and 2 more")


def test_what_becomes_actionable_names_the_dependencies_that_it_lost(work: WorkClient) -> None:
    work.plan("pump\nwell\ntap: pump\npipe: pump, well")

    [tap] = work.drop("pump").newly_actionable
    [pipe] = work.resolve("well").newly_actionable

    assert (tap.id, tap.lost) == (work["tap"], [work["pump"]])
    assert (pipe.id, pipe.lost, pipe.lost_total) == (work["pipe"], [work["pump"]], UNSET)


def test_of_many_lost_dependencies_the_first_are_named_and_all_counted(work: WorkClient) -> None:
    names = [f"pump {n}" for n in range(7)]
    work.plan("\n".join(names) + f"\ntap: {', '.join(names)}")
    [tap] = work.restructure(*({"op": "drop", "node_id": name, "reason": "x"} for name in names)).newly_actionable

    assert (tap.lost, tap.lost_total) == ([work[name] for name in names[:5]], 7)


def test_undo_and_redo_of_a_drop_bring_the_outcome_back(work: WorkClient) -> None:
    work.plan("a")
    work.drop("a")

    work.call("briefing.undo", project="atlas")
    assert (work.node("a").resolved, work.node("a").outcome) == (False, UNSET)
    work.call("briefing.undo", project="atlas", redo=True)
    assert work.node("a").outcome == "dropped"
    assert work.call("work.open", project="atlas").summary.dropped == 1


def test_the_step_of_the_schema_counts_what_older_stores_have_dropped(engine: Engine, work: WorkClient) -> None:
    work.plan("phase\n  a\nb\nc")
    work.drop("phase")
    work.resolve("b")
    engine.as_owner("UPDATE work_projects SET dropped = 0")
    text = resources.files("groundplan.migrations").joinpath("0028_dropped_nodes.sql").read_text(encoding="utf-8")

    engine.as_owner(text[text.index("UPDATE") :].partition(";")[0])

    assert work.call("work.open", project="atlas").summary.dropped == 2
