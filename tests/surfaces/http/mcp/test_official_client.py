"""The official Python client in its handshake mode and in its 2026-07-28 mode, against `groundplan serve`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from groundplan.skills import SKILL_NAMES
from tests.surfaces.http.server_program import ServerProgram, run_server

pytestmark = pytest.mark.slow  # they start a server

MODES = [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]
PATIENCE_S = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProgram]:
    db: Path = tmp_path_factory.mktemp("official") / "plan.db"
    with run_server(str(db)) as running:
        yield running


def run_client(server: ServerProgram, mode: str, use: Callable[[Client], Awaitable[Any]]) -> Any:
    """Run a function with a client that is connected in a mode."""

    async def main() -> Any:
        headers = {"authorization": f"Bearer {server.token}"}
        with anyio.fail_after(PATIENCE_S):
            async with (
                httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http,
                Client(streamable_http_client(f"{server.address}/mcp", http_client=http), mode=mode) as client,
            ):
                return await use(client)

    return anyio.run(main)


@pytest.mark.parametrize(("mode", "revision"), MODES, ids=[mode for mode, _ in MODES])
def test_it_connects_and_works(server: ServerProgram, mode: str, revision: str) -> None:
    async def use(client: Client) -> Any:
        made = await client.call_tool("graph_open", {"project": f"coast of {mode}"})
        refused = await client.call_tool("graph_context", {"node_id": "qqqq00"})
        tools, prompts = await client.list_tools(), await client.list_prompts()
        prompt = await client.get_prompt(prompts.prompts[0].name)
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("graph_opne", {})
        return client.protocol_version, made, refused, tools.tools, prompts.prompts, prompt, unknown.value.error

    agreed, made, refused, tools, prompts, prompt, unknown = run_client(server, mode, use)

    assert agreed == revision
    assert json.loads(made.content[0].text)["root"]["summary"] == f"coast of {mode}"
    assert (made.is_error, refused.is_error) == (False, True)
    assert "graph_next" in {tool.name for tool in tools}
    assert [one.name for one in prompts] == list(SKILL_NAMES)
    assert len(prompt.messages) == 1
    assert (unknown.code, unknown.data["near"]) == (-32602, "graph_open")
