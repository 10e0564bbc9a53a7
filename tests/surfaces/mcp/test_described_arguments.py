"""What tools/list and the handshake explain, and what they may cost."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.kernel.answers import count_tokens
from groundplan.kernel.input_gate.request import PROJECT_NAMES
from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Group
from groundplan.surfaces.mcp.instructions import build_instructions
from groundplan.surfaces.mcp.tool_descriptions import DESCRIBED
from groundplan.surfaces.mcp.tools import RegistryTools
from tests.contracts.snapshots import listing

INSTRUCTIONS_TOKENS_MAX = 300


def test_every_tool_that_is_described_exists() -> None:
    assert DESCRIBED.keys() <= {one.tool.name for one in OPERATIONS if one.tool}


def test_what_new_users_got_wrong_first_is_explained_in_the_list_of_tools() -> None:
    described = listing(frozenset(Group))
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in described}

    assert any("create a project" in tool["description"] for tool in described if tool["name"] == "graph_open")
    assert "pointers" in tools["graph_plan"]["nodes"]["items"]["properties"]["rests_on"]["description"]
    assert "count is 1" in tools["graph_next"]["budget"]["description"]
    assert "higher" in tools["graph_plan"]["nodes"]["items"]["properties"]["properties"]["description"]
    assert "task" in tools["manage_graph"]["createdByTaskId"]["description"]
    assert "molecule" in tools["manage_graph"]["entityType"]["description"]
    assert "/" in tools["context_edit"]["inputs"]["items"]["properties"]["pointer"]["description"]
    assert "pointer" in tools["context_view"]["hydrate"]["description"]
    assert "draft" in tools["toc_edit"]["operations"]["description"]
    assert '"kind"' in tools["toc_check"]["operation"]["description"]
    assert "node" in tools["graph_next"]["scope"]["description"]
    assert "waits" in tools["graph_connect"]["edges"]["items"]["properties"]["from"]["description"]


def test_a_tool_with_several_operations_says_what_each_needs() -> None:
    described = {tool["name"]: tool["inputSchema"]["properties"] for tool in listing(frozenset(Group))}
    needs = {
        name: properties["operation"].get("description", "")
        for name, properties in described.items()
        if "enum" in properties.get("operation", {})
    }

    assert "commit needs runId" in needs["context_run"]
    assert "create needs name or title; update needs id, version" in needs["manage_container"]
    assert "delete needs fromId and toId, or id" in needs["manage_dependency"]
    assert all(needs.values())
    restructure = described["graph_restructure"]["operations"]["items"]["properties"]["op"]["description"]
    assert all(word in restructure for word in ("`move` needs", "`merge` needs source", "reason"))


def test_the_tool_for_facts_says_what_each_part_of_an_edit_needs() -> None:
    (edit,) = (tool for tool in listing(frozenset(Group)) if tool["name"] == "context_edit")
    needs = ("kind, title, uri", "valueKind or value", "key, label", "type, title", "pointer or constraint", "by id")

    assert [one for one in needs if one not in edit["description"]] == []
    assert {word.rstrip(":;") for word in edit["description"].split()} > {
        *("sources", "inputs", "constraints", "artifacts", "links", "remove", "reject.")
    }


def test_arguments_whose_name_says_too_little_are_described_wherever_they_are() -> None:
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in listing(frozenset(Group))}
    update = tools["graph_update"]["updates"]["items"]["properties"]

    assert all("description" in properties["lean"] for properties in tools.values() if "lean" in properties)
    assert "does not interpret" in update["state"]["description"]
    assert "time limit" in update["hold"]["description"]
    for name, properties in tools.items():
        if "priority" in properties:
            assert "`HIGH`, `MEDIUM` or `LOW`" in properties["priority"]["description"], name
        if "budget" in properties:
            assert "200 to 20,000" in properties["budget"]["description"], name


def test_the_instructions_are_short_and_name_tools_that_exist() -> None:
    instructions = build_instructions(list(Group))
    assert count_tokens(instructions) <= INSTRUCTIONS_TOKENS_MAX
    assert "briefs" in instructions
    tools = [operation.tool for operation in OPERATIONS if operation.tool]
    known = {tool.name for tool in tools} | {tool.selector for tool in tools}
    assert list_names(instructions) - known == {"add_evidence", "depends_on"}


def test_with_a_configured_project_no_tool_says_that_it_needs_one() -> None:
    tools = RegistryTools(OPERATIONS, set(Group), lambda *_: ExecutionResult(None), has_project=True)
    without = {tool["name"]: tool["inputSchema"] for tool in listing(frozenset(Group))}

    for tool in tools.listing():
        schema, before = tool["inputSchema"], without[tool["name"]]
        needs = schema["properties"].get("operation", {}).get("description", "")
        assert not {*schema.get("required", ()), *re.findall(r"\w+", needs)} & set(PROJECT_NAMES), tool["name"]
        assert schema["properties"].keys() == before["properties"].keys()
        assert set(before.get("required", ())) <= {*schema.get("required", ()), *PROJECT_NAMES}
    instructions = build_instructions(list(Group), has_project=True)
    assert "need not be given" in instructions
    assert count_tokens(instructions) <= INSTRUCTIONS_TOKENS_MAX


@pytest.mark.parametrize("count", range(len(Group) + 1))
def test_the_instructions_name_only_tools_that_the_client_has(count: int) -> None:
    group_of = {operation.tool.name: operation.tool.group for operation in OPERATIONS if operation.tool}
    for groups in combinations(Group, count):
        named = {group_of[word] for word in list_names(build_instructions(groups)) if word in group_of}
        assert named <= set(groups)


def list_names(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text) if "_" in word or word in ("inbox", "undo", "advance")}
