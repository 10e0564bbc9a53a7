"""Valid and invalid messages; the server survives both."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surfaces.mcp.connection import ThreadConnection, call

REFUSED_SHAPES: list[tuple[str, Any, int]] = [
    # the line, the id of the answer, its error code
    ('{"jsonrpc":"2.0","id":7}', 7, -32600),
    ('{"jsonrpc":"2.0","id":7,"method":1}', 7, -32600),
    ('{"jsonrpc":"1.0","id":7,"method":"ping"}', 7, -32600),
    ('{"id":"a","method":"ping"}', "a", -32600),
    ('{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
    ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600),
    ('{"jsonrpc":"2.0","id":true,"method":"ping"}', None, -32600),
    ('{"jsonrpc":"2.0","id":[1],"method":"ping"}', None, -32600),
    ('{"jsonrpc":"2.0"}', None, -32600),
    ('{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}', 7, -32602),
    ('{"jsonrpc":"2.0","id":7,"method":"ping","params":"x"}', 7, -32600),
    ("{}", None, -32600),
    ("7", None, -32600),
    ("null", None, -32600),
    ('"ping"', None, -32600),
    ("[]", None, -32600),
    ("not json", None, -32700),
    ('{"jsonrpc":"2.0",', None, -32700),
    ('{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}', None, -32600),
    ('{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":NaN}}', 7, -32600),
    ('{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":' + "[" * 999 + "]" * 999 + "}}", 7, -32600),
    ('{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\\u0000"}}', 7, -32600),
]


@pytest.mark.parametrize(("line", "answered_id", "code"), REFUSED_SHAPES)
def test_a_malformed_message_is_refused_by_kind_and_the_next_one_is_served(
    connection: ThreadConnection, line: str, answered_id: Any, code: int
) -> None:
    connection.write(line.encode() + b"\n")

    answer = connection.receive()

    assert (answer["id"], answer["error"]["code"]) == (answered_id, code)
    assert connection.ask("ping")["result"] == {}


def test_bytes_that_are_not_utf_8_are_a_parse_error(connection: ThreadConnection) -> None:
    connection.write(b'{"jsonrpc":"2.0","id":1,"method":"\xff"}\n')

    assert connection.receive()["error"]["code"] == -32700


def test_a_refusal_of_the_gate_names_its_code(connection: ThreadConnection) -> None:
    connection.write(b'{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}\n')

    assert connection.receive()["error"]["data"]["code"] == "duplicate_key"


@pytest.mark.parametrize("request_id", [0, -1, 7, "7", "", "é\u2028", 9007199254740991])
def test_an_answer_carries_the_id_exactly_as_it_came(connection: ThreadConnection, request_id: int | str) -> None:
    connection.request("ping", id=request_id)

    answer = connection.receive()

    assert (type(answer["id"]), answer["id"]) == (type(request_id), request_id)


def test_null_params_are_no_params(connection: ThreadConnection) -> None:
    connection.send({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None})

    assert connection.receive()["result"] == {}


def test_an_unknown_method_is_not_found_before_and_after_the_handshake(connection: ThreadConnection) -> None:
    before = connection.error("resources/list")["code"]
    connection.initialize()

    assert (before, connection.error("resources/list")["code"]) == (-32601, -32601)


def test_what_needs_no_answer_gets_none(connection: ThreadConnection) -> None:
    connection.initialize()
    connection.notify("notifications/of/the/future", {"x": 1})
    connection.notify("notifications/cancelled", {"requestId": "nobody"})
    connection.notify("notifications/cancelled", {"requestId": {"a": 1}})
    connection.notify("notifications/cancelled")
    connection.notify("notifications/cancelled", [1])
    connection.send({"jsonrpc": "2.0", "id": 99, "result": {}})
    connection.send({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "no"}})
    connection.write(b"\n   \n\r\n\t\n")

    assert connection.read_rest() == []


def test_a_tool_call_without_an_id_is_not_performed(connection: ThreadConnection, tools: Any) -> None:
    connection.initialize()
    connection.notify("tools/call", call("echo"))

    assert (connection.read_rest(), tools.performed) == ([], [])


@pytest.mark.parametrize(
    "params",
    [{}, {"name": 1}, {"name": None}, {"name": "echo", "arguments": []}, {"name": "echo", "arguments": "{}"}],
)
def test_a_tool_call_without_a_name_or_with_positional_arguments_is_refused(
    connection: ThreadConnection, params: Any
) -> None:
    connection.initialize()

    assert connection.error("tools/call", params)["code"] == -32602


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_a_tool_call_needs_no_arguments(connection: ThreadConnection, arguments: Any) -> None:
    connection.initialize()

    assert connection.result("tools/call", {"name": "echo", **arguments})["content"][0]["text"] == "{}"


def test_a_cursor_is_refused_because_the_tool_list_is_one_page(connection: ThreadConnection) -> None:
    connection.initialize()

    assert connection.error("tools/list", {"cursor": "2"})["code"] == -32602
    assert "nextCursor" not in connection.result("tools/list", {"cursor": None})


def test_an_unknown_tool_is_refused_with_the_nearest_name(connection: ThreadConnection) -> None:
    connection.initialize()

    error = connection.error("tools/call", call("ecoh"))

    assert (error["code"], error["data"]) == (-32602, {"code": "unknown_tool", "near": "echo"})


def test_a_defect_is_shown_as_a_reference_only(connection: ThreadConnection, capfd: pytest.CaptureFixture[str]) -> None:
    connection.initialize()

    error = connection.error("tools/call", call("crash"))

    logged = capfd.readouterr().err
    assert error["code"] == -32603
    assert "Mallory" not in str(error)
    assert error["data"]["reference"] in logged
    assert "Mallory" in logged
