"""The revisions that begin with `initialize`."""

from __future__ import annotations

import pytest

from tests.surfaces.mcp.connection import GateTools, ThreadConnection, call, envelope

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_initialize_agrees_on_the_requested_revision(connection: ThreadConnection, revision: str) -> None:
    opened = connection.initialize(revision)

    assert opened.pop("instructions")
    assert opened == {
        "protocolVersion": revision,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "groundplan", "version": "1.2.3"},
    }


@pytest.mark.parametrize("revision", ["2023-01-01", "2026-07-28", "2099-01-01", ""])
def test_initialize_offers_the_newest_handshake_revision_instead_of_an_unknown_one(
    connection: ThreadConnection, revision: str
) -> None:
    assert connection.initialize(revision)["protocolVersion"] == "2025-11-25"


def test_initialize_without_a_revision_is_refused_and_can_be_sent_again(connection: ThreadConnection) -> None:
    assert connection.error("initialize", {"capabilities": {}})["code"] == -32602
    assert connection.initialize()["protocolVersion"] == "2025-11-25"


def test_initialize_is_a_handshake_even_in_an_envelope(connection: ThreadConnection) -> None:
    assert connection.result("initialize", envelope(protocolVersion="2025-06-18"))["protocolVersion"] == "2025-06-18"


def test_ping_is_answered_before_the_handshake(connection: ThreadConnection) -> None:
    assert connection.ask("ping")["result"] == {}


@pytest.mark.parametrize(("method", "params"), [("tools/list", None), ("tools/call", call("echo"))])
def test_tools_are_refused_before_the_handshake(
    connection: ThreadConnection, tools: GateTools, method: str, params: object
) -> None:
    error = connection.error(method, params)

    assert (error["code"], error["data"]) == (-32600, {"code": "not_initialized"})
    assert tools.performed == []


def test_requests_sent_right_behind_initialize_are_served(connection: ThreadConnection) -> None:
    connection.request("initialize", {"protocolVersion": "2025-11-25"}, id="a")
    connection.request("tools/list", id="b")

    assert [connection.receive()["id"] for _ in range(2)] == ["a", "b"]


def test_the_tool_list_is_not_built_before_it_is_asked_for(connection: ThreadConnection, tools: GateTools) -> None:
    connection.initialize()
    connection.ask("ping")
    assert tools.listings == 0

    assert [tool["name"] for tool in connection.result("tools/list")["tools"]] == ["echo", "wait"]


def test_results_of_the_handshake_era_carry_nothing_of_the_stateless_one(connection: ThreadConnection) -> None:
    connection.initialize()

    assert set(connection.result("tools/list")) == {"tools"}
    assert set(connection.result("tools/call", call("echo"))) == {"content", "isError"}


def test_an_enveloped_request_is_refused_after_a_handshake(connection: ThreadConnection) -> None:
    connection.initialize()

    error = connection.error("tools/list", envelope())

    assert (error["code"], error["data"]) == (-32600, {"code": "mixed_eras"})
    assert "tools" in connection.result("tools/list")


def test_discovery_does_not_exist_after_a_handshake(connection: ThreadConnection) -> None:
    connection.initialize()

    assert connection.error("server/discover")["code"] == -32601


def test_meta_of_other_kinds_does_not_make_a_request_stateless(connection: ThreadConnection) -> None:
    connection.initialize()

    assert connection.result("tools/call", call("echo", a=1) | {"_meta": {"progressToken": 1}})["isError"] is False


def test_on_ready_runs_once_after_the_answer_that_opens_the_connection() -> None:
    happened: list[str] = []
    with ThreadConnection(GateTools(), on_ready=lambda: happened.append("ready")) as connection:
        connection.ask("ping")
        assert happened == []
        connection.initialize()
        connection.result("tools/list")
        connection.result("tools/list")

        assert happened == ["ready"]


def test_a_defect_in_on_ready_does_not_end_the_connection(capfd: pytest.CaptureFixture[str]) -> None:
    def broken() -> None:
        raise RuntimeError("cannot get ready")

    with ThreadConnection(GateTools(), on_ready=broken) as connection:
        connection.initialize()

        assert "tools" in connection.result("tools/list")
    assert "cannot get ready" in capfd.readouterr().err
