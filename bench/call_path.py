"""Count the source files that one warm call enters, and how often it goes from one file to another.

Both say how much of the code a reader must open to follow the call. Comprehensions are not counted: they are a part of
the function around them.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import groundplan
from bench.options import Options
from bench.report import Result
from groundplan.catalog import OPERATIONS
from groundplan.kernel.input_gate import strict_json
from groundplan.kernel.operations.registry import Group
from groundplan.surfaces.mcp.connection import Connection
from groundplan.surfaces.mcp.tools import RegistryTools

PROJECT = "atlas"
SOURCES = str(Path(groundplan.__file__).parent)
WARM_UPS = 3
FILES_MAX = {"graph_next with claim": 30, "toc_edit": 32, "plan page": 46}
SWITCHES_MAX = {"graph_next with claim": 100}


class CallPath:
    """Records the files of the functions that are called while it counts, in any thread that began after `watch`."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self._is_counting = False

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        if self._is_counting and event == "call":
            code = frame.f_code
            is_source = code.co_filename.startswith(SOURCES) and code.co_filename.endswith(".py")
            if is_source and not code.co_name.endswith(("comp>", "expr>")):
                self.files.append(code.co_filename)

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Watch this thread and those that it starts."""
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        yield
        sys.setprofile(None)
        threading.setprofile(None)

    def count(self, name: str, call: Callable[[], object]) -> Iterator[Result]:
        """Make a call several times, and return the figures of the last one."""
        for _ in range(WARM_UPS):
            call()
        self.files.clear()
        self._is_counting = True
        call()
        self._is_counting = False
        switches = sum(file != after for file, after in pairwise(self.files))
        yield Result("path", f"{name}, files", len(set(self.files)), "", bar=FILES_MAX[name])
        yield Result("path", f"{name}, switches between files", switches, "", bar=SWITCHES_MAX.get(name))


def run(options: Options) -> list[Result]:
    """Count the paths of two tool calls and of a page."""
    from tests.surfaces.web.browser import Browser  # the client of the tests, which needs no network

    path = CallPath()
    results: list[Result] = []
    with path.watch(), groundplan.open(str(options.scratch / "path.db"), actor="ada") as session:
        session.work.open(project=PROJECT, goal="Measure")
        session.work.plan(project=PROJECT, nodes=[{"ref": f"n{number}", "summary": "A task"} for number in range(20)])
        session.purpose.draft(project=PROJECT)
        session.purpose.edit(project=PROJECT, operations=[{"op": "add_node", "node_type": "GOAL", "title": "A goal"}])
        call = ToolCaller(session)
        results += path.count("graph_next with claim", lambda: call("graph_next", {"project": PROJECT, "claim": True}))
        results += path.count(
            "toc_edit",
            lambda: call(
                "toc_edit",
                {"project": PROJECT, "operations": [{"op": "add_node", "node_type": "OUTCOME", "title": "An outcome"}]},
            ),
        )
        with Browser(session.store) as browser:
            browser.log_in()
            results += path.count("plan page", lambda: browser.get(f"/p/{PROJECT}/plan"))
    return results


class ToolCaller:
    """Calls tools as MCP over stdio does, from the line of a request to that of its answer."""

    def __init__(self, session: groundplan.Session) -> None:
        self._tools = RegistryTools(OPERATIONS, set(Group), session.execute)
        self._connection = Connection("1")
        self._request_id = 0
        self._send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}})

    def __call__(self, tool: str, arguments: dict[str, Any]) -> None:
        answer = self._send("tools/call", {"name": tool, "arguments": arguments})
        if "result" not in answer or answer["result"].get("isError"):
            raise RuntimeError(f"{tool} failed: {answer}")

    def _send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._request_id += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self._request_id, "method": method, "params": params}).encode()
        answers: list[dict[str, Any]] = []
        for call in self._connection.receive(strict_json.decode(line), answers.append):
            self._connection.perform(call, self._tools)
        (answer,) = answers
        return answer
