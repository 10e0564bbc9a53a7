"""Facts leave as a document and come back as a draft, the same under ids of their own."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from groundplan.kernel.output_gate import encode
from tests.context.desk import Facts
from tests.context.test_runs import contents
from tests.errors import error_of
from tests.manual_clock import ManualClock


def fill(desk: Facts) -> None:
    desk.source("survey", rawMeta={"pages": 3})
    desk.write("/size", 5000, sourceIds=["survey"], evidenceSnippet="5,000 ha")
    desk.write("/notes", "")
    desk.write("/missing", valueKind="string", required=True)
    desk.agent.write("/guess", 0.5)
    desk.constrain("max", {"a": [None]}, sourceId=desk["survey"])
    desk.edit(artifacts=[{"type": "plan", "title": "First", "payload": {"b": False}}])


def sent(answer: Any) -> Any:
    return json.loads(encode(answer))


def test_an_export_taken_in_elsewhere_is_the_same_facts(desk: Facts, clock: ManualClock) -> None:
    fill(desk)
    desk.commit(allowPartial=True)
    document = sent(desk.call("context.export", scopeId="atlas"))
    other = Facts(desk.session, "borealis")
    other.draft()

    taken = other.call("context.import", scopeId="borealis", document=document)

    assert document["format"] == 1
    assert (taken.run.status, taken.warnings) == ("draft", [])
    before, after = contents(desk.in_force()), contents(other.view(runId=taken.run.id))
    before["inputsByPointer"]["/guess"]["updatedBy"] = "user"  # whoever took it in has written it here
    assert after == before
    assert other.call("context.import", scopeId="borealis", document=sent(other.view(runId=taken.run.id)))


def test_a_page_of_a_view_and_a_document_of_another_format_are_refused(desk: Facts) -> None:
    fill(desk)
    whole = sent(desk.view())

    for wrong in (whole | {"next_cursor": "x"}, whole | {"format": 2}, whole | {"more": 1}):
        assert error_of(partial(desk.call, "context.import", scopeId="atlas", document=wrong)).status == 400


def test_suggestions_stay_behind_and_that_is_said(desk: Facts) -> None:
    fill(desk)
    desk.agent.write("/notes", "near the river")

    taken = desk.call("context.import", scopeId="atlas", document=sent(desk.view()))

    assert len(taken.warnings) == 1
    assert "suggestions" not in sent(desk.call("context.export", scopeId="atlas", runId=desk.run))


def test_only_a_person_brings_values_that_a_person_entered(desk: Facts) -> None:
    fill(desk)
    document = sent(desk.view())

    error = error_of(partial(desk.agent.call, "context.import", scopeId="atlas", document=document))

    assert error.code == "provenance_not_allowed"
    assert len(desk.call("context.list", scopeId="atlas").runs) == 1
