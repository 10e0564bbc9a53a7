"""Regressions: rules of facts that could once be bypassed."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import msgspec
import pytest

from groundplan.kernel.answers import count_tokens, encode, fits
from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.context.client import ContextClient, value_of
from tests.engines import Engine
from tests.errors import error_of
from tests.manual_clock import ManualClock


def with_cap(client: ContextClient, cap: int) -> ContextClient:
    session = Session(client.session.store, client.session.actor, preferences=Preferences(answer_tokens_max=cap))
    return ContextClient(session, client.scope, client.ids)


def test_a_model_cannot_clear_what_a_person_took_from_a_source_and_then_fill_in_a_guess(client: ContextClient) -> None:
    survey = client.source("survey")
    client.write("/size", 5, sourceIds=["survey"])
    id_ = client.constrain("max", 5, sourceId=survey)
    cleared = {"value": None, "provenance": "source-backed"}

    for claim in (cleared, {"value": 99}):
        client.agent.edit(inputs=[{"pointer": "/size", **claim}], constraints=[{"id": id_, **claim}])

    assert [value_of(one) for one in (client.input("/size"), client.view().constraints[0])] == [5, 5]
    assert sorted(one.value_number or 0 for one in client.suggestions()) == [99, 99]


def test_a_model_clears_what_it_inferred_itself(client: ContextClient) -> None:
    client.agent.write("/guess", 1)
    client.agent.write("/guess", None, provenance="model-inferred")
    assert value_of(client.input("/guess")) is None


def test_another_value_does_not_inherit_the_source_of_the_one_before_it(client: ContextClient) -> None:
    survey = client.source("survey")
    client.write("/size", 5, sourceIds=["survey"])
    id_ = client.constrain("max", 5, sourceId=survey)

    unsourced = {"value": 99, "provenance": "source-backed"}

    client.agent.edit(inputs=[{"pointer": "/size", **unsourced}], constraints=[{"id": id_, **unsourced}])
    assert (client.input("/size").value_number, len(client.suggestions())) == (
        5,
        2,
    )  # a model names a source, or its value is an inference
    client.edit(inputs=[{"pointer": "/size", **unsourced}], constraints=[{"id": id_, **unsourced}])

    assert (client.input("/size").source_ids, client.view().constraints[0].source_id) == ([], None)
    error = error_of(client.commit)
    assert (error.code, error.details) == ("source_missing", {"pointers": ["/size"], "keys": ["max"]})


def test_evidence_goes_with_the_value_that_it_was_of(client: ContextClient) -> None:
    survey = client.source("survey")
    client.agent.write("/x", 104, sourceIds=["survey"], evidenceSnippet="104 households")
    id_ = client.constrain("k", 104, sourceId=survey, snippet="104 households")

    client.edit(inputs=[{"pointer": "/x", "value": 96}], constraints=[{"id": id_, "value": 96}])

    one, (constraint,) = client.input("/x"), client.view().constraints
    assert (one.value_number, one.provenance, one.source_ids, one.evidence_snippet) == (96, "user-entered", [], None)
    assert (constraint.value_number, constraint.source_id, constraint.snippet) == (96, None, None)


def test_the_same_value_with_less_to_say_for_it_lets_the_rest_of_the_row_be_written(client: ContextClient) -> None:
    survey = client.source("survey")
    client.write("/y", 96)
    row = {"pointer": "/y", "value": 96, "provenance": "model-inferred", "label": "New", "sourceIds": [survey]}

    assert client.edit(inputs=[row]).suggested == []

    one = client.input("/y")
    assert (one.label, one.provenance, one.source_ids) == ("New", "user-entered", [survey])
    assert error_of(partial(client.agent.edit, inputs=[row | {"label": "Other"}])).code == "provenance_not_allowed"


def test_rows_of_two_tables_may_have_one_id_and_can_be_copied(client: ContextClient) -> None:
    id_ = client.source("survey")
    client.write("/x", 1, id=id_, sourceIds=["survey"])
    client.constrain("k", 1, id=id_, sourceId=id_)
    client.edit(artifacts=[{"id": id_, "type": "t", "title": "t"}])
    client.agent.write("/x", 2, sourceIds=["survey"])
    client.draft(copyFrom=client.run)

    view = client.view()
    assert view.inputs_by_pointer["/x"].source_ids == list(view.sources_by_id) == [view.constraints[0].source_id]


def test_an_input_names_no_more_sources_than_an_answer_can_hold(client: ContextClient) -> None:
    client.write("/x", 1)
    made = client.edit(sources=[{"kind": "url", "title": "t", "uri": "u"} for _ in range(101)]).sources
    links = [{"pointer": "/x", "sourceId": one.id} for one in made]

    assert error_of(partial(client.edit, links=links)).code == "too_many"
    client.edit(links=links[:100])
    assert len(client.input("/x").source_ids) == 100


def test_a_source_that_waits_for_its_value_is_kept(client: ContextClient) -> None:
    survey = client.source("survey")
    client.write("/size", valueKind="number", provenance="source-backed")
    client.edit(links=[{"pointer": "/size", "sourceId": survey}])
    client.write("/size", 5, provenance="source-backed")
    assert client.input("/size").source_ids == [survey]


def test_only_a_person_changes_what_is_said_of_a_value_that_a_person_entered(client: ContextClient) -> None:
    survey, permit = client.source("survey"), client.source("permit")
    client.write("/size", 5, provenance="user-entered", sourceIds=["survey"], label="Size")
    id_ = client.constrain("max", 5, provenance="user-entered", sourceId=survey)
    client.write("/needed", valueKind="string", required=True)
    before = client.view()

    calls: list[dict[str, Any]] = [
        {"inputs": [{"pointer": "/size", "label": "Weight"}]},
        {"inputs": [{"pointer": "/size", "evidenceSnippet": "forged"}]},
        {"inputs": [{"pointer": "/size", "sourceIds": []}]},
        {"inputs": [{"pointer": "/size", "options": ["a"]}]},
        {"inputs": [{"pointer": "/needed", "required": False}]},
        {"links": [{"pointer": "/size", "sourceId": permit}]},
        {"unlinks": [{"pointer": "/size", "sourceId": survey}]},
        {"constraints": [{"id": id_, "key": "other"}]},
        {"constraints": [{"id": id_, "sourceId": None}]},
        {"constraints": [{"id": id_, "snippet": "forged"}]},
        {"remove": {"sources": [survey]}},
        {"remove": {"inputs": ["/needed"]}},
    ]
    for call in calls:
        assert error_of(partial(client.agent.edit, **call)).code == "provenance_not_allowed", call
    assert client.view() == before

    rows = msgspec.to_builtins(before)
    client.agent.edit(inputs=list(rows["inputsByPointer"].values()), constraints=rows["constraints"])
    assert client.view() == before  # sent back unchanged, it claims nothing


def test_what_is_required_is_let_go_by_a_person_alone_whatever_was_written_before(client: ContextClient) -> None:
    client.write("/site", valueKind="string", required=True, label="Location")
    for harmless in ({"label": "Location."}, {"value": "tmp"}, {"value": None, "provenance": "model-inferred"}):
        client.agent.edit(inputs=[{"pointer": "/site", **harmless}])
        for call in ({"inputs": [{"pointer": "/site", "required": False}]}, {"remove": {"inputs": ["/site"]}}):
            assert error_of(partial(client.agent.edit, **call)).code == "provenance_not_allowed"
    assert client.commit(allowPartial=True).missing == ["/site"]


def test_a_model_takes_out_again_what_it_guessed(client: ContextClient) -> None:
    client.agent.write("/guess", 1)
    client.agent.write("/asked", valueKind="string")
    client.agent.edit(remove={"inputs": ["/guess", "/asked"]})
    assert client.view().inputs_by_pointer == {}


def test_a_model_cannot_make_another_source_of_the_one_that_a_person_named(client: ContextClient) -> None:
    survey = client.source("survey")
    client.write("/size", 5, provenance="user-entered", sourceIds=["survey"])

    for change in ({"title": "other"}, {"uri": "evil"}, {"kind": "file"}):
        assert error_of(partial(client.agent.edit, sources=[{"id": survey, **change}])).code == "provenance_not_allowed"
    client.agent.edit(
        sources=[{"id": survey, "parseStatus": "parsed", "excerpt": "5,000 ha"}]
    )  # reading changes nothing
    assert client.view().sources_by_id[survey].excerpt == "5,000 ha"


def test_whoever_accepts_a_suggestion_accepts_what_they_read(client: ContextClient) -> None:
    client.write("/size", 5)
    read = client.agent.write("/size", 100).suggested[0].id
    client.agent.write("/size", 666)

    assert error_of(partial(client.edit, accept=[read])).code == "not_found"
    assert client.input("/size").value_number == 5


def test_pages_of_a_draft_that_was_changed_meanwhile_are_refused(client: ContextClient) -> None:
    client.edit(inputs=[{"pointer": f"/{n:02}", "label": "x", "value": 0} for n in range(20)])
    first, second = client.run, client.draft()
    client.ids["run"] = first
    seen = with_cap(client, 600)
    page = seen.view().next_cursor
    difference = {"from": second, "to": first}
    compared = seen.call("context.diff", **difference).next_cursor
    client.write("/19", 1)

    assert error_of(partial(seen.view, cursor=page)).code == "stale_rev"
    assert error_of(partial(seen.call, "context.diff", **difference, cursor=compared)).code == "stale_rev"


def test_a_diff_says_what_was_redefined(client: ContextClient) -> None:
    client.write("/a", valueKind="string", required=True, label="Old")
    first = client.run
    client.draft(copyFrom=first)
    client.write("/a", required=False, label="New")

    (one,) = client.call("context.diff", **{"from": first, "to": client.run}).inputs
    assert (one.change, [(field.field, field.before, field.after) for field in one.fields]) == (
        "redefined",
        [("label", "Old", "New"), ("required", True, False)],
    )


def test_a_text_never_becomes_no_value(client: ContextClient) -> None:
    client.write("/n", 5)
    for column, text in (("valueNumber", "null"), ("valueNumber", "x"), ("valueBoolean", "null"), ("value", "null")):
        assert isinstance(error_of(partial(client.edit, inputs=[{"pointer": "/n", column: text}])), GroundplanError), (
            column
        )
    assert client.input("/n").value_number == 5
    client.write("/s", "null")
    assert client.input("/s").value_string == "null"


def test_a_person_who_names_a_source_for_their_own_value_keeps_it_theirs(client: ContextClient) -> None:
    survey = client.source("survey")
    client.write("/size", "210")
    assert client.write("/size", "214", sourceIds=["survey"]).suggested == []
    one = client.input("/size")
    assert (one.value_string, one.provenance, one.source_ids) == ("214", "user-entered", [survey])


def test_a_row_is_named_once_in_a_call(client: ContextClient) -> None:
    survey = client.source("survey")
    twice: list[dict[str, Any]] = [
        {"inputs": [{"pointer": "/a", "label": "a", "value": n} for n in range(2)]},
        {"sources": [{"id": id_, "title": "t"} for id_ in (survey, survey.replace("-", ""))]},
    ]
    for call in twice:
        assert isinstance(error_of(partial(client.edit, **call)), Invalid)


def test_a_fresh_id_for_an_input_that_is_there_is_passed_over(client: ContextClient) -> None:
    client.write("/a", 1)
    before = client.input("/a")
    client.edit(inputs=[{"id": "0" * 32, "pointer": "/a", "value": 2}])
    assert (client.input("/a").id, client.input("/a").value_number) == (before.id, 2)


def test_the_answer_to_many_rows_keeps_the_cap(client: ContextClient) -> None:
    seen = with_cap(client, 2_000)
    rows = [{"pointer": f"/{'x' * 30}/{n:04}", "label": "x", "value": n} for n in range(200)]
    answer = seen.edit(inputs=rows)

    assert fits(encode(answer), 2_000)
    assert len(answer.inputs) + answer.left_out["inputs"] == len(client.view().inputs_by_pointer) == 200


def test_a_commit_says_which_of_a_persons_values_it_overrules(client: ContextClient, clock: ManualClock) -> None:
    client.write("/kept", 1)
    client.write("/gone", 2)
    client.write("/guessed", 3)
    client.commit()
    clock.move(minutes=1)
    client.draft(copyFrom="none")
    client.write("/kept", 7)
    client.agent.write("/guessed", 4)

    assert client.commit(allowDrop=True).warnings == [
        "displaces what a person entered in the previous commit: /gone, /guessed"
    ]


def test_a_commit_of_nothing_says_which_of_a_persons_values_it_takes_back(
    client: ContextClient, clock: ManualClock
) -> None:
    client.write("/owner", "parish")
    client.write("/same", 1)
    client.constrain("k", 1)
    client.commit()
    clock.move(minutes=1)
    client.agent.draft(copyFrom="none")

    assert error_of(client.agent.commit).code == "displaces_user_entered"
    assert client.commit(allowDrop=True).warnings == [
        "the run has no inputs and no constraints: no facts are in force now",
        "displaces what a person entered in the previous commit: /owner, /same, k",
    ]


def test_a_row_that_no_page_can_hold_is_named_and_what_comes_behind_it_is_reached(client: ContextClient) -> None:
    client.write("/a", "x" * 20_000)
    client.write("/b", "small")
    seen = with_cap(client, 1_000)

    pages = [seen.view()]
    while pages[-1].next_cursor is not msgspec.UNSET:
        pages.append(seen.view(cursor=pages[-1].next_cursor))

    assert all(count_tokens(encode(page)) <= 1_000 for page in pages)
    assert [pointer for page in pages for pointer in page.inputs_by_pointer] == ["/b"]
    assert any("/a" in warning for page in pages for warning in page.warnings)


def test_much_that_is_missing_keeps_the_cap_and_can_still_be_committed(client: ContextClient) -> None:
    rows = [{"pointer": f"/{n:04}", "label": "x", "valueKind": "string", "required": True} for n in range(600)]
    client.edit(inputs=rows)
    seen = with_cap(client, 1_000)

    error = error_of(seen.commit)
    assert fits(encode(error.to_dict()), 1_000)
    named = error.details["pointers"]
    assert (named[0], len(named) + error.details["left_out"]["pointers"]) == ("/0000", 600)
    done = seen.commit(allowPartial=True)
    assert fits(encode(done), 1_000)
    assert (done.missing[0], len(done.missing) + done.left_out["missing"]) == ("/0000", 600)


def test_a_comparison_comes_in_pages_that_keep_the_cap(client: ContextClient) -> None:
    first = client.run
    second = client.draft()
    client.edit(
        inputs=[{"pointer": f"/{n:03}", "label": "x", "value": n} for n in range(60)],
        constraints=[{"key": f"k{n:02}", "label": "k", "value": n} for n in range(30)],
        sources=[{"kind": kind, "title": "t", "uri": "u"} for kind in ("url", "file", "url")],
    )
    whole = client.call("context.diff", **{"from": first, "to": second})
    seen = with_cap(client, 600)

    pages, cursor = [], None
    while True:
        pages.append(seen.call("context.diff", **{"from": first, "to": second, "cursor": cursor}))
        cursor = pages[-1].next_cursor
        if cursor is msgspec.UNSET:
            break
        assert pages[-1].left_out is not msgspec.UNSET

    assert len(pages) > 5
    assert all(fits(encode(page), 600) for page in pages)
    for part in ("inputs", "constraints", "sources"):
        assert [one for page in pages for one in getattr(page, part)] == getattr(whole, part)
    assert (
        error_of(partial(client.call, "context.diff", **{"from": first, "to": second, "pointers": ["x"]})).code
        == "invalid_pointer"
    )


def test_a_document_whose_rows_stand_under_other_names_is_refused(client: ContextClient) -> None:
    client.source("survey")
    client.write("/a", 1, sourceIds=["survey"])
    client.edit(artifacts=[{"type": "t", "title": "t"}])
    good = json.loads(encode(client.call("context.export", scopeId="atlas", runId=client.run)))
    row, artifact = good["inputsByPointer"]["/a"], good["artifactsByType"]["t"]
    (source,) = good["sourcesById"].values()

    wrong: list[dict[str, Any]] = [
        {"inputsByPointer": {"/b": row}},
        {"inputsByPointer": {"/" + "a" * 2_000: row}},
        {"inputsByPointer": {"/a": row | {"sourceIds": ["nobody"]}}},
        {"artifactsByType": {"": artifact}},
        {"artifactsByType": {"a" * 300: artifact}},
        {"sourcesById": {"": source}},
        {"sourcesById": {"0" * 32: source}},
    ]
    for change in wrong:
        error = error_of(partial(client.call, "context.import", scopeId="atlas", document=good | change))
        assert isinstance(error, Invalid), change
        assert str(error.details["field"]).startswith("document."), change
    undashed = good | {"inputsByPointer": {"/a": row | {"sourceIds": [source["id"].replace("-", "")]}}}
    client.call("context.import", scopeId="atlas", document=undashed)


def test_rows_of_one_call_keep_their_order_also_in_a_copy_and_in_a_document(client: ContextClient) -> None:
    titles = [f"t{n:02}" for n in range(12)]
    client.edit(
        artifacts=[{"type": "plan", "title": title} for title in titles],
        constraints=[{"key": title, "label": title, "value": 1} for title in titles],
    )

    def order(run_id: str) -> list[list[str]]:
        view = client.view(runId=run_id)
        return [[one.title for one in view.artifacts_by_type["plan"]], [one.label for one in view.constraints]]

    document = json.loads(encode(client.call("context.export", scopeId="atlas", runId=client.run)))
    taken = client.call("context.import", scopeId="atlas", document=document).run.id
    assert order(client.run) == order(client.draft(copyFrom=client.run)) == order(taken) == [titles, titles]


def test_a_new_input_with_every_column_null_is_unknown(client: ContextClient) -> None:
    columns = dict.fromkeys(("valueString", "valueNumber", "valueBoolean", "valueEnum", "valueJson"))
    client.write("/project/budget", valueKind="number", required=True, **columns)
    assert client.input("/project/budget").provenance == "unknown"


def test_the_last_source_of_a_backed_constraint_stays(client: ContextClient) -> None:
    survey = client.source("survey")
    id_ = client.constrain("max", 5, sourceId=survey)
    assert error_of(partial(client.edit, constraints=[{"id": id_, "sourceId": None}])).code == "last_source"


@pytest.mark.parametrize("field", ["fileId", "sourceId"])
def test_an_empty_id_is_none(client: ContextClient, field: str) -> None:
    row = {"kind": "url", "title": "t", "uri": "u", "fileId": ""}
    call = (
        {"sources": [row]}
        if field == "fileId"
        else {"constraints": [{"key": "k", "label": "k", "value": 1, field: ""}]}
    )
    assert error_of(partial(client.edit, **call)).code == "invalid_id"


def test_a_run_that_another_scope_calls_deleted_is_not(engine: Engine, client: ContextClient) -> None:
    ContextClient(client.session, "borealis").draft()
    ((theirs,),) = engine.as_owner("SELECT id FROM projects WHERE name = 'borealis'")
    engine.as_owner(
        "INSERT INTO pciv_deleted_runs (tenant_id, run_id, project_id, deleted_at, deleted_by, deleter_kind) "
        f"VALUES ('local', '{client.run}', '{theirs}', '2026-03-01T09:00:00.000Z', 'mallory', 'user')"
    )
    assert client.view().run.id == client.run
    assert client.write("/a", 1).rev == 2


def test_what_was_suggested_is_recorded_with_what_it_was_before(engine: Engine, client: ContextClient) -> None:
    client.write("/size", 5)
    client.agent.write("/size", 1, rationale="first")
    client.agent.write("/size", 2)
    client.edit(remove={"inputs": ["/size"]})

    rows = engine.as_owner("SELECT op, changes FROM events WHERE op LIKE 'context.suggest%' ORDER BY rev, n")
    told = [(op, {one["field"]: (one["before"], one["after"]) for one in json.loads(changes)}) for op, changes in rows]
    assert [op.partition(".")[2] for op, _ in told] == ["suggested", "suggestion_removed"] * 2
    assert [one["value_number"] for _, one in told] == [(None, 1), (1, None), (None, 2), (2, None)]
    assert [one.get("rationale") for _, one in told] == [(None, "first"), ("first", None), None, None]
