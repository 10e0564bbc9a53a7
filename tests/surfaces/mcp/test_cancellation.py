"""A call that runs for long ends when the client cancels it, is gone, or the server is told to stop."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from groundplan.kernel.cancellation import Cancellation
from groundplan.surfaces.mcp import stdio
from groundplan.surfaces.mcp.methods import ToolAnswer
from tests.engines import Engine
from tests.surfaces.mcp.connection import PATIENCE_S, GateTools, ProcessConnection, ThreadConnection, call

SLOW_PROGRAM = Path(__file__).with_name("slow_program.py")
pytestmark = pytest.mark.slow


@pytest.fixture
def server(engine: Engine) -> Iterator[ProcessConnection]:
    """A server whose writes have a limit of an hour, with a slow call that has begun."""
    engine.session("ada").call("project.create", name="atlas")
    with ProcessConnection(SLOW_PROGRAM, engine.db, "3600") as child:
        child.initialize()
        begin_slow_call(child)
        yield child


def begin_slow_call(child: ProcessConnection) -> None:
    child.request("tools/call", call("slow_write", project="atlas"), id="slow")
    assert child.process.stderr is not None
    assert child.process.stderr.readline() == b"begun\n"


def revision(engine: Engine) -> int:
    rev: int = engine.as_owner("SELECT rev FROM projects")[0][0]
    return rev


def test_the_client_cancels_a_running_call_and_gets_no_answer_to_it(server: ProcessConnection, engine: Engine) -> None:
    before = revision(engine)
    server.notify("notifications/cancelled", {"requestId": "slow"})

    answer = server.ask("tools/call", call("graph_open", project="atlas"))

    assert answer["result"]["isError"] is False
    assert revision(engine) == before


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_cancels_the_running_call_and_ends_the_server(
    server: ProcessConnection, stop: signal.Signals
) -> None:
    server.process.send_signal(stop)

    (answer,) = server.read_remaining()
    assert answer["id"] == "slow"
    assert answer["result"]["isError"] is True
    assert '"cancelled"' in answer["result"]["content"][0]["text"]
    assert server.wait_for_end() == (0, "")


def test_a_client_that_is_gone_cancels_the_running_call(server: ProcessConnection) -> None:
    server.close()

    assert server.wait_for_end() == (0, "")


def test_a_call_reaches_its_limit_and_the_error_names_it(engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    with ProcessConnection(SLOW_PROGRAM, engine.db, "0.05") as child:
        child.initialize()
        begin_slow_call(child)

        text = child.receive()["result"]["content"][0]["text"]

        assert '"code":"time_limit"' in text
        assert '"limit_s":0.05' in text
        assert child.ask("tools/call", call("graph_open", project="atlas"))["result"]["isError"] is False


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_the_server_ends_although_the_client_does_not_read_a_long_answer(stop: signal.Signals) -> None:
    with ProcessConnection() as child:
        child.initialize()
        # The worker, which is the main thread, stands inside the write of an answer larger than the pipe.
        child.request("tools/call", call("note_keep", text="x" * 1000, times=1000))
        assert child.process.stderr is not None
        assert child.process.stderr.readline()
        assert child.wait_until_output_is_full()
        child.process.send_signal(stop)

        assert child.process.wait(PATIENCE_S) == 0


def test_the_server_ends_although_the_running_call_does_not(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with ProcessConnection() as child:
        child.initialize()
        child.request("tools/call", call("note_wait", gate=str(gate)))
        assert child.process.stderr is not None
        assert child.process.stderr.readline() == b"waiting\n"
        child.process.send_signal(signal.SIGTERM)

        assert child.process.wait(PATIENCE_S) == 128 + signal.SIGTERM


class CancellableTools(GateTools):
    """`wait` ends only when it is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.cancellations: list[Cancellation] = []

    def call(self, name: str, arguments: Mapping[str, Any], cancellation: Cancellation | None = None) -> ToolAnswer:
        if name != "wait":
            return super().call(name, arguments)
        assert cancellation is not None
        self.cancellations.append(cancellation)
        ended = threading.Event()
        with cancellation.interruptible(ended.set):
            self.began.set()
            assert ended.wait(PATIENCE_S)
        raise cancellation.build_error()


def test_the_end_of_the_input_alone_cancels_nothing(tools: GateTools) -> None:
    with ThreadConnection(tools) as connection:
        connection.initialize()
        connection.request("tools/call", call("wait"), id="held")
        assert tools.began.wait(PATIENCE_S)
        threading.Timer(4 * stdio.LOST_READER_CHECK_S, tools.release.set).start()

        assert [answer["id"] for answer in connection.read_rest()] == ["held"]


def test_a_reader_that_is_lost_after_the_input_ended_cancels_the_running_call() -> None:
    tools = CancellableTools()
    with ThreadConnection(tools) as connection:
        connection.initialize()
        connection.request("tools/call", call("wait"))
        assert tools.began.wait(PATIENCE_S)
        connection.close()

        assert connection.wait_for_end() == 0
    assert tools.cancellations[0].is_cancelled
