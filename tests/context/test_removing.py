"""Rows of a draft can be removed, and nothing keeps a reference to them."""

from __future__ import annotations

from functools import partial

from groundplan.kernel.errors import Invalid, NotFound
from tests.context.client import NOWHERE, ContextClient
from tests.errors import error_of


def test_rows_are_taken_out_with_what_hangs_on_them(client: ContextClient) -> None:
    survey, permit = client.source("survey"), client.source("permit")
    client.write("/a", 1, sourceIds=["survey", "permit"])
    client.write("/b", 2, sourceIds=["survey"], provenance="user-entered")
    client.agent.write("/b", 3, sourceIds=["survey", "permit"])
    id_ = client.constrain("k", 1, sourceId=survey, provenance="user-entered")
    client.agent.edit(constraints=[{"id": id_, "value": 2}])
    (artifact,) = client.edit(artifacts=[{"type": "t", "title": "t"}]).artifacts

    client.edit(remove={"sources": [survey], "artifacts": [artifact.id]})
    view = client.view()
    assert (list(view.sources_by_id), view.artifacts_by_type) == ([permit], {})
    assert [one.source_ids for one in view.inputs_by_pointer.values()] == [[permit], []]
    assert view.constraints[0].source_id is None
    assert sorted(one.source_ids for one in view.suggestions or []) == [[], [permit]]

    client.edit(remove={"inputs": ["/a", "/b"], "constraints": [id_], "sources": [permit]})
    view = client.view()
    assert (view.sources_by_id, view.inputs_by_pointer, view.constraints, view.suggestions or []) == ({}, {}, [], [])
    client.write("/a", "again")
    assert client.commit().run.status == "committed"


def test_a_source_that_alone_backs_a_value_stays(client: ContextClient) -> None:
    survey = client.source("survey")
    client.write("/a", 1, sourceIds=["survey"])
    assert error_of(partial(client.edit, remove={"sources": [survey]})).code == "last_source"
    client.edit(remove={"inputs": ["/a"], "sources": [survey]})

    other = client.source("permit")
    client.constrain("k", 1, sourceId=other)
    assert error_of(partial(client.edit, remove={"sources": [other]})).code == "last_source"


def test_only_a_person_takes_out_what_a_model_did_not_bring_in(client: ContextClient) -> None:
    client.source("survey")
    client.write("/mine", 1)
    client.write("/backed", 1, sourceIds=["survey"])
    client.write("/unset", valueKind="number", provenance="user-entered")
    client.agent.write("/guess", 1)
    id_ = client.constrain("k", 1)

    for removal in ({"inputs": ["/mine"]}, {"inputs": ["/backed"]}, {"constraints": [id_]}):
        assert error_of(partial(client.agent.edit, remove=removal)).code == "provenance_not_allowed"
    client.agent.edit(remove={"inputs": ["/unset", "/guess"]})
    assert list(client.view().inputs_by_pointer) == ["/backed", "/mine"]


def test_what_is_not_in_this_run_cannot_be_taken_out(client: ContextClient) -> None:
    elsewhere = client.source("survey")
    client.draft()

    for removal in ({"inputs": ["/a"]}, {"sources": [elsewhere]}, {"constraints": [NOWHERE]}, {"artifacts": [NOWHERE]}):
        assert isinstance(error_of(partial(client.edit, remove=removal)), NotFound)
    assert isinstance(error_of(partial(client.edit, remove={})), Invalid)
    assert error_of(partial(client.edit, remove={"input": ["/a"]})).code == "unknown_argument"
