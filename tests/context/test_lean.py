"""Lean answers leave out what is null, empty or bookkeeping, and a view fills a plan of the caller's."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import pytest

import groundplan
from groundplan.catalog import OPERATIONS
from groundplan.context.schemas import Provenance, ReplacedValue
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.context.client import ContextClient
from tests.errors import error_of

FACT_TOKENS_MAX = 60


@pytest.fixture
def facts(client: ContextClient) -> ContextClient:
    """A draft with values that look empty and are not, and with evidence."""
    client.source("survey", excerpt="5,000 ha")
    client.write(
        "/site/size", 5000, label="Size of the site", sourceIds=["survey"], evidenceSnippet="5,000 ha", required=True
    )
    client.write("/site/notes", "", domain="site")
    client.write("/site/open", False)
    client.write("/site/tags", [], valueKind="json")
    client.write("/site/owner", valueKind="string", required=True)
    client.constrain("max_cost", 0)
    client.edit(artifacts=[{"type": "plan", "title": "First", "payload": {"steps": []}}])
    client.agent.write("/site/size", 4800, rationale="on the map")
    return client


def json_of(answer: Any) -> Any:
    return msgspec.json.decode(encode(answer))


def test_a_lean_view_has_values_and_evidence_as_they_are_and_nothing_else(facts: ContextClient) -> None:
    lean = json_of(facts.view(lean=True))

    survey = facts["survey"]
    assert lean["run"] == {"id": facts.run, "status": "draft"}
    assert lean["inputsByPointer"] == {
        "/site/notes": {
            **{"label": "/site/notes", "domain": "site", "valueKind": "string", "valueString": ""},
            "provenance": "user-entered",
        },
        "/site/open": {
            **{"label": "/site/open", "valueKind": "boolean", "valueBoolean": False, "provenance": "user-entered"},
        },
        "/site/owner": {"label": "/site/owner", "required": True, "valueKind": "string", "provenance": "unknown"},
        "/site/size": {
            **{"label": "Size of the site", "required": True, "valueKind": "number", "valueNumber": 5000},
            **{"provenance": "source-backed", "evidenceSnippet": "5,000 ha", "sourceIds": [survey]},
        },
        "/site/tags": {"label": "/site/tags", "valueKind": "json", "valueJson": [], "provenance": "user-entered"},
    }
    assert lean["constraints"] == [
        {"key": "max_cost", "label": "max_cost", "valueKind": "number", "valueNumber": 0, "provenance": "user-entered"}
    ]
    assert lean["sourcesById"] == {
        survey: {"kind": "url", "title": "survey", "uri": "https://example.org/survey", "excerpt": "5,000 ha"}
    }
    (suggestions,) = lean["suggestions"]
    assert suggestions.keys() == {
        *("id", "pointer", "valueKind", "valueNumber", "provenance", "rationale", "createdBy"),
    }
    assert (lean["missing"], "displaced" in lean) == (["/site/owner"], False)
    for pointer, fact in lean["inputsByPointer"].items():
        assert count_tokens(encode({pointer: fact})) <= FACT_TOKENS_MAX


def test_lean_pages_together_are_the_lean_view(facts: ContextClient) -> None:
    whole = json_of(facts.view(lean=True))
    capped = ContextClient(
        Session(facts.session.store, facts.session.actor, preferences=Preferences(answer_tokens_max=400)),
        ids=facts.ids,
    )
    pages = [capped.view(lean=True)]
    while pages[-1].next_cursor is not msgspec.UNSET:
        pages.append(capped.view(lean=True, cursor=pages[-1].next_cursor))

    assert len(pages) > 1
    assert all(count_tokens(encode(page)) <= 400 for page in pages)
    inputs: dict[str, Any] = {}
    for page in pages:
        inputs |= json_of(page).get("inputsByPointer", {})
    assert inputs == whole["inputsByPointer"]


def test_lean_answers_about_runs_and_edits_name_only_what_the_caller_does_not_know(client: ContextClient) -> None:
    call = partial(client.call, lean=True)
    made = json_of(call("context.create_draft", scopeId="atlas", op_id="1"))
    run_id = made["run"]["id"]
    inputs = [{"pointer": "/a", "label": "A", "value": 1}]
    edited = json_of(call("context.edit", runId=run_id, inputs=inputs, op_id="2"))
    done = json_of(call("context.commit", runId=run_id, op_id="3"))

    assert made == {"run": {"id": run_id, "status": "draft"}, "rev": 1, "base": None}
    assert edited == {"run": {"id": run_id, "status": "draft"}, "rev": 2}
    committed_at = done["run"].pop("committedAt")
    assert (done, committed_at) == (
        {"run": {"id": run_id, "status": "committed"}},
        client.view_in_force().context_version_id,
    )
    # Sent again, the answers are the same.
    assert json_of(call("context.create_draft", scopeId="atlas", op_id="1")) == made
    assert json_of(call("context.edit", runId=run_id, inputs=inputs, op_id="2")) == edited
    listed = json_of(call("context.list", scopeId="atlas"))["runs"]
    assert {frozenset(run) for run in listed} == {
        frozenset({"id", "status"}),
        frozenset({"id", "status", "committedAt"}),
    }
    differences = {"from": client.run, "to": run_id}
    assert json_of(call("context.diff", **differences)) == json_of(client.call("context.diff", **differences))
    assert json_of(call("context.delete", runId=run_id)) == {"deleted": run_id}
    assert json_of(call("context.discard", runId=client.run)) == {"discarded": client.run}


# --- A plan of the caller's ---


def test_a_view_fills_a_plan_exactly_as_hydration_in_python_does(facts: ContextClient) -> None:
    plan = {"site": {"owner": "?", "kept": 1}, "other": {}}

    view = facts.view(hydrate=plan)
    done = groundplan.hydrate(facts.view(), plan)

    assert view.hydrated == done.target
    outcomes = ("placed", "kept", "replaced", "unplaced", "missing")
    assert [getattr(view, name) for name in outcomes] == [getattr(done, name) for name in outcomes]
    assert view.inputs_by_pointer == facts.view().inputs_by_pointer
    assert facts.view(hydrate=None).hydrated is msgspec.UNSET
    nowhere = json_of(facts.view(hydrate={}, lean=True))
    assert {one["pointer"] for one in nowhere["unplaced"]} == {"/site/size", "/site/notes", "/site/open", "/site/tags"}
    assert nowhere["hydrated"] == {"contextVersionId": view.context_version_id}
    assert error_of(partial(facts.view, hydrate=[])).code == "invalid_argument"


def test_a_view_replaces_other_values_by_guesses_only_when_it_is_told_to(facts: ContextClient) -> None:
    facts.agent.write("/guess", 1)
    plan = {"guess": 2}

    kept, overwritten = facts.view(hydrate=plan), facts.view(hydrate=plan, overwrite=True)

    assert (kept.kept, kept.replaced) == (["/guess"], [])
    assert (overwritten.kept, overwritten.replaced) == ([], [ReplacedValue("/guess", 2, Provenance.MODEL_INFERRED)])


def test_a_plan_that_fills_the_first_page_leaves_the_facts_for_the_next(facts: ContextClient) -> None:
    capped = ContextClient(
        Session(facts.session.store, facts.session.actor, preferences=Preferences(answer_tokens_max=1_000)),
        ids=facts.ids,
    )
    plan = {"site": {}, "text": "x" * 2_400}
    pages = [capped.view(hydrate=plan)]
    while pages[-1].next_cursor is not msgspec.UNSET:
        pages.append(capped.view(hydrate=plan, cursor=pages[-1].next_cursor))

    assert all(count_tokens(encode(page)) <= 1_000 for page in pages)
    assert [page.hydrated is not msgspec.UNSET for page in pages] == [True, *[False] * (len(pages) - 1)]
    assert sorted(pointer for page in pages for pointer in page.inputs_by_pointer) == sorted(
        facts.view().inputs_by_pointer
    )
    assert not any("too large" in warning for page in pages for warning in page.warnings)
    huge = {"text": "x" * 8_000}
    assert error_of(partial(capped.view, hydrate=huge)).code == "answer_too_large"


# --- Null ---


def test_null_in_a_value_column_means_unset_and_elsewhere_that_nothing_is_said(client: ContextClient) -> None:
    client.write("/a", 1)
    client.edit(inputs=[{"pointer": "/a", "value": None, "rationale": None, "id": None}], links=None, lean=None)
    assert (client.input("/a").value_number, client.input("/a").provenance) == (None, "user-entered")
    client.edit(inputs=[{"pointer": "/a", "valueNumber": 0, "valueString": None}])
    assert client.input("/a").value_number == 0
    view = client.view(prefer=None, pointers=None, cursor=None, userId=None, hydrate=None, lean=None)
    assert view == client.view()


def test_lean_members_are_their_names_and_roles(client: ContextClient) -> None:
    listing = OPERATIONS["member.list"]
    lean_session = Session(client.session.store, client.session.actor, preferences=Preferences(lean=True))
    (whole,) = json_of(client.session.call("member.list", scopeId="atlas"))["members"]

    assert set(whole) == {"userId", "role", "createdAt", "createdBy"}
    for found in (
        client.session.execute(listing, {"scopeId": "atlas", "lean": True}),
        lean_session.execute(listing, {"scopeId": "atlas"}),
    ):
        assert msgspec.json.decode(found.encoded or b"") == {
            "members": [{"userId": whole["userId"], "role": whole["role"]}]
        }
