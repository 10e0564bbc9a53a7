"""Facts from an agent's first guess to a person's commit, at real servers on both engines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.scenarios.agents import Serve

pytestmark = pytest.mark.slow  # every test starts servers

SURVEY = "7b2e94d0-53c8-4f1a-9d06-c1e8a57f3b42"
PAGE_TOKENS = 700


def fact(pointer: str, value: Any, **others: Any) -> dict[str, Any]:
    return {"pointer": pointer, "label": pointer.rpartition("/")[2].capitalize(), "value": value, **others}


def test_an_agent_gathers_facts_and_a_person_decides_where_they_differ(serve: Serve) -> None:
    agent, person = serve("claude", "--access", "open"), serve("ada", "--access", "open", "--kind", "person")

    # The first draft creates its project. The survey backs one value; the agent's own guess has no source.
    draft = agent.answer("context_run", operation="create_draft", scopeId="atlas")["run"]["id"]
    survey = {"id": SURVEY, "kind": "file", "title": "Survey of 2027", "uri": "sheets/survey-2027.pdf"}
    written = agent.answer(
        "context_edit",
        runId=draft,
        sources=[survey],
        inputs=[
            fact("/coast/length", 214.5, sourceIds=[SURVEY], required=True),
            fact("/island/name", "Atlantis"),
            fact("/island/motto", ""),
            fact("/coast/tide", None, valueKind="number", required=True),
        ],
    )
    assert (written["run"], written["suggested"], written["rev"]) == ({"id": draft, "status": "draft"}, [], 2)
    claim = fact("/island/name", "Atlas", provenance="user-entered")
    refused = agent.error_of("context_edit", runId=draft, inputs=[claim])
    assert refused["code"] == "provenance_not_allowed"

    # Missing values stay visible, before the commit and after it.
    incomplete = agent.error_of("context_run", operation="commit", runId=draft)
    assert (incomplete["code"], incomplete["details"]["pointers"]) == ("required_inputs_unset", ["/coast/tide"])
    committed = agent.answer("context_run", operation="commit", runId=draft, allowPartial=True)
    assert (committed["run"]["status"], committed["missing"]) == ("partial_committed", ["/coast/tide"])
    view = person.answer("context_view", scopeId="atlas")
    assert (view["run"]["id"], view["missing"]) == (draft, ["/coast/tide"])
    assert view["contextVersionId"] == committed["run"]["committedAt"]
    inputs = view["inputsByPointer"]
    assert {pointer: (one["provenance"], one["updatedBy"]) for pointer, one in inputs.items()} == {
        "/coast/length": ("source-backed", "model"),
        "/coast/tide": ("unknown", "model"),
        "/island/motto": ("model-inferred", "model"),
        "/island/name": ("model-inferred", "model"),
    }
    assert (inputs["/island/motto"]["valueString"], inputs["/coast/tide"]["valueNumber"]) == ("", None)
    assert agent.error_of("context_run", operation="discard", runId=draft)["code"] == "frozen"
    completed = agent.answer("context_edit", runId=draft, inputs=[fact("/a", 1)])
    assert (completed["from"], completed["draft"]) == (draft, completed["run"]["id"])
    agent.answer("context_run", operation="discard", runId=completed["draft"])

    # A person enters another value; the agent's value then waits for their decision.
    second = person.answer("context_run", operation="create_draft", scopeId="atlas", copyFrom="latest")["run"]["id"]
    named = {"pointer": "/island/name", "value": "Atlas"}
    person.answer("context_edit", runId=second, inputs=[named, {"pointer": "/coast/tide", "value": 3}])
    doubt = {"pointer": "/coast/tide", "value": 3.2, "rationale": "The gauge was moved in May"}
    (suggested,) = agent.answer("context_edit", runId=second, inputs=[doubt])["suggested"]
    assert suggested["pointer"] == "/coast/tide"
    by_agent = agent.error_of("context_edit", runId=second, accept=[suggested["id"]])
    assert by_agent["code"] == "provenance_not_allowed"
    (waiting,) = person.answer("context_view", scopeId="atlas", runId=second)["suggestions"]
    assert (waiting["valueNumber"], waiting["rationale"], waiting["createdBy"]) == (3.2, doubt["rationale"], "claude")
    person.answer("context_edit", runId=second, accept=[waiting["id"]])

    # A viewer sees everything but may neither write nor commit.
    person.members("upsert", scopeId="atlas", userId="cleo", role="viewer")
    viewer = serve("cleo", "--access", "members", "--kind", "person")
    assert viewer.answer("context_view", scopeId="atlas", runId=second)["missing"] == []
    for tool, arguments in (("context_edit", {"reject": [waiting["id"]]}), ("context_run", {"operation": "commit"})):
        denied = viewer.error_of(tool, runId=second, **arguments)
        assert (denied["code"], denied["name"]) == ("forbidden", "PcivRlsDeniedError")
    assert person.answer("context_run", operation="commit", runId=second)["run"]["status"] == "committed"

    # Now the person's commit is in force for everybody, and the differences are shown.
    after = agent.answer("context_view", scopeId="atlas")
    tide = after["inputsByPointer"]["/coast/tide"]
    assert (tide["valueNumber"], tide["provenance"], tide["updatedBy"]) == (3.2, "user-entered", "user")
    assert (after["missing"], "suggestions" in after) == ([], False)
    compared = agent.answer("context_run", **{"operation": "diff", "from": draft, "to": second})
    assert [(one["pointer"], one["change"]) for one in compared["inputs"]] == [
        ("/coast/tide", "set"),
        ("/island/name", "changed"),
    ]


def test_a_view_that_is_too_long_for_one_answer_comes_in_pages_that_make_it_whole(serve: Serve) -> None:
    agent, modest = (
        serve("ada", "--access", "open", *more) for more in ((), ("--max-answer-tokens", str(PAGE_TOKENS)))
    )
    draft = agent.answer("context_run", operation="create_draft", scopeId="atlas")["run"]["id"]
    agent.answer(
        "context_edit",
        runId=draft,
        sources=[{"id": SURVEY, "kind": "file", "title": "Survey of 2027", "uri": "sheets/survey-2027.pdf"}],
        inputs=[
            fact(f"/sheet/{place}", place or None, valueKind="number", required=True, sourceIds=[SURVEY])
            for place in range(12)
        ],
        constraints=[{"key": "scale", "label": "Scale", "value": "1:25,000"}],
        artifacts=[{"type": "sheet", "title": f"Sheet {place}", "payload": {"notes": "x" * 600}} for place in range(4)],
    )
    for place in range(1, 6):
        weaker = {"pointer": f"/sheet/{place}", "value": place + 100, "provenance": "model-inferred"}
        assert agent.answer("context_edit", runId=draft, inputs=[weaker])["suggested"]
    whole = agent.answer("context_view", scopeId="atlas", runId=draft)
    assert "next_cursor" not in whole

    pages = [modest.answer("context_view", scopeId="atlas", runId=draft)]
    while cursor := pages[-1].pop("next_cursor", None):
        pages.append(modest.answer("context_view", scopeId="atlas", runId=draft, cursor=cursor))

    assert len(pages) > 3
    assert all(len(json.dumps(page, separators=(",", ":"))) <= 4 * PAGE_TOKENS for page in pages)
    assert ["left_out" in page for page in pages] == [True] * (len(pages) - 1) + [False]
    assert join_pages(pages) == whole


def join_pages(pages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the pages of a view joined, as a client would."""
    whole = {name: value for name, value in pages[0].items() if name != "left_out"}
    for page in pages[1:]:
        for name in ("sourcesById", "inputsByPointer"):
            whole[name] |= page[name]
        for name in ("constraints", "missing"):
            whole[name] += page[name]
        for kind, artifacts in page["artifactsByType"].items():
            whole["artifactsByType"].setdefault(kind, []).extend(artifacts)
        if "suggestions" in page:
            whole.setdefault("suggestions", []).extend(page["suggestions"])
    return whole
