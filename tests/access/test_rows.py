"""On PostgreSQL everybody reads and changes only their own rows, also by a statement without any condition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

import pytest

from groundplan.catalog import build_schema
from tests.access.test_hidden_things import populate_with_words
from tests.access.test_matrix import PEOPLE
from tests.engines import PostgresEngine, Run, fill_once, run_and_undo

TABLES = [table.name for table in build_schema().tables if table.name != "schema_migrations"]

# Where everybody may read, and where they may change something: in an organization, and in projects.
OF_ATLAS = {"atlas", "south of atlas"}
READS_IN = {
    "ada": {"local", *OF_ATLAS, "heron fields", "heron marsh"},
    **dict.fromkeys(("ben", "cleo", "bot"), {"local", *OF_ATLAS}),
    "finn": {"local", "finn's own", "plover fields", "plover marsh"},
    "mallory": {"rival", "mallory's own", "dunlin fields", "dunlin marsh"},
    "nobody of this name": set(),
    "anonymous": set(),
}
CHANGES_IN = {**READS_IN, "cleo": {"local"}}
READ, CHANGE = "read", "change"


class Reach(NamedTuple):
    """Rows of one place that somebody reads, updates or deletes."""

    who: str
    verb: str
    table: str
    place: str  # the name of a project, or the id of an organization

    @property
    def is_allowed(self) -> bool:
        """Whether the rows are theirs."""
        return self.place in (READS_IN if self.verb == READ else CHANGES_IN)[self.who]


def find_reach(engine: PostgresEngine, run: Run, tables: Iterable[str] = TABLES) -> set[Reach]:
    """Return what everybody reads and changes in these tables, in a transaction of the owner.

    The triggers are tested elsewhere; here only policies and grants count.
    """
    names = dict(run("SELECT id, name FROM projects"))
    for table in tables:
        run(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
    reach = set()
    for who, actor in PEOPLE.items():
        settings = {"tenant": "", "actor": "", "access": "members", "kind": "person"}
        if actor is not None:
            settings = {"tenant": actor.organization, "actor": actor.id, "access": actor.access, "kind": actor.kind}
        for setting, value in settings.items():
            run(f"SELECT set_config('groundplan.{setting}', '{value}', true)")
        for table in tables:
            for verb, statement in list_statements(engine, run, table):
                with suppress(*engine.refusals):
                    rows = run_and_undo(run, f"SET LOCAL ROLE {engine.app_role}", statement)
                    reach |= {Reach(who, verb, table, names.get(id_, organization)) for organization, id_ in rows}
    return reach


def list_statements(engine: PostgresEngine, run: Run, table: str) -> Iterator[tuple[str, str]]:
    """Yield statements on every row of a table that return the organization and the project of each row."""
    columns = [name for (name,) in run(_COLUMNS.format(table=table))]
    project = "project_id" if "project_id" in columns else {"projects": "id"}.get(table, "NULL")
    if table == "organization_events":
        project = "CASE WHEN starts_with(op, 'project.') THEN subject END"
    place = f"{'id' if table == 'organizations' else 'tenant_id'}, {project}"
    yield READ, f"SELECT DISTINCT {place} FROM {table}"
    yield CHANGE, f"DELETE FROM {table} RETURNING {place}"
    for (column,) in run(_UPDATED.format(role=engine.app_role, table=table)):
        yield CHANGE, f"UPDATE {table} SET {column} = {column} RETURNING {place}"


_COLUMNS = "SELECT column_name FROM information_schema.columns WHERE table_name = '{table}'"
_UPDATED = """
SELECT column_name
  FROM information_schema.column_privileges
 WHERE grantee = '{role}' AND table_name = '{table}' AND privilege_type = 'UPDATE'
 ORDER BY column_name
 LIMIT 1
"""


def find_foreign_rows(reach: set[Reach]) -> set[Reach]:
    """Return what somebody reads or changes in a place where they may not."""
    return {one for one in reach if not one.is_allowed}


@pytest.fixture
def filled(team: PostgresEngine) -> PostgresEngine:
    fill_once(team, populate_with_words)
    return team


def test_everybody_reads_and_changes_only_rows_of_their_places(filled: PostgresEngine) -> None:
    with filled.owner_transaction() as run:
        reach = find_reach(filled, run)

    assert find_foreign_rows(reach) == set()
    assert len({one.table for one in reach}) > 30  # test_row_level_security has rows in all of them
