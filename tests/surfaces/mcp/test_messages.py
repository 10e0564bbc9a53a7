"""What is a message, what is not, and that the loop outlives the difference."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surfaces.mcp.peer import Peer, call

REFUSED_SHAPES: list[tuple[str, Any, int]] = [
    # what is sent, the id of the answer, its error code
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
    peer: Peer, line: str, answered_id: Any, code: int
) -> None:
    peer.write(line.encode() + b"\n")

    answer = peer.receive()

    assert (answer["id"], answer["error"]["code"]) == (answered_id, code)
    assert peer.ask("ping")["result"] == {}


def test_bytes_that_are_not_utf_8_are_a_parse_error(peer: Peer) -> None:
    peer.write(b'{"jsonrpc":"2.0","id":1,"method":"\xff"}\n')

    assert peer.receive()["error"]["code"] == -32700


def test_a_refusal_of_the_gate_names_its_code(peer: Peer) -> None:
    peer.write(b'{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}\n')

    assert peer.receive()["error"]["data"]["code"] == "duplicate_key"


@pytest.mark.parametrize("request_id", [0, -1, 7, "7", "", "é\u2028", 9007199254740991])
def test_an_answer_carries_the_id_exactly_as_it_came(peer: Peer, request_id: int | str) -> None:
    peer.request("ping", id=request_id)

    answer = peer.receive()

    assert (type(answer["id"]), answer["id"]) == (type(request_id), request_id)


def test_null_params_are_no_params(peer: Peer) -> None:
    peer.send({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None})

    assert peer.receive()["result"] == {}


def test_an_unknown_method_is_not_found_before_and_after_the_handshake(peer: Peer) -> None:
    before = peer.error("resources/list")["code"]
    peer.initialize()

    assert (before, peer.error("resources/list")["code"]) == (-32601, -32601)


def test_what_needs_no_answer_gets_none(peer: Peer) -> None:
    peer.initialize()
    peer.notify("notifications/of/the/future", {"x": 1})
    peer.notify("notifications/cancelled", {"requestId": "nobody"})
    peer.notify("notifications/cancelled", {"requestId": {"a": 1}})
    peer.notify("notifications/cancelled")
    peer.notify("notifications/cancelled", [1])
    peer.send({"jsonrpc": "2.0", "id": 99, "result": {}})
    peer.send({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "no"}})
    peer.write(b"\n   \n\r\n\t\n")

    assert peer.rest() == []


def test_a_tool_call_without_an_id_is_not_performed(peer: Peer, tools: Any) -> None:
    peer.initialize()
    peer.notify("tools/call", call("echo"))

    assert (peer.rest(), tools.performed) == ([], [])


@pytest.mark.parametrize(
    "params",
    [{}, {"name": 1}, {"name": None}, {"name": "echo", "arguments": []}, {"name": "echo", "arguments": "{}"}],
)
def test_a_tool_call_without_a_name_or_with_positional_arguments_is_refused(peer: Peer, params: Any) -> None:
    peer.initialize()

    assert peer.error("tools/call", params)["code"] == -32602


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_a_tool_call_needs_no_arguments(peer: Peer, arguments: Any) -> None:
    peer.initialize()

    assert peer.result("tools/call", {"name": "echo", **arguments})["content"][0]["text"] == "{}"


def test_a_cursor_is_refused_because_the_tool_list_is_one_page(peer: Peer) -> None:
    peer.initialize()

    assert peer.error("tools/list", {"cursor": "2"})["code"] == -32602
    assert "nextCursor" not in peer.result("tools/list", {"cursor": None})


def test_an_unknown_tool_is_refused_with_the_nearest_name(peer: Peer) -> None:
    peer.initialize()

    error = peer.error("tools/call", call("ecoh"))

    assert (error["code"], error["data"]) == (-32602, {"code": "unknown_tool", "near": "echo"})


def test_a_defect_is_shown_as_a_reference_only(peer: Peer, capfd: pytest.CaptureFixture[str]) -> None:
    peer.initialize()

    error = peer.error("tools/call", call("crash"))

    logged = capfd.readouterr().err
    assert error["code"] == -32603
    assert "Mallory" not in str(error)
    assert error["data"]["reference"] in logged
    assert "Mallory" in logged
