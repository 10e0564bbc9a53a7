"""Revision 2026-07-28: every request has its own envelope and is independent of earlier ones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surfaces.mcp.connection import CAPABILITIES_KEY, SERVER_KEY, VERSION_KEY, ThreadConnection, call, envelope

SERVER = {SERVER_KEY: {"name": "groundplan", "version": "1.2.3"}}


def test_discovery_names_the_revisions_the_capabilities_and_the_server(connection: ThreadConnection) -> None:
    found = connection.result("server/discover", envelope())

    assert found.pop("instructions")
    assert found == {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "ttlMs": 300_000,
        "cacheScope": "private",
        "_meta": SERVER,
    }


def test_a_request_is_served_without_discovery_or_handshake(connection: ThreadConnection) -> None:
    answer = connection.result("tools/call", envelope(**call("echo", a=1)))

    assert answer == {
        "resultType": "complete",
        "content": [{"type": "text", "text": '{"a": 1}'}],
        "isError": False,
        "_meta": SERVER,
    }


def test_the_tool_list_carries_caching_hints(connection: ThreadConnection) -> None:
    listed = connection.result("tools/list", envelope())

    assert [tool["name"] for tool in listed.pop("tools")] == ["echo", "wait"]
    assert listed == {"resultType": "complete", "ttlMs": 300_000, "cacheScope": "private", "_meta": SERVER}


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "no/such/method"])
def test_an_unserved_revision_is_refused_with_the_served_ones(connection: ThreadConnection, method: str) -> None:
    error = connection.error(method, envelope("2099-01-01"))

    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}


def test_a_handshake_revision_is_unserved_in_an_envelope(connection: ThreadConnection) -> None:
    assert connection.error("tools/list", envelope("2025-11-25"))["code"] == -32022


@pytest.mark.parametrize(
    ("meta", "missing"),
    [
        (None, [VERSION_KEY, CAPABILITIES_KEY]),
        ("x", [VERSION_KEY, CAPABILITIES_KEY]),
        ({CAPABILITIES_KEY: {}}, [VERSION_KEY]),
        ({VERSION_KEY: "2026-07-28"}, [CAPABILITIES_KEY]),
    ],
)
def test_an_incomplete_envelope_is_refused_with_the_missing_keys(
    connection: ThreadConnection, meta: Any, missing: list[str]
) -> None:
    error = connection.error("server/discover", {"_meta": meta})

    assert (error["code"], error["data"]["missing"]) == (-32602, missing)


@pytest.mark.parametrize(
    "meta",
    [
        {VERSION_KEY: 20260728, CAPABILITIES_KEY: {}},
        {VERSION_KEY: None, CAPABILITIES_KEY: {}},
        {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: []},
        {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}, "io.modelcontextprotocol/clientInfo": "ada"},
    ],
)
def test_an_envelope_of_wrong_types_is_refused_as_parameters(connection: ThreadConnection, meta: Any) -> None:
    assert connection.error("tools/list", {"_meta": meta})["code"] == -32602


@pytest.mark.parametrize("client", [None, {"name": "ada", "version": "1"}])
def test_who_the_client_is_may_be_left_out(connection: ThreadConnection, client: Any) -> None:
    params = envelope()
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = client

    assert "tools" in connection.result("tools/list", params)


def test_every_request_needs_its_own_envelope(connection: ThreadConnection) -> None:
    connection.result("server/discover", envelope())

    assert connection.error("tools/list")["code"] == -32602
    assert connection.error("ping")["code"] == -32602
    assert "tools" in connection.result("tools/list", envelope())


@pytest.mark.parametrize(
    "method",
    ["ping", "logging/setLevel", "resources/subscribe", "notifications/initialized", "subscriptions/listen"],
)
def test_methods_that_this_revision_dropped_or_we_do_not_serve_are_not_found(
    connection: ThreadConnection, method: str
) -> None:
    assert connection.error(method, envelope())["code"] == -32601


@pytest.mark.parametrize(
    ("params", "data"),
    [
        ({"protocolVersion": "2025-11-25"}, {"supported": ["2026-07-28"], "requested": "2025-11-25"}),
        ({}, {"supported": ["2026-07-28"]}),
    ],
)
def test_initialize_is_refused_on_a_stateless_connection(connection: ThreadConnection, params: Any, data: Any) -> None:
    connection.result("server/discover", envelope())

    error = connection.error("initialize", params)

    assert (error["code"], error["data"]) == (-32022, data)
    assert "tools" in connection.result("tools/list", envelope())


def test_a_refused_envelope_leaves_the_way_to_the_handshake_open(connection: ThreadConnection) -> None:
    connection.error("server/discover", envelope("2099-01-01"))
    connection.error("server/discover")

    assert connection.initialize()["protocolVersion"] == "2025-11-25"


def test_an_unknown_tool_is_a_protocol_error_here_too(connection: ThreadConnection) -> None:
    assert connection.error("tools/call", envelope(name="ecoh"))["code"] == -32602


def test_a_batch_is_refused(connection: ThreadConnection) -> None:
    connection.result("server/discover", envelope())
    connection.send([{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": envelope()}])

    assert (answer := connection.receive())["error"]["code"] == -32600
    assert answer["id"] is None
