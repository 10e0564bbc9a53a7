"""A partial run in force is completed by an edit, which opens a draft of it."""

from __future__ import annotations

from functools import partial

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Conflict
from tests.context.client import NOWHERE, ContextClient, value_of
from tests.errors import error_of
from tests.manual_clock import ManualClock


@pytest.fixture
def partly(client: ContextClient, clock: ManualClock) -> ContextClient:
    """A partial run in force: one fact with a source, one that is missing, a constraint and a suggestion."""
    client.source("survey")
    client.write("/size", 5, sourceIds=["survey"], provenance="user-entered")
    client.write("/owner", valueKind="string", required=True)
    client.constrain("max", 9)
    client.agent.write("/size", 6)
    client.commit(allowPartial=True)
    clock.move(minutes=1)
    return client


def test_an_edit_of_the_partial_run_in_force_opens_a_draft_from_it_and_says_so(partly: ContextClient) -> None:
    first = partly.run
    before = partly.view()

    edited = partly.write("/owner", "The parish")

    assert (edited.run.id, edited.draft, edited.from_) == (edited.draft, edited.draft, first)
    assert partly.view(runId=first) == before
    draft = partly.view(runId=edited.draft)
    assert {pointer: value_of(row) for pointer, row in draft.inputs_by_pointer.items()} == {
        "/owner": "The parish",
        "/size": 5,
    }
    partly.call("context.commit", runId=edited.draft)
    view = partly.view_in_force()
    assert (view.run.status, view.missing) == ("committed", [])


def test_an_agent_completes_what_is_missing(partly: ContextClient) -> None:
    edited = partly.agent.write("/owner", "The parish")

    partly.agent.call("context.commit", runId=edited.draft)

    assert partly.view_in_force().inputs_by_pointer["/owner"].provenance == "model-inferred"


def test_ids_of_the_partial_run_mean_their_copies_in_the_draft(partly: ContextClient) -> None:
    view = partly.view()
    (survey,) = view.sources_by_id
    [waiting] = view.suggestions or []

    edited = partly.edit(
        sources=[{"id": survey, "excerpt": "page 3"}],
        inputs=[{"pointer": "/owner", "value": "x", "runId": partly.run, "sourceIds": [survey]}],
        constraints=[{"id": view.constraints[0].id, "value": 10}],
        links=[{"constraint": "max", "sourceId": survey}],
        accept=[waiting.id],
    )

    draft = partly.view(runId=edited.draft)
    (copied,) = draft.sources_by_id
    assert copied != survey
    assert draft.sources_by_id[copied].excerpt == "page 3"
    assert draft.inputs_by_pointer["/owner"].source_ids == [copied]
    assert (draft.constraints[0].value_number, draft.constraints[0].source_id) == (10, copied)
    assert (draft.inputs_by_pointer["/size"].value_number, draft.suggestions) == (6, UNSET)


def test_any_other_committed_run_stays_frozen(partly: ContextClient, clock: ManualClock) -> None:
    older = partly.run
    edited = partly.write("/owner", "x")
    partly.call("context.commit", runId=edited.draft)
    clock.move(minutes=1)

    for run_id in (older, edited.draft):
        error = error_of(partial(partly.edit, runId=run_id, inputs=[{"pointer": "/owner", "value": "y"}]))
        assert (isinstance(error, Conflict), error.code) == (True, "frozen")


def test_an_edit_that_is_refused_leaves_no_draft(partly: ContextClient) -> None:
    runs = partly.call("context.list", scopeId="atlas").runs
    rev = partly.view().rev

    wrong = {"inputs": [{"pointer": "owner", "value": "x"}]}
    assert error_of(partial(partly.edit, **wrong)).code == "invalid_pointer"
    stale = {"inputs": [{"pointer": "/owner", "value": "x"}], "expected_rev": rev - 1}
    assert error_of(partial(partly.edit, **stale)).code == "stale_rev"
    assert partly.call("context.list", scopeId="atlas").runs == runs


def test_a_refusal_names_the_partial_run_and_its_rows_and_not_the_draft_that_was_not_made(
    partly: ContextClient,
) -> None:
    [waiting] = partly.view().suggestions or []
    misplaced = {"pointer": "/size", "valueKind": "number", "valueString": "large"}

    undecided = error_of(partial(partly.agent.edit, accept=[waiting.id]))
    unknown = error_of(partial(partly.edit, reject=[NOWHERE]))
    broken = error_of(partial(partly.edit, inputs=[misplaced]))

    (step,) = undecided.next_steps
    assert (step.operation, step.arguments) == ("context.edit", {"runId": partly.run, "accept": [waiting.id]})
    assert unknown.next_steps[0].arguments == {"scopeId": "atlas", "runId": partly.run}
    assert broken.details["runId"] == partly.run
    decided = partly.call("context.edit", **step.arguments)
    assert partly.view(runId=decided.draft).inputs_by_pointer["/size"].value_number == 6


def test_the_same_request_sent_twice_opens_one_draft(partly: ContextClient) -> None:
    answers = [partly.edit(inputs=[{"pointer": "/owner", "value": "x"}], op_id="once") for _ in range(2)]

    assert answers[0] == answers[1]
    assert len(partly.call("context.list", scopeId="atlas", status="draft").runs) == 1
