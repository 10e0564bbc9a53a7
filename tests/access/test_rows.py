"""On PostgreSQL everybody reads and changes only their own rows, also by a statement without any condition."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

import pytest

from groundplan.catalog import build_schema
from groundplan.kernel.actors import Actor
from tests.access.test_hidden_things import populate_with_words
from tests.access.test_matrix import PEOPLE
from tests.engines import PostgresEngine, Run, fill_once, run_and_undo

TABLES = [table.name for table in build_schema().tables if table.name != "schema_migrations"]

# Where everybody may read, and where they may change something: in an organization, and in projects.
OF_ATLAS = {"atlas", "south of atlas"}
ACTORS = {who: PEOPLE[who] for who in ("ada", "ben", "cleo", "finn", "mallory", "anonymous")}
READS_IN: dict[str, set[str]] = {
    "ada": {"local", *OF_ATLAS, "heron fields", "heron marsh"},
    "ben": {"local", *OF_ATLAS},
    "cleo": {"local", *OF_ATLAS},
    "finn": {"local", "finn's own", "plover fields", "plover marsh"},
    "mallory": {"rival", "mallory's own", "dunlin fields", "dunlin marsh"},
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
    names: dict[str | None, str] = dict(run("SELECT id, name FROM projects"))

    def name_place(row: tuple[str | None, ...]) -> str:
        organization, project_id = row[-2:]
        return names.get(project_id) or str(organization)

    role = f"SET LOCAL ROLE {engine.app_role}"
    reach = set()
    for table in tables:
        run(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        place = _build_place(run, table)
        # A row that was changed has another address. RETURNING would show only what the actor may read, too.
        addresses = f"SELECT ctid::text, {place} FROM {table}"
        stored = set(run(addresses))
        changes = [f"DELETE FROM {table}", *_list_updates(engine, run, table)]
        for who, actor in ACTORS.items():
            _set_actor(run, actor)
            with suppress(*engine.refusals):
                rows = run_and_undo(run, role, f"SELECT DISTINCT {place} FROM {table}")
                reach |= {Reach(who, READ, table, name_place(row)) for row in rows}
            for change in changes:
                with suppress(*engine.refusals):
                    kept = set(run_and_undo(run, f"{role}; {change}; RESET ROLE", addresses))
                    reach |= {Reach(who, CHANGE, table, name_place(row)) for row in stored - kept}
    return reach


def _set_actor(run: Run, actor: Actor | None) -> None:
    settings = {"tenant": "", "actor": "", "access": "members", "kind": "person"}
    if actor is not None:
        settings = {"tenant": actor.organization, "actor": actor.id, "access": actor.access, "kind": actor.kind}
    run("SELECT " + ", ".join(f"set_config('groundplan.{name}', '{value}', true)" for name, value in settings.items()))


def _build_place(run: Run, table: str) -> str:
    """Return the columns with the organization and the project of a row."""
    columns = [name for (name,) in run(_COLUMNS.format(table=table))]
    project = "project_id" if "project_id" in columns else {"projects": "id"}.get(table, "NULL")
    if table == "organization_events":
        project = "CASE WHEN starts_with(op, 'project.') THEN subject END"
    return f"{'id' if table == 'organizations' else 'tenant_id'}, {project}"


def _list_updates(engine: PostgresEngine, run: Run, table: str) -> list[str]:
    """Return a statement that updates every row of a table, if there is a column that may be updated."""
    columns = run(_UPDATED.format(role=engine.app_role, table=table))
    return [f"UPDATE {table} SET {column} = {column}" for (column,) in columns]


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
