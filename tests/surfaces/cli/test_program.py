"""The program as a process: its first output, its imports, and its behaviour in a pipe."""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import groundplan
from groundplan.kernel.store.sqlite.connection import APPLICATION_ID
from groundplan.surfaces.cli.setup import mcp as file_header
from tests.standby import Standby
from tests.surfaces.cli.conftest import Run

INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
Served = Callable[..., list[dict[str, Any]]]


def python(*arguments: str | bytes, **options: Any) -> subprocess.CompletedProcess[Any]:
    return subprocess.run([sys.executable, *arguments], check=False, **options)


def process(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **environment}
    return python("-m", "groundplan", *arguments, input=stdin, capture_output=True, text=True, env=environment)


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@pytest.fixture
def serve_messages(program: Standby) -> Served:
    """Return the answers of an MCP server to these messages, on one connection."""

    def serve_messages(*arguments: str, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        said = "".join(json.dumps(message) + "\n" for message in messages)
        ended = subprocess.run(
            (program.command, "mcp", *arguments), check=False, input=said, capture_output=True, text=True
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        return [json.loads(line)["result"] for line in ended.stdout.splitlines()]

    return serve_messages


@pytest.mark.slow
def test_the_version_is_printed_in_every_spelling(run: Run) -> None:
    shown = run("--version")
    versions = run("--version", "--json").answer

    assert shown == run("-V") == run("--db", "x", "--version")
    assert shown.out.splitlines()[0] == f"groundplan {groundplan.__version__}"
    assert list(versions) == ["version", "python", "sqlite", "psycopg", "libpq"]
    assert all(version in shown.out for version in versions.values())
    assert versions["sqlite"] == sqlite3.sqlite_version
    assert process("--version").stdout == shown.out


def test_without_the_driver_of_postgresql_the_version_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)

    assert "no psycopg" in run("--version").out


def test_the_program_alone_prints_help_that_says_where_to_begin(run: Run) -> None:
    alone = run()

    assert (alone.code, alone.err) == (0, "")
    assert "groundplan demo" in alone.out
    assert "groundplan help" in alone.out
    assert run("project").code == 0
    assert "create" in run("project").out


def test_output_has_no_colours_outside_a_terminal(run: Run) -> None:
    assert "\x1b" not in run().out + run("project", "list").out + run("doctor").out


@pytest.mark.slow
@pytest.mark.parametrize(("no_color", "is_styled"), [("", True), ("1", False)])
def test_a_terminal_gets_styles_unless_it_asks_for_none(
    run: Run, program: Standby, monkeypatch: pytest.MonkeyPatch, no_color: str, is_styled: bool
) -> None:
    run("init")
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm-256color")
    ours, theirs = pty.openpty()
    subprocess.run((program.command, "doctor"), check=False, stdout=theirs)
    os.close(theirs)

    shown = os.read(ours, 65_536)

    os.close(ours)
    assert b"engine" in shown
    assert (b"\x1b[" in shown) is is_styled


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_the_program_quietly(run: Run, program: Standby) -> None:
    run("project", "create", "atlas")
    listing = ("project", "list")

    for command in ((sys.executable, "-m", "groundplan", *listing), (program.command, *listing, "--json")):
        reader, writer = os.pipe()
        os.close(reader)
        ended = subprocess.run(command, check=False, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.slow
def test_a_full_disk_behind_the_output_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        ended = python("-m", "groundplan", "init", "--json", stdout=full, stderr=subprocess.PIPE)

    assert ended.returncode == 7
    assert json.loads(ended.stderr)["error"]["code"] == "output_failed"


@pytest.mark.slow
def test_bytes_that_are_no_text_are_refused_without_a_trace(program: Standby) -> None:
    ended = subprocess.run((program.command, "project", "create", b"\xff"), check=False, capture_output=True)

    assert ended.returncode == 2
    assert ended.stderr.endswith(b"(invalid_text)\n")


@pytest.mark.slow
@pytest.mark.parametrize("is_new", [True, False])
def test_mcp_serves_a_plan_that_is_new_or_not(run: Run, is_new: bool, serve_messages: Served) -> None:
    if not is_new:
        run("init", "--db", "plan.db")
    bootstrap = call("members", operation="bootstrap", scopeId="atlas")

    hello, tools, answer = serve_messages(
        "--db", "plan.db", "--agent", "claude", "--tools", "context", messages=[INITIALIZE, LIST, bootstrap]
    )

    assert hello["serverInfo"] == {"name": "groundplan", "version": groundplan.__version__}
    assert {tool["name"] for tool in tools["tools"]} == {"members", "context_view", "context_run", "context_edit"}
    assert answer["isError"] is False
    (project,) = run("project", "list", "--db", "plan.db", "--json").answer["projects"]
    assert (project["name"], project["created_by"]) == ("atlas", "claude")


@pytest.mark.slow
def test_mcp_offers_only_the_groups_that_are_switched_on(serve_messages: Served) -> None:
    off = call("toc_open", project="atlas")
    hello, tools, refused = serve_messages("--tools", "knowledge,briefing", messages=[INITIALIZE, LIST, off])

    knowledge = {"query_graph", "manage_graph", "manage_changelog"}
    briefing = {"analyse", "coverage", "events", "inbox", "search", "throughline", "undo"}
    assert {tool["name"] for tool in tools["tools"]} == knowledge | briefing
    assert "query_graph" in hello["instructions"]
    assert "toc_" not in hello["instructions"]
    error = json.loads(refused["content"][0]["text"])["error"]
    assert (error["code"], error["details"]["group"]) == ("tool_off", "purpose")
    assert "--tools knowledge,purpose,briefing" in error["message"]


@pytest.mark.slow
def test_mcp_holds_an_agent_to_its_stored_role(run: Run, serve_messages: Served) -> None:
    run("project", "create", "atlas")
    run("member", "add", "claude", "--project", "atlas", "--role", "viewer", "--kind", "agent")
    remove = call("members", operation="remove", scopeId="atlas", userId="claude")

    _, refused = serve_messages("--agent", "claude", "--access", "members", messages=[INITIALIZE, remove])

    assert refused["isError"] is True
    assert json.loads(refused["content"][0]["text"])["error"]["code"] == "forbidden"


@pytest.mark.slow
def test_mcp_caps_its_answers(run: Run, serve_messages: Served) -> None:
    run("project", "create", "atlas")
    members = call("members", operation="list", scopeId="atlas")

    _, capped = serve_messages("--max-answer-tokens", "1", messages=[INITIALIZE, members])
    _, uncapped = serve_messages("--max-answer-tokens=0", messages=[INITIALIZE, members])

    assert (capped["isError"], uncapped["isError"]) == (True, False)


def tool_answer(result: dict[str, Any]) -> Any:
    """Return the answer of a tool."""
    assert result["isError"] is False, result
    return json.loads(result["content"][0]["text"])


@pytest.mark.slow
def test_mcp_takes_paths_against_the_working_copy_it_is_told_or_was_started_in(
    run: Run, serve_messages: Served
) -> None:
    (Path("repo") / ".git").mkdir(parents=True)
    (Path("repo") / "src" / "pay").mkdir(parents=True)
    run("work", "open", "atlas")
    nodes = json.dumps([{"ref": "a", "summary": "x"}])
    (task,) = run("work", "plan", "--project", "atlas", "--nodes", nodes, "--json").answer["created"]
    words = ("--type", "atom", "--project", "atlas", "--task", task["id"], "--path", "src/pay/**")
    run("knowledge", "create", "Pay", *words)
    absolute = str(Path("repo/src/pay/a.ts").absolute())
    ask = call("query_graph", operation="context", projectId="atlas", paths=[absolute, "src/pay", "/etc/hosts"])

    _, with_option = serve_messages("--repo", "repo/src", messages=[INITIALIZE, ask])
    _, elsewhere = serve_messages(messages=[INITIALIZE, ask])

    (atom,) = tool_answer(with_option)["data"]["orphanAtoms"]
    assert atom["matchedPaths"] == ["src/pay/a.ts", "src/pay"]
    assert tool_answer(with_option)["data"]["unmatchedPaths"] == ["/etc/hosts"]
    assert len(tool_answer(with_option)["data"]["warnings"]) == 1
    assert tool_answer(elsewhere)["data"]["unmatchedPaths"] == [absolute, "/etc/hosts"]
    assert "--repo DIR" in tool_answer(elsewhere)["data"]["warnings"][0]


@pytest.mark.slow
def test_mcp_cuts_an_answer_to_its_cap_where_the_rest_can_be_asked_for(run: Run, serve_messages: Served) -> None:
    run("work", "open", "atlas")
    run(
        "work",
        "plan",
        "--project",
        "atlas",
        "--nodes",
        json.dumps([{"ref": str(n), "summary": "x"} for n in range(50)]),
    )
    query = call("graph_query", project="atlas", limit=50)

    _, capped = serve_messages("--max-answer-tokens", "500", messages=[INITIALIZE, query])
    _, by_default = serve_messages(messages=[INITIALIZE, query])

    assert len(tool_answer(capped)["nodes"]) < 50
    assert tool_answer(capped)["next_cursor"]
    assert len(tool_answer(by_default)["nodes"]) == 50


@pytest.mark.slow
def test_mcp_works_by_the_preferences_of_its_configuration(run: Run, serve_messages: Served) -> None:
    Path("groundplan.yaml").write_text("lean: true\nclaim_ttl_minutes: 5\n")
    run("work", "open", "atlas")
    run("work", "plan", "--project", "atlas", "--nodes", '[{"ref": "a", "summary": "Walk the coast"}]')

    _, claimed = serve_messages(messages=[INITIALIZE, call("graph_next", project="atlas", claim=True)])

    node = tool_answer(claimed)["nodes"][0]["node"]
    assert "rev" not in node
    whole = json.dumps({"node_id": node["id"], "lean": False})
    claim = run("op", "work.context", whole).answer["node"]["properties"]
    (taken,) = run("ls", "taken", "--json").answer["nodes"]
    held = datetime.fromisoformat(taken["claimed_until"]) - datetime.fromisoformat(claim["_claimed_at"])
    assert held == timedelta(minutes=5)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("mcp", "--dbb", "plan.db"), 2),
        (("mcp", "plan.db"), 2),
        (("mcp", "--db"), 2),
        (("mcp", "--kind", "robot"), 2),
        (("mcp", "--tools", "wrok"), 2),
        (("mcp", "--access", "none"), 2),
        (("mcp", "--max-answer-tokens", "many"), 2),
        (("mcp", "--max-answer-tokens", "-1"), 2),
        (("mcp", "--repo", "missing"), 2),
        (("mcp", "--repo", ""), 2),
        (("mcp", "--config", "missing.yaml"), 2),
        (("mcp", "--db", "missing/plan.db"), 7),
        (("mcp", "--db", "."), 2),
        (("mcp", "--db", "/tmp"), 7),  # noqa: S108 - a folder that is everywhere
        (("mcp", "--db", "postgresql://127.0.0.1:1/plan"), 7),
        (("--db", "missing/plan.db", "mcp"), 7),
        (("--db=missing/plan.db", "--agent", "ada", "mcp"), 7),
        (("--json", "mcp", "--db", "missing/plan.db"), 7),
    ],
)
def test_mcp_refuses_at_once_what_it_could_not_serve(run: Run, arguments: tuple[str, ...], code: int) -> None:
    refused = run(*arguments)

    assert (refused.code, refused.out) == (code, "")
    assert refused.err.startswith("error: ")
    assert refused.err.count("\n") == 1


