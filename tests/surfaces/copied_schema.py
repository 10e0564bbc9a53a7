"""New SQLite files that copy the schema of the first one, because migrating takes ten times as long.

The tests of the store and of `init` run the migrations themselves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache

import pytest

from groundplan.catalog import build_schema as ours
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.store.migrations import Migration
from groundplan.kernel.store.schema import Schema
from groundplan.kernel.store.sqlite import file

_take_every_step = file.migrate


def migrate_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each new file a copy of the first migrated one."""
    monkeypatch.setattr(file, "migrate", _migrate)


def _migrate(
    connection: sqlite3.Connection,
    schema: Schema,
    steps: Sequence[Migration] | None = None,
    *,
    cancellation: Cancellation | None = None,
) -> None:
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    if version or steps is not None or schema != ours():  # the file is in use already, or other migrations are wanted
        _take_every_step(connection, schema, steps, cancellation=cancellation)
        return
    connection.execute("PRAGMA journal_mode = WAL")
    _migrated().backup(connection)


@cache
def _migrated() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _take_every_step(made, ours())
    return made
