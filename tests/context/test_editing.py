"""Facts are written into a draft by pointer and key, with a value of their kind, or not at all."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec import structs

from groundplan.context import PcivRuntimeInvariantError, invariantPCIVValueColumnsMatchKind, is_unset
from groundplan.kernel.errors import Conflict, Invalid, NotFound, RuleViolated
from tests.context.client import NOWHERE, ContextClient, value_of
from tests.errors import error_of
from tests.manual_clock import ManualClock

SHEET = NOWHERE.replace("0000", "2222")
STAMP = "2026-03-01T09:00:00.000Z"
NEW = {"label": "Size", "pointer": "/site/size"}


def test_a_new_input_gets_what_its_writer_does_not_say(client: ContextClient) -> None:
    client.edit(inputs=[NEW | {"valueKind": "number"}])

    one = client.input("/site/size")

    assert (one.label, one.domain, one.required, one.field_type) == ("Size", "general", False, "text")
    assert (one.options, one.source_ids, one.evidence_snippet) == (None, [], None)
    assert (one.provenance, one.updated_by, one.run_id) == ("unknown", "user", client.run)
    assert value_of(one) is None


def test_an_input_is_changed_by_its_pointer_and_what_is_not_mentioned_stays(
    client: ContextClient, clock: ManualClock
) -> None:
    client.source("survey")
    client.write("/site/size", 5000, label="Size", domain="site", required=True, sourceIds=["survey"])
    before = client.input("/site/size")
    clock.move(minutes=1)

    client.write("/site/size", label="Size in hectares")

    after = client.input("/site/size")
    assert after.label == "Size in hectares"
    assert after.updated_at > before.updated_at
    for name in ("id", "domain", "required", "value_number", "provenance", "source_ids"):
        assert getattr(after, name) == getattr(before, name)


VALUES: dict[str, tuple[dict[str, Any], str, Any]] = {
    "text": ({"value": "north"}, "string", "north"),
    "the empty text": ({"value": ""}, "string", ""),
    "a whole number": ({"value": 7}, "number", 7),
    "a fraction": ({"valueNumber": 0.1}, "number", 0.1),
    "a number as text": ({"valueKind": "number", "value": "7"}, "number", 7),
    "no": ({"value": False}, "boolean", False),
    "no, as text": ({"valueKind": "boolean", "value": "false"}, "boolean", False),
    "a choice": ({"valueKind": "enum", "value": "b", "options": ["a", "b"]}, "enum", "b"),
    "unknown as a choice": ({"valueEnum": "unknown", "options": ["yes", "unknown"]}, "enum", "unknown"),
    "a choice without options": ({"valueEnum": "anything"}, "enum", "anything"),
    "an object": ({"value": {"a": [1, None, ""]}}, "json", {"a": [1, None, ""]}),
    "an empty list": ({"value": []}, "json", []),
    "text as JSON": ({"valueKind": "json", "value": "7"}, "json", "7"),
    "no value": ({"valueKind": "json", "value": None}, "json", None),
    "no value in any column": (
        {"valueKind": "number", **dict.fromkeys(("valueString", "valueNumber", "valueBoolean", "valueEnum"))},
        "number",
        None,
    ),
}


def test_a_value_stands_in_the_column_of_its_kind_and_nowhere_else(client: ContextClient) -> None:
    client.edit(
        inputs=[
            {"pointer": f"/{place}", "label": what, **given} for place, (what, (given, *_)) in enumerate(VALUES.items())
        ],
        constraints=[
            {"key": f"k{place:02}", "label": what, **{name: held for name, held in given.items() if name != "options"}}
            for place, (what, (given, *_)) in enumerate(VALUES.items())
        ],
    )

    view = client.view()

    for place, (what, (_, kind, held)) in enumerate(VALUES.items()):
        for one in (view.inputs_by_pointer[f"/{place}"], view.constraints[place]):
            assert (one.value_kind, value_of(one)) == (kind, held), what
            assert type(value_of(one)) is type(held), what
            others = [f"value_{other}" for other in ("string", "number", "boolean", "enum", "json") if other != kind]
            assert [getattr(one, other) for other in others] == [None] * 4, what


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "a value in the column of another kind": (
        {"valueKind": "string", "valueNumber": 1},
        RuleViolated,
        "pciv_v1_runtime_invariant_failed",
    ),
    "two values": ({"valueString": "a", "valueNumber": 1}, RuleViolated, "pciv_v1_runtime_invariant_failed"),
    "a value said twice": ({"value": "a", "valueString": "a"}, Invalid, "invalid_argument"),
    "text for a number": ({"valueKind": "number", "value": "many"}, Invalid, "invalid_argument"),
    "a number for text": ({"valueKind": "string", "value": 7}, Invalid, "invalid_argument"),
    "a number for a boolean": ({"valueKind": "boolean", "value": 1}, Invalid, "invalid_argument"),
    "a boolean for a number": ({"valueKind": "number", "value": True}, Invalid, "invalid_argument"),
    "no kind": ({}, Invalid, "missing_argument"),
    "no kind for no value": ({"value": None}, Invalid, "missing_argument"),
    "an unknown kind": ({"valueKind": "date"}, Invalid, "invalid_argument"),
    "infinity": ({"value": float("inf")}, Invalid, "invalid_number"),
    "no number": ({"valueNumber": float("nan")}, Invalid, "invalid_number"),
    "what is unknown, with a value": ({"value": 1, "provenance": "unknown"}, RuleViolated, "unknown_has_no_value"),
    "a choice outside its options": ({"valueEnum": "c", "options": ["a", "b"]}, RuleViolated, "not_an_option"),
    "a choice without any option": ({"valueEnum": "c", "options": []}, RuleViolated, "not_an_option"),
    "a pointer without a slash": ({"pointer": "site/size", "value": 1}, Invalid, "invalid_pointer"),
    "an empty pointer": ({"pointer": "", "value": 1}, Invalid, "invalid_pointer"),
    "a stray tilde": ({"pointer": "/a~2", "value": 1}, Invalid, "invalid_pointer"),
    "a pointer that is too long": ({"pointer": "/" + "x" * 1024, "value": 1}, Invalid, "too_long"),
    "a field in two spellings": ({"valueKind": "number", "value_kind": "number"}, Invalid, "invalid_argument"),
    "an empty label": ({"label": "", "value": 1}, Invalid, "invalid_argument"),
    "an unknown field": ({"value": 1, "unit": "ha"}, Invalid, "unknown_argument"),
    "a source that is not there": ({"value": 1, "sourceIds": [NOWHERE]}, NotFound, "not_found"),
    "a source that is no id": ({"value": 1, "sourceIds": ["survey"]}, Invalid, "invalid_id"),
    "another run": ({"value": 1, "runId": NOWHERE}, Invalid, "invalid_argument"),
    "text that is too long": ({"value": "é" * 16_385}, Invalid, "too_long"),
    "JSON that is too long": ({"value": ["x" * 32_765]}, Invalid, "too_long"),
}


def test_what_is_malformed_is_refused_and_nothing_of_the_call_is_written(client: ContextClient) -> None:
    before = client.view()
    for what, (given, family, code) in REFUSED.items():
        row = {name: value for name, value in (NEW | given).items() if value is not ...}
        error = error_of(partial(client.edit, sources=[{"kind": "url", "title": "t", "uri": "u"}], inputs=[row]))
        assert (isinstance(error, family), error.code) == (True, code), (what, error)
    assert client.view() == before


def test_a_manual_source_needs_no_address_and_then_has_its_title(client: ContextClient) -> None:
    for kind in ("file", "url", "gis", "api"):
        assert error_of(partial(client.edit, sources=[{"kind": kind, "title": "Notes"}])).details["field"] == (
            "sources[0].uri"
        )
    assert error_of(partial(client.edit, sources=[{"kind": "manual"}])).details["field"] == "sources[0].title"

    [notes, letter] = client.edit(
        sources=[{"kind": "manual", "title": "Notes"}, {"kind": "manual", "title": "Letter", "uri": "shelf 7"}]
    ).sources
    client.edit(sources=[{"id": notes.id, "title": "Notes of May"}])

    assert client.view().sources_by_id[notes.id].uri == "Notes"
    assert client.view().sources_by_id[letter.id].uri == "shelf 7"


def test_the_refusal_of_two_values_has_the_names_of_the_contract(client: ContextClient) -> None:
    error = error_of(partial(client.edit, inputs=[NEW | {"valueString": "a", "valueBoolean": True}]))

    assert error.contract_name == "PcivRuntimeInvariantError"
    assert error.details == {
        "invariantName": "pciv_value_columns_match_kind",
        "scopeId": "atlas",
        "runId": client.run,
        "field": "inputs[0]",
    }


def test_a_kind_cannot_change_under_a_value_but_can_change_with_it(client: ContextClient) -> None:
    client.write("/a", 7)

    error = error_of(partial(client.write, "/a", valueKind="string"))
    client.write("/a", "seven", valueKind="string")

    assert error.code == "pciv_v1_runtime_invariant_failed"
    assert (client.input("/a").value_string, client.input("/a").value_number) == ("seven", None)


def test_options_that_leave_the_value_out_are_refused(client: ContextClient) -> None:
    client.write("/a", "x", valueKind="enum", options=["x", "y"])

    assert error_of(partial(client.write, "/a", options=["y"])).code == "not_an_option"
    client.write("/a", "y", options=["y"])
    assert client.input("/a").options == ["y"]
    client.write("/a", options=None)
    assert client.input("/a").options is None


def test_a_source_can_be_named_in_the_call_that_brings_it(client: ContextClient) -> None:
    made = "2f6c8a36-33d5-4f5c-8a53-5f0c6a3c9d11"
    written = client.edit(
        sources=[{"id": made.replace("-", ""), "kind": "file", "title": "Permit", "uri": "permit.pdf"}],
        inputs=[NEW | {"value": 3, "sourceIds": [made, made]}],
        constraints=[{"key": "max", "label": "At most", "value": 9, "sourceId": made}],
    )

    view = client.view()
    assert [one.id for one in written.sources] == [made]
    assert view.inputs_by_pointer["/site/size"].source_ids == [made]
    assert view.inputs_by_pointer["/site/size"].provenance == "source-backed"
    assert (view.constraints[0].source_id, view.constraints[0].provenance) == (made, "source-backed")


def test_sources_constraints_and_artifacts_are_changed_by_their_ids(client: ContextClient) -> None:
    made = client.edit(
        sources=[{"kind": "file", "title": "Permit", "uri": "permit.pdf"}],
        constraints=[{"key": "max", "label": "At most", "value": 9}],
        artifacts=[{"type": "plan", "title": "First", "payload": {"a": 1}}],
    )
    client.edit(
        sources=[{"id": made.sources[0].id, "parseStatus": "parsed", "rawMeta": {"pages": 3}, "sizeBytes": 0}],
        constraints=[{"id": made.constraints[0].id, "value": 8, "snippet": "eight"}],
        artifacts=[{"id": made.artifacts[0].id, "title": "Second"}],
    )

    view = client.view()
    source = view.sources_by_id[made.sources[0].id]
    assert (source.title, source.parse_status, source.raw_meta, source.size_bytes) == (
        "Permit",
        "parsed",
        {"pages": 3},
        0,
    )
    assert (view.constraints[0].value_number, view.constraints[0].snippet, view.constraints[0].key) == (
        8,
        "eight",
        "max",
    )
    assert [(one.title, one.payload) for one in view.artifacts_by_type["plan"]] == [("Second", {"a": 1})]


def test_an_id_of_another_run_is_taken_wherever_that_run_is(client: ContextClient) -> None:
    made = client.edit(
        sources=[{"kind": "file", "title": "Permit", "uri": "permit.pdf"}],
        inputs=[NEW | {"value": 1}],
        constraints=[{"key": "max", "label": "At most", "value": 9}],
        artifacts=[{"type": "plan", "title": "First"}],
    )
    theirs = ContextClient(client.session, "borealis")
    for facts in (client, theirs):
        facts.draft()
        for part, row in {
            "sources": {"id": made.sources[0].id, "kind": "file", "title": "x", "uri": "x"},
            "inputs": NEW | {"id": made.inputs[0].id, "value": 1},
            "constraints": {"id": made.constraints[0].id, "key": "x", "label": "x", "value": 9},
            "artifacts": {"id": made.artifacts[0].id, "type": "x", "title": "x"},
        }.items():
            error = error_of(partial(facts.edit, **{part: [row]}))
            assert (isinstance(error, Conflict), error.code) == (True, "id_taken"), part


def test_links_are_added_and_taken_away_but_not_the_last_one_of_a_backed_value(client: ContextClient) -> None:
    survey, permit = client.source("survey"), client.source("permit")
    client.write("/a", 1, sourceIds=["survey"])
    link = {"pointer": "/a", "sourceId": permit}

    client.edit(links=[link, link])
    assert client.input("/a").source_ids == sorted([survey, permit])
    client.edit(unlinks=[{"pointer": "/a", "sourceId": survey}])
    for last in (partial(client.edit, unlinks=[link]), partial(client.write, "/a", sourceIds=[])):
        assert error_of(last).code == "last_source"
    assert client.input("/a").source_ids == [permit]

    client.write("/a", 2, provenance="user-entered", sourceIds=[])
    assert client.input("/a").source_ids == []
    for error in (
        error_of(partial(client.edit, unlinks=[link])),
        error_of(partial(client.edit, links=[{"pointer": "/b", "sourceId": permit}])),
        error_of(partial(client.edit, links=[{"pointer": "/a", "sourceId": NOWHERE}])),
    ):
        assert isinstance(error, NotFound)


def test_every_writer_is_told_from_who_they_are_whatever_they_send(client: ContextClient) -> None:
    claims = {"updatedBy": "user", "updatedAt": "1999-01-01T00:00:00.000Z"}
    client.agent.write("/a", 1, **claims)
    client.write("/b", 1, updatedBy="system")

    assert (client.input("/a").updated_by, client.input("/a").provenance) == ("model", "model-inferred")
    assert client.input("/a").updated_at.startswith("2026-03-01")
    assert (client.input("/b").updated_by, client.input("/b").provenance) == ("user", "user-entered")


def test_a_row_that_was_read_can_be_written_back_and_changes_nothing(client: ContextClient) -> None:
    import msgspec

    client.source("survey")
    client.write("/a", "x", sourceIds=["survey"])
    client.constrain("max", 4)
    before = client.view()

    rows = msgspec.to_builtins(before)
    client.edit(
        sources=list(rows["sourcesById"].values()),
        inputs=list(rows["inputsByPointer"].values()),
        constraints=rows["constraints"],
    )

    assert client.view() == before


def test_a_stale_revision_is_refused_and_the_present_one_named(client: ContextClient) -> None:
    assert client.write("/a", 1, label="a").rev == 2

    error = error_of(partial(client.edit, inputs=[{"pointer": "/a", "value": 2}], expected_rev=1))

    assert (isinstance(error, Conflict), error.code, error.details["current"]) == (True, "stale_rev", 2)
    assert client.edit(inputs=[{"pointer": "/a", "value": 2}], expected_rev=2).rev == 3
    assert client.edit(inputs=[{"pointer": "/a", "value": 2}]).rev == 3  # an unchanged value


def test_a_call_that_says_nothing_is_refused(client: ContextClient) -> None:
    assert isinstance(error_of(client.edit), Invalid)
    assert isinstance(error_of(partial(client.edit, inputs=[])), Invalid)


@pytest.mark.parametrize("run_id", [NOWHERE, "not an id"])
def test_a_run_that_is_not_there_cannot_be_written_to(client: ContextClient, run_id: str) -> None:
    error = error_of(partial(client.edit, runId=run_id, inputs=[NEW | {"value": 1}]))
    assert error.code == ("not_found" if run_id == NOWHERE else "invalid_id")


# --- Rows as the tables of the contract have them ---


def test_rows_in_snake_case_are_written_as_those_in_camel_case(client: ContextClient) -> None:
    survey: dict[str, Any] = {
        "id": NOWHERE.replace("0000", "1111"),
        "kind": "url",
        "title": "s",
        "uri": "s",
        "parse_status": "parsed",
    }
    unset = {"value_string": None, "value_number": None, "value_boolean": None, "value_enum": None, "value_json": None}
    location: dict[str, Any] = {"pointer": "/site/location", "required": True, "value_kind": "string", **unset}
    size = {
        "pointer": "/site/size",
        "value_kind": "number",
        **unset,
        "value_number": 5000,
        "source_ids": [survey["id"]],
    }
    limit = {"key": "max", "label": "Max", "value_kind": "number", "value_number": 9, "source_id": survey["id"]}
    sheet = {"id": SHEET, "run_id": client.run, "type": "map", "title": "Sheet", "created_at": STAMP, "origin_id": None}
    link = {"source_id": survey["id"], "pointer": "/site/location"}
    survey |= {"run_id": client.run, "size_bytes": 7, "mime_type": "text/csv", "raw_meta": {"a": 1}, "file_id": None}

    client.edit(sources=[survey], inputs=[location, size], constraints=[limit], artifacts=[sheet], links=[link])
    client.edit(unlinks=[link])
    for part, row in (("sources", survey), ("artifacts", sheet)):
        assert error_of(partial(client.edit, **{part: [{**row, "runId": client.run}]})).code == "invalid_argument"

    view = client.view()
    assert view.sources_by_id[str(survey["id"])].size_bytes == 7
    assert [row.id for row in view.artifacts_by_type["map"]] == [SHEET]
    assert view.missing == ["/site/location"]
    assert [(row.label, value_of(row), row.source_ids) for row in view.inputs_by_pointer.values()] == [
        ("location", None, []),
        ("size", 5000, [survey["id"]]),
    ]
    assert [(row.value_number, row.source_id) for row in view.constraints] == [(9, survey["id"])]
    assert view.sources_by_id[str(survey["id"])].parse_status == "parsed"


def test_whether_a_row_has_a_value_is_told_by_the_package(client: ContextClient) -> None:
    client.write("/unset", valueKind="string")
    client.write("/empty", "")
    client.write("/zero", 0)

    found = {pointer: is_unset(row) for pointer, row in client.view().inputs_by_pointer.items()}

    assert found == {"/empty": False, "/unset": True, "/zero": False}


def test_a_value_outside_of_the_column_of_its_kind_breaks_the_invariant_that_the_package_checks(
    client: ContextClient,
) -> None:
    client.write("/unset", valueKind="string")
    client.write("/empty", "")
    client.constrain("max", 9)
    view = client.view()
    rows: list[Any] = [*view.inputs_by_pointer.values(), *view.constraints]
    wrong: list[Any] = [
        structs.replace(rows[0], value_number=0),
        structs.replace(rows[1], value_boolean=False),
        structs.replace(rows[2], value_string=""),
    ]

    for row in (*rows, *client.view(lean=True).inputs_by_pointer.values()):
        invariantPCIVValueColumnsMatchKind(row)
    for row in wrong:
        with pytest.raises(PcivRuntimeInvariantError) as broken:
            invariantPCIVValueColumnsMatchKind(row, scope_id="atlas")
        assert broken.value.code == "pciv_v1_runtime_invariant_failed"
        assert broken.value.details == {
            "invariantName": "pciv_value_columns_match_kind",
            "scopeId": "atlas",
            "runId": client.run,
        }


@pytest.mark.parametrize(("pointer", "label"), [("/a/b~1c", "b/c"), ("/", "/"), ("/é" * 512, "é")])
def test_the_label_of_an_input_is_the_last_step_of_its_pointer_by_default(
    client: ContextClient, pointer: str, label: str
) -> None:
    client.edit(inputs=[{"pointer": pointer, "value": 1}])
    assert client.input(pointer).label == label


def test_a_label_by_default_is_no_longer_than_a_label_may_be(client: ContextClient) -> None:
    client.edit(inputs=[{"pointer": "/" + "é" * 1_023, "value": 1}])
    assert client.input("/" + "é" * 1_023).label == "é" * 512
