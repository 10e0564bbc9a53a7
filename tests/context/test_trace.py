"""One fact is traced through the runs, to the work and the purpose that rest on it."""

from __future__ import annotations

import pytest

from groundplan.kernel.errors import NotFound
from tests.context.client import ContextClient
from tests.errors import error_of
from tests.manual_clock import ManualClock


def test_a_fact_is_shown_in_every_run_that_has_it_newest_first(client: ContextClient, clock: ManualClock) -> None:
    client.write("/site/size", 5000)
    client.call("context.commit", runId=client.run)
    clock.move(minutes=1)
    client.draft(copyFrom="latest")
    client.write("/site/size", None)
    clock.move(minutes=1)
    client.draft(copyFrom="none")  # has no such fact
    traced = client.call("context.trace", scopeId="atlas", pointer="/site/size")

    assert [(one.status, one.value, one.by or None) for one in traced.runs] == [
        ("draft", None, None),
        ("committed", 5000, "ada"),
    ]
    assert traced.resting == []


def test_an_empty_text_is_not_the_same_as_no_value(client: ContextClient) -> None:
    client.write("/site/remarks", "")

    assert client.call("context.trace", scopeId="atlas", pointer="/site/remarks").runs[0].value == ""


def test_work_and_purpose_that_rest_on_a_fact_are_named(client: ContextClient) -> None:
    client.write("/site/size", 5000)
    task = client.call(
        "work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Fence it", "rests_on": ["/site/size"]}]
    )
    client.call("purpose.draft", project="atlas")
    added = client.call(
        "purpose.edit", project="atlas", operations=[{"op": "add_node", "node_type": "GOAL", "title": "A safe site"}]
    )
    goal = added.created[0].key
    client.call("work.connect", edges=[{"from": goal, "to": "/site/size", "type": "rests_on"}], project="atlas")
    traced = client.call("context.trace", scopeId="atlas", pointer="/site/size")

    assert {(one.ref, one.title) for one in traced.resting} == {
        (goal, "A safe site"),
        (task.created[0].id, "Fence it"),
    }


def test_a_fact_that_nobody_knows_is_not_found_and_one_like_it_is_named(client: ContextClient) -> None:
    client.write("/site/size", 5000)
    error = error_of(lambda: client.call("context.trace", scopeId="atlas", pointer="/place/size"))

    assert isinstance(error, NotFound)
    assert error.details["near"] == ["/site/size"]


def test_a_removed_fact_is_found_while_something_rests_on_it(client: ContextClient) -> None:
    client.write("/site/size", 5000)
    client.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Fence it", "rests_on": ["/site/size"]}])
    client.edit(remove={"inputs": ["/site/size"]})
    traced = client.call("context.trace", scopeId="atlas", pointer="/site/size")

    assert (traced.runs, len(traced.resting)) == ([], 1)


@pytest.mark.parametrize("runs", [1, 2])
def test_as_many_runs_are_looked_into_as_asked(client: ContextClient, clock: ManualClock, runs: int) -> None:
    for _ in range(3):
        client.write("/site/size", 1)
        client.call("context.commit", runId=client.run)
        clock.move(minutes=1)
        client.draft(copyFrom="latest")

    assert len(client.call("context.trace", scopeId="atlas", pointer="/site/size", limit=runs).runs) == runs
