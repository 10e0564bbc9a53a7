"""Sessions of MCP: bounded, of one principal, and no right by themselves."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from groundplan.surfaces.http.mcp import SessionLimits
from tests.engines import Engine
from tests.surfaces.http.mcp.client import McpClient, build, build_handshake, create_token

PING = build("ping", {})


def count_sessions(client: McpClient) -> int:
    """Return the number of open sessions, as operators see it."""
    lines = client.server.metrics.render().decode().splitlines()
    return int(next(line for line in lines if line.startswith("groundplan_mcp_sessions ")).split()[1])


def is_open(client: McpClient, session: str, **headers: str) -> bool:
    reply = client.exchange(PING, mcp_session_id=session, **headers)
    assert reply.status in (200, 404)
    return reply.status == 200


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_session_goes_from_its_handshake_to_its_end(mcp: McpClient, revision: str) -> None:
    session = mcp.open_session(revision)
    listed = mcp.ask("tools/list", session=session, mcp_protocol_version=revision)
    assert (listed.status, count_sessions(mcp)) == (200, 1)

    ended = mcp.exchange(b"", verb="DELETE", mcp_session_id=session)

    assert (ended.status, is_open(mcp, session), count_sessions(mcp)) == (200, False, 0)


def test_the_stateless_revision_opens_no_session(mcp: McpClient) -> None:
    assert "mcp-session-id" not in mcp.ask("tools/list").headers
    assert count_sessions(mcp) == 0


def test_a_request_before_the_handshake_says_what_to_send(mcp: McpClient) -> None:
    refused = mcp.exchange(build("tools/list", {}))

    assert (refused.status, refused.json["error"]["data"]["code"]) == (400, "not_initialized")


def test_a_session_is_of_its_principal_and_for_others_it_does_not_exist(mcp: McpClient, engine: Engine) -> None:
    session = mcp.open_session()
    ben = f"Bearer {create_token(engine.store, 'ben')}"

    def ask(name: str) -> tuple[Any, ...]:
        reply = mcp.exchange(PING, mcp_session_id=name, authorization=ben)
        return reply.status, reply.body

    assert ask(session) == ask("0" * 32)
    assert is_open(mcp, session)


def test_another_token_of_the_same_principal_may_go_on_with_a_session(mcp: McpClient, engine: Engine) -> None:
    session = mcp.open_session()

    assert is_open(mcp, session, authorization=f"Bearer {create_token(engine.store)}")


def test_a_principal_at_its_limit_loses_the_session_that_was_idle_for_the_longest_time(engine: Engine) -> None:
    with McpClient(engine.store, create_token(engine.store), session_limits=SessionLimits(per_principal=2)) as mcp:
        first, second = mcp.open_session(), mcp.open_session()
        assert is_open(mcp, first)
        third = mcp.open_session()

        assert [is_open(mcp, one) for one in (first, second, third)] == [True, False, True]
        assert count_sessions(mcp) == 2


def test_a_server_at_its_limit_opens_no_more_sessions(engine: Engine) -> None:
    limits = SessionLimits(per_principal=5, per_server=1)
    with McpClient(engine.store, create_token(engine.store), session_limits=limits) as mcp:
        mcp.open_session()
        ben = f"Bearer {create_token(engine.store, 'ben')}"

        refused = mcp.exchange(build_handshake(), authorization=ben)
        assert (refused.status, refused.code) == (503, "too_many_sessions")


def test_an_idle_session_ends(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()
    monkeypatch.setattr("groundplan.surfaces.http.mcp.time", SimpleNamespace(monotonic=lambda: now))
    with McpClient(engine.store, create_token(engine.store), session_limits=SessionLimits(idle_s=60)) as mcp:
        first, second = mcp.open_session(), mcp.open_session()
        now += 59
        assert is_open(mcp, first)
        now += 59

        assert count_sessions(mcp) == 1
        assert [is_open(mcp, one) for one in (first, second)] == [True, False]


def test_the_session_of_a_revoked_token_is_of_no_use(mcp: McpClient, engine: Engine) -> None:
    ada = engine.session("ada")
    revoked = ada.call("token.create", kind="agent", name="scout")
    session = mcp.open_session(authorization=f"Bearer {revoked.secret}")

    ada.call("token.revoke", id=revoked.token.id)

    assert mcp.exchange(PING, mcp_session_id=session, authorization=f"Bearer {revoked.secret}").status == 401
