"""The limits of a server are options of `groundplan serve`."""

from __future__ import annotations

import http.client
import json
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

import groundplan
from tests.surfaces.http.server_program import ServerProgram, create_trusted_token, run_server

pytestmark = pytest.mark.slow

TIMEOUT_S = 30.0


def open_stream(server: ServerProgram, stack: ExitStack, token: str | None = None) -> tuple[int, str]:
    """Open a stream that stays open until the end of the stack; return its status, and the code of a refusal."""
    client = stack.enter_context(closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)))
    client.request("GET", "/v1/projects/atlas/events", headers={"authorization": f"Bearer {token or server.token}"})
    answer = client.getresponse()
    return answer.status, "" if answer.status == 200 else json.loads(answer.read())["code"]


def test_event_streams_are_limited_as_the_options_say(tmp_path: Path) -> None:
    db = str(tmp_path / "plan.db")
    with groundplan.open(db, actor="ada") as plan:
        plan.call("project.create", name="atlas")
        other = str(plan.token.create(kind="person", name="ben", trusted=True).secret)
    options = ("--streams-per-principal", "2", "--streams", "3")
    with run_server(db, create_trusted_token(db), *options) as server, ExitStack() as stack:
        own = [open_stream(server, stack) for _ in range(3)]
        others = [open_stream(server, stack, other) for _ in range(2)]

    assert [status for status, _ in own] == [200, 200, 429]
    assert others == [(200, ""), (503, "too_many_streams")]
