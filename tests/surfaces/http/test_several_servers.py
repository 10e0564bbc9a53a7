"""Two servers on one PostgreSQL: any of them answers any request, and one that is killed loses nothing acknowledged."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from itertools import cycle
from typing import Any
from uuid import uuid4

import pytest

from groundplan.kernel.actors import local_actor
from groundplan.session import Session
from tests.engines import PostgresEngine
from tests.pgbouncer import run_pgbouncer
from tests.proof import scaled
from tests.surfaces.http.server_program import ServerProgram, run_server

pytestmark = pytest.mark.slow  # each test starts two servers

PATIENCE_S = 60.0
WRITERS = 4
WRITES = 30  # of each writer
REVOKED_S = 5.0  # a second on a machine that has nothing else to do


def ask(server: ServerProgram, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Send one request over a connection of its own, as a proxy would."""
    given = {"authorization": f"Bearer {server.token}", "content-type": "application/json", **headers}
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)) as client:
        client.request(method, path, None if body is None else json.dumps(body), given)
        answer = client.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if content else None


def call_tool(server: ServerProgram, name: str, **arguments: Any) -> Any:
    """Call a tool over MCP, and return its answer."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    params = {"name": name, "arguments": arguments, "_meta": meta}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name}
    accept = "application/json, text/event-stream"
    status, answer = ask(server, "POST", "/mcp", {**message, "params": params}, accept=accept, **headers)
    assert status == 200, answer
    return json.loads(answer["result"]["content"][0]["text"])


@pytest.fixture(params=["direct", "pgbouncer"])
def servers(request: pytest.FixtureRequest, team: PostgresEngine) -> Iterator[tuple[ServerProgram, ServerProgram]]:
    """Two servers with one token, on the database itself or through a pooler."""
    token = str(Session(team.store, local_actor("ada")).call("token.create", kind="person", trusted=True).secret)
    with ExitStack() as stack:
        url = team.app_url if request.param == "direct" else stack.enter_context(run_pgbouncer(team.app_url))
        yield stack.enter_context(run_server(url, token)), stack.enter_context(run_server(url, token))


class Follower:
    """A client that follows the events of a project at one server."""

    def __init__(self, server: ServerProgram, project: str, token: str) -> None:
        self._client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
        self._client.request("GET", f"/v1/projects/{project}/events", headers={"authorization": f"Bearer {token}"})
        self._answer = self._client.getresponse()
        self.lines: list[str] = []
        self.ended_at: float | None = None
        self._changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError, AttributeError):  # http.client raises the latter if it is closed meanwhile
            while line := self._answer.readline():
                with self._changed:
                    self.lines.append(line.decode())
                    self._changed.notify_all()
        with self._changed:
            self.ended_at = time.monotonic()
            self._changed.notify_all()

    def wait_for(self, text: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: any(text in line for line in self.lines), PATIENCE_S)

    def wait_for_end(self) -> float:
        with self._changed:
            assert self._changed.wait_for(lambda: self.ended_at is not None, PATIENCE_S)
        assert self.ended_at is not None
        return self.ended_at

    def close(self) -> None:
        self._client.close()


def test_requests_alternate_and_events_and_revocations_cross(
    servers: tuple[ServerProgram, ServerProgram], team: PostgresEngine
) -> None:
    one, other = servers
    turns = cycle(servers)
    assert ask(next(turns), "POST", "/v1/projects", {"name": "atlas"})[0] == 201
    reader = ask(next(turns), "POST", "/v1/tokens", {"kind": "person", "name": "ben", "trusted": True})[1]
    with closing(Follower(one, "atlas", reader["secret"])) as follower:
        follower.wait_for("event: hello")
        refs = [f"mile-{number}" for number in range(6)]
        for ref in refs:
            call_tool(next(turns), "graph_plan", project="atlas", nodes=[{"ref": ref, "summary": f"Walk {ref}"}])
            claimed = call_tool(next(turns), "graph_next", project="atlas", claim=True)
            node = claimed["nodes"][0]["node"]
            assert node["summary"] == f"Walk {ref}"  # the other server wrote it
            call_tool(next(turns), "graph_update", updates=[{"node_id": node["id"], "resolved": True}])
        ((last,),) = team.as_owner("SELECT rev FROM projects")
        follower.wait_for(f"id: {last}.")

        assert ask(other, "DELETE", f"/v1/tokens/{reader['token']['id']}")[0] == 200
        revoked_at = time.monotonic()
        assert follower.wait_for_end() - revoked_at < REVOKED_S
        assert ask(one, "GET", "/v1/projects", authorization=f"Bearer {reader['secret']}")[0] == 401


class Writer(threading.Thread):
    """Plans nodes at one server after the other; what was not acknowledged is sent again, with the same key."""

    def __init__(self, servers: tuple[ServerProgram, ServerProgram], name: str, count: int) -> None:
        super().__init__(name=name, daemon=True)
        self._servers = cycle(servers)
        self._count = count
        self.acknowledged: list[str] = []

    def run(self) -> None:
        for number in range(self._count):
            summary, key = f"{self.name} {number}", str(uuid4())
            while not self._write(next(self._servers), summary, key):
                pass
            self.acknowledged.append(summary)

    def _write(self, server: ServerProgram, summary: str, key: str) -> bool:
        nodes = {"nodes": [{"ref": "a", "summary": summary}]}
        try:
            status, _ = ask(server, "POST", "/v1/projects/atlas/work/nodes", nodes, **{"idempotency-key": key})
        except (OSError, http.client.HTTPException):
            return False
        return status == 201


@pytest.mark.proof
def test_a_server_that_is_killed_under_load_loses_nothing_acknowledged(
    servers: tuple[ServerProgram, ServerProgram], team: PostgresEngine
) -> None:
    assert ask(servers[0], "POST", "/v1/projects", {"name": "atlas"})[0] == 201
    writers = [Writer(servers, f"writer-{number}", scaled(WRITES, proof=5_000)) for number in range(WRITERS)]
    for one in writers:
        one.start()
    while sum(len(one.acknowledged) for one in writers) < WRITES:  # under load
        time.sleep(0.01)

    servers[0].process.kill()

    for one in writers:
        one.join(PATIENCE_S * scaled(1, proof=60))
        assert not one.is_alive()
    stored = [summary for (summary,) in team.as_owner("SELECT summary FROM work_nodes WHERE parent_n IS NOT NULL")]
    assert sorted(stored) == sorted(summary for one in writers for summary in one.acknowledged)  # each exactly once
