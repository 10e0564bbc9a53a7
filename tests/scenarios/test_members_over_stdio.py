"""A project from its first owner to its last, by agents at real servers, on both engines."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.engines import Engine
from tests.scenarios.agents import Serve
from tests.standby import Standby
from tests.surfaces.mcp.connection import PATIENCE_S

pytestmark = pytest.mark.slow  # every test starts servers


def test_roles_hold_for_people_with_servers_of_their_own(serve: Serve) -> None:
    founder = serve("ada", "--access", "open", "--kind", "person")
    goal = "Every order ships within a day"
    scope = founder.members("bootstrap", scopeId="atlas", name=goal, createDraftRun=True)
    founder.members("upsert", scopeId="atlas", userId="ben", role="editor")
    founder.members("upsert", scopeId="atlas", userId="cleo", role="viewer")
    ada, ben, cleo = (serve(name, "--access", "members", "--kind", "person") for name in ("ada", "ben", "cleo"))

    assert scope["role"] == "owner"
    for agent in (ada, ben, cleo):
        (run,) = agent.answer("context_run", operation="list", scopeId="atlas")["runs"]
        assert (run["id"], run["status"], run["userId"]) == (scope["runId"], "draft", "ada")
        listed = agent.members("list", scopeId=scope["scopeId"])["members"]
        assert [(one["userId"], one["role"]) for one in listed] == [
            ("ada", "owner"),
            ("ben", "editor"),
            ("cleo", "viewer"),
        ]
    assert (ben.members_error("remove", scopeId="atlas", userId="cleo")["code"], "PcivRlsDeniedError") == (
        "forbidden",
        cleo.members_error("upsert", scopeId="atlas", userId="cleo", role="owner")["name"],
    )
    last = ada.members_error("remove", scopeId="atlas", userId="ada")
    assert last["code"] == "pciv_scope_members_last_owner_forbidden"

    ada.members("upsert", scopeId="atlas", userId="ben", role="owner")
    assert ben.members("remove", scopeId="atlas", userId="ada") == {"removed": "ada"}
    assert ada.members_error("list", scopeId="atlas")["code"] == "not_found"


def test_the_kind_of_a_server_counts_until_its_name_first_acts_and_never_after(serve: Serve) -> None:
    made = serve("claude", "--access", "open").members("bootstrap", scopeId="atlas")
    claimed_person = serve("claude", "--access", "open", "--kind", "person")
    serve("ada", "--access", "open", "--kind", "person").members("bootstrap", scopeId="south")

    assert any("no person owns" in line for line in made["warnings"])
    refused = claimed_person.members_error("upsert", scopeId="atlas", userId="ben", role="editor")
    assert refused["code"] == "agent_not_allowed"
    assert serve("ada", "--access", "open").members_error("list", scopeId="south")["code"] == "actor_kind"
    stored_person = serve("ada", "--access", "open", "--kind", "agent")
    assert stored_person.members("upsert", scopeId="south", userId="ben", role="editor")["member"]["role"] == "editor"


def test_strangers_and_the_nameless_learn_nothing(serve: Serve) -> None:
    serve("ada", "--access", "open").members("bootstrap", scopeId="atlas")
    mallory, nobody = serve("mallory"), serve(None)

    hidden, missing = (mallory.members_error("list", scopeId=scope) for scope in ("atlas", "sumac"))

    assert json.dumps(hidden).replace("atlas", "sumac") == json.dumps(missing)
    assert hidden["name"] == "PcivRlsDeniedError"
    refused = nobody.members_error("list", scopeId="atlas")
    assert (refused["code"], refused["name"]) == ("unauthenticated", "PcivAuthRequiredError")


def test_a_careless_agent_is_told_how_to_correct_its_call(serve: Serve) -> None:
    agent = serve("ada", "--access", "open")
    agent.members("bootstrap", scopeId="atlas")

    assert agent.members_error("upsert", scopId="atlas", userId="ben", role="editor")["details"] == {
        "field": "scopId",
        "near": "scopeId",
    }
    assert agent.members_error("upsert", scopeId="atlas", userId="ben")["code"] == "missing_argument"
    assert agent.members_error("upsert", scopeId="atlas", userId="ben", role="edtor")["details"]["near"] == "editor"
    assert agent.members_error("insert", scopeId="atlas")["details"]["allowed"] == [
        "bootstrap",
        "list",
        "upsert",
        "remove",
    ]
    assert agent.members_error("list", scopeId="atlass")["details"]["near"] == ["atlas"]
    assert agent.members_error("bootstrap", scopeId="atlas")["code"] == "pciv_scope_already_initialized"


def test_an_op_id_makes_a_repeated_call_harmless(serve: Serve) -> None:
    agent = serve("ada", "--access", "open")

    first = agent.members("bootstrap", scopeId="atlas", op_id="once")

    assert agent.members("bootstrap", scopeId="atlas", op_id="once") == first
    assert agent.members_error("bootstrap", scopeId="other", op_id="once")["code"] == "op_id_reused"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_official_client_works_with_the_real_server(engine: Engine, program: Standby, mode: str) -> None:
    async def main() -> Any:
        arguments = ["mcp", "--db", engine.db, "--agent", "ada", "--access", "open"]
        server = StdioServerParameters(command=str(program.command), args=arguments)
        with anyio.fail_after(PATIENCE_S):
            async with Client(stdio_client(server), mode=mode) as client:
                tools = await client.list_tools()
                made = await client.call_tool("members", {"operation": "bootstrap", "scopeId": "atlas"})
                refused = await client.call_tool("members", {"operation": "list", "scopeId": "sumac"})
                return "members" in [tool.name for tool in tools.tools], made.is_error, refused.is_error

    assert anyio.run(main) == (True, False, True)
