"""Servers that start at once after a kill are usable as soon as their modules are loaded."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.kernel.store.writing_process import FOREVER, WritingProcess
from tests.standby import Standby
from tests.surfaces.mcp.connection import call

pytestmark = pytest.mark.slow

AT_ONCE = 4
MODULES = (  # of a server that runs the request below
    "groundplan.session",
    "groundplan.kernel.store.sqlite.store",
    "groundplan.surfaces.mcp.stdio",
    "groundplan.surfaces.mcp.tools",
    "groundplan.work.graph.open",
)
# Measured: 0.9 to 1.1, also on a busy machine: the modules alone are freed at the end, too. The bar is 2 s at p99.
RATIO_MAX = 3.0
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def run_at_once(*command: str, given: str = "") -> tuple[list[str], float]:
    """Return the outputs of a program that is started several times at once, and how long all of them took."""
    begin = time.perf_counter()
    started = [
        subprocess.Popen([sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(AT_ONCE)
    ]
    for one in started:  # all of them, before waiting for the first to end
        assert one.stdin is not None
        one.stdin.write(given)
        one.stdin.flush()
    outputs = [one.communicate(timeout=60)[0] for one in started]
    return outputs, time.perf_counter() - begin


def test_servers_that_start_at_once_after_a_kill_answer_as_soon_as_their_modules_are_loaded(
    tmp_path: Path, program: Standby
) -> None:
    db = tmp_path / "plan.db"
    WritingProcess(program, db, FOREVER, "p", "1000").kill_after(20)
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": call("graph_open", project="p-0", goal="Build it"),
        },
    ]
    given = "".join(json.dumps(request) + "\n" for request in requests)

    _, loading_s = run_at_once("-c", f"import {', '.join(MODULES)}")
    outputs, serving_s = run_at_once("-m", "groundplan", "mcp", "--db", str(db), "--agent", "bot", given=given)

    for output in outputs:
        answers = {answer["id"]: answer["result"] for answer in map(json.loads, output.splitlines())}
        assert answers[2]["isError"] is False, answers
    assert serving_s <= RATIO_MAX * loading_s
