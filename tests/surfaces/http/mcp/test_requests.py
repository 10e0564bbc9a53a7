"""Requests to `/mcp`: who may send them, what is refused before the protocol, and how a call is cancelled."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.mcp.protocol import HANDSHAKE_REVISIONS, HEADER_MISMATCH, STATELESS_REVISIONS
from tests.engines import Engine
from tests.surfaces.http.client import Reply, make_scope, name_headers
from tests.surfaces.http.mcp.client import STATELESS, McpClient, build, build_handshake, create_token
from tests.surfaces.mcp.connection import envelope

METADATA = "/.well-known/oauth-protected-resource"
LIST = build("tools/list", envelope())
OF_LIST = {"mcp_protocol_version": STATELESS, "mcp_method": "tools/list"}


def read_error(reply: Reply) -> str:
    """Return the code of the error in the answer of a tool."""
    result = reply.json["result"]
    assert result["isError"] is True
    return str(json.loads(result["content"][0]["text"])["error"]["code"])


# --- Who may send them --------------------------------------------------------------------------------------------


def test_without_a_token_the_answer_names_where_to_learn_about_them(mcp: McpClient) -> None:
    refused = mcp.exchange(LIST, **OF_LIST, authorization=None)

    assert (refused.status, refused.code, refused.json["name"]) == (401, "unauthenticated", "PcivAuthRequiredError")
    described = f"http://localhost:8321{METADATA}/mcp"
    assert refused.headers["www-authenticate"] == f'Bearer resource_metadata="{described}"'


@pytest.mark.parametrize("given", ["Bearer gpt_wrong", "Bearer ", "Basic YWRhOmFkYQ=="])
def test_a_token_that_proves_nothing_is_an_invalid_one(mcp: McpClient, given: str) -> None:
    refused = mcp.exchange(LIST, **OF_LIST, authorization=given)

    assert refused.status == 401
    assert refused.headers["www-authenticate"].endswith('error="invalid_token"')


@pytest.mark.parametrize(("path", "resource"), [("", "http://localhost:8321"), ("/mcp", "http://localhost:8321/mcp")])
def test_the_metadata_names_the_resource(mcp: McpClient, path: str, resource: str) -> None:
    described = mcp.get(METADATA + path)

    assert (described.status, described.json["resource"]) == (200, resource)
    assert described.json["bearer_methods_supported"] == ["header"]


def test_behind_a_proxy_the_metadata_has_the_name_and_the_scheme_that_clients_use(engine: Engine) -> None:
    exposure = Exposure(port=8321, allowed_hosts=("plan.example.org",), proxies=("127.0.0.1",))
    with McpClient(engine.store, create_token(engine.store), exposure) as client:
        described = client.get(f"{METADATA}/mcp", host="plan.example.org", x_forwarded_proto="https")

    assert described.json["resource"] == "https://plan.example.org/mcp"


def test_a_login_of_a_browser_is_no_token(mcp: McpClient) -> None:
    cookie = f"groundplan_session_8321={mcp.token}"

    assert mcp.exchange(LIST, **OF_LIST, authorization=None, cookie=cookie).status == 401


def test_the_token_decides_who_acts_whatever_the_client_says(mcp: McpClient, engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    mcp.token = create_token(engine.store, "scout", kind="agent", role="editor")
    named = {"name": "graph_plan", "arguments": {"project": "atlas", "nodes": [{"ref": "a", "summary": "Walk"}]}}
    params = envelope(**named)
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = {"name": "ada", "version": "1"}
    headers = {"mcp_protocol_version": STATELESS, "mcp_method": "tools/call", "mcp_name": "graph_plan"}

    assert mcp.exchange(build("tools/call", params), **headers).json["result"]["isError"] is False

    (planned,) = engine.as_owner("SELECT created_by FROM work_nodes WHERE summary = 'Walk'")
    assert planned == ("scout",)


def test_a_principal_that_sends_too_much_is_slowed_down(engine: Engine) -> None:
    with McpClient(engine.store, create_token(engine.store), requests_per_s=1) as client:
        replies = [client.ask("tools/list") for _ in range(5)]

    assert [reply.status for reply in replies] == [200] * 4 + [429]
    assert "retry-after" in replies[-1].headers


# --- What is refused before the protocol --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"origin": "http://localhost:8321"}, 200),
    ],
)
def test_pages_of_other_origins_get_nothing(mcp: McpClient, headers: dict[str, str], status: int) -> None:
    assert mcp.exchange(LIST, **{**OF_LIST, **headers}).status == status


@pytest.mark.parametrize("verb", ["GET", "PUT", "OPTIONS", "HEAD"])
def test_only_post_and_delete_are_methods(mcp: McpClient, verb: str) -> None:
    refused = mcp.exchange(b"", verb=verb)

    assert (refused.status, refused.headers["allow"]) == (405, "POST, DELETE")


CALL = build("tools/call", envelope(name="graph_open", arguments={"project": "größe"}))
OF_CALL = {"mcp_protocol_version": STATELESS, "mcp_method": "tools/call", "mcp_name": "graph_open"}


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"accept": None}, 406, "not_acceptable"),
        ({"accept": "text/html"}, 406, "not_acceptable"),
        ({"accept": "application/json;q=0"}, 406, "not_acceptable"),
        ({"content_type": None}, 415, "unsupported_media_type"),
        ({"content_type": "text/plain"}, 415, "unsupported_media_type"),
        ({"content_type": "application/json; charset=latin1"}, 415, "unsupported_media_type"),
        ({"content_encoding": "gzip"}, 415, "unsupported_media_type"),
        ({"mcp_method": None}, 400, HEADER_MISMATCH),
        ({"mcp_method": "tools/list"}, 400, HEADER_MISMATCH),
        ({"mcp_method": "TOOLS/CALL"}, 400, HEADER_MISMATCH),
        ({"mcp_name": None}, 400, HEADER_MISMATCH),
        ({"mcp_name": "graph_next"}, 400, HEADER_MISMATCH),
        ({"mcp_name": "=?base64?Z3JhcGhfbmV4dA==?="}, 400, HEADER_MISMATCH),
        ({"mcp_name": "=?base64?!?="}, 400, HEADER_MISMATCH),
        ({"mcp_protocol_version": None}, 400, HEADER_MISMATCH),
        ({"mcp_protocol_version": "2025-11-25"}, 400, HEADER_MISMATCH),
        ({"mcp_protocol_version": "1999-01-01"}, 400, HEADER_MISMATCH),
        ({"mcp_session_id": "unknown", "mcp_protocol_version": None}, 404, -32600),
    ],
)
def test_a_request_whose_headers_break_a_rule_is_refused(
    mcp: McpClient, engine: Engine, changed: dict[str, Any], status: int, code: str | int
) -> None:
    refused = mcp.exchange(CALL, **{**OF_CALL, **changed})

    found = refused.json["error"]["code"] if "error" in refused.json else refused.code
    assert (refused.status, found) == (status, code)
    assert engine.as_owner("SELECT count(*) FROM projects") == [(0,)]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"accept": "*/*"},
        {"accept": "text/html, application/json;q=0.1"},
        {"content_type": "APPLICATION/JSON; charset=UTF-8"},
        {"mcp_name": "=?base64?Z3JhcGhfb3Blbg==?="},
        {"mcp_session_id": "of no meaning here"},
    ],
)
def test_a_request_whose_headers_keep_the_rules_is_answered(mcp: McpClient, changed: dict[str, str]) -> None:
    answered = mcp.exchange(CALL, **{**OF_CALL, **changed})

    assert (answered.status, answered.json["result"]["isError"]) == (200, False)


def test_a_notification_of_an_unknown_revision_is_refused(mcp: McpClient) -> None:
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}

    assert mcp.exchange(cancelled, mcp_protocol_version="1999-01-01").status == 400
    assert mcp.exchange(cancelled, mcp_protocol_version=STATELESS).status == 202


def test_no_answer_may_be_kept_by_a_cache(mcp: McpClient) -> None:
    answered = mcp.ask("tools/list")

    assert answered.headers["cache-control"] == "private, no-store"
    assert answered.headers["x-content-type-options"] == "nosniff"


def test_a_body_above_the_limit_is_not_read(mcp: McpClient) -> None:
    assert mcp.exchange(b" " * (BODY_BYTES_MAX + 1), **OF_LIST).status == 413


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b'"text"', -32600),
        (b"[]", -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1e999}}', -32600),
    ],
)
def test_what_is_no_message_is_refused_with_the_codes_of_stdio(mcp: McpClient, body: bytes, code: int) -> None:
    refused = mcp.exchange(body, **OF_LIST)

    assert (refused.status, refused.json["error"]["code"]) == (400, code)


@pytest.mark.parametrize("in_session", [False, True])
def test_a_tool_tells_why_its_arguments_passed_no_gate(mcp: McpClient, in_session: bool) -> None:
    params = {"name": "graph_open", "arguments": {"project": "a\0b"}}
    session = mcp.open_session() if in_session else None

    assert read_error(mcp.ask("tools/call", params, session=session)) == "control_character"


def test_an_unknown_argument_is_refused_and_not_dropped(mcp: McpClient) -> None:
    reply = mcp.ask("tools/call", {"name": "graph_open", "arguments": {"projet": "atlas"}})

    assert read_error(reply) == "unknown_argument"


@pytest.mark.parametrize(
    ("method", "params", "status", "code"),
    [
        ("tools/call", {"name": "graph_opne"}, 400, -32602),
        ("tools/call", {"name": "graph_open", "arguments": []}, 400, -32602),
        ("prompts/get", {"name": "groundplan"}, 400, -32602),
        ("tools/list", {"cursor": "2"}, 400, -32602),
        ("resources/list", {}, 404, -32601),
    ],
)
def test_the_protocol_refuses_with_the_codes_of_stdio(
    mcp: McpClient, method: str, params: dict[str, Any], status: int, code: int
) -> None:
    refused = mcp.ask(method, params)

    assert (refused.status, refused.json["error"]["code"]) == (status, code)


@pytest.mark.parametrize(
    ("query", "names"),
    [("?tools=briefing", {"throughline"}), ("?tools=briefing&tools=knowledge", {"throughline", "query_graph"})],
)
def test_a_client_chooses_its_tools_by_the_address(mcp: McpClient, query: str, names: set[str]) -> None:
    listed = mcp.exchange(LIST, target=f"/mcp{query}", **OF_LIST).json["result"]["tools"]

    assert names <= {tool["name"] for tool in listed}
    assert "graph_open" not in {tool["name"] for tool in listed}


def test_a_tool_of_a_group_that_is_off_names_the_address_that_has_it(mcp: McpClient) -> None:
    called = build("tools/call", envelope(name="toc_open", arguments={"project": "atlas"}))
    headers = {**OF_CALL, "mcp_name": "toc_open"}

    refused = mcp.exchange(called, target="/mcp?tools=work", **headers)

    assert read_error(refused) == "tool_off"
    details = json.loads(refused.json["result"]["content"][0]["text"])["error"]["details"]
    assert (details["group"], details["how"]) == ("purpose", "connect to /mcp?tools=work,purpose")
    _, _, target = details["how"].rpartition(" ")
    assert read_error(mcp.exchange(called, target=target, **headers)) == "not_found"


def test_the_instructions_are_about_the_tools_of_the_address(mcp: McpClient) -> None:
    def ask(target: str) -> list[str]:
        opened = mcp.exchange(build_handshake(), target=target).json["result"]["instructions"]
        headers = {"mcp_protocol_version": STATELESS, "mcp_method": "server/discover"}
        found = mcp.exchange(build("server/discover", envelope()), target=target, **headers).json["result"]
        return [opened, found["instructions"]]

    assert ["toc_edit" in text for text in ask("/mcp?tools=work")] == [False, False]
    assert ["toc_edit" in text for text in ask("/mcp")] == [True, True]


def test_an_unknown_group_of_tools_is_refused(mcp: McpClient) -> None:
    assert mcp.exchange(LIST, target="/mcp?tools=works", **OF_LIST).status == 400


def test_the_official_sdk_knows_the_same_revisions() -> None:
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

    assert tuple(HANDSHAKE_PROTOCOL_VERSIONS) == HANDSHAKE_REVISIONS
    assert tuple(MODERN_PROTOCOL_VERSIONS) == STATELESS_REVISIONS


# --- How a call is cancelled --------------------------------------------------------------------------------------

PLAN = {"name": "graph_plan", "arguments": {"project": "atlas", "nodes": [{"ref": "a", "summary": "Walk"}]}}


class OpenCall:
    """A call that waits for the lock of its project, which somebody else holds."""

    def __init__(self, client: McpClient, message: dict[str, Any], headers: dict[str, str]) -> None:
        self._client = client
        self._body = json.dumps(message).encode()
        given = {
            "authorization": f"Bearer {client.token}",
            "accept": "application/json, text/event-stream",
            "content_type": "application/json",
            "content_length": str(len(self._body)),
            **headers,
        }
        self._scope = make_scope("POST", "/mcp", name_headers(given))
        self._gone = asyncio.Event()
        self.answers: list[Any] = []

    async def run(self) -> None:
        waiting = [{"type": "http.request", "body": self._body, "more_body": False}]

        async def receive() -> Any:
            if waiting:
                return waiting.pop()
            await self._gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            self.answers.append(message)

        await self._client.app(self._scope, receive, send)

    def disconnect(self) -> None:
        self._gone.set()


@pytest.fixture
def locked(mcp: McpClient, engine: Engine) -> Any:
    """The lock of a project, which others wait for."""
    engine.session("ada").call("project.create", name="atlas")
    return engine.owner_transaction()


def count_nodes(engine: Engine) -> int:
    return int(engine.as_owner("SELECT count(*) FROM work_nodes")[0][0])


def test_a_client_that_disconnects_cancels_its_call(mcp: McpClient, engine: Engine, locked: Any) -> None:
    headers = {"mcp_protocol_version": STATELESS, "mcp_method": "tools/call", "mcp_name": "graph_plan"}
    call = OpenCall(mcp, build("tools/call", envelope(**PLAN)), headers)
    before = count_nodes(engine)

    async def disconnect_soon() -> None:
        running = asyncio.ensure_future(call.run())
        await asyncio.sleep(0.2)
        call.disconnect()
        await asyncio.wait_for(running, 5)  # the lock is still held

    with locked as run:
        run("UPDATE projects SET rev = rev + 1")
        mcp.run(disconnect_soon())
    mcp.ask("tools/call", {"name": "graph_open", "arguments": {"project": "atlas"}})

    assert count_nodes(engine) == before


def test_a_client_cancels_its_call_in_a_session(mcp: McpClient, engine: Engine, locked: Any) -> None:
    session = mcp.open_session()
    call = OpenCall(mcp, build("tools/call", PLAN, "slow"), {"mcp_session_id": session})
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}
    cancel = OpenCall(mcp, cancelled, {"mcp_session_id": session})
    again = OpenCall(mcp, build("tools/call", PLAN, "slow"), {"mcp_session_id": session})
    before = count_nodes(engine)

    async def cancel_soon() -> None:
        running = asyncio.ensure_future(call.run())
        await asyncio.sleep(0.2)
        await again.run()
        await cancel.run()
        await asyncio.wait_for(running, 5)

    with locked as run:
        run("UPDATE projects SET rev = rev + 1")
        mcp.run(cancel_soon())

    assert [one.answers[0]["status"] for one in (again, cancel)] == [400, 202]  # the id was still in use
    assert json.loads(call.answers[1]["body"])["error"]["code"] == -32800
    mcp.ask("tools/call", {"name": "graph_open", "arguments": {"project": "atlas"}})
    assert count_nodes(engine) == before
