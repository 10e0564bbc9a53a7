"""Batches of messages, which only revision 2025-03-26 has."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surfaces.mcp.connection import GateTools, ThreadConnection, call


def request(request_id: Any, method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


@pytest.fixture
def initialized(connection: ThreadConnection) -> ThreadConnection:
    connection.initialize("2025-03-26")
    return connection


def test_a_batch_is_answered_with_one_array(initialized: ThreadConnection) -> None:
    initialized.send([request(1, "ping"), request(2, "tools/call", call("echo")), request(3, "tools/list")])

    answers = initialized.receive()

    assert {answer["id"] for answer in answers} == {1, 2, 3}
    assert all("result" in answer for answer in answers)


def test_each_message_of_a_batch_is_refused_on_its_own(initialized: ThreadConnection) -> None:
    initialized.send([1, {}, request(2, "no/such"), request(3, "ping"), request(4, "initialize", {})])

    answers = initialized.receive()

    codes = [(answer["id"], answer.get("error", {}).get("code")) for answer in answers]
    assert codes == [(None, -32600), (None, -32600), (2, -32601), (3, None), (4, -32600)]


def test_a_batch_without_requests_is_not_answered(initialized: ThreadConnection) -> None:
    initialized.send([{"jsonrpc": "2.0", "method": "notifications/x"}, {"jsonrpc": "2.0", "id": 1, "result": {}}])

    assert initialized.read_rest() == []


def test_an_id_that_stands_twice_in_a_batch_is_answered_once(initialized: ThreadConnection) -> None:
    initialized.send([request(1, "tools/call", call("echo")), request(1, "tools/call", call("echo"))])

    answers = {answer["id"]: answer for answer in initialized.receive()}

    assert "result" in answers[1]
    assert answers[None]["error"]["data"] == {"code": "duplicate_id", "id": 1}


def test_a_cancelled_call_is_missing_from_the_array(initialized: ThreadConnection, tools: GateTools) -> None:
    initialized.send([request(1, "tools/call", call("wait")), request(2, "ping")])
    assert tools.began.wait(20)
    initialized.notify("notifications/cancelled", {"requestId": 1})
    initialized.ask("ping")
    tools.release.set()

    assert [answer["id"] for answer in initialized.receive()] == [2]


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_other_revisions_refuse_a_batch(connection: ThreadConnection, revision: str) -> None:
    connection.initialize(revision)
    connection.send([request(1, "ping")])

    assert connection.receive()["error"]["data"] == {"code": "invalid_batch"}


def test_a_batch_before_the_handshake_is_refused(connection: ThreadConnection) -> None:
    connection.send([request(1, "initialize", {"protocolVersion": "2025-03-26"})])

    assert connection.receive()["error"]["code"] == -32600


def test_an_empty_batch_is_refused(initialized: ThreadConnection) -> None:
    initialized.send([])

    assert initialized.receive()["error"]["code"] == -32600
