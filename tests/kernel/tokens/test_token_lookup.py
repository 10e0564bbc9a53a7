"""The look-up of a token: one statement, no identity, no error when a connection is lost."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.sqlite.store import SqliteStore
from tests.engines import PostgresEngine, SqliteEngine
from tests.kernel.tokens.holders import authenticate_token


@pytest.fixture
def secret(team: PostgresEngine) -> str:
    return str(team.session("ada").call("token.create", kind="agent", name="bot").secret)


def test_a_token_is_looked_up_by_one_statement_on_sqlite(tmp_path: Path) -> None:
    with closing(SqliteEngine(tmp_path / "plan.db")) as engine:
        made = engine.session("ada").call("token.create", kind="agent", name="bot").secret
        store = engine.store
        assert isinstance(store, SqliteStore)
        sent: list[str] = []
        store._get_connection().require_open().set_trace_callback(sent.append)

        assert authenticate_token(store, made).id == "bot"
        assert len(sent) == 1, sent


def test_a_token_is_looked_up_by_one_statement(
    team: PostgresEngine, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    execute = psycopg.Connection.execute

    def count(connection: Any, statement: Any, *given: Any, **named: Any) -> Any:
        sent.append(str(statement))
        return execute(connection, statement, *given, **named)

    monkeypatch.setattr(psycopg.Connection, "execute", count)

    assert authenticate_token(team.store, secret).id == "bot"
    assert len(sent) == 1, sent


def test_a_caller_without_identity_sees_no_row_on_a_connection_that_others_used(
    team: PostgresEngine, secret: str
) -> None:
    team.session("ada").call("project.create", name="atlas")
    everything = Query("everything", "SELECT id FROM projects UNION ALL SELECT id FROM access_tokens")

    assert team.store.read_as_nobody(lambda tx: tx.all(everything)) == []


def test_a_look_up_takes_a_new_connection_where_the_server_closed_the_one_in_the_pool(
    team: PostgresEngine, secret: str
) -> None:
    authenticate_token(team.store, secret)
    team.as_owner(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{team.app_role}'")

    assert authenticate_token(team.store, secret).id == "bot"
