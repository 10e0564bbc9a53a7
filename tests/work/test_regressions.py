"""Regressions: bugs that the work graph once had."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import encode
from tests.errors import error_of
from tests.proof import scaled
from tests.work.client import WorkClient


def test_a_refusal_over_two_projects_can_be_written_down(work: WorkClient) -> None:
    work.plan("a")
    other = work.session.call("work.open", project="borealis").root.id

    for refusal in (
        error_of(lambda: work.call("work.next", project="atlas", scope=other)),
        error_of(lambda: work.call("work.query", project="atlas", filter={"ancestor": other})),
        error_of(lambda: work.call("work.update", updates=[{"node_id": work["a"]}, {"node_id": other}])),
    ):
        assert b'"mixed_projects"' in encode(refusal.to_dict())


@pytest.mark.proof
def test_a_long_chain_of_parents_resolves_itself(work: WorkClient) -> None:
    count = scaled(250, 1_000)
    work.open(policies={"auto_resolve_parents": True})
    names = [f"n{place}" for place in range(count)]
    work.plan("\n".join(" " * depth + name for depth, name in enumerate(names)))

    answer = work.resolve(names[-1])

    assert answer.auto_resolved_total == count - 1
    assert work.counts()[:2] == (count + 1, count)


def test_pages_go_on_behind_a_priority_of_any_size(work: WorkClient) -> None:
    work.plan("a\nb\nc", each={name: {"properties": {"priority": 1e19}} for name in "abc"})

    first = work.call("work.query", project="atlas", limit=1)
    second = work.call("work.query", project="atlas", limit=1, cursor=first.next_cursor)

    assert [work.name(node.id) for node in (*first.nodes, *second.nodes)] == ["a", "b"]


def test_a_project_that_was_made_with_policies_is_opened_by_the_same_op_id_again(work: WorkClient) -> None:
    wanted = {"project": "borealis", "policies": {"evidence": "off"}, "op_id": "once"}

    assert work.session.call("work.open", **wanted) == work.session.call("work.open", **wanted)


def test_a_merge_that_is_sent_again_has_the_same_answer(work: WorkClient) -> None:
    work.plan("a\nb")
    operations = [{"op": "merge", "source": work["a"], "target": work["b"]}]

    answers = [work.call("work.restructure", operations=operations, op_id="once") for _ in range(2)]

    assert answers[0] == answers[1]


def test_a_claim_that_is_held_stays_held_when_its_holder_asks_again(work: WorkClient) -> None:
    work.plan("a")
    ada = work.by("ada", kind=ActorKind.PERSON)
    ada.claim()
    ada.update("a", hold=True)

    ada.claim()

    assert ada.node("a").properties["_held"] is True


@pytest.mark.parametrize("operation", ["drop", "merge"])
def test_what_somebody_else_claims_is_neither_dropped_nor_merged_away_where_claims_are_enforced(
    work: WorkClient, operation: str
) -> None:
    work.open(policies={"claims": "enforced"})
    work.plan("a\nb")
    assert work.by("ben").claim() == ["a"]

    refusal = error_of(lambda: work.drop("a") if operation == "drop" else work.merge("a", "b"))

    assert refusal.code == "claimed_by_another"


def test_what_is_claimed_or_has_no_evidence_is_not_resolved_by_its_children_where_the_policies_forbid_it(
    work: WorkClient,
) -> None:
    work.open(policies={"auto_resolve_parents": True, "evidence": "require"})
    work.plan("phase\n  task")

    answer = work.update("task", resolved=True, add_evidence=[{"type": "git", "ref": "abc"}])

    assert work.names(answer.newly_actionable) == ["phase"]
    assert work.counts()[1] == 1


def test_the_revisions_of_a_batch_are_those_that_the_nodes_have_now(work: WorkClient) -> None:
    work.plan("phase\n  task")
    work.resolve("task", "phase")

    answer = work.updates({"node_id": "phase", "summary": "stage"}, {"node_id": "task", "resolved": False})

    assert [one.rev for one in answer.updated] == [work.node("phase").rev, work.node("task").rev]
    assert [one.summary for one in answer.reopened] == ["stage"]


def test_renewing_and_releasing_at_once_is_refused(work: WorkClient) -> None:
    work.plan("a")
    work.claim()

    assert error_of(lambda: work.update("a", renew=True, release=True)).code == "invalid_argument"
