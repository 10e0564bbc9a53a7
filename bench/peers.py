"""Processes at the other end of a pipe: Groundplan as a client starts it, and the echo it is compared with."""

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


def answered(line: bytes) -> Any:
    """The result in the line of an answer.

    Raises:
        RuntimeError: it is an error, or there is no answer.
    """
    body: dict[str, Any] = json.loads(line) if line else {"error": "the process has ended"}
    if "error" in body or body.get("result", {}).get("isError"):
        raise RuntimeError(f"the answer was {body}")
    return body["result"]


def answer_text(line: bytes) -> str:
    """The text that a tool answered.

    Raises:
        RuntimeError: the tool refused.
    """
    text: str = answered(line)["content"][0]["text"]
    return text


class Peer:
    """One process that is asked one thing at a time."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._ids = count(1)

    def ask(self, method: str, params: Any = None) -> Any:
        """Send a request and give its result.

        Raises:
            RuntimeError: the answer is an error, or there is none.
        """
        return answered(self.ask_line(self.line(method, params)))

    def line(self, method: str, params: Any = None) -> bytes:
        """A request as it is sent."""
        request = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        if params is not None:
            request["params"] = params
        return json.dumps(request, separators=(",", ":")).encode() + b"\n"

    def ask_line(self, line: bytes) -> bytes:
        """Send a line and give the line that comes back; nothing else happens here, for this is what is timed."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(line)
        stdin.flush()
        return stdout.readline()

    def call_line(self, tool: str, arguments: Mapping[str, Any]) -> bytes:
        """A tool call as it is sent."""
        return self.line("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool and give the text of its answer.

        Raises:
            RuntimeError: the tool refused.
        """
        return answer_text(self.ask_line(self.call_line(tool, arguments)))

    def begin(self) -> Self:
        """Shake hands."""
        self.ask("initialize", INITIALIZE)
        return self

    def rss_mb(self) -> float:
        """Resident memory in MB (10^6 bytes)."""
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
            self._process.communicate(timeout=END_S_MAX)  # end of input, which ends both kinds of peers
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


def echo() -> Peer:
    """The bare loop."""
    return Peer([sys.executable, str(HERE / "echo.py")])


def groundplan(db: Path, *flags: str) -> Peer:
    """`groundplan mcp` as it is installed beside this interpreter."""
    return Peer([str(Path(sys.executable).with_name("groundplan")), "mcp", "--db", str(db), *flags])
