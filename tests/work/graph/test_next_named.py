"""`node_id` offers or claims exactly one node, or says why not."""

from __future__ import annotations

from functools import partial

import pytest

from groundplan.kernel.errors import Conflict, NotFound
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.client import WorkClient


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
