"""Stored rows of knowledge, read directly on a connection that stays open."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import psycopg

from groundplan.kernel.store.schema import SCHEMA_NAME
from tests.engines import Engine, PostgresEngine, SqliteEngine
from tests.machines.work_rows import IN_ORGANIZATION, EventRow

COMMON = (
    "id, project_id, name, knowledge, created_by_task_id, last_task_id, version, created_at, created_by, updated_at, "
    "updated_by, words"
)


class EntityRow(NamedTuple):
    """One row of graph_atoms or graph_molecules with decoded JSON; a molecule has no paths."""

    id: str
    project_id: str
    name: str
    knowledge: str
    created_by_task_id: str
    last_task_id: str
    version: int
    created_at: str
    created_by: str
    updated_at: str
    updated_by: str
    words: str
    related: list[dict[str, str]]
    molecule_id: str | None = None
    paths: list[str] | None = None
    confirmed_commit: str | None = None
    confirmed_at: str | None = None


class Stored(NamedTuple):
    """All stored rows of some projects' knowledge."""

    revs: dict[str, int]  # of the projects
    knowledge_revs: dict[str, int]
    entities: dict[str, EntityRow]
    entries: list[tuple[str, str, str, str, str]]  # parent, task, summary, moment, author, in the order of writing
    deleted: set[tuple[str, str]]  # kind and id
    freshness: set[tuple[str, str, str | None, str, str]]
    events: dict[str, list[EventRow]]


class KnowledgeRows:
    """A reader of the rows of one database."""

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

    def of(self, project_ids: Sequence[str]) -> Stored:
        """Return the rows of some projects, which nobody else changes."""
        these = ", ".join(f"'{one}'" for one in project_ids)
        where = f"WHERE {IN_ORGANIZATION} AND project_id IN ({these})"
        events: dict[str, list[EventRow]] = {one: [] for one in project_ids}
        for project_id, *row in self._all(
            "SELECT project_id, rev, n, at, actor_id, op, subject, changes, decision "
            f"FROM events {where} ORDER BY project_id, rev, n"
        ):
            events[project_id].append(EventRow(*row)._replace(changes=json.loads(row[6])))
        molecules = self._all(f"SELECT {COMMON}, related_molecules FROM graph_molecules {where}")
        atoms = self._all(
            f"SELECT {COMMON}, related_atoms, molecule_id, paths, confirmed_commit, confirmed_at "
            f"FROM graph_atoms {where}"
        )
        return Stored(
            revs=dict(self._all(f"SELECT id, rev FROM projects WHERE {IN_ORGANIZATION} AND id IN ({these})")),
            knowledge_revs=dict(self._all(f"SELECT project_id, rev FROM graph_projects {where}")),
            entities={row[0]: _entity(row) for row in (*molecules, *atoms)},
            entries=self._all(
                "SELECT parent_id, task_id, summary, created_at, created_by "
                f"FROM graph_changelog {where} ORDER BY project_id, rev"
            ),
            deleted=set(self._all(f"SELECT entity_type, id FROM graph_deleted {where}")),
            freshness=set(
                self._all(f"SELECT atom_id, state, commit_id, checked_at, files FROM graph_freshness {where}")
            ),
            events=events,
        )

    def _all(self, statement: str) -> list[Any]:
        return self._connection.execute(statement).fetchall()


def _entity(row: tuple[Any, ...]) -> EntityRow:
    entity = EntityRow(*row)
    return entity._replace(
        related=json.loads(row[12]),
        paths=None if len(row) == 13 else json.loads(row[14]),
    )
