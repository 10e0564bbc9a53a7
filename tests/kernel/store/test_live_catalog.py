"""Reading the tables as they really are, with the product's own rights, on both engines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psycopg
import pytest

from groundplan.kernel.actors import local_actor
from groundplan.kernel.store.live_catalog import (
    LiveTable,
    Reference,
    check_row_security,
    list_tables_with_prefix,
    read_live_tables,
)
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.postgres.store import PostgresTransaction
from groundplan.kernel.store.schema import SCHEMA_NAME
from groundplan.kernel.store.sqlite.store import SqliteTransaction
from groundplan.kernel.store.transaction import Transaction
from tests.engines import Engine, PostgresEngine, SqliteEngine

MEMBERS = ["project_members", "projects"]


@contextlib.contextmanager
def transaction_after(engine: Engine, *statements: str) -> Iterator[Transaction]:
    """A transaction of the product's role after the owner changed the schema; rolled back."""
    ada, now = local_actor("ada"), "2026-01-01T00:00:00.000Z"
    if isinstance(engine, SqliteEngine):
        engine.as_owner(*statements)
        yield SqliteTransaction(engine.app_connection(), ada, now, {})
        return
    assert isinstance(engine, PostgresEngine)
    with psycopg.connect(engine.superuser_url, options=f"-c search_path={SCHEMA_NAME}") as connection:
        for statement in (*statements, "SET LOCAL ROLE {app}"):
            connection.execute(statement.format(app=engine.app_role))
        yield PostgresTransaction(connection, ada, now, {}, clock=None)
        connection.rollback()


def read_tables(engine: Engine, *names: str) -> dict[str, LiveTable]:
    return engine.store.read(local_actor("ada"), lambda tx: read_live_tables(tx, names))


def test_columns_keys_and_references_are_told_alike_by_both_engines(engine: Engine) -> None:
    found = read_tables(engine, "project_members", "nothing", "toc_edges")

    assert list(found) == ["project_members", "toc_edges"]
    edges = found["toc_edges"]
    assert list(edges.columns)[:5] == ["tenant_id", "project_id", "toc_version_id", "id", "source_node_id"]
    assert {kind.lower() for kind in edges.columns.values()} == {"text"}
    assert ["tenant_id", "toc_version_id", "source_node_id", "target_node_id", "edge_type"] in edges.keys
    assert Reference(["tenant_id", "toc_version_id", "source_node_id"], "toc_nodes") in edges.references


def test_an_index_of_some_rows_makes_nothing_unique(engine: Engine) -> None:
    assert ["tenant_id", "project_id"] not in read_tables(engine, "toc_versions")["toc_versions"].keys


def test_only_an_index_over_columns_of_all_rows_is_a_key(engine: Engine) -> None:
    statements = (
        'CREATE TABLE "odd, (t" (id integer PRIMARY KEY, "a (b" text UNIQUE, c text REFERENCES "odd, (t" ("a (b"))',
        'CREATE UNIQUE INDEX pair ON "odd, (t" ("a (b", c)',
        'CREATE UNIQUE INDEX lower_case ON "odd, (t" (lower(c))',
        'CREATE UNIQUE INDEX of_some ON "odd, (t" (c) WHERE id > 1',
        'CREATE INDEX plain ON "odd, (t" (c)',
    )
    with transaction_after(engine, *statements) as tx:
        found = read_live_tables(tx, ["odd, (t"])["odd, (t"]

    assert list(found.columns) == ["id", "a (b", "c"]
    assert sorted(found.keys) == [["a (b"], ["a (b", "c"], ["id"]]
    assert found.references == [Reference(["c"], "odd, (t")]


def test_a_column_and_a_key_that_were_added_by_hand_are_seen(engine: Engine) -> None:
    parent = "parent_id"
    statements = (
        f"ALTER TABLE toc_nodes ADD COLUMN {parent} text",
        f"CREATE UNIQUE INDEX stray ON toc_nodes (tenant_id, {parent})",
    )
    with transaction_after(engine, *statements) as tx:
        found = read_live_tables(tx, ["toc_nodes"])["toc_nodes"]

    assert found.columns[parent].lower() == "text"
    assert ["tenant_id", parent] in found.keys


def test_tables_are_found_by_how_their_names_begin(engine: Engine) -> None:
    with transaction_after(engine, "CREATE TABLE toc_tree (id text)") as tx:
        found = list_tables_with_prefix(tx, "toc_")

    assert {"toc_nodes", "toc_edges", "toc_tree"} <= set(found)
    assert found == sorted(found)
    assert "projects" not in found


def test_row_security_is_right_on_postgres_and_nothing_that_sqlite_has(engine: Engine) -> None:
    names = engine.store.read(local_actor("ada"), lambda tx: list_tables_with_prefix(tx, "toc_"))
    findings = engine.store.read(local_actor("ada"), lambda tx: check_row_security(tx, names))

    assert findings == (None if engine.dialect is Dialect.SQLITE else [])
    guards = {table.row_security is None for table in read_tables(engine, *names).values()}
    assert guards == {engine.dialect is Dialect.SQLITE}


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        ("ALTER TABLE projects DISABLE ROW LEVEL SECURITY", "enabled on projects"),
        ("ALTER TABLE projects NO FORCE ROW LEVEL SECURITY", "forced on projects"),
        ("DROP POLICY projects_insert ON projects", "projects has no policy for INSERT"),
        ("ALTER POLICY projects_update ON projects TO pg_monitor", "projects has no policy for UPDATE"),
        ("CREATE POLICY stray ON projects FOR SELECT TO PUBLIC USING (true)", "stray on projects"),
        ("ALTER TABLE projects OWNER TO {app}", "owns projects"),
        ("CREATE ROLE bypassing BYPASSRLS; GRANT bypassing TO {app}", "bypasses"),
        ("ALTER ROLE {app} BYPASSRLS", "bypasses"),
        ("ALTER ROLE {app} SUPERUSER", "superuser"),
        ("ALTER TABLE projects RENAME TO hidden", "enabled on projects"),
    ],
)
def test_what_opens_a_table_is_found(team: PostgresEngine, spoil: str, word: str) -> None:
    with transaction_after(team, spoil) as tx:
        findings = check_row_security(tx, MEMBERS)

    assert findings
    assert any(word in finding for finding in findings), findings


def test_a_policy_that_only_takes_away_opens_nothing(team: PostgresEngine) -> None:
    stray = "CREATE POLICY stray ON projects AS RESTRICTIVE FOR SELECT TO PUBLIC USING (true)"
    with transaction_after(team, stray) as tx:
        assert check_row_security(tx, MEMBERS) == []
