"""Facts as they are stored: the rows themselves, read past the product on a connection that is kept open."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import psycopg

from groundplan.kernel.store.tables import SCHEMA
from tests.engines import Engine, PostgresEngine, SqliteEngine
from tests.machines.work_rows import EventRow

_VALUE = ("value_kind", "value_string", "value_number", "value_boolean", "value_enum", "value_json", "provenance")
COLUMNS = {
    "pciv_runs": (
        *("id", "project_id", "user_id", "status", "allow_partial", "committed_at", "created_at", "created_by"),
        *("updated_at", "rev"),
    ),
    "pciv_sources": (
        *("id", "run_id", "kind", "title", "uri", "file_id", "mime_type", "size_bytes", "parse_status", "excerpt"),
        *("raw_meta", "created_at"),
    ),
    "pciv_inputs": (
        *("id", "run_id", "pointer", "label", "domain", "required", "field_type", "options", *_VALUE),
        *("updated_by", "updated_at", "evidence_snippet"),
    ),
    "pciv_input_sources": ("input_id", "run_id", "source_id"),
    "pciv_constraints": ("id", "run_id", "key", "domain", "label", *_VALUE, "source_id", "snippet", "created_at"),
    "pciv_artifacts": ("id", "run_id", "type", "title", "payload", "created_at"),
    "pciv_suggestions": (
        *("id", "run_id", "input_id", "constraint_id", *_VALUE, "source_ids", "snippet", "rationale", "created_at"),
        *("created_by", "author_kind", "status", "decided_at", "decided_by"),
    ),
    "pciv_deleted_runs": ("run_id", "project_id", "deleted_at", "deleted_by"),
}
VALUE_COLUMNS = _VALUE[1:6]

Row = dict[str, Any]


class Stored(NamedTuple):
    """Everything that is kept about the facts of some projects."""

    revs: dict[str, int]  # of the projects
    tables: dict[str, list[Row]]  # each in the order of its columns
    events: dict[str, list[EventRow]]

    def below(self, run_id: str) -> dict[str, list[Row]]:
        """A run and all that lies below it."""
        return {
            name: [row for row in rows if run_id == row["id" if name == "pciv_runs" else "run_id"]]
            for name, rows in self.tables.items()
            if name != "pciv_deleted_runs"
        }


class ContextRows:
    """A reader of the rows of one database, whoever it belongs to."""

    def __init__(self, engine: Engine) -> None:
        self._connection: sqlite3.Connection | psycopg.Connection
        if isinstance(engine, SqliteEngine):
            self._connection = sqlite3.connect(engine.path, isolation_level=None)
        else:
            assert isinstance(engine, PostgresEngine)
            options = f"-c search_path={SCHEMA}"
            self._connection = psycopg.connect(engine.superuser_url, autocommit=True, options=options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def of(self, project_ids: Sequence[str]) -> Stored:
        """The rows of some projects, which nobody else is writing."""
        these = ", ".join(f"'{one}'" for one in project_ids)
        where = f"WHERE project_id IN ({these})"
        events: dict[str, list[EventRow]] = {one: [] for one in project_ids}
        for project_id, *row in self._all(
            "SELECT project_id, rev, n, at, actor_id, op, subject, changes, decision "
            f"FROM events {where} ORDER BY project_id, rev, n"
        ):
            events[project_id].append(EventRow(*row)._replace(changes=json.loads(row[6])))
        tables = {}
        for name, columns in COLUMNS.items():
            found = self._all(f"SELECT {', '.join(columns)} FROM {name} {where} ORDER BY {columns[0]}, {columns[-1]}")
            tables[name] = [dict(zip(columns, row, strict=True)) for row in found]
        return Stored(dict(self._all(f"SELECT id, rev FROM projects WHERE id IN ({these})")), tables, events)

    def _all(self, statement: str) -> list[Any]:
        return self._connection.execute(statement).fetchall()
