"""What tools/list and the handshake explain, and what they may cost."""

from __future__ import annotations

from groundplan.catalog import OPERATIONS
from groundplan.kernel.answers import count_tokens
from groundplan.kernel.operations.registry import Group
from groundplan.surfaces.mcp.methods import INSTRUCTIONS
from groundplan.surfaces.mcp.tool_descriptions import DESCRIBED
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
    assert "waits" in tools["graph_connect"]["edges"]["items"]["properties"]["from"]["description"]


def test_the_instructions_are_short_and_name_tools_that_exist() -> None:
    assert count_tokens(INSTRUCTIONS) <= INSTRUCTIONS_TOKENS_MAX
    words = {word.strip(".,;:()") for word in INSTRUCTIONS.split() if "_" in word}
    known = {one.tool.name for one in OPERATIONS if one.tool} | {one.tool.selector for one in OPERATIONS if one.tool}
    assert words - known == {"add_evidence", "depends_on"}
