"""A busy worker: pings, cancellations, ids in use, and a client that does not wait."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundplan.surfaces.mcp import connection as protocol_core
from groundplan.surfaces.mcp import stdio
from groundplan.surfaces.mcp.connection import Call, Connection
from groundplan.surfaces.mcp.lines import CHUNK_BYTES
from groundplan.surfaces.mcp.methods import check_call_params
from tests.surfaces.mcp.connection import PATIENCE_S, GateTools, ThreadConnection, call, envelope


@pytest.fixture
def busy_connection(connection: ThreadConnection, tools: GateTools) -> ThreadConnection:
    """A connection with a running call with the id "held"."""
    connection.initialize()
    connection.request("tools/call", call("wait"), id="held")
    assert tools.began.wait(PATIENCE_S)
    return connection


def test_ping_is_answered_while_a_call_runs(busy_connection: ThreadConnection, tools: GateTools) -> None:
    assert busy_connection.ask("ping")["result"] == {}
    tools.release.set()

    assert busy_connection.receive()["id"] == "held"


def test_refusals_are_answered_while_a_call_runs(busy_connection: ThreadConnection) -> None:
    assert busy_connection.error("no/such/method")["code"] == -32601
    assert busy_connection.error("tools/call", {})["code"] == -32602


def test_calls_are_performed_one_after_the_other_in_the_order_they_came(
    busy_connection: ThreadConnection, tools: GateTools
) -> None:
    ids = [busy_connection.request("tools/call", call("echo")) for _ in range(5)]
    tools.release.set()

    assert [busy_connection.receive()["id"] for _ in range(6)] == ["held", *ids]


def test_a_queued_call_that_is_cancelled_is_never_performed(
    busy_connection: ThreadConnection, tools: GateTools
) -> None:
    cancelled = busy_connection.request("tools/call", call("echo"))
    busy_connection.notify("notifications/cancelled", {"requestId": cancelled, "reason": "changed my mind"})
    busy_connection.ask("ping")
    tools.release.set()

    assert busy_connection.receive()["id"] == "held"
    assert (busy_connection.read_rest(), tools.performed) == ([], ["wait"])


def test_the_answer_to_a_running_call_that_is_cancelled_is_withheld(
    busy_connection: ThreadConnection, tools: GateTools
) -> None:
    busy_connection.notify("notifications/cancelled", {"requestId": "held"})
    busy_connection.ask("ping")
    tools.release.set()

    assert busy_connection.read_rest() == []


def test_a_stateless_call_is_cancelled_in_the_same_way(connection: ThreadConnection, tools: GateTools) -> None:
    connection.request("tools/call", envelope(**call("wait")), id="held")
    assert tools.began.wait(PATIENCE_S)
    connection.notify("notifications/cancelled", {"requestId": "held"})
    connection.error("ping", envelope())
    tools.release.set()

    assert connection.read_rest() == []


def test_a_cancellation_that_comes_too_late_is_ignored(connection: ThreadConnection) -> None:
    connection.initialize()
    request_id = connection.ask("tools/call", call("echo"))["id"]
    connection.notify("notifications/cancelled", {"requestId": request_id})

    assert connection.ask("ping")["result"] == {}


def test_a_cancellation_names_the_id_in_its_own_type(busy_connection: ThreadConnection, tools: GateTools) -> None:
    request_id = busy_connection.request("tools/call", call("echo"))
    busy_connection.notify("notifications/cancelled", {"requestId": str(request_id)})
    tools.release.set()

    assert [busy_connection.receive()["id"] for _ in range(2)] == ["held", request_id]


@pytest.mark.parametrize("method", ["tools/call", "tools/list", "ping"])
def test_an_id_under_way_is_refused_without_answering_in_its_name(
    busy_connection: ThreadConnection, tools: GateTools, method: str
) -> None:
    busy_connection.request(method, call("echo"), id="held")

    refused = busy_connection.receive()
    tools.release.set()

    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    assert refused["error"]["data"] == {"code": "duplicate_id", "id": "held"}
    assert "result" in busy_connection.receive()
    assert busy_connection.read_rest() == []


def test_an_id_may_be_used_again_once_it_is_answered(connection: ThreadConnection) -> None:
    connection.initialize()
    for _ in range(200):
        connection.request("tools/call", call("echo"), id="again")
        assert "result" in connection.receive()


def test_a_number_and_its_text_are_different_ids(busy_connection: ThreadConnection, tools: GateTools) -> None:
    busy_connection.request("tools/call", call("echo"), id=7)
    busy_connection.request("tools/call", call("echo"), id="7")
    tools.release.set()

    assert [busy_connection.receive()["id"] for _ in range(3)] == ["held", 7, "7"]


def test_a_client_that_sends_far_ahead_is_served_to_the_end(
    busy_connection: ThreadConnection, tools: GateTools
) -> None:
    ids = [busy_connection.request("tools/call", call("echo")) for _ in range(stdio.QUEUED_CALLS_MAX)]
    tools.release.set()
    ids += [busy_connection.request("tools/call", call("echo")) for _ in range(200)]

    assert [answer["id"] for answer in busy_connection.read_rest()] == ["held", *ids]


def test_the_helper_waits_for_the_worker_when_too_many_calls_are_queued(
    tools: GateTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "QUEUED_CALLS_MAX", 1)
    calls = [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": call("echo")} for n in range(40_000)]
    with ThreadConnection(tools) as connection:
        connection.initialize()
        connection.request("tools/call", call("wait"), id="held")
        assert tools.began.wait(PATIENCE_S)

        sent = connection.flood(b"".join(json.dumps(each).encode() + b"\n" for each in calls))
        tools.release.set()

        # The content of the pipe and what the helper took at once; the rest stayed with the client.
        assert len(sent) <= 2 * CHUNK_BYTES
        answered = [connection.receive()["id"] for _ in range(1 + sent.count(b"\n"))]
        assert answered == ["held", *range(sent.count(b"\n"))]


def test_the_end_of_the_input_leaves_no_call_unanswered(busy_connection: ThreadConnection, tools: GateTools) -> None:
    ids = [busy_connection.request("tools/call", call("echo")) for _ in range(3)]
    tools.release.set()

    assert [answer["id"] for answer in busy_connection.read_rest()] == ["held", *ids]
    assert busy_connection.wait_for_end() == 0


def test_a_ping_that_came_with_a_long_call_is_answered_during_it(
    connection: ThreadConnection, tools: GateTools
) -> None:
    connection.initialize()
    long_call = {"jsonrpc": "2.0", "id": "held", "method": "tools/call", "params": call("wait")}
    ping = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}
    connection.write(b"".join(json.dumps(each).encode() + b"\n" for each in (long_call, ping)))

    assert connection.receive()["id"] == "ping"
    tools.release.set()
    assert connection.receive()["id"] == "held"


def test_calls_keep_their_order(connection: ThreadConnection) -> None:
    connection.initialize()
    for burst in range(1, 60):
        ids = [f"{burst}.{n}" for n in range(burst % 7 + 1)]
        lines = [{"jsonrpc": "2.0", "id": each, "method": "tools/call", "params": call("echo")} for each in ids]
        connection.write(b"".join(json.dumps(each).encode() + b"\n" for each in lines))

        assert [connection.receive()["id"] for _ in ids] == ids


def test_a_client_that_goes_away_ends_the_server_also_while_more_calls_come_than_can_be_queued(
    tools: GateTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "QUEUED_CALLS_MAX", 2)
    batch = [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": call("echo")} for n in range(10)]
    with ThreadConnection(tools) as connection:
        connection.initialize("2025-03-26")
        connection.request("tools/call", call("wait"), id="held")
        assert tools.began.wait(PATIENCE_S)
        connection.ask("ping")  # the helper reads
        connection.send(batch)
        connection.wait_until_input_is_read()
        connection.hang_up()
        tools.release.set()

        assert connection.wait_for_end() == 0


def test_an_id_that_two_threads_send_at_once_is_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol_of_one = Connection("1")
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "echo", **envelope()}}
    check = check_call_params
    calls: list[Call] = []
    answers: list[Any] = []

    def check_while_another_thread_sends(method: str, params: Any) -> Any:
        monkeypatch.setattr(protocol_core, "check_call_params", check)
        calls.extend(protocol_of_one.receive(message, answers.append))
        return check(method, params)

    monkeypatch.setattr(protocol_core, "check_call_params", check_while_another_thread_sends)
    calls.extend(protocol_of_one.receive(message, answers.append))

    assert len(calls) == 1
    [refused] = answers
    assert (refused["id"], refused["error"]["data"]["code"]) == (None, "duplicate_id")
