"""Bytes and processes: long lines, last lines, signals, a closed client, a clean standard output."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from groundplan.surfaces.mcp.lines import CHUNK_BYTES, HEAD_BYTES, TAIL_BYTES, LineReader, TruncatedLine
from tests.surfaces.mcp.connection import PATIENCE_S, GateTools, ProcessConnection, ThreadConnection, call

MIB = 1 << 20


def ping_of(size_bytes: int) -> bytes:
    """Return a ping of exactly this length, without its newline."""
    head, tail = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":"', b'"}}'
    return head + b"x" * (size_bytes - len(head) - len(tail)) + tail


def test_a_line_of_exactly_the_limit_is_served(connection: ThreadConnection) -> None:
    connection.write(ping_of(MIB) + b"\n")

    assert connection.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("size_bytes", [MIB + 1, 10_000_000])
def test_a_line_above_the_limit_is_refused_with_the_limit_and_the_next_one_is_served(
    connection: ThreadConnection, size_bytes: int
) -> None:
    connection.write(ping_of(size_bytes) + b"\n")

    refused = connection.receive()

    assert (refused["id"], refused["error"]["code"]) == (1, -32600)
    assert refused["error"]["data"] == {"code": "too_large", "limit_bytes": MIB}
    assert connection.ask("ping")["result"] == {}


def test_a_line_above_the_limit_that_never_ends_is_refused_at_the_end_of_the_input(
    connection: ThreadConnection,
) -> None:
    connection.write(b"x" * (2 * MIB))

    assert [answer["error"]["data"]["code"] for answer in connection.read_rest()] == ["too_large"]


def test_a_last_line_without_a_newline_is_served(connection: ThreadConnection) -> None:
    connection.write(ping_of(200))

    assert connection.read_rest() == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_lines_may_end_in_the_way_of_windows(connection: ThreadConnection) -> None:
    connection.write(ping_of(200) + b"\r\n")

    assert connection.receive()["result"] == {}


def test_a_message_may_arrive_in_any_pieces(connection: ThreadConnection) -> None:
    line = ping_of(300) + b"\n"
    for byte in line:
        connection.write(bytes([byte]))
    connection.write(line[:150])
    connection.write(line[150:] + line + line[:10])
    connection.write(line[10:])

    assert [connection.receive()["result"] for _ in range(4)] == [{}] * 4


@pytest.mark.parametrize("size_bytes", [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES])
def test_lines_are_cut_at_newlines_wherever_the_chunks_end(tmp_path: Path, size_bytes: int) -> None:
    wanted = [b"a" * size_bytes, b"b", b"c" * size_bytes, b"d" * size_bytes]
    (tmp_path / "input").write_bytes(b"\n".join(wanted) + b"\n")
    with (tmp_path / "input").open("rb") as file:
        assert list(iter(LineReader(file.fileno(), MIB).read_line, None)) == wanted


@pytest.mark.parametrize("size_bytes", [MIB, MIB + 1, MIB + CHUNK_BYTES, 3 * MIB])
def test_of_a_line_above_the_limit_only_the_ends_are_kept(tmp_path: Path, size_bytes: int) -> None:
    line = ping_of(size_bytes)
    (tmp_path / "input").write_bytes(b"a\n" + line + b"\nb\n" + line)
    kept = line if size_bytes <= MIB else TruncatedLine(line[:HEAD_BYTES], line[-TAIL_BYTES:])
    with (tmp_path / "input").open("rb") as file:
        assert list(iter(LineReader(file.fileno(), MIB).read_line, None)) == [b"a", kept, b"b", kept]


@pytest.mark.slow
def test_the_end_of_the_input_ends_the_process_with_status_0() -> None:
    with ProcessConnection() as child:
        child.initialize()

        assert (child.read_rest(), child.wait_for_end()) == ([], (0, ""))


@pytest.mark.slow
def test_memory_does_not_grow_with_lines_above_the_limit() -> None:
    with ProcessConnection() as child:
        child.initialize()
        child.write(ping_of(10_000_000) + b"\n")
        child.receive()
        before_kib = resident_kib(child.process.pid)
        for line in [b"x" * 10_000_000, ping_of(10_000_000), ping_of(50_000_000)] * 2:
            child.write(line + b"\n")
            assert child.receive()["error"]["data"]["code"] == "too_large"

        assert resident_kib(child.process.pid) - before_kib < 2048


def resident_kib(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    assert found is not None
    return int(found[1])


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_idle_server_with_status_0(stop: signal.Signals) -> None:
    with ProcessConnection() as child:
        child.initialize()
        child.process.send_signal(stop)

        assert (child.read_remaining(), child.wait_for_end()) == ([], (0, ""))


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_running_call_finish_and_answer(tmp_path: Path, stop: signal.Signals) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with ProcessConnection() as child:
        child.initialize()
        child.request("tools/call", call("note_wait", gate=str(gate)), id="running")
        child.request("tools/call", call("note_keep", text="queued"), id="queued")
        assert child.process.stderr is not None
        assert child.process.stderr.readline() == b"waiting\n"
        child.process.send_signal(stop)
        wait_until_handled(child.process.pid, stop)  # another thread handles it than the one that runs the call
        gate.write_text("was answered", encoding="utf-8")

        assert [(answer["id"], answer["result"]["isError"]) for answer in child.read_remaining()] == [
            ("running", False)
        ]
        assert child.wait_for_end() == (0, "")


def wait_until_handled(pid: int, stop: signal.Signals) -> None:
    """Return when the first signal was handled: a second one then has its usual effect."""
    handled = 1 << (stop - 1)
    while handled:
        found = re.search(r"SigCgt:\s+([0-9a-f]+)", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
        assert found is not None
        handled &= int(found[1], 16)


@pytest.mark.slow
def test_a_second_signal_ends_a_call_that_would_not_end(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with ProcessConnection() as child:
        child.initialize()
        child.request("tools/call", call("note_wait", gate=str(gate)))
        assert child.process.stderr is not None
        assert child.process.stderr.readline() == b"waiting\n"
        child.process.send_signal(signal.SIGINT)
        # The first signal is handled at an unknown time, so this repeats it until the end.
        while child.process.poll() is None:
            child.process.send_signal(signal.SIGINT)

        assert child.process.returncode == -signal.SIGINT


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ping", "tools/list"])
def test_a_client_that_reads_no_more_ends_the_server_quietly(method: str) -> None:
    with ProcessConnection() as child:
        child.initialize()
        child.hang_up()
        child.request(method)

        assert child.wait_for_end() == (0, "")


@pytest.mark.slow
def test_a_client_that_has_stalled_does_not_keep_the_server_from_ending() -> None:
    with ProcessConnection() as child:
        child.initialize()
        child.stall()
        child.process.send_signal(signal.SIGTERM)

        assert child.process.wait(PATIENCE_S) == 0


def test_streams_that_do_not_block_are_served_all_the_same(tools: GateTools) -> None:
    with ThreadConnection(tools, blocking=False) as connection:
        assert connection.ask("ping")["result"] == {}
        connection.initialize()
        text = "x" * 500_000

        assert len(connection.result("tools/call", call("echo", text=text))["content"][0]["text"]) > len(text)


@pytest.mark.slow
def test_what_tools_print_goes_to_stderr_and_never_between_the_answers() -> None:
    with ProcessConnection() as child:
        child.initialize()
        answer = child.result("tools/call", call("note_keep", text="kept"))

        assert answer["content"] == [{"type": "text", "text": '{"text":"kept"}'}]
        assert child.read_rest() == []
        assert child.wait_for_end() == (0, "a tool printed this\nand this came from below Python\n")


def test_serving_gives_standard_output_back(tools: GateTools, capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadConnection(tools) as connection:
        connection.initialize()
        connection.result("tools/call", call("print"))
        connection.read_rest()
        connection.wait_for_end()
    print("afterwards")

    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("afterwards\n", "printed by a tool\n")
