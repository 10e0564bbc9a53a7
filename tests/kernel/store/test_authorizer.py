"""An app connection to a SQLite file may only work with rows; the authorizer refuses everything else."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from groundplan.kernel.store.sqlite.connection import connect
from tests.engines import SqliteEngine

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)

SHAPE = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
FORBIDDEN = [
    # the schema
    "CREATE TABLE stray (id)",
    "CREATE TEMP TABLE stray (id)",
    "CREATE VIRTUAL TABLE stray USING fts5(x)",
    "CREATE TABLE stray AS SELECT * FROM events",
    "CREATE VIEW stray AS SELECT 1",
    "CREATE TEMP VIEW stray AS SELECT 1",
    "CREATE INDEX stray ON events (op)",
    "CREATE TRIGGER stray BEFORE INSERT ON events BEGIN SELECT 1; END",
    "CREATE TEMP TRIGGER stray BEFORE INSERT ON events BEGIN SELECT 1; END",
    "ALTER TABLE events RENAME TO stray",
    "ALTER TABLE events ADD COLUMN stray",
    "ALTER TABLE events DROP COLUMN decision",
    "DROP TABLE answers",
    "DROP INDEX answers_in_order",
    "DROP TRIGGER guard_events_append_only_update",
    "DROP TRIGGER project_members_last_owner_stays",
    "REINDEX",
    "ANALYZE",
    "VACUUM",
    # other files
    "VACUUM INTO 'elsewhere.db'",
    "ATTACH 'elsewhere.db' AS elsewhere",
    "DETACH main",
    "SELECT load_extension('elsewhere')",
    # settings
    "PRAGMA writable_schema = ON",
    "PRAGMA recursive_triggers = OFF",
    "PRAGMA foreign_keys = OFF",
    "PRAGMA ignore_check_constraints = ON",
    "PRAGMA defer_foreign_keys = ON",
    "PRAGMA synchronous = OFF",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA user_version = 99",
    "PRAGMA application_id = 0",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA query_only = ON",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA integrity_check",
    "PRAGMA foreign_key_check",
    "PRAGMA table_list",
    "PRAGMA database_list",
    "SELECT * FROM pragma_table_info('events')",
    # the schema as rows
    "INSERT INTO sqlite_schema (type) VALUES ('table')",
    "UPDATE sqlite_schema SET sql = ''",
    "DELETE FROM sqlite_schema",
    # the applied migrations
    "INSERT INTO schema_migrations VALUES (2, 'stray', '-', '-')",
    "UPDATE schema_migrations SET checksum = '-'",
    "DELETE FROM schema_migrations",
]
ALLOWED = [
    "SELECT * FROM projects",
    "WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < 3) SELECT n FROM up",
    "SELECT json_array(1, 2)",
    "INSERT INTO principals (tenant_id, id, name, kind, created_at) VALUES ('local', 'x', 'x', 'person', 'now')",
    "UPDATE principals SET name = 'y' WHERE id = 'x'",
    "DELETE FROM user_memberships WHERE user_id = 'x'",
    "SAVEPOINT here",
    "ROLLBACK TO here",
    "RELEASE here",
    "PRAGMA data_version",
    "PRAGMA table_xinfo(events)",
    "PRAGMA index_list(events)",
    "PRAGMA index_info(answers_in_order)",
    "PRAGMA foreign_key_list(events)",
]


@pytest.fixture
def app(engine: SqliteEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> sqlite3.Connection:
    """A connection like the product's. Files that it could write would be in a folder of the test."""
    monkeypatch.chdir(tmp_path)
    return engine.app_connection()


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_an_app_connection_cannot(app: sqlite3.Connection, engine: SqliteEngine, statement: str) -> None:
    before = engine.as_owner(SHAPE)

    with pytest.raises(sqlite3.DatabaseError, match=r"authoriz|may not be modified|prohibited"):
        app.execute(statement).fetchall()

    assert engine.as_owner(SHAPE) == before
    assert not Path("elsewhere.db").exists()


def test_an_app_connection_works_with_rows(app: sqlite3.Connection) -> None:
    app.execute("BEGIN IMMEDIATE")
    for statement in ALLOWED:
        app.execute(statement).fetchall()
    app.execute("COMMIT")


def test_every_thread_gets_a_connection_that_is_held_to_this(engine: SqliteEngine) -> None:
    def drop() -> None:
        engine.store._get_connection().require_open().execute("DROP TABLE answers")  # type: ignore[attr-defined] # the store of SQLite

    with ThreadPoolExecutor(1) as pool, pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        pool.submit(drop).result()


def test_without_the_authorizer_the_schema_is_open_to_everybody(engine: SqliteEngine) -> None:
    connection = connect(engine.path)
    connection.execute("DROP TRIGGER guard_events_append_only_update")
    connection.execute("PRAGMA user_version = 99")
    connection.execute("DROP TABLE answers")
    connection.close()

    assert engine.as_owner("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'answers%'") == [(0,)]
    assert engine.as_owner("PRAGMA user_version") == [(99,)]


def test_app_connections_have_every_safe_setting(engine: SqliteEngine) -> None:
    app = engine.app_connection()
    app.set_authorizer(None)  # otherwise the settings could not be read

    settings = {
        name: app.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "foreign_keys", "recursive_triggers")
    }

    full = 2
    assert settings == {
        "journal_mode": "wal",
        "synchronous": full,
        "foreign_keys": 1,
        "recursive_triggers": 1,
    }
