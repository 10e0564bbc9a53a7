"""Facts and members over MCP: the contract's tools and error names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import Actor, ActorKind, local_actor
from groundplan.kernel.operations.registry import Group
from groundplan.session import Session
from groundplan.surfaces.mcp.tools import RegistryTools
from tests.contracts.snapshots import listing
from tests.engines import Engine, person

NOWHERE = "00000000-0000-4000-8000-000000000000"
AUTH_REQUIRED = "PcivAuthRequiredError"
DENIED = "PcivRlsDeniedError"
MISMATCH = "PcivSchemaMismatchError"
INVARIANT = "PcivRuntimeInvariantError"


class ToolsClient:
    """A client of the tools of the context group."""

    def __init__(self, session: Session) -> None:
        self.tools = RegistryTools(OPERATIONS, {Group.CONTEXT}, session.execute)

    def answer(self, tool: str, **arguments: Any) -> Any:
        return self._call(tool, arguments, is_error=False)

    def error(self, tool: str, **arguments: Any) -> Any:
        return self._call(tool, arguments, is_error=True)["error"]

    def code_and_name(self, tool: str, **arguments: Any) -> tuple[str, str | None]:
        error = self.error(tool, **arguments)
        return error["code"], error.get("name")

    def _call(self, tool: str, arguments: dict[str, Any], *, is_error: bool) -> Any:
        answer = self.tools.call(tool, arguments)
        assert answer.is_error is is_error, answer.text
        return json.loads(answer.text)


def make_client(engine: Engine, actor: Actor | None) -> ToolsClient:
    return ToolsClient(engine.session(actor))


@pytest.fixture
def ada(engine: Engine) -> ToolsClient:
    return make_client(engine, local_actor("ada"))


def test_there_are_exactly_the_four_tools_of_the_contract() -> None:
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in listing({Group.CONTEXT})}

    assert {name: taken.get("operation", {}).get("enum") for name, taken in tools.items()} == {
        "members": ["bootstrap", "list", "upsert", "remove"],
        "context_view": None,
        "context_run": ["create_draft", "commit", "discard", "delete", "list", "diff"],
        "context_edit": None,
    }


def test_every_refusal_has_the_name_that_the_contract_gives_it(engine: Engine, ada: ToolsClient) -> None:
    run = ada.answer("members", operation="bootstrap", scopeId="atlas", createDraftRun=True)["runId"]
    ada.answer("members", operation="upsert", scopeId="atlas", userId="cleo", role="viewer")
    cleo, finn, nobody = (make_client(engine, actor) for actor in (person("cleo"), person("finn"), None))
    size = {"pointer": "/site/size", "label": "Size", "valueKind": "number"}
    columns = {**size, "valueString": "large"}

    assert nobody.code_and_name("context_view", scopeId="atlas") == ("unauthenticated", AUTH_REQUIRED)
    assert cleo.code_and_name("context_run", operation="commit", runId=run) == ("forbidden", DENIED)
    assert cleo.code_and_name("context_edit", runId=run, inputs=[size]) == ("forbidden", DENIED)
    assert finn.code_and_name("context_run", operation="commit", runId=run) == ("not_found", DENIED)
    assert ada.code_and_name("context_run", operation="commit", runId=NOWHERE) == ("not_found", DENIED)
    assert ada.code_and_name("context_view", scopeId="atlas", runId=NOWHERE) == ("not_found", DENIED)
    assert ada.code_and_name("context_view", scopeId="atlas") == ("no_context", "NotFound")
    shown = {"tool": "context_view", "arguments": {"scopeId": "atlas", "runId": run}}
    assert ada.error("context_view", scopeId="atlas")["details"]["next"] == [shown]
    assert ada.code_and_name("context_run", operation="commit", runId="r1") == ("invalid_id", MISMATCH)
    assert ada.code_and_name("context_run", operation="commit", run=run) == ("unknown_argument", MISMATCH)
    assert ada.code_and_name("context_run", operation="comit", runId=run) == ("invalid_argument", MISMATCH)
    assert ada.code_and_name("context_edit", runId=run, inputs=[{**size, "pointer": "size"}]) == (
        "invalid_pointer",
        MISMATCH,
    )
    assert ada.code_and_name("context_edit", runId=run, inputs=[columns]) == (
        "pciv_v1_runtime_invariant_failed",
        INVARIANT,
    )
    # Errors without a class in the contract have the name of their family.
    assert ada.code_and_name("context_edit", runId=run, inputs=[size], expected_rev=7) == ("stale_rev", "Conflict")
    ada.answer("context_edit", runId=run, inputs=[{**size, "required": True}])
    assert ada.code_and_name("context_run", operation="commit", runId=run) == ("required_inputs_unset", "RuleViolated")


def test_details_are_in_the_contract_s_own_style(engine: Engine, ada: ToolsClient) -> None:
    run = ada.answer("context_run", operation="create_draft", scopeId="atlas")["run"]["id"]
    two = {"pointer": "/a", "label": "A", "valueKind": "number", "valueNumber": 1, "valueString": "one"}

    assert ada.error("context_edit", runId=run, inputs=[two])["details"] == {
        "invariantName": "pciv_value_columns_match_kind",
        "scopeId": "atlas",
        "runId": run,
        "field": "inputs[0]",
    }
    assert ada.error("members", operation="bootstrap", scopeId="atlas")["details"] == {"scopeId": "atlas"}
    assert ada.error("context_edit", runId=run, inputs=[{"pointer": "/a", "label": "é" * 600, "value": 1}])[
        "details"
    ] == {"field": "inputs[0].label", "limitBytes": 1_024, "actualBytes": 1_200}
    assert ada.error("context_edit", runId=run, inputs=[two], expected_rev=7)["details"] == {
        "run": run,
        "expected": 7,
        "current": 1,
    }
    agent = make_client(engine, local_actor("bot", kind=ActorKind.AGENT))
    claim = {"pointer": "/a", "label": "A", "value": 1, "provenance": "user-entered"}
    refused = agent.error("context_edit", runId=run, inputs=[claim])
    assert (refused["code"], refused["details"]) == ("provenance_not_allowed", {"field": "inputs[0].provenance"})


# --- Members --------------------------------------------------------------------------------------------------------


def test_a_scope_is_begun_with_its_first_draft_or_without(ada: ToolsClient) -> None:
    plain = ada.answer("members", operation="bootstrap", scopeId="atlas", name="A map that every walker trusts")
    drafted = ada.answer("members", operation="bootstrap", scopeId=" borealis ", createDraftRun=True)

    assert plain == {"scopeId": "atlas", "projectId": plain["projectId"], "role": "owner"}
    assert ada.answer("context_run", operation="list", scopeId="atlas") == {"runs": []}
    assert (drafted["scopeId"], drafted["role"]) == ("borealis", "owner")
    (run,) = ada.answer("context_run", operation="list", scopeId=drafted["projectId"])["runs"]
    assert (run["id"], run["scopeId"], run["userId"], run["status"]) == (drafted["runId"], "borealis", "ada", "draft")
    members = ada.answer("members", operation="list", scopeId="borealis")["members"]
    assert [(one["userId"], one["role"], one["createdBy"]) for one in members] == [("ada", "owner", "ada")]


def test_a_scope_that_is_there_is_not_begun_again_by_anybody(engine: Engine, ada: ToolsClient) -> None:
    ada.answer("members", operation="bootstrap", scopeId="atlas")
    ada.answer("members", operation="upsert", scopeId="atlas", userId="cleo", role="viewer")
    engine.session("finn").call("project.create", name="finn's own")  # so that he is in the organization
    cleo, finn = make_client(engine, person("cleo")), make_client(engine, person("finn"))
    taken = "pciv_scope_already_initialized"

    for anybody in (ada, cleo, finn):
        for more in ({}, {"createDraftRun": True}):
            assert anybody.code_and_name("members", operation="bootstrap", scopeId="atlas", **more) == (
                taken,
                "Conflict",
            )
    assert finn.code_and_name("context_run", operation="create_draft", scopeId="atlas") == ("not_found", DENIED)
    assert cleo.code_and_name("context_run", operation="create_draft", scopeId="atlas") == ("forbidden", DENIED)
    assert ada.answer("context_run", operation="list", scopeId="atlas") == {"runs": []}
    assert len(ada.answer("members", operation="list", scopeId="atlas")["members"]) == 2


def test_the_name_of_a_scope_is_neither_empty_nor_longer_than_the_contract_allows(ada: ToolsClient) -> None:
    def begun(name: str) -> tuple[str, str | None]:
        return ada.code_and_name("members", operation="bootstrap", scopeId=name)

    assert begun("") == begun(" \t") == ("pciv_scope_id_required", MISMATCH)
    assert begun("x" * 201) == ("pciv_scope_id_too_long", MISMATCH)
    draft = {"operation": "create_draft", "scopeId": "x" * 201}
    assert ada.code_and_name("context_run", **draft) == ("pciv_scope_id_too_long", MISMATCH)
    assert ada.answer("members", operation="bootstrap", scopeId="é" * 200)["role"] == "owner"


def test_members_come_change_their_role_and_go_and_an_owner_stays(engine: Engine, ada: ToolsClient) -> None:
    ada.answer("members", operation="bootstrap", scopeId="atlas")

    added = ada.answer("members", operation="upsert", scopeId="atlas", userId="ben", role="viewer")["member"]
    again = ada.answer("members", operation="upsert", scopeId="atlas", userId="ben", role="editor")["member"]

    assert (added["userId"], added["role"], again["role"]) == ("ben", "viewer", "editor")
    assert again["createdAt"] == added["createdAt"]
    listed = ada.answer("members", operation="list", scopeId="atlas")["members"]
    assert [(one["userId"], one["role"]) for one in listed] == [("ada", "owner"), ("ben", "editor")]
    ben = make_client(engine, person("ben"))
    assert ben.code_and_name("members", operation="remove", scopeId="atlas", userId="ada") == ("forbidden", DENIED)
    last = ("pciv_scope_members_last_owner_forbidden", "RuleViolated")
    assert ada.code_and_name("members", operation="remove", scopeId="atlas", userId="ada") == last
    assert ada.code_and_name("members", operation="upsert", scopeId="atlas", userId="ada", role="editor") == last
    assert ada.answer("members", operation="remove", scopeId="atlas", userId="ben") == {"removed": "ben"}
    assert ada.code_and_name("members", operation="remove", scopeId="atlas", userId="ben") == ("not_found", "NotFound")
    assert ben.code_and_name("members", operation="list", scopeId="atlas") == ("not_found", DENIED)


def test_a_run_may_be_named_together_with_its_scope(ada: ToolsClient) -> None:
    run = ada.answer("context_run", operation="create_draft", scopeId="atlas")["run"]["id"]
    ada.answer("context_run", operation="create_draft", scopeId="borealis")

    for elsewhere in ("borealis", "sumac"):
        assert ada.error("context_run", operation="commit", scopeId=elsewhere, runId=run)["code"] == "not_found"
    ada.answer("context_edit", scopeId="atlas", runId=run, inputs=[{"pointer": "/area", "label": "Area", "value": 3}])
    assert ada.answer("context_run", operation="commit", project="atlas", runId=run)["run"]["status"] == "committed"


def test_every_operation_on_members_takes_lean(ada: ToolsClient) -> None:
    ada.answer("members", operation="bootstrap", scopeId="atlas", lean=True)
    ada.answer("members", operation="upsert", scopeId="atlas", userId="ben", role="viewer", lean=True)
    assert len(ada.answer("members", operation="list", scopeId="atlas", lean=True)["members"]) == 2
    assert ada.answer("members", operation="remove", scopeId="atlas", userId="ben", lean=True)["removed"] == "ben"
