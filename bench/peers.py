"""Processes that are called over a pipe: the Groundplan server, and the echo program it is compared with."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HERE = Path(__file__).parent
END_S_MAX = 10

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


def parse_result(line: bytes) -> Any:
    """Return the result in the line of an answer."""
    body: dict[str, Any] = json.loads(line) if line else {"error": "the process has ended"}
    if "error" in body or body.get("result", {}).get("isError"):
        raise RuntimeError(f"the answer was {body}")
    return body["result"]


def extract_text(line: bytes) -> str:
    """Return the text of a tool's answer."""
    text: str = parse_result(line)["content"][0]["text"]
    return text


class Peer:
    """A process that handles one request at a time."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._ids = count(1)

    def ask(self, method: str, params: Any = None) -> Any:
        """Send a request and return its result."""
        return parse_result(self.send(self.format_request(method, params)))

    def format_request(self, method: str, params: Any = None) -> bytes:
        """Return the line of a request."""
        request = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        if params is not None:
            request["params"] = params
        return json.dumps(request, separators=(",", ":")).encode() + b"\n"

    def send(self, line: bytes) -> bytes:
        """Send a line and return the line of the answer. It does nothing else, because this is what is timed."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(line)
        stdin.flush()
        return stdout.readline()

    def format_call(self, tool: str, arguments: Mapping[str, Any]) -> bytes:
        """Return the line of a tool call."""
        return self.format_request("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool and return the text of its answer."""
        return extract_text(self.send(self.format_call(tool, arguments)))

    def begin(self) -> Self:
        """Initialize the connection."""
        self.ask("initialize", INITIALIZE)
        return self

    def measure_rss_mb(self) -> float:
        """Return the resident memory in MB (10^6 bytes)."""
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
            kib = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
        except OSError:  # not Linux
            kib = subprocess.check_output(["ps", "-o", "rss=", "-p", str(self._process.pid)], text=True)
        return int(kib) * 1024 / 1e6

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._process.communicate(timeout=END_S_MAX)  # closes stdin, which ends both programs
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


def start_echo() -> Peer:
    """Start the echo program."""
    return Peer([sys.executable, str(HERE / "echo.py")])


def start_groundplan(db: Path | str, *flags: str) -> Peer:
    """Start the `groundplan mcp` that is installed with this interpreter."""
    return Peer([str(Path(sys.executable).with_name("groundplan")), "mcp", "--db", str(db), "--kind", "person", *flags])
