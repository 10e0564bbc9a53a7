"""While the worker is busy: pings, cancellations, ids in use, and a client that does not wait."""

from __future__ import annotations

import json

import pytest

from groundplan.surfaces.mcp import stdio
from groundplan.surfaces.mcp.lines import CHUNK_BYTES
from tests.surfaces.mcp.peer import PATIENCE_S, GateTools, Peer, call, envelope


@pytest.fixture
def busy(peer: Peer, tools: GateTools) -> Peer:
    """A connection on which the call with the id "held" is running."""
    peer.initialize()
    peer.request("tools/call", call("wait"), id="held")
    assert tools.began.wait(PATIENCE_S)
    return peer


def test_ping_is_answered_while_a_call_runs(busy: Peer, tools: GateTools) -> None:
    assert busy.ask("ping")["result"] == {}
    tools.release.set()

    assert busy.receive()["id"] == "held"


def test_refusals_are_answered_while_a_call_runs(busy: Peer) -> None:
    assert busy.error("no/such/method")["code"] == -32601
    assert busy.error("tools/call", {})["code"] == -32602


def test_calls_are_performed_one_after_the_other_in_the_order_they_came(busy: Peer, tools: GateTools) -> None:
    ids = [busy.request("tools/call", call("echo")) for _ in range(5)]
    tools.release.set()

    assert [busy.receive()["id"] for _ in range(6)] == ["held", *ids]


def test_a_queued_call_that_is_cancelled_is_never_performed(busy: Peer, tools: GateTools) -> None:
    cancelled = busy.request("tools/call", call("echo"))
    busy.notify("notifications/cancelled", {"requestId": cancelled, "reason": "changed my mind"})
    busy.ask("ping")
    tools.release.set()

    assert busy.receive()["id"] == "held"
    assert (busy.rest(), tools.performed) == ([], ["wait"])


def test_the_answer_to_a_running_call_that_is_cancelled_is_withheld(busy: Peer, tools: GateTools) -> None:
    busy.notify("notifications/cancelled", {"requestId": "held"})
    busy.ask("ping")
    tools.release.set()

    assert busy.rest() == []


def test_a_stateless_call_is_cancelled_in_the_same_way(peer: Peer, tools: GateTools) -> None:
    peer.request("tools/call", envelope(**call("wait")), id="held")
    assert tools.began.wait(PATIENCE_S)
    peer.notify("notifications/cancelled", {"requestId": "held"})
    peer.error("ping", envelope())
    tools.release.set()

    assert peer.rest() == []


def test_a_cancellation_that_comes_too_late_is_ignored(peer: Peer) -> None:
    peer.initialize()
    request_id = peer.ask("tools/call", call("echo"))["id"]
    peer.notify("notifications/cancelled", {"requestId": request_id})

    assert peer.ask("ping")["result"] == {}


def test_a_cancellation_names_the_id_in_its_own_type(busy: Peer, tools: GateTools) -> None:
    request_id = busy.request("tools/call", call("echo"))
    busy.notify("notifications/cancelled", {"requestId": str(request_id)})
    tools.release.set()

    assert [busy.receive()["id"] for _ in range(2)] == ["held", request_id]


@pytest.mark.parametrize("method", ["tools/call", "tools/list", "ping"])
def test_an_id_under_way_is_refused_without_answering_in_its_name(busy: Peer, tools: GateTools, method: str) -> None:
    busy.request(method, call("echo"), id="held")

    refused = busy.receive()
    tools.release.set()

    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    assert refused["error"]["data"] == {"code": "duplicate_id", "id": "held"}
    assert "result" in busy.receive()
    assert busy.rest() == []


def test_an_id_may_be_used_again_once_it_is_answered(peer: Peer) -> None:
    peer.initialize()
    for _ in range(200):
        peer.request("tools/call", call("echo"), id="again")
        assert "result" in peer.receive()


def test_a_number_and_its_text_are_different_ids(busy: Peer, tools: GateTools) -> None:
    busy.request("tools/call", call("echo"), id=7)
    busy.request("tools/call", call("echo"), id="7")
    tools.release.set()

    assert [busy.receive()["id"] for _ in range(3)] == ["held", 7, "7"]


def test_a_client_that_sends_far_ahead_is_served_to_the_end(busy: Peer, tools: GateTools) -> None:
    ids = [busy.request("tools/call", call("echo")) for _ in range(stdio.QUEUED_CALLS_MAX)]
    tools.release.set()
    ids += [busy.request("tools/call", call("echo")) for _ in range(200)]

    assert [answer["id"] for answer in busy.rest()] == ["held", *ids]


def test_the_reader_waits_for_the_worker_when_too_many_calls_are_queued(
    tools: GateTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "QUEUED_CALLS_MAX", 1)
    calls = [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": call("echo")} for n in range(40_000)]
    with Peer(tools) as peer:
        peer.initialize()
        peer.request("tools/call", call("wait"), id="held")
        assert tools.began.wait(PATIENCE_S)

        sent = peer.flood(b"".join(json.dumps(each).encode() + b"\n" for each in calls))
        tools.release.set()

        # What the pipe holds and what the reader took out of it in one piece; the rest stayed with the client.
        assert len(sent) <= 2 * CHUNK_BYTES
        answered = [peer.receive()["id"] for _ in range(1 + sent.count(b"\n"))]
        assert answered == ["held", *range(sent.count(b"\n"))]


def test_the_end_of_the_input_leaves_no_call_unanswered(busy: Peer, tools: GateTools) -> None:
    ids = [busy.request("tools/call", call("echo")) for _ in range(3)]
    tools.release.set()

    assert [answer["id"] for answer in busy.rest()] == ["held", *ids]
    assert busy.ended() == 0
