"""A client's end of an MCP connection, in bytes, to a server in this process or in a child process."""

from __future__ import annotations

import fcntl
import json
import os
import select
import subprocess
import sys
import termios
import threading
import time
from array import array
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import GroundplanError
from groundplan.surfaces.mcp.methods import ToolAnswer, Tools
from groundplan.surfaces.mcp.protocol import UnknownTool
from groundplan.surfaces.mcp.stdio import serve

PROGRAM = Path(__file__).with_name("program.py")
PATIENCE_S = 20.0  # how long a test waits for an expected event; only a failing test waits this long

CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"


def envelope(version: Any = "2026-07-28", **others: Any) -> dict[str, Any]:
    """Return parameters with the envelope of a stateless request."""
    return {"_meta": {VERSION_KEY: version, CAPABILITIES_KEY: {}}, **others}


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    """Return the parameters of a tools/call."""
    return {"name": name, "arguments": arguments}


class GateTools:
    """`echo` answers with its arguments; `wait` signals its start and blocks the worker until released."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.release = threading.Event()
        self.performed: list[str] = []
        self.listings = 0

    def listing(self) -> list[dict[str, Any]]:
        self.listings += 1
        return [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "wait")]

    def call(self, name: str, arguments: Mapping[str, Any], cancellation: Cancellation | None = None) -> ToolAnswer:
        self.performed.append(name)
        if name == "wait":
            self.began.set()
            assert self.release.wait(PATIENCE_S)
        elif name == "crash":
            raise RuntimeError("the secret of Mallory")
        elif name == "print":
            print("printed by a tool")
        elif name != "echo":
            raise UnknownTool(name, "echo")
        return ToolAnswer(json.dumps(arguments), False)

    def refuse(self, name: str, error: GroundplanError) -> ToolAnswer:
        return ToolAnswer(json.dumps({"refused by": name, "code": error.code}), True)


class Connection:
    """A connection that sends and receives lines."""

    def __init__(self, to_fd: int, from_fd: int) -> None:
        self._to_fd = to_fd
        self._from_fd = from_fd
        self._held = b""
        self._last_id = 0

    def write(self, raw: bytes) -> None:
        while raw:
            raw = raw[os.write(self._to_fd, raw) :]

    def send(self, message: Any) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: Any = None, *, id: Any = None) -> Any:  # noqa: A002 - the wire's word
        """Send a request and return its id, the next number unless given."""
        self._last_id += 1
        request_id = self._last_id if id is None else id
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        self.send(message if params is None else message | {"params": params})
        return request_id

    def receive(self) -> Any:
        """Return the next message of the server."""
        line = self._line()
        assert line is not None, "the server closed the connection"
        return json.loads(line)

    def ask(self, method: str, params: Any = None) -> Any:
        """Return the answer to a request, which must be the next message."""
        request_id = self.request(method, params)
        answer = self.receive()
        assert answer["id"] == request_id
        return answer

    def error(self, method: str, params: Any = None) -> Any:
        """Return the error of a refused request."""
        return self.ask(method, params)["error"]

    def result(self, method: str, params: Any = None) -> Any:
        """Return the result of a request."""
        return self.ask(method, params)["result"]

    def initialize(self, revision: str = "2025-11-25") -> Any:
        opening = {
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": {"name": "ada", "version": "1"},
        }
        answer = self.result("initialize", opening)
        self.notify("notifications/initialized")
        return answer

    def read_rest(self) -> list[Any]:
        """End the input and return all remaining messages."""
        os.close(self._to_fd)
        self._to_fd = -1
        return self.read_remaining()

    def read_remaining(self) -> list[Any]:
        """Return all messages until the server closes its output."""
        messages = []
        while (line := self._line()) is not None:
            messages.append(json.loads(line))
        return messages

    def read_rest_bytes(self) -> bytes:
        """End the input and return all remaining bytes."""
        os.close(self._to_fd)
        self._to_fd = -1
        said = self._held
        while chunk := os.read(self._from_fd, 1 << 20):
            said += chunk
        return said

    def stall(self) -> None:
        """Send pings without reading answers until neither end moves."""
        os.set_blocking(self._to_fd, False)
        pings = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 1000
        while select.select([], [self._to_fd], [], 0.2)[1]:
            pings = pings[os.write(self._to_fd, pings) :] or pings

    def flood(self, raw: bytes) -> bytes:
        """Send these bytes and return those that were sent before the server stopped reading."""
        os.set_blocking(self._to_fd, False)
        sent = 0
        while sent < len(raw) and select.select([], [self._to_fd], [], 0.2)[1]:
            sent += os.write(self._to_fd, raw[sent : sent + 65_536])
        os.set_blocking(self._to_fd, True)
        return raw[:sent]

    def wait_until_output_is_full(self) -> bool:
        """Return whether the server has written as much as the pipe takes, or more than a moment passed."""
        held = array("i", [0])
        for _ in range(1000):
            before = held[0]
            fcntl.ioctl(self._from_fd, termios.FIONREAD, held)
            if held[0] == before and before > 0:
                return True
            select.select([], [], [], 0.02)
        return False

    def wait_until_input_is_read(self) -> None:
        """Return when the server has taken everything that was sent."""
        unread = array("i", [1])
        while unread[0]:
            fcntl.ioctl(self._to_fd, termios.FIONREAD, unread)

    def hang_up(self) -> None:
        """Stop reading."""
        os.close(self._from_fd)
        self._from_fd = -1

    def _line(self) -> bytes | None:
        deadline = time.monotonic() + PATIENCE_S
        while b"\n" not in self._held:
            ready, _, _ = select.select([self._from_fd], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the server did not answer"
            chunk = os.read(self._from_fd, 1 << 20)
            if not chunk:
                assert not self._held, "the last line has no newline"
                return None
            self._held += chunk
        line, _, self._held = self._held.partition(b"\n")
        return line

    def close(self) -> None:
        for fd in (self._to_fd, self._from_fd):
            if fd >= 0:
                os.close(fd)
        self._to_fd = self._from_fd = -1


class ThreadConnection(Connection):
    """A connection to `serve` on a thread of this process."""

    def __init__(self, tools: Tools, *, blocking: bool = True, **options: Any) -> None:
        input_fd, to_fd = os.pipe()
        from_fd, output_fd = os.pipe()
        os.set_blocking(input_fd, blocking)
        os.set_blocking(output_fd, blocking)
        super().__init__(to_fd, from_fd)
        self.status: int | None = None

        def run() -> None:
            with os.fdopen(input_fd, "rb") as stdin, os.fdopen(output_fd, "wb") as stdout:
                self.status = serve(tools, stdin, stdout, version="1.2.3", instructions="Read.", **options)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def wait_for_end(self) -> int | None:
        """Return the exit status after the server has ended."""
        self._thread.join(PATIENCE_S)
        return self.status

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self._thread.join(PATIENCE_S)


class ProcessConnection(Connection):
    """A connection to the test program in a child process."""

    def __init__(self, program: Path = PROGRAM, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(program), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        super().__init__(os.dup(self.process.stdin.fileno()), os.dup(self.process.stdout.fileno()))
        self.process.stdin.close()
        self.process.stdout.close()

    def wait_for_end(self) -> tuple[int, str]:
        """Return the exit status and stderr after the process has ended."""
        assert self.process.stderr is not None
        said = self.process.stderr.read().decode()
        return self.process.wait(PATIENCE_S), said

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self.process.kill()
        self.process.wait(PATIENCE_S)
        assert self.process.stderr is not None
        self.process.stderr.close()