def test_mcp_help_names_every_option(run: Run) -> None:
    shown = run("mcp", "--help")

    assert shown.code == 0
    for option in ("--db", "--agent", "--tools", "--access", "--kind", "--repo", "--max-answer-tokens", "--config"):
        assert option in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80


@pytest.mark.parametrize("words", [("init",), ("demo",), ("ls",), ("project", "list"), ("op",), ("mcp",)])
def test_every_command_names_the_options_that_all_have(run: Run, words: tuple[str, ...]) -> None:
    shown = run(*words, "--help").out

    assert all(option in shown for option in ("--db", "--org", "--agent", "--access", "--config"))
    assert ("--json" in shown, "--person" in shown) == (words != ("mcp",),) * 2


def test_the_header_of_a_file_tells_whether_it_will_open(run: Run) -> None:
    assert file_header.APPLICATION_ID == APPLICATION_ID
    run("init")
    whole = Path("groundplan.db").read_bytes()
    assert file_header.is_ready("groundplan.db")

    for at in (0, file_header.USER_VERSION_OFFSET, file_header.APPLICATION_ID_OFFSET):
        spoiled = bytearray(whole)
        spoiled[at] ^= 0xFF
        Path("spoiled.db").write_bytes(spoiled)
        assert not file_header.is_ready("spoiled.db")
    Path("empty.db").touch()
    for path in ("empty.db", "missing/plan.db", ".", "a\0b"):
        assert not file_header.is_ready(path)
    assert file_header.is_ready("still to be made.db")
