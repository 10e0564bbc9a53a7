"""Facts are exported as a document and imported as a draft: equal content, new ids."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from groundplan.kernel.answers import encode
from tests.context.client import ContextClient
from tests.context.test_runs import content_by_name
from tests.errors import error_of
from tests.manual_clock import ManualClock


def fill(client: ContextClient) -> None:
    client.source("survey", rawMeta={"pages": 3})
    client.write("/size", 5000, sourceIds=["survey"], evidenceSnippet="5,000 ha")
    client.write("/notes", "")
    client.write("/missing", valueKind="string", required=True)
    client.agent.write("/guess", 0.5)
    client.constrain("max", {"a": [None]}, sourceId=client["survey"])
    client.edit(artifacts=[{"type": "plan", "title": "First", "payload": {"b": False}}])


def to_plain(answer: Any) -> Any:
    return json.loads(encode(answer))


def test_an_export_taken_in_elsewhere_is_the_same_facts(client: ContextClient, clock: ManualClock) -> None:
    fill(client)
    client.commit(allowPartial=True)
    document = to_plain(client.call("context.export", scopeId="atlas"))
    other = ContextClient(client.session, "borealis")
    other.draft()

    taken = other.call("context.import", scopeId="borealis", document=document)

    assert document["format"] == 1
    assert (taken.run.status, taken.warnings) == ("draft", [])
    before, after = content_by_name(client.view_in_force()), content_by_name(other.view(runId=taken.run.id))
    before["inputsByPointer"]["/guess"]["updatedBy"] = "user"  # the importer is its author here
    assert after == before
    assert other.call("context.import", scopeId="borealis", document=to_plain(other.view(runId=taken.run.id)))


def test_a_page_of_a_view_and_a_document_of_another_format_are_refused(client: ContextClient) -> None:
    fill(client)
    whole = to_plain(client.view())

    for wrong in (whole | {"next_cursor": "x"}, whole | {"format": 2}, whole | {"more": 1}):
        assert error_of(partial(client.call, "context.import", scopeId="atlas", document=wrong)).status == 400


def test_suggestions_stay_behind_and_that_is_said(client: ContextClient) -> None:
    fill(client)
    client.agent.write("/notes", "near the river")

    taken = client.call("context.import", scopeId="atlas", document=to_plain(client.view()))

    assert len(taken.warnings) == 1
    assert "suggestions" not in to_plain(client.call("context.export", scopeId="atlas", runId=client.run))


def test_only_a_person_brings_values_that_a_person_entered(client: ContextClient) -> None:
    fill(client)
    document = to_plain(client.view())

    error = error_of(partial(client.agent.call, "context.import", scopeId="atlas", document=document))

    assert error.code == "provenance_not_allowed"
    assert len(client.call("context.list", scopeId="atlas").runs) == 1
