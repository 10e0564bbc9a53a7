"""New SQLite files that get their schema from the first one: to take every step takes ten times as long as to copy it.

That the steps are taken, and what they lead to, the tests of the store and of `init` try.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache

import pytest

from groundplan.catalog import build_schema as ours
from groundplan.kernel.store.migrations import Migration
from groundplan.kernel.store.sqlite import file
from groundplan.kernel.store.tables import Schema

_take_every_step = file.migrate


def migrate_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each new file get what the steps made of the first one."""
    monkeypatch.setattr(file, "migrate", _migrate)


def _migrate(connection: sqlite3.Connection, schema: Schema, steps: Sequence[Migration] | None = None) -> None:
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    if version or steps is not None or schema != ours():  # somebody has used it already, or wants something else
        _take_every_step(connection, schema, steps)
        return
    connection.execute("PRAGMA journal_mode = WAL")
    _migrated().backup(connection)


@cache
def _migrated() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _take_every_step(made, ours())
    return made
