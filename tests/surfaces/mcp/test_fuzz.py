"""For any input, the server keeps running and sends only complete messages."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.surfaces.mcp.stdio import serve
from tests.proof import scaled
from tests.surfaces.mcp.connection import CAPABILITIES_KEY, VERSION_KEY, GateTools, ThreadConnection

METHODS = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "server/discover",
    "notifications/cancelled",
    "x",
]
REVISIONS = ["2025-03-26", "2025-11-25", "2026-07-28", "2099-01-01"]

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=scaled(12, 100),  # generating large ones takes longer than sending them
)
meta: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {}, optional={VERSION_KEY: st.sampled_from(REVISIONS) | scalars, CAPABILITIES_KEY: st.just({}) | scalars}
)
params = st.fixed_dictionaries(
    {},
    optional={
        "_meta": meta | scalars,
        "protocolVersion": st.sampled_from(REVISIONS) | scalars,
        "name": st.sampled_from(["echo", "ecoh"]) | scalars,
        "arguments": values,
        "requestId": scalars,
        "cursor": scalars,
    },
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | scalars,
        "id": scalars,
        "method": st.sampled_from(METHODS) | scalars,
        "params": params | values,
        "result": values,
    },
)
well_formed = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": st.integers(0, 3), "method": st.sampled_from(METHODS), "params": params}
)
documents = messages | well_formed | st.lists(messages | well_formed, max_size=4) | values
lines = st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")) | documents.map(
    lambda document: json.dumps(document).encode()
)


def converse(sent: list[bytes]) -> tuple[int, list[bytes]]:
    """Return all answers of a new server to these lines, and its exit status."""
    connection = ThreadConnection(GateTools())
    connection.write(b"\n".join([*sent, b'{"jsonrpc":"2.0","id":"last","method":"ping","params":{}}']))
    said = connection.read_rest_bytes()
    connection.close()
    status = connection.wait_for_end()
    assert status is not None
    *answers, after_the_last = said.split(b"\n")
    assert after_the_last == b""
    return status, answers


@pytest.mark.slow
@given(st.lists(lines, max_size=12))
@settings(max_examples=scaled(20, 200))
def test_no_line_ends_the_loop_and_every_answer_is_one_message(sent: list[bytes]) -> None:
    status, answers = converse(sent)

    assert status == 0
    for answer in answers:
        decoded: Any = json.loads(answer)
        for message in decoded if isinstance(decoded, list) else [decoded]:
            assert message["jsonrpc"] == "2.0"
            assert ("result" in message) != ("error" in message)
            assert isinstance(message["id"], int | str | None)
    assert any(b'"last"' in answer for answer in answers)


@given(st.binary(max_size=4000))
@settings(max_examples=scaled(20, 100))
def test_no_stream_of_bytes_ends_the_loop(raw: bytes) -> None:
    status, answers = converse([raw])

    assert status == 0
    for answer in answers:
        json.loads(answer)


def test_an_input_that_is_closed_at_once_is_an_empty_conversation() -> None:
    with Path(os.devnull).open("rb") as stdin, Path(os.devnull).open("wb") as stdout:
        assert serve(GateTools(), stdin, stdout, version="1.2.3") == 0
