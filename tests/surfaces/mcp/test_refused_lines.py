"""An invalid line is answered with the id of its request, wherever the id is in the line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.surfaces.mcp.lines import HEAD_BYTES, TAIL_BYTES, TruncatedLine
from groundplan.surfaces.mcp.recovery import recover_request
from tests.proof import scaled
from tests.surfaces.mcp.connection import (
    PATIENCE_S,
    SERVER_KEY,
    GateTools,
    ProcessConnection,
    ThreadConnection,
    call,
    envelope,
)

BAD_VALUES = {
    # the JSON of an argument, and the code of its refusal
    r'"\u0000"': "control_character",
    r'"\u001b"': "control_character",
    '"raw \x1b"': "control_character",
    '"raw \x85"': "control_character",
    r'"\ud800"': "invalid_text",
    str(2**60): "invalid_number",
    "9" * 5000: "invalid_number",
    "NaN": "invalid_number",
    "-Infinity": "invalid_number",
    "1e999": "invalid_number",
    '{"a":1,"a":2}': "duplicate_key",
    "[" * 40 + "]" * 40: "too_deep",
    "[" * 5000 + "]" * 5000: "too_deep",
    '{"id":8,"x":' * 400 + "1" + "}" * 400: "too_deep",
}
ORDERS = [
    '{"jsonrpc":"2.0","id":%(id)s,"method":"%(method)s","params":%(params)s}',
    '{"method":"%(method)s","params":%(params)s,"jsonrpc":"2.0","id":%(id)s}',
    ' { "params" : %(params)s , "id" : %(id)s , "method" : "%(method)s" , "jsonrpc" : "2.0" } \r',
    r'{"jsonrpc":"2.0","\u0069d":%(id)s,"m\u0065thod":"%(method)s","params":%(params)s}',
]
IDS = [7, 0, -1, "7", "", 'a"b\\', "é\u2028", "\x00", 2**60]


def line(order: str, value: str, *, id: Any = 7, method: str = "tools/call") -> bytes:  # noqa: A002 - the wire's word
    """Return a request with this argument, which contains ids that are not its own."""
    params = '{"id":9,"name":"echo","arguments":{"id":10,"text":",\\"id\\":11}","value":' + value + "}}"
    return (order % {"id": json.dumps(id), "method": method, "params": params}).encode() + b"\n"


@pytest.fixture
def initialized(connection: ThreadConnection) -> ThreadConnection:
    connection.initialize()
    return connection


@pytest.fixture
def busy_connection(initialized: ThreadConnection, tools: GateTools) -> ThreadConnection:
    """A connection with a running call with the id "held"."""
    initialized.request("tools/call", call("wait"), id="held")
    assert tools.began.wait(PATIENCE_S)
    return initialized


def error_of(answer: Any) -> Any:
    assert answer["result"]["isError"] is True
    return json.loads(answer["result"]["content"][0]["text"])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("value", "code"), BAD_VALUES.items(), ids=lambda case: case[:20].encode().hex()[:12])
def test_a_refused_tool_call_is_answered_by_its_tool_and_any_other_request_by_an_error(
    initialized: ThreadConnection, order: str, value: str, code: str
) -> None:
    initialized.write(line(order, value))
    called = initialized.receive()
    initialized.write(line(order, value, method="ping"))
    pinged = initialized.receive()

    assert (called["id"], error_of(called)) == (7, {"refused by": "echo", "code": code})
    assert (pinged["id"], pinged["error"]["code"], pinged["error"]["data"]["code"]) == (7, -32600, code)
    assert initialized.ask("ping")["result"] == {}


@pytest.mark.parametrize("request_id", IDS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("value", [r'"\u0000"', '"' + "x" * (1 << 20) + '"', "[" * 5000 + "]" * 5000])
def test_the_id_of_a_refused_line_comes_back_exactly_as_it_came(
    initialized: ThreadConnection, order: str, value: str, request_id: Any
) -> None:
    initialized.write(line(order, value, id=request_id))

    answer = initialized.receive()

    assert (type(answer["id"]), answer["id"]) == (type(request_id), request_id)


@pytest.mark.parametrize(
    "sent",
    [
        r'{"jsonrpc":"2.0","method":"tools/call","params":{"id":7,"name":"\u0000"}}',
        r'{"jsonrpc":"2.0","id":7,"method":"ping","id":7,"params":"\u0000"}',
        r'{"jsonrpc":"2.0","id":7,"method":"ping","\u0069d":8}',
        r'{"jsonrpc":"2.0","id":1.5,"method":"ping","params":"\u0000"}',
        r'{"jsonrpc":"2.0","id":true,"method":"ping","params":"\u0000"}',
        r'{"jsonrpc":"2.0","id":null,"method":"ping","params":"\u0000"}',
        '{"jsonrpc":"2.0","id":' + "9" * 5000 + ',"method":"ping"}',
        r'{"jsonrpc":"1.0","id":7,"method":"ping","params":"\u0000"}',
        r'{"jsonrpc":"2.0","id":7,"result":"\u0000"}',
        r'{"jsonrpc":"2.0","id":7,"method":1,"params":"\u0000"}',
        r'[{"jsonrpc":"2.0","id":7,"method":"ping","params":"\u0000"}]',
        '{"jsonrpc":"2.0","id":7,"method":"ping"}\x00',
        r'"\u0000"',
        "[" * 5000 + ',"id":7,"method":"ping","jsonrpc":"2.0"}',
    ],
)
def test_a_refused_line_without_one_usable_id_is_answered_without_an_id(
    initialized: ThreadConnection, sent: str
) -> None:
    initialized.write(sent.encode() + b"\n")

    answer = initialized.receive()

    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert initialized.ask("ping")["result"] == {}


@pytest.mark.parametrize("sent", [b'{"jsonrpc":"2.0","id":7,"method":"\xff"}', b'{"jsonrpc":"2.0","id":7,"method":'])
def test_a_line_that_is_not_json_is_a_parse_error_without_an_id(initialized: ThreadConnection, sent: bytes) -> None:
    initialized.write(sent + b"\n")

    assert ((answer := initialized.receive())["id"], answer["error"]["code"]) == (None, -32700)


PADDING = "x" * (1 << 20)


@pytest.mark.parametrize(
    ("sent", "recovered_id"),
    [
        ('{"jsonrpc":"2.0","id":7,"method":"x","params":{"pad":"%s"}}', 7),
        ('{"jsonrpc":"2.0","method":"x","params":{"pad":"%s"},"id":"a"}', "a"),
        ('{"jsonrpc":"2.0","method":"x","id":7,"more":"%s"}', 7),
        ('{"jsonrpc":"2.0","id":7,"method":"x","params":{}}%s', 7),
        ('{"jsonrpc":"2.0","method":"x","params":["%s",{"id":8}],"id":7}', 7),
        # Not its own id, not an id, or ambiguous.
        ('{"jsonrpc":"2.0","method":"x","params":{"pad":"%s","id":7}}', None),
        ('{"jsonrpc":"2.0","method":"x","params":{"id":7,"pad":"%s"}}', None),
        ('{"jsonrpc":"2.0","method":"x","params":"%s,\\"id\\":7}', None),
        ('{"jsonrpc":"2.0","id":7,"method":"x","params":{"pad":"%s"},"id":8}', None),
        ('{"jsonrpc":"2.0","method":"x","params":{},"id":1%s', None),
        ('{"jsonrpc":"2.0","id":7,"result":{"pad":"%s"}}', None),
        ('{"id":7,"method":"x","params":{"pad":"%s"}}', None),
        ('[{"jsonrpc":"2.0","id":7,"method":"x","params":{"pad":"%s"}}]', None),
        ('%s,"jsonrpc":"2.0","method":"x","id":7}', None),
        ('{"jsonrpc":"2.0","method":"notifications/x","params":{"pad":"%s"}}', None),
    ],
)
def test_of_a_line_above_the_limit_the_id_is_read_at_its_two_ends(
    initialized: ThreadConnection, sent: str, recovered_id: Any
) -> None:
    initialized.write(sent.replace("%s", PADDING).encode() + b"\n")

    answer = initialized.receive()

    assert (answer["id"], answer["error"]["code"], answer["error"]["data"]["code"]) == (
        recovered_id,
        -32600,
        "too_large",
    )


@pytest.mark.parametrize(
    ("params", "refused"),
    [
        ('{"name":"echo","arguments":{"pad":"%s"}}', {"refused by": "echo", "code": "too_large"}),
        ('{"_meta":{},"name":"echo","arguments":{"pad":"%s"}}', {"refused by": "echo", "code": "too_large"}),
        ('{"arguments":{"pad":"%s"},"name":"echo"}', None),
        ('{"arguments":{"name":"echo","pad":"%s"}}', None),
    ],
)
def test_a_tool_call_above_the_limit_is_refused_as_its_tool_would_if_its_head_names_it(
    initialized: ThreadConnection, params: str, refused: Any
) -> None:
    initialized.write(
        f'{{"method":"tools/call","params":{params.replace("%s", PADDING)},"jsonrpc":"2.0","id":7}}\n'.encode()
    )

    answer = initialized.receive()

    said = error_of(answer)
    assert answer["id"] == 7
    assert said == refused if refused else said["error"]["code"] == "too_large"


@pytest.mark.slow
def test_a_refused_tool_call_reads_like_other_refusals_of_its_group() -> None:
    with ProcessConnection() as child:
        child.initialize()
        bodies = [error_of(child.ask("tools/call", call(name, text="\0"))) for name in ("note_keep", "note_find")]

    for body in bodies:
        assert body["error"]["code"] == "control_character"
        assert body["error"]["details"] == {"field": "params.arguments.text"}


@pytest.mark.slow
def test_a_refused_call_of_an_unknown_tool_is_refused_for_that() -> None:
    with ProcessConnection() as child:
        child.initialize()
        error = child.error("tools/call", call("note_kept", text="\0"))

    assert (error["code"], error["data"]["near"]) == (-32602, "note_keep")


def test_a_stateless_call_is_refused_with_a_stateless_result_and_decides_no_era(connection: ThreadConnection) -> None:
    answer = connection.ask("tools/call", envelope(**call("echo", text="\0")))

    assert answer["result"].pop("content")
    assert answer["result"] == {
        "resultType": "complete",
        "isError": True,
        "_meta": {SERVER_KEY: {"name": "groundplan", "version": "1.2.3"}},
    }
    assert connection.initialize()["protocolVersion"] == "2025-11-25"


def test_a_stateless_call_above_the_limit_has_a_stateless_result_where_its_era_is_known(
    connection: ThreadConnection,
) -> None:
    late = {**call("echo", pad=PADDING), **envelope()}
    early = envelope(**call("echo", pad=PADDING))

    undecided = connection.error("tools/call", late)
    shown = connection.ask("tools/call", early)
    connection.result("server/discover", envelope())
    decided = connection.ask("tools/call", late)

    assert (undecided["code"], undecided["data"]["code"]) == (-32600, "too_large")
    assert [error_of(answer)["code"] for answer in (shown, decided)] == ["too_large"] * 2
    assert [answer["result"]["resultType"] for answer in (shown, decided)] == ["complete"] * 2


def test_the_rules_of_the_era_hold_for_refused_calls(connection: ThreadConnection) -> None:
    before = connection.error("tools/call", call("echo", text="\0"))
    connection.initialize()
    mixed = connection.error("tools/call", envelope(**call("echo", text="\0")))
    nameless = connection.error("tools/call", {"arguments": {"text": "\0"}})

    assert (before["data"]["code"], mixed["data"]["code"]) == ("not_initialized", "mixed_eras")
    assert nameless["code"] == -32602


def test_every_refused_call_of_a_stateless_connection_needs_its_envelope(connection: ThreadConnection) -> None:
    connection.result("server/discover", envelope())

    assert connection.error("tools/call", call("echo", text="\0"))["data"]["code"] == "incomplete_envelope"


def test_a_refused_initialize_opens_nothing(connection: ThreadConnection) -> None:
    refused = connection.error("initialize", {"protocolVersion": "2025-11-25", "clientInfo": {"name": "\0"}})

    assert (refused["code"], refused["data"]["code"]) == (-32600, "control_character")
    assert connection.error("tools/list")["data"]["code"] == "not_initialized"


@pytest.mark.parametrize("method", ["tools/call", "ping"])
@pytest.mark.parametrize("text", ["\0", PADDING])
def test_a_refused_line_with_an_id_under_way_is_not_answered_in_its_name(
    busy_connection: ThreadConnection, tools: GateTools, method: str, text: str
) -> None:
    busy_connection.request(method, call("echo", text=text), id="held")

    refused = busy_connection.receive()
    tools.release.set()

    assert (refused["id"], refused["error"]["data"]) == (None, {"code": "duplicate_id", "id": "held"})
    assert [(answer["id"], answer["result"]["isError"]) for answer in busy_connection.read_rest()] == [("held", False)]


def test_refused_calls_are_answered_in_the_order_they_came_and_are_never_performed(
    busy_connection: ThreadConnection, tools: GateTools
) -> None:
    for number in range(6):
        busy_connection.request("tools/call", call("echo", text=["fine", "\0", PADDING][number % 3]), id=number)
    tools.release.set()

    assert [(answer["id"], answer["result"]["isError"]) for answer in busy_connection.read_rest()] == [
        ("held", False),
        *((number, number % 3 > 0) for number in range(6)),
    ]
    assert tools.performed == ["wait", "echo", "echo"]


def test_a_refused_call_that_is_cancelled_is_not_answered_and_its_id_is_free_again(
    busy_connection: ThreadConnection, tools: GateTools
) -> None:
    busy_connection.request("tools/call", call("echo", text="\0"), id="again")
    busy_connection.notify("notifications/cancelled", {"requestId": "again"})
    busy_connection.ask("ping")
    tools.release.set()

    assert busy_connection.receive()["id"] == "held"
    busy_connection.result("tools/list")
    busy_connection.request("tools/call", call("echo"), id="again")
    assert [(answer["id"], answer["result"]["isError"]) for answer in busy_connection.read_rest()] == [("again", False)]


keys = st.sampled_from(["id", "jsonrpc", "method", "params", "result", "x", "name"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["2.0", "tools/call", ',"id":1}', '\\","id":2}', "\0", "\x1b", "\ud800", 2**60, float("nan")])
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
)
requests = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": st.integers() | st.text(max_size=4), "method": st.text(max_size=4)},
    optional={"params": values, "x": values},
).flatmap(lambda message: st.permutations(list(message.items())).map(dict))
documents = requests | values


def as_line(document: Any, *, ascii_only: bool, indent: int | None = None) -> bytes:
    try:
        return json.dumps(document, ensure_ascii=ascii_only, indent=indent).replace("\n", " ").encode()
    except UnicodeEncodeError:  # a lone surrogate can only be sent as an escape
        return json.dumps(document).encode()


@given(documents, st.booleans(), st.sampled_from([None, 1]))
@settings(max_examples=scaled(50, 500))
def test_a_recovered_id_is_the_one_that_json_says(document: Any, ascii_only: bool, indent: int | None) -> None:
    found = recover_request(as_line(document, ascii_only=ascii_only, indent=indent))

    is_request = (
        isinstance(document, dict)
        and document.get("jsonrpc") == "2.0"
        and isinstance(document.get("method"), str)
        and type(document.get("id")) in (int, str)
        and len(str(document["id"])) <= 20
    )
    assert (found is not None) == is_request
    if found is not None:
        assert (type(found.message["id"]), found.message["id"]) == (type(document["id"]), document["id"])


@given(documents, st.integers(0, 3000), st.booleans())
@settings(max_examples=scaled(50, 500))
def test_an_id_recovered_from_the_ends_of_a_line_is_the_one_that_json_says(
    document: Any, padding: int, ascii_only: bool
) -> None:
    if isinstance(document, dict) and document:
        middle = list(document)[len(document) // 2]
        document[middle] = document[middle] if middle in ("id", "method", "jsonrpc") else ["x" * padding, "\0"]
    text = as_line(document, ascii_only=ascii_only)
    for head_bytes in {len(text) // 3, len(text) // 2, HEAD_BYTES}:
        found = recover_request(TruncatedLine(text[:head_bytes], text[head_bytes:][-TAIL_BYTES:]))
        if found is not None:
            assert (type(found.message["id"]), found.message["id"]) == (type(document["id"]), document["id"])
            assert found.message["method"] == document["method"]


@given(st.binary(max_size=200), st.binary(max_size=200))
@settings(max_examples=scaled(50, 300))
def test_no_bytes_keep_the_search_for_an_id_from_ending(head: bytes, tail: bytes) -> None:
    opening = b'{"jsonrpc":"2.0","method":"x","params":{'

    recover_request(TruncatedLine(opening + head, tail + b',"id":7}'))
    recover_request(opening + head + tail)
