"""The official client as a reference, in its handshake mode and in its 2026-07-28 mode."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types.methods import validate_server_result

from groundplan.skills import SKILL_NAMES, load_skill
from tests.standby import Standby
from tests.surfaces.mcp import program as served
from tests.surfaces.mcp.connection import PATIENCE_S, ProcessConnection, call, envelope

pytestmark = pytest.mark.slow  # every test starts a server

MODES = [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]


UNREAD = call("note_keep", text="\0")  # the input gate refuses it before the tool is looked up
Connected = Callable[[str, Callable[[Client], Awaitable[Any]]], Any]


@pytest.fixture(scope="module")
def run_client(program: Standby) -> Connected:
    """Run a function with a client that is connected to the test program, in a given mode."""
    server = StdioServerParameters(command=str(program.command_of(served.__name__)))

    def run_client(mode: str, use: Callable[[Client], Awaitable[Any]]) -> Any:
        async def main() -> Any:
            with anyio.fail_after(PATIENCE_S):
                async with Client(stdio_client(server), mode=mode) as client:
                    return await use(client)

        return anyio.run(main)

    return run_client


@pytest.fixture(params=MODES, ids=[mode for mode, _ in MODES])
def mode(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_it_connects_and_agrees_on_the_revision(run_client: Connected, mode: tuple[str, str]) -> None:
    async def use(client: Client) -> Any:
        return client.protocol_version

    assert run_client(mode[0], use) == mode[1]


@pytest.mark.parametrize("mode", MODES[:2])
def test_it_reads_who_the_server_is_and_what_it_can_do(run_client: Connected, mode: tuple[str, str]) -> None:
    async def use(client: Client) -> Any:
        return client.server_info, client.server_capabilities, client.instructions

    info, capabilities, instructions = run_client(mode[0], use)

    assert (info.name, info.version) == ("groundplan", "1.2.3")
    assert capabilities.tools is not None
    assert capabilities.prompts is not None
    assert capabilities.resources is None
    assert instructions == "Read."


def test_it_lists_the_tools_with_their_hints(run_client: Connected, mode: tuple[str, str]) -> None:
    async def use(client: Client) -> Any:
        return await client.list_tools()

    listed: types.ListToolsResult = run_client(mode[0], use)

    assert [tool.name for tool in listed.tools] == ["note_keep", "note_wait", "note_find"]
    keep = listed.tools[0]
    assert keep.input_schema["required"] == ["text"]
    assert keep.annotations is not None
    assert (keep.annotations.destructive_hint, keep.annotations.read_only_hint) == (False, None)


def test_it_calls_a_tool_and_reads_the_answer(run_client: Connected, mode: tuple[str, str]) -> None:
    async def use(client: Client) -> Any:
        return [await client.call_tool("note_keep", {"text": text}) for text in ("one", "zwö\u2028lf\n")]

    answers = run_client(mode[0], use)

    assert [json.loads(answer.content[0].text)["text"] for answer in answers] == ["one", "zwö\u2028lf\n"]
    assert [answer.is_error for answer in answers] == [False, False]


def test_it_lists_the_prompts_and_gets_each(run_client: Connected, mode: tuple[str, str]) -> None:
    async def use(client: Client) -> Any:
        listed = await client.list_prompts()
        return [(one, await client.get_prompt(one.name)) for one in listed.prompts]

    prompts = run_client(mode[0], use)

    assert [one.name for one, _ in prompts] == list(SKILL_NAMES)
    for one, prompt in prompts:
        (message,) = prompt.messages
        assert (message.role, message.content.text) == ("user", load_skill(one.name).text)
        assert prompt.description == one.description


def test_it_reads_an_unknown_prompt_as_an_error_of_the_protocol(run_client: Connected, mode: tuple[str, str]) -> None:
    async def use(client: Client) -> Any:
        with pytest.raises(MCPError) as refused:
            await client.get_prompt("groundplan")
        return refused.value.error

    assert run_client(mode[0], use).code == -32602


def test_it_reads_a_refusal_as_an_error_of_the_tool(run_client: Connected, mode: tuple[str, str]) -> None:
    async def use(client: Client) -> Any:
        return await client.call_tool("note_find", {"scopeId": "s1"})

    answer = run_client(mode[0], use)

    error = json.loads(answer.content[0].text)["error"]
    assert (answer.is_error, error["code"], error["name"]) == (True, "not_found", "PcivRlsDeniedError")


def test_it_reads_an_unknown_tool_as_an_error_of_the_protocol(run_client: Connected, mode: tuple[str, str]) -> None:
    async def use(client: Client) -> Any:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("note_kept", {})
        return refused.value.error

    error = run_client(mode[0], use)

    assert (error.code, error.data["near"]) == (-32602, "note_keep")


def test_it_cancels_a_running_call_and_goes_on(run_client: Connected, mode: tuple[str, str], tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    async def use(client: Client) -> Any:
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "note_wait", {"gate": str(gate)})
            # The pipe opens for writing once the tool reads it: now the call is running.
            writer = await anyio.to_thread.run_sync(os.open, gate, os.O_WRONLY)
            calls.cancel_scope.cancel()
        os.close(writer)
        return await client.call_tool("note_keep", {"text": "wanted"})

    assert json.loads(run_client(mode[0], use).content[0].text) == {"text": "wanted"}


def nested(depth: int) -> Any:
    return [] if depth == 1 else [nested(depth - 1)]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("\0", "control_character"),
        ("\x1b", "control_character"),
        (nested(40), "too_deep"),
        (2**60, "invalid_number"),
        ("x" * 2_000_000, "too_large"),
    ],
    ids=["nul", "escape", "deep", "integer", "large"],
)
def test_it_reads_why_a_call_was_not_even_looked_at_and_goes_on(
    run_client: Connected, mode: tuple[str, str], value: Any, code: str
) -> None:
    async def use(client: Client) -> Any:
        await client.list_tools()
        refused = await client.call_tool("note_keep", {"text": value})
        return refused, await client.call_tool("note_keep", {"text": "mended"})

    refused, mended = run_client(mode[0], use)

    assert (refused.is_error, json.loads(refused.content[0].text)["error"]["code"]) == (True, code)
    assert (mended.is_error, json.loads(mended.content[0].text)) == (False, {"text": "mended"})


def test_it_reads_a_first_request_above_the_limit_as_an_error_of_the_protocol(run_client: Connected) -> None:
    async def use(client: Client) -> Any:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("note_keep", {"text": "x" * 2_000_000})
        return refused.value.error, await client.call_tool("note_keep", {"text": "mended"})

    error, mended = run_client("2026-07-28", use)

    assert (error.code, error.data["code"], mended.is_error) == (-32600, "too_large", False)


def test_it_reads_why_its_first_call_was_not_even_looked_at(run_client: Connected) -> None:
    async def use(client: Client) -> Any:
        return await client.call_tool("note_keep", {"text": "\0"})

    assert run_client("2026-07-28", use).is_error


@pytest.mark.filterwarnings("ignore:ping is removed")
def test_it_pings_in_the_handshake_era(run_client: Connected) -> None:
    async def use(client: Client) -> Any:
        return await client.send_ping()

    assert isinstance(run_client("legacy", use), types.EmptyResult)


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_results_of_every_handshake_revision_pass_the_official_schema(revision: str, subtests: pytest.Subtests) -> None:
    with ProcessConnection() as child:
        with subtests.test("initialize"):
            validate_server_result("initialize", revision, child.initialize(revision))
        for method, params in (
            ("tools/list", {}),
            ("tools/call", call("note_keep", text="x")),
            ("prompts/list", {}),
            ("prompts/get", {"name": SKILL_NAMES[0]}),
            ("ping", {}),
        ):
            with subtests.test(method):
                validate_server_result(method, revision, child.result(method, params))
        with subtests.test("a call that is not even looked at"):
            validate_server_result("tools/call", revision, child.result("tools/call", UNREAD))


def test_results_of_the_stateless_revision_pass_the_official_schema(subtests: pytest.Subtests) -> None:
    kept = call("note_keep", text="x")
    with ProcessConnection() as child:
        for method, params in (
            ("tools/list", {}),
            ("tools/call", kept),
            ("prompts/list", {}),
            ("prompts/get", {"name": SKILL_NAMES[0]}),
            ("server/discover", {}),
            ("tools/call", UNREAD),
        ):
            with subtests.test(method, params=params):
                validate_server_result(method, "2026-07-28", child.result(method, envelope(**params)))
