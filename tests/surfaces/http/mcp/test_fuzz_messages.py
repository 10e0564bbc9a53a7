"""No request makes the server fail."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surfaces.http.mcp.client import McpClient, create_token

HEADERS = st.dictionaries(
    st.sampled_from(["mcp_protocol_version", "mcp_method", "mcp_name", "mcp_session_id", "accept", "content_type"]),
    st.sampled_from(["", "2026-07-28", "2025-11-25", "tools/call", "graph_open", "application/json", "*/*", "x"]),
)
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": st.sampled_from(["initialize", "tools/call", "tools/list", "ping", "x"])},
    optional={
        "id": st.integers() | st.text(max_size=4) | SCALARS,
        "params": st.fixed_dictionaries(
            {},
            optional={
                "name": SCALARS,
                "arguments": VALUES,
                "_meta": VALUES,
                "protocolVersion": SCALARS,
                "cursor": VALUES,
            },
        )
        | VALUES,
    },
)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from tests.engines import SqliteEngine

    lite = SqliteEngine(tmp_path_factory.mktemp("fuzz") / "plan.db")
    with McpClient(lite.store, create_token(lite.store)) as client:
        yield client
    lite.close()


@given(message=MESSAGES | VALUES | st.binary(max_size=40), headers=HEADERS)
def test_no_request_makes_the_server_fail(fuzzed: McpClient, message: Any, headers: dict[str, str]) -> None:
    raw = message if isinstance(message, bytes) else json.dumps(message).encode()
    reply = fuzzed.exchange(raw, **headers)

    assert reply.status < 500, (message, headers, reply.body)
