"""Measure MCP over HTTP as its client sees it: a call of a tool, against an echo tool on the bare official server.

Both answer the same text over a kept connection, as JSON, from the same uvicorn.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.options import Options
from bench.report import Result
from bench.rest import PROJECT, KeptConnection, fill, run_program
from bench.rounds import Step, compute_medians_ms, pin_to_one_core, run_interleaved

CALLS = 2_000
WARM_UP = 50
RATIO_MAX = 1.5
ECHO = "echo tool of the official server, same text"
STATELESS, HANDSHAKE = "2026-07-28", "2025-11-25"
CALL = {"name": "graph_next", "arguments": {"project": PROJECT}}
_SESSION = re.compile(rb"mcp-session-id: (\S+)", re.IGNORECASE)


def run(options: Options) -> list[Result]:
    """Measure a call of each era, and the echo in turns."""
    db = options.scratch / "mcp-http.db"
    token = fill(db)
    sets = []
    for _ in range(options.process_sets):
        with pin_to_one_core(spread=options.spread), _start_servers(db, token, options.scratch) as (ours, echo):
            steps = []
            for era in (STATELESS, HANDSHAKE):
                steps.append(Step(era, lambda era=era: ours.call(era)))  # type: ignore[misc] # a bound default
                steps.append(Step(f"echo {era}", lambda era=era: echo.call(era)))  # type: ignore[misc] # as above
            run_interleaved(WARM_UP, steps)
            sets.append(run_interleaved(options.count_rounds_of_a_set(CALLS), steps))
    taken = compute_medians_ms(sets)
    return [
        Result("mcp-http", f"graph_next, {era}", taken[era], "ms", taken[f"echo {era}"], ECHO, RATIO_MAX)
        for era in (STATELESS, HANDSHAKE)
    ]


class McpConnection(KeptConnection):
    """A kept connection with one session, with as little of a client as possible."""

    def __init__(self, port: int, token: str) -> None:
        super().__init__(port)
        self._token = token
        client = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        head, _ = self.exchange(self._format("initialize", client, {}))
        found = _SESSION.search(head)
        assert found is not None, head
        meta = {
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        names = {"mcp-method": "tools/call", "mcp-name": str(CALL["name"]), "mcp-protocol-version": STATELESS}
        session = {"mcp-session-id": found[1].decode(), "mcp-protocol-version": HANDSHAKE}
        self._calls = {
            STATELESS: self._format("tools/call", {**CALL, "_meta": meta}, names),
            HANDSHAKE: self._format("tools/call", CALL, session),
        }

    def call(self, era: str) -> str:
        """Call the tool, and return its text."""
        _, body = self.exchange(self._calls[era])
        return str(json.loads(body)["result"]["content"][0]["text"])

    def _format(self, method: str, params: dict[str, Any], headers: dict[str, str]) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        lines = {
            "host": "localhost",
            "authorization": f"Bearer {self._token}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "content-length": str(len(body)),
            **headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"POST /mcp HTTP/1.1\r\n{head}\r\n{body}".encode()


@contextlib.contextmanager
def _start_servers(db: Path, token: str, folder: Path) -> Iterator[tuple[McpConnection, McpConnection]]:
    """Start our server, and the official one with an echo tool that answers the same text."""
    with contextlib.ExitStack() as stack:
        limit = ("--requests-per-s", "1000000")
        port = stack.enter_context(run_program("-m", "groundplan", "serve", "--port", "0", "--db", str(db), *limit))
        ours = stack.enter_context(McpConnection(port, token))
        text = folder / "echo.txt"
        text.write_text(ours.call(STATELESS), encoding="utf-8")
        echo_port = stack.enter_context(run_program("-m", "bench.mcp_http", str(text)))
        yield ours, stack.enter_context(McpConnection(echo_port, token))


def serve_echo(text: str) -> None:
    """Serve an echo tool by the official low-level server."""
    import mcp_types as types
    from mcp.server.lowlevel.server import Server

    from groundplan.surfaces.http.server import open_socket, serve

    async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="graph_next", input_schema={"type": "object"})])

    async def call_tool(_ctx: Any, _params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    server: Server[Any] = Server("echo", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    app = server.streamable_http_app(json_response=True, host="0.0.0.0")  # noqa: S104 - without its check of names
    listening = open_socket(0)
    port = listening.getsockname()[1]
    serve(app, [listening], lambda _stop: print(f"http://127.0.0.1:{port}", file=sys.stderr, flush=True))


if __name__ == "__main__":
    serve_echo(Path(sys.argv[1]).read_text(encoding="utf-8"))
