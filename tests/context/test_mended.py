"""Ways round the rules of facts, each of which was open once."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import msgspec
import pytest

from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.kernel.output_gate import count_tokens, encode, fits
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.context.desk import Facts, value_of
from tests.engines import Engine
from tests.work.desk import ManualClock, refused


def capped(desk: Facts, cap: int) -> Facts:
    session = Session(desk.session.store, desk.session.actor, preferences=Preferences(answer_tokens_max=cap))
    return Facts(session, desk.scope, desk.hand)


def test_a_model_cannot_clear_what_a_person_took_from_a_source_and_then_fill_in_a_guess(desk: Facts) -> None:
    survey = desk.source("survey")
    desk.write("/size", 5, sourceIds=["survey"])
    id_ = desk.constrain("max", 5, sourceId=survey)
    cleared = {"value": None, "provenance": "source-backed"}

    for claim in (cleared, {"value": 99}):
        desk.agent.edit(inputs=[{"pointer": "/size", **claim}], constraints=[{"id": id_, **claim}])

    assert [value_of(one) for one in (desk.input("/size"), desk.view().constraints[0])] == [5, 5]
    assert sorted(one.value_number or 0 for one in desk.waiting()) == [99, 99]


def test_a_model_clears_what_it_inferred_itself(desk: Facts) -> None:
    desk.agent.write("/guess", 1)
    desk.agent.write("/guess", None, provenance="model-inferred")
    assert value_of(desk.input("/guess")) is None


def test_another_value_does_not_inherit_the_source_of_the_one_before_it(desk: Facts) -> None:
    survey = desk.source("survey")
    desk.write("/size", 5, sourceIds=["survey"])
    id_ = desk.constrain("max", 5, sourceId=survey)

    unsourced = {"value": 99, "provenance": "source-backed"}

    desk.agent.edit(inputs=[{"pointer": "/size", **unsourced}], constraints=[{"id": id_, **unsourced}])
    assert (desk.input("/size").value_number, len(desk.waiting())) == (5, 2)  # a model names a source, or it guesses
    desk.edit(inputs=[{"pointer": "/size", **unsourced}], constraints=[{"id": id_, **unsourced}])

    assert (desk.input("/size").source_ids, desk.view().constraints[0].source_id) == ([], None)
    error = refused(desk.commit)
    assert (error.code, error.details) == ("source_missing", {"pointers": ["/size"], "keys": ["max"]})


def test_evidence_goes_with_the_value_that_it_was_of(desk: Facts) -> None:
    survey = desk.source("survey")
    desk.agent.write("/x", 104, sourceIds=["survey"], evidenceSnippet="104 households")
    id_ = desk.constrain("k", 104, sourceId=survey, snippet="104 households")

    desk.edit(inputs=[{"pointer": "/x", "value": 96}], constraints=[{"id": id_, "value": 96}])

    one, (constraint,) = desk.input("/x"), desk.view().constraints
    assert (one.value_number, one.provenance, one.source_ids, one.evidence_snippet) == (96, "user-entered", [], None)
    assert (constraint.value_number, constraint.source_id, constraint.snippet) == (96, None, None)


def test_the_same_value_with_less_to_say_for_it_lets_the_rest_of_the_row_be_written(desk: Facts) -> None:
    survey = desk.source("survey")
    desk.write("/y", 96)
    row = {"pointer": "/y", "value": 96, "provenance": "model-inferred", "label": "New", "sourceIds": [survey]}

    assert desk.edit(inputs=[row]).suggested == []

    one = desk.input("/y")
    assert (one.label, one.provenance, one.source_ids) == ("New", "user-entered", [survey])
    assert refused(partial(desk.agent.edit, inputs=[row | {"label": "Other"}])).code == "provenance_not_allowed"


def test_rows_of_two_tables_may_have_one_id_and_can_be_copied(desk: Facts) -> None:
    id_ = desk.source("survey")
    desk.write("/x", 1, id=id_, sourceIds=["survey"])
    desk.constrain("k", 1, id=id_, sourceId=id_)
    desk.edit(artifacts=[{"id": id_, "type": "t", "title": "t"}])
    desk.agent.write("/x", 2, sourceIds=["survey"])
    desk.draft(copyFrom=desk.run)

    view = desk.view()
    assert view.inputs_by_pointer["/x"].source_ids == list(view.sources_by_id) == [view.constraints[0].source_id]


def test_an_input_names_no_more_sources_than_an_answer_can_hold(desk: Facts) -> None:
    desk.write("/x", 1)
    made = desk.edit(sources=[{"kind": "url", "title": "t", "uri": "u"} for _ in range(101)]).sources
    links = [{"pointer": "/x", "sourceId": one.id} for one in made]

    assert refused(partial(desk.edit, links=links)).code == "too_many"
    desk.edit(links=links[:100])
    assert len(desk.input("/x").source_ids) == 100


def test_a_source_that_waits_for_its_value_is_kept(desk: Facts) -> None:
    survey = desk.source("survey")
    desk.write("/size", valueKind="number", provenance="source-backed")
    desk.edit(links=[{"pointer": "/size", "sourceId": survey}])
    desk.write("/size", 5, provenance="source-backed")
    assert desk.input("/size").source_ids == [survey]


def test_only_a_person_changes_what_is_said_of_a_value_that_a_person_entered(desk: Facts) -> None:
    survey, permit = desk.source("survey"), desk.source("permit")
    desk.write("/size", 5, provenance="user-entered", sourceIds=["survey"], label="Size")
    id_ = desk.constrain("max", 5, provenance="user-entered", sourceId=survey)
    desk.write("/needed", valueKind="string", required=True)
    before = desk.view()

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
        assert refused(partial(desk.agent.edit, **call)).code == "provenance_not_allowed", call
    assert desk.view() == before

    rows = msgspec.to_builtins(before)
    desk.agent.edit(inputs=list(rows["inputsByPointer"].values()), constraints=rows["constraints"])
    assert desk.view() == before  # sent back as it was read, it claims nothing


def test_what_is_required_is_let_go_by_a_person_alone_whatever_was_written_before(desk: Facts) -> None:
    desk.write("/site", valueKind="string", required=True, label="Location")
    for harmless in ({"label": "Location."}, {"value": "tmp"}, {"value": None, "provenance": "model-inferred"}):
        desk.agent.edit(inputs=[{"pointer": "/site", **harmless}])
        for call in ({"inputs": [{"pointer": "/site", "required": False}]}, {"remove": {"inputs": ["/site"]}}):
            assert refused(partial(desk.agent.edit, **call)).code == "provenance_not_allowed"
    assert desk.commit(allowPartial=True).missing == ["/site"]


def test_a_model_takes_out_again_what_it_guessed(desk: Facts) -> None:
    desk.agent.write("/guess", 1)
    desk.agent.write("/asked", valueKind="string")
    desk.agent.edit(remove={"inputs": ["/guess", "/asked"]})
    assert desk.view().inputs_by_pointer == {}


def test_a_model_cannot_make_another_source_of_the_one_that_a_person_named(desk: Facts) -> None:
    survey = desk.source("survey")
    desk.write("/size", 5, provenance="user-entered", sourceIds=["survey"])

    for change in ({"title": "other"}, {"uri": "evil"}, {"kind": "file"}):
        assert refused(partial(desk.agent.edit, sources=[{"id": survey, **change}])).code == "provenance_not_allowed"
    desk.agent.edit(
        sources=[{"id": survey, "parseStatus": "parsed", "excerpt": "5,000 ha"}]
    )  # to read it changes nothing
    assert desk.view().sources_by_id[survey].excerpt == "5,000 ha"


def test_whoever_accepts_a_suggestion_accepts_what_they_read(desk: Facts) -> None:
    desk.write("/size", 5)
    read = desk.agent.write("/size", 100).suggested[0].id
    desk.agent.write("/size", 666)

    assert refused(partial(desk.edit, accept=[read])).code == "not_found"
    assert desk.input("/size").value_number == 5


def test_pages_of_a_draft_that_was_changed_meanwhile_are_refused(desk: Facts) -> None:
    desk.edit(inputs=[{"pointer": f"/{n:02}", "label": "x", "value": 0} for n in range(20)])
    first, second = desk.run, desk.draft()
    desk.hand["run"] = first
    seen = capped(desk, 600)
    page = seen.view().next_cursor
    difference = {"from": second, "to": first}
    compared = seen.call("context.diff", **difference).next_cursor
    desk.write("/19", 1)

    assert refused(partial(seen.view, cursor=page)).code == "stale_rev"
    assert refused(partial(seen.call, "context.diff", **difference, cursor=compared)).code == "stale_rev"


def test_a_diff_says_what_was_redefined(desk: Facts) -> None:
    desk.write("/a", valueKind="string", required=True, label="Old")
    first = desk.run
    desk.draft(copyFrom=first)
    desk.write("/a", required=False, label="New")

    (one,) = desk.call("context.diff", **{"from": first, "to": desk.run}).inputs
    assert (one.change, [(field.field, field.before, field.after) for field in one.fields]) == (
        "redefined",
        [("label", "Old", "New"), ("required", True, False)],
    )


def test_a_text_never_becomes_no_value(desk: Facts) -> None:
    desk.write("/n", 5)
    for column, text in (("valueNumber", "null"), ("valueNumber", "x"), ("valueBoolean", "null"), ("value", "null")):
        assert isinstance(refused(partial(desk.edit, inputs=[{"pointer": "/n", column: text}])), GroundplanError), (
            column
        )
    assert desk.input("/n").value_number == 5
    desk.write("/s", "null")
    assert desk.input("/s").value_string == "null"


def test_a_person_who_names_a_source_for_their_own_value_keeps_it_theirs(desk: Facts) -> None:
    survey = desk.source("survey")
    desk.write("/size", "210")
    assert desk.write("/size", "214", sourceIds=["survey"]).suggested == []
    one = desk.input("/size")
    assert (one.value_string, one.provenance, one.source_ids) == ("214", "user-entered", [survey])


def test_a_row_is_named_once_in_a_call(desk: Facts) -> None:
    survey = desk.source("survey")
    twice: list[dict[str, Any]] = [
        {"inputs": [{"pointer": "/a", "label": "a", "value": n} for n in range(2)]},
        {"sources": [{"id": id_, "title": "t"} for id_ in (survey, survey.replace("-", ""))]},
    ]
    for call in twice:
        assert isinstance(refused(partial(desk.edit, **call)), Invalid)


def test_a_fresh_id_for_an_input_that_is_there_is_passed_over(desk: Facts) -> None:
    desk.write("/a", 1)
    before = desk.input("/a")
    desk.edit(inputs=[{"id": "0" * 32, "pointer": "/a", "value": 2}])
    assert (desk.input("/a").id, desk.input("/a").value_number) == (before.id, 2)


def test_the_answer_to_many_rows_keeps_the_cap(desk: Facts) -> None:
    seen = capped(desk, 2_000)
    rows = [{"pointer": f"/{'x' * 30}/{n:04}", "label": "x", "value": n} for n in range(200)]
    answer = seen.edit(inputs=rows)

    assert fits(encode(answer), 2_000)
    assert len(answer.inputs) + answer.left_out["inputs"] == len(desk.view().inputs_by_pointer) == 200


def test_a_commit_says_which_of_a_persons_values_it_overrules(desk: Facts, clock: ManualClock) -> None:
    desk.write("/kept", 1)
    desk.write("/gone", 2)
    desk.write("/guessed", 3)
    desk.commit()
    clock.move(minutes=1)
    desk.draft()
    desk.write("/kept", 7)
    desk.agent.write("/guessed", 4)

    assert desk.commit().warnings == ["displaces what a person entered in the previous commit: /gone, /guessed"]


def test_a_commit_of_an_older_state_says_which_of_a_persons_values_it_takes_back(
    desk: Facts, clock: ManualClock
) -> None:
    first = desk.run
    desk.write("/owner", "parish")
    desk.write("/same", 1)
    desk.constrain("k", 1)
    desk.commit()
    clock.move(minutes=1)
    desk.draft(copyFrom=first)
    desk.write("/owner", "state")
    assert desk.commit().warnings == []
    clock.move(minutes=1)
    desk.agent.draft(copyFrom=first)

    assert refused(desk.agent.commit).code == "displaces_user_entered"
    assert desk.commit().warnings == ["displaces what a person entered in the previous commit: /owner"]
    clock.move(minutes=1)
    desk.draft()
    assert desk.commit().warnings == ["displaces what a person entered in the previous commit: /owner, /same, k"]


def test_a_row_that_no_page_can_hold_is_named_and_what_comes_behind_it_is_reached(desk: Facts) -> None:
    desk.write("/a", "x" * 20_000)
    desk.write("/b", "small")
    seen = capped(desk, 1_000)

    pages = [seen.view()]
    while pages[-1].next_cursor is not msgspec.UNSET:
        pages.append(seen.view(cursor=pages[-1].next_cursor))

    assert all(count_tokens(encode(page)) <= 1_000 for page in pages)
    assert [pointer for page in pages for pointer in page.inputs_by_pointer] == ["/b"]
    assert any("/a" in warning for page in pages for warning in page.warnings)


def test_much_that_is_missing_keeps_the_cap_and_can_still_be_committed(desk: Facts) -> None:
    rows = [{"pointer": f"/{n:04}", "label": "x", "valueKind": "string", "required": True} for n in range(600)]
    desk.edit(inputs=rows)
    seen = capped(desk, 1_000)

    error = refused(seen.commit)
    assert fits(encode(error.body()), 1_000)
    named = error.details["pointers"]
    assert (named[0], len(named) + error.details["left_out"]["pointers"]) == ("/0000", 600)
    done = seen.commit(allowPartial=True)
    assert fits(encode(done), 1_000)
    assert (done.missing[0], len(done.missing) + done.left_out["missing"]) == ("/0000", 600)


def test_a_comparison_comes_in_pages_that_keep_the_cap(desk: Facts) -> None:
    first = desk.run
    second = desk.draft()
    desk.edit(
        inputs=[{"pointer": f"/{n:03}", "label": "x", "value": n} for n in range(60)],
        constraints=[{"key": f"k{n:02}", "label": "k", "value": n} for n in range(30)],
        sources=[{"kind": kind, "title": "t", "uri": "u"} for kind in ("url", "file", "url")],
    )
    whole = desk.call("context.diff", **{"from": first, "to": second})
    seen = capped(desk, 600)

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
        refused(partial(desk.call, "context.diff", **{"from": first, "to": second, "pointers": ["x"]})).code
        == "invalid_pointer"
    )


def test_a_document_whose_rows_stand_under_other_names_is_refused(desk: Facts) -> None:
    desk.source("survey")
    desk.write("/a", 1, sourceIds=["survey"])
    desk.edit(artifacts=[{"type": "t", "title": "t"}])
    good = json.loads(encode(desk.call("context.export", scopeId="atlas", runId=desk.run)))
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
        error = refused(partial(desk.call, "context.import", scopeId="atlas", document=good | change))
        assert isinstance(error, Invalid), change
        assert str(error.details["field"]).startswith("document."), change
    undashed = good | {"inputsByPointer": {"/a": row | {"sourceIds": [source["id"].replace("-", "")]}}}
    desk.call("context.import", scopeId="atlas", document=undashed)


def test_rows_of_one_call_keep_their_order_also_in_a_copy_and_in_a_document(desk: Facts) -> None:
    titles = [f"t{n:02}" for n in range(12)]
    desk.edit(
        artifacts=[{"type": "plan", "title": title} for title in titles],
        constraints=[{"key": title, "label": title, "value": 1} for title in titles],
    )

    def order(run_id: str) -> list[list[str]]:
        view = desk.view(runId=run_id)
        return [[one.title for one in view.artifacts_by_type["plan"]], [one.label for one in view.constraints]]

    document = json.loads(encode(desk.call("context.export", scopeId="atlas", runId=desk.run)))
    taken = desk.call("context.import", scopeId="atlas", document=document).run.id
    assert order(desk.run) == order(desk.draft(copyFrom=desk.run)) == order(taken) == [titles, titles]


def test_a_new_input_with_every_column_null_is_unknown(desk: Facts) -> None:
    columns = dict.fromkeys(("valueString", "valueNumber", "valueBoolean", "valueEnum", "valueJson"))
    desk.write("/project/budget", valueKind="number", required=True, **columns)
    assert desk.input("/project/budget").provenance == "unknown"


def test_the_last_source_of_a_backed_constraint_stays(desk: Facts) -> None:
    survey = desk.source("survey")
    id_ = desk.constrain("max", 5, sourceId=survey)
    assert refused(partial(desk.edit, constraints=[{"id": id_, "sourceId": None}])).code == "last_source"


@pytest.mark.parametrize("field", ["fileId", "sourceId"])
def test_an_empty_id_is_none(desk: Facts, field: str) -> None:
    row = {"kind": "url", "title": "t", "uri": "u", "fileId": ""}
    call = (
        {"sources": [row]}
        if field == "fileId"
        else {"constraints": [{"key": "k", "label": "k", "value": 1, field: ""}]}
    )
    assert refused(partial(desk.edit, **call)).code == "invalid_id"


def test_a_run_that_another_scope_calls_deleted_is_not(engine: Engine, desk: Facts) -> None:
    Facts(desk.session, "borealis").draft()
    ((theirs,),) = engine.as_owner("SELECT id FROM projects WHERE name = 'borealis'")
    engine.as_owner(
        "INSERT INTO pciv_deleted_runs (tenant_id, run_id, project_id, deleted_at, deleted_by, deleter_kind) "
        f"VALUES ('local', '{desk.run}', '{theirs}', '2026-03-01T09:00:00.000Z', 'mallory', 'user')"
    )
    assert desk.view().run.id == desk.run
    assert desk.write("/a", 1).rev == 2


def test_the_text_of_a_refusal_is_the_contracts(desk: Facts) -> None:
    assert str(refused(desk.in_force)).startswith("No committed PCIV v1 context found")


def test_what_was_suggested_is_recorded_with_what_it_was_before(engine: Engine, desk: Facts) -> None:
    desk.write("/size", 5)
    desk.agent.write("/size", 1, rationale="first")
    desk.agent.write("/size", 2)
    desk.edit(remove={"inputs": ["/size"]})

    rows = engine.as_owner("SELECT op, changes FROM events WHERE op LIKE 'context.suggest%' ORDER BY rev, n")
    told = [(op, {one["field"]: (one["before"], one["after"]) for one in json.loads(changes)}) for op, changes in rows]
    assert [op.partition(".")[2] for op, _ in told] == ["suggested", "suggestion_removed"] * 2
    assert [one["value_number"] for _, one in told] == [(None, 1), (1, None), (None, 2), (2, None)]
    assert [one.get("rationale") for _, one in told] == [(None, "first"), ("first", None), None, None]
