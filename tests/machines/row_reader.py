"""A reader of stored rows, past the product, on a connection that stays open."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Self

import psycopg

from groundplan.kernel.store.schema import SCHEMA_NAME
from tests.engines import Engine, PostgresEngine, SqliteEngine
from tests.machines.work_rows import IN_ORGANIZATION, EventRow


class RowReader:
    """A reader of one whole database."""

    def __init__(self, engine: Engine) -> None:
        self._connection: sqlite3.Connection | psycopg.Connection
        if isinstance(engine, SqliteEngine):
            self._connection = sqlite3.connect(engine.path, isolation_level=None)
        else:
            assert isinstance(engine, PostgresEngine)
            options = f"-c search_path={SCHEMA_NAME}"
            self._connection = psycopg.connect(engine.superuser_url, autocommit=True, options=options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def all(self, statement: str) -> list[Any]:
        return self._connection.execute(statement).fetchall()

    def revs(self, project_ids: Sequence[str]) -> dict[str, int]:
        """Return the revisions of some projects."""
        where = f"WHERE {IN_ORGANIZATION} AND id IN ({quote_ids(project_ids)})"
        return dict(self.all(f"SELECT id, rev FROM projects {where}"))

    def events(self, project_ids: Sequence[str]) -> dict[str, list[EventRow]]:
        """Return the events of some projects in order."""
        found: dict[str, list[EventRow]] = {one: [] for one in project_ids}
        for project_id, *row in self.all(
            "SELECT project_id, rev, n, at, actor_id, op, subject, changes, decision "
            f"FROM events WHERE {IN_ORGANIZATION} AND project_id IN ({quote_ids(project_ids)}) "
            "ORDER BY project_id, rev, n"
        ):
            found[project_id].append(EventRow(*row)._replace(changes=json.loads(row[6])))
        return found


def quote_ids(ids: Sequence[str]) -> str:
    """Return ids as a list for a statement."""
    return ", ".join(f"'{one}'" for one in ids)
