"""What was written into a draft by mistake can be taken out again, and nothing is left that refers to it."""

from __future__ import annotations

from functools import partial

from groundplan.kernel.errors import Invalid, NotFound
from tests.context.desk import NOWHERE, Facts
from tests.errors import error_of


def test_rows_are_taken_out_with_what_hangs_on_them(desk: Facts) -> None:
    survey, permit = desk.source("survey"), desk.source("permit")
    desk.write("/a", 1, sourceIds=["survey", "permit"])
    desk.write("/b", 2, sourceIds=["survey"], provenance="user-entered")
    desk.agent.write("/b", 3, sourceIds=["survey", "permit"])
    id_ = desk.constrain("k", 1, sourceId=survey, provenance="user-entered")
    desk.agent.edit(constraints=[{"id": id_, "value": 2}])
    (artifact,) = desk.edit(artifacts=[{"type": "t", "title": "t"}]).artifacts

    desk.edit(remove={"sources": [survey], "artifacts": [artifact.id]})
    view = desk.view()
    assert (list(view.sources_by_id), view.artifacts_by_type) == ([permit], {})
    assert [one.source_ids for one in view.inputs_by_pointer.values()] == [[permit], []]
    assert view.constraints[0].source_id is None
    assert sorted(one.source_ids for one in view.suggestions or []) == [[], [permit]]

    desk.edit(remove={"inputs": ["/a", "/b"], "constraints": [id_], "sources": [permit]})
    view = desk.view()
    assert (view.sources_by_id, view.inputs_by_pointer, view.constraints, view.suggestions or []) == ({}, {}, [], [])
    desk.write("/a", "again")
    assert desk.commit().run.status == "committed"


def test_a_source_that_alone_backs_a_value_stays(desk: Facts) -> None:
    survey = desk.source("survey")
    desk.write("/a", 1, sourceIds=["survey"])
    assert error_of(partial(desk.edit, remove={"sources": [survey]})).code == "last_source"
    desk.edit(remove={"inputs": ["/a"], "sources": [survey]})

    other = desk.source("permit")
    desk.constrain("k", 1, sourceId=other)
    assert error_of(partial(desk.edit, remove={"sources": [other]})).code == "last_source"


def test_only_a_person_takes_out_what_a_model_did_not_bring_in(desk: Facts) -> None:
    desk.source("survey")
    desk.write("/mine", 1)
    desk.write("/backed", 1, sourceIds=["survey"])
    desk.write("/unset", valueKind="number", provenance="user-entered")
    desk.agent.write("/guess", 1)
    id_ = desk.constrain("k", 1)

    for removal in ({"inputs": ["/mine"]}, {"inputs": ["/backed"]}, {"constraints": [id_]}):
        assert error_of(partial(desk.agent.edit, remove=removal)).code == "provenance_not_allowed"
    desk.agent.edit(remove={"inputs": ["/unset", "/guess"]})
    assert list(desk.view().inputs_by_pointer) == ["/backed", "/mine"]


def test_what_is_not_in_this_run_cannot_be_taken_out(desk: Facts) -> None:
    elsewhere = desk.source("survey")
    desk.draft()

    for removal in ({"inputs": ["/a"]}, {"sources": [elsewhere]}, {"constraints": [NOWHERE]}, {"artifacts": [NOWHERE]}):
        assert isinstance(error_of(partial(desk.edit, remove=removal)), NotFound)
    assert isinstance(error_of(partial(desk.edit, remove={})), Invalid)
    assert error_of(partial(desk.edit, remove={"input": ["/a"]})).code == "unknown_argument"
