"""Decisions answer requests and supersede earlier decisions; both are named by the id they were recorded under."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.actors import Access, local_actor
from groundplan.kernel.errors import Forbidden, Invalid, NotFound
from groundplan.kernel.preferences import Preferences
from groundplan.purpose.observing.record import AlreadyAnswered, AlreadySuperseded
from groundplan.session import Session
from tests.manual_clock import ManualClock
from tests.purpose.client import PurposeClient, op


@pytest.fixture
def atlas(chain_client: PurposeClient) -> PurposeClient:
    """A chain with an assumption on its outcome."""
    chain_client.edit(op("add_assumption", node="OC1", assumption_text="It rains"))
    return chain_client


def decide(client: PurposeClient, text: str = "dig on", **given: Any) -> str:
    (id_,) = client.record(decisions=[{"text": text, "rationale": "r", **given}]).decisions
    return str(id_)


def ask(client: PurposeClient, question: str = "dig on?", **given: Any) -> str:
    (id_,) = client.record(requests=[{"question": question, **given}]).requests
    return str(id_)


def observations(client: PurposeClient, **given: Any) -> Any:
    return client.call("purpose.observations", **given)


def test_a_request_is_open_until_a_decision_answers_it(atlas: PurposeClient) -> None:
    asked = ask(atlas, about=["AS1", "AC1->OP1"], to="ben")
    (before,) = observations(atlas).requests

    answer = decide(atlas.by("ben"), answers=asked)

    (after,) = observations(atlas).requests
    assert (before.id, before.to, before.about, before.answered_by) == (asked, "ben", ["AS1", "AC1->OP1"], None)
    assert after.answered_by == answer
    (decision,) = observations(atlas).decisions
    assert (decision.id, decision.answers, decision.about) == (answer, asked, ["AS1", "AC1->OP1"])


def test_a_superseded_decision_names_the_one_that_replaced_it(atlas: PurposeClient) -> None:
    first = decide(atlas, about=["AC1"])
    second = decide(atlas, "dig elsewhere", supersedes=first)
    third = decide(atlas, "stop", supersedes=second, about=["OP1"])

    found = [(one.id, one.supersedes, one.superseded_by, one.about) for one in observations(atlas).decisions]

    assert found == [
        (first, None, second, ["AC1"]),
        (second, first, third, ["AC1"]),
        (third, second, None, ["OP1"]),
    ]


def test_what_was_answered_or_superseded_later_was_not_so_before(atlas: PurposeClient, clock: ManualClock) -> None:
    first, asked = decide(atlas), ask(atlas)
    clock.move(days=1)
    decide(atlas, supersedes=first, answers=asked)

    known = observations(atlas, as_of="2026-03-01")

    assert [(one.id, one.superseded_by) for one in known.decisions] == [(first, None)]
    assert [(one.id, one.answered_by) for one in known.requests] == [(asked, None)]


def test_a_second_successor_and_a_second_answer_are_refused_and_the_error_names_the_first(atlas: PurposeClient) -> None:
    first, asked = decide(atlas), ask(atlas)
    second = decide(atlas, supersedes=first, answers=asked)

    with pytest.raises(AlreadySuperseded) as superseded:
        decide(atlas, supersedes=first)
    with pytest.raises(AlreadyAnswered) as answered:
        decide(atlas, answers=asked)
    with pytest.raises(AlreadySuperseded):
        atlas.record(decisions=[{"text": "t", "rationale": "r", "supersedes": second}] * 2)

    assert superseded.value.details["superseded_by"] == answered.value.details["answered_by"] == second
    assert len(observations(atlas).decisions) == 2


def test_an_unknown_id_is_refused_with_one_that_resembles_it(atlas: PurposeClient) -> None:
    first, asked = decide(atlas), ask(atlas)

    with pytest.raises(NotFound) as unknown:
        decide(atlas, supersedes=f"{first}1")
    assert unknown.value.details["near"] == [first]
    for field, ref in (("answers", first), ("supersedes", asked), ("answers", "x"), ("supersedes", "9" * 99 + ".0")):
        with pytest.raises(NotFound):
            decide(atlas, **{field: ref})


def test_a_decision_of_another_project_is_not_found(atlas: PurposeClient) -> None:
    first = decide(atlas)
    atlas.session.call("project.create", name="borealis")

    with pytest.raises(NotFound):
        decide(PurposeClient(atlas.session, "borealis"), supersedes=first)


def test_decisions_and_requests_can_be_about_work_and_an_unknown_subject_is_refused(atlas: PurposeClient) -> None:
    (node,) = atlas.call("work.plan", nodes=[{"ref": "a", "summary": "Dig the first well"}]).created
    asked = ask(atlas, about=[node.id, "AS1"])
    decide(atlas, answers=asked, about=[node.id[:5]])

    assert observations(atlas).requests[0].about == [node.id, "AS1"]
    assert observations(atlas).decisions[0].about == [node.id]
    with pytest.raises(NotFound) as unknown:
        ask(atlas, about=[node.id[:-1] + "!"])
    assert unknown.value.details["near"] == [node.id]
    for ref in ("AS9", "AC1->AC9", "/no/such/fact"):
        with pytest.raises(NotFound):
            ask(atlas, about=[ref])


def test_a_work_node_of_another_project_is_no_subject(atlas: PurposeClient) -> None:
    other = PurposeClient(atlas.session, "borealis")
    atlas.session.call("project.create", name="borealis")
    (node,) = other.call("work.plan", nodes=[{"ref": "a", "summary": "Elsewhere"}]).created

    with pytest.raises(NotFound):
        ask(atlas, about=[node.id])


def test_a_superseded_decision_no_longer_settles_a_refuted_assumption(atlas: PurposeClient) -> None:
    atlas.record(reviews=[{"assumption": "AS1", "status": "refuted", "reason": "r"}])
    first = decide(atlas, about=["AS1"])
    assert _refuted(atlas) == "passed"

    second = decide(atlas, "not about it", supersedes=first, about=["AC1"])
    assert _refuted(atlas) == "failed"

    decide(atlas, supersedes=second, about=["AS1"])
    assert _refuted(atlas) == "passed"


def _refuted(client: PurposeClient) -> str:
    return {check.code: str(check.result) for check in client.check("A").checks}["GA_REFUTED"]


def test_a_request_without_a_question_is_refused(atlas: PurposeClient) -> None:
    with pytest.raises(Invalid):
        ask(atlas, " ")


def test_pages_of_observations_end_with_the_requests(atlas: PurposeClient) -> None:
    first = decide(atlas)
    ids = [ask(atlas, f"{number} " + "x" * 3_000) for number in range(12)]
    small = Session(atlas.session.store, atlas.session.actor, preferences=Preferences(answer_tokens_max=4_000))
    pages = [small.call("purpose.observations", project="atlas")]
    while pages[-1].next_cursor:
        pages.append(small.call("purpose.observations", project="atlas", cursor=pages[-1].next_cursor))

    assert len(pages) > 2
    assert [one.id for page in pages for one in page.requests] == ids
    assert [one.id for page in pages for one in page.decisions] == [first]


def test_a_viewer_reads_requests_and_may_not_ask(atlas: PurposeClient) -> None:
    asked = ask(atlas)
    atlas.session.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    cleo = atlas.by(local_actor("cleo", access=Access.MEMBERS))

    assert [one.id for one in observations(cleo).requests] == [asked]
    with pytest.raises(Forbidden):
        ask(cleo)
