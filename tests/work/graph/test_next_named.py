"""`node_id` offers or claims exactly one node, or says why not."""

from __future__ import annotations

from functools import partial

import pytest

from groundplan.kernel.errors import Conflict, NotFound
from groundplan.work.graph.next import SUMMARY_CHARS_MAX
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.client import WorkClient
from tests.work.containers.client import ContainersClient


def test_a_named_node_is_offered_and_claimed_without_its_project(work: WorkClient) -> None:
    work.plan("a\nb")

    [offer] = work.call("work.next", node_id=work["b"]).nodes
    assert work.name(offer.node.id) == "b"
    [claimed] = work.call("work.next", node_id=work["b"], claim=True).nodes
    assert claimed.claim == 1
    assert work.by("robin").next() == ["a"]


def test_a_node_that_waits_or_has_open_children_is_refused_with_what_is_in_the_way(work: WorkClient) -> None:
    work.plan("a\nb: a\n  c")

    refusal = error_of(lambda: work.call("work.claim", node_id=work["b"]))

    assert isinstance(refusal, Conflict)
    assert refusal.code == "not_actionable"
    assert (refusal.details["waiting_for"], refusal.details["open_children"]) == ([work["a"]], [work["c"]])


def test_a_node_that_an_ancestor_holds_back_is_refused_with_the_ancestor_and_what_it_waits_for(
    work: WorkClient,
) -> None:
    work.open(policies={"inherit_dependencies": True})
    work.plan("first\nblocker\nother\nphase: first\n  step: blocker, other\n    deep\n      a")

    refusal = error_of(lambda: work.call("work.claim", node_id=work["a"]))

    assert (refusal.code, refusal.details["waiting_for"]) == ("not_actionable", [])
    assert refusal.details["held_by"] == [
        {
            "id": work["step"],
            "summary": "step",
            "waiting_for": [{"id": work[name], "summary": name} for name in ("blocker", "other")],
        },
        {"id": work["phase"], "summary": "phase", "waiting_for": [{"id": work["first"], "summary": "first"}]},
    ]
    named = f"held back by {work['step']} ('step') above it, which waits for {work['blocker']} ('blocker')"
    assert named in refusal.message


@pytest.mark.parametrize("is_on_hold", [True, False])
def test_a_task_below_a_feature_that_waits_or_is_on_hold_is_refused_with_the_feature(
    work: WorkClient, is_on_hold: bool
) -> None:
    client = ContainersClient(work.session, work.project, work.ids)
    client.feature("coast")
    client.tasks("walk", of="coast")
    client.task("blocker")
    client.block("coast", *(["NO_OP"] if is_on_hold else ["blocker"]), blockedReason="no boat")

    refusal = error_of(lambda: work.call("work.next", node_id=work["walk"]))

    [holder] = refusal.details["held_by"]
    assert (refusal.code, holder["id"], holder["summary"]) == ("not_actionable", work["coast"], "coast")
    waiting_for = [] if is_on_hold else [{"id": work["blocker"], "summary": "blocker"}]
    assert (holder["waiting_for"], holder.get("on_hold")) == (waiting_for, "no boat" if is_on_hold else None)
    assert "is on hold ('no boat')" in refusal.message or work["blocker"] in refusal.message


def test_what_holds_a_node_back_is_listed_within_limits(work: WorkClient) -> None:
    work.open(policies={"inherit_dependencies": True})
    blockers = [f"{number} {'long ' * 50}".strip() for number in range(30)]
    levels = [f"{'  ' * depth}level {depth}: {', '.join(blockers)}" for depth in range(7)]
    work.plan("\n".join([*blockers, *levels, f"{'  ' * 7}a"]))

    held_by = error_of(lambda: work.call("work.claim", node_id=work["a"])).details["held_by"]

    assert [work.name(one["id"]) for one in held_by] == [f"level {depth}" for depth in (6, 5, 4, 3, 2)]
    assert [len(one["waiting_for"]) for one in held_by] == [20, 0, 0, 0, 0]
    assert max(len(one["summary"]) for one in held_by[0]["waiting_for"]) == SUMMARY_CHARS_MAX


def test_a_resolved_node_and_the_root_are_not_actionable(work: WorkClient) -> None:
    work.plan("a")
    work.resolve("a")

    for node_id in (work["a"], work.open().root.id):
        refusal = error_of(partial(work.call, "work.next", node_id=node_id))
        assert (refusal.code, refusal.details["waiting_for"]) == ("not_actionable", [])


def test_a_node_that_somebody_else_has_claimed_is_refused_with_who_and_until_when(
    work: WorkClient, clock: ManualClock
) -> None:
    work.plan("a")
    work.by("robin").claim()

    refusal = error_of(lambda: work.call("work.claim", node_id=work["a"]))

    assert isinstance(refusal, Conflict)
    assert (refusal.code, refusal.details["claimed_by"]) == ("already_claimed", "robin")
    assert refusal.details["claimed_until"]
    clock.move(hours=2)
    assert work.call("work.claim", node_id=work["a"]).nodes[0].claim == 2


def test_the_project_may_be_given_and_must_be_that_of_the_node(work: WorkClient) -> None:
    work.plan("a")
    other = WorkClient(work.session, "borealis")
    other.open()

    assert len(work.call("work.next", project=work.project, node_id=work["a"]).nodes) == 1
    refusal = error_of(lambda: work.call("work.next", project="borealis", node_id=work["a"]))
    assert (refusal.code, refusal.details["nodes"]) == ("mixed_projects", [work["a"]])


@pytest.mark.parametrize("beside", [{"scope": "x"}, {"filter": {"a": 1}}, {"count": 2}])
def test_a_named_node_takes_nothing_that_would_choose_another(work: WorkClient, beside: dict[str, object]) -> None:
    work.plan("a")

    assert error_of(lambda: work.call("work.next", node_id=work["a"], **beside)).code == "invalid_argument"


def test_without_project_and_node_the_project_is_missing(work: WorkClient) -> None:
    refusal = error_of(lambda: work.call("work.next"))

    assert (refusal.code, refusal.details["field"]) == ("missing_argument", "project")
    assert isinstance(error_of(lambda: work.call("work.next", node_id="nowhere")), NotFound)
