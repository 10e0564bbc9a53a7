"""Setting PostgreSQL up is safe to repeat, concurrently, and on a database that was tampered with."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from groundplan.catalog import build_schema
from groundplan.kernel.store.migrations import Dialect, NewerSchema, load_migrations
from groundplan.kernel.store.postgres.setup import OtherOwner, set_up
from groundplan.kernel.store.postgres.store import PostgresStore
from groundplan.kernel.store.schema import EVERYBODY, Schema, Table
from tests.engines import PostgresEngine, Rows
from tests.kernel.store.test_migrations import SECOND, steps_with

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)

AT_ONCE = 4
# Everything that is generated: grants, policies and guards.
PROTECTION = """
SELECT 'policy', concat_ws(' ', tablename, policyname, permissive, cmd, roles, qual, with_check)
  FROM pg_policies
UNION ALL
SELECT 'table', concat_ws(' ', relname, relrowsecurity, relforcerowsecurity, granted)
  FROM pg_class AS c
  LEFT JOIN LATERAL (SELECT string_agg(one::text, ' ' ORDER BY one::text) FROM unnest(c.relacl) AS one) AS a (granted)
    ON true
 WHERE relnamespace = 'groundplan'::regnamespace
UNION ALL
SELECT 'column', concat_ws(' ', relname, attname, attacl)
  FROM pg_attribute AS a
  JOIN pg_class AS c ON c.oid = a.attrelid
 WHERE relnamespace = 'groundplan'::regnamespace
   AND attacl IS NOT NULL
   AND attacl <> '{}'
UNION ALL
SELECT 'function', concat_ws(' ', proname, prosrc, prosecdef, proconfig, granted)
  FROM pg_proc AS p
  LEFT JOIN LATERAL (SELECT string_agg(one::text, ' ' ORDER BY one::text) FROM unnest(p.proacl) AS one) AS a (granted)
    ON true
 WHERE pronamespace = 'groundplan'::regnamespace
UNION ALL
SELECT 'trigger', concat_ws(' ', tgname, tgenabled, pg_get_triggerdef(oid))
  FROM pg_trigger
 WHERE NOT tgisinternal
UNION ALL
SELECT 'schema', one::text
  FROM pg_namespace, unnest(nspacl) AS one
 WHERE nspname = 'groundplan'
 ORDER BY 1, 2
"""
MEDDLING = [
    "DROP POLICY events_select ON events",
    "ALTER POLICY projects_select ON projects USING (true)",
    "CREATE POLICY stray ON events USING (true)",
    "ALTER TABLE events DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE events NO FORCE ROW LEVEL SECURITY",
    "DROP TRIGGER guard_events_append_only_row_update ON events",
    "ALTER TABLE events DISABLE TRIGGER guard_events_append_only_statement_truncate",
    "CREATE OR REPLACE FUNCTION guard_refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "GRANT ALL ON ALL TABLES IN SCHEMA groundplan TO {app}",
    "GRANT UPDATE (created_by) ON projects TO {app}",
    "GRANT SELECT ON events TO PUBLIC",
    "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA groundplan TO PUBLIC",
    "GRANT CREATE ON SCHEMA groundplan TO {app}",
    "GRANT USAGE ON SCHEMA groundplan TO PUBLIC",
    "REVOKE SELECT ON projects FROM {app}",
    "REVOKE USAGE ON SCHEMA groundplan FROM {app}",
]


@pytest.fixture
def new_role(engine: PostgresEngine, worker: str) -> Iterator[str]:
    """The name of a role that does not exist yet and is dropped afterwards."""
    name = f"groundplan_{worker}_new"
    yield name
    with psycopg.connect(engine.superuser_url, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)).fetchone():
            connection.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(name)))
            connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def count_roles(engine: PostgresEngine, name: str) -> Rows:
    return engine.as_owner(f"SELECT 1 FROM pg_roles WHERE rolname = '{name}'")


def test_a_new_database_gets_schema_role_and_a_url_that_works(engine: PostgresEngine, new_role: str) -> None:
    engine.as_owner("DROP SCHEMA groundplan CASCADE")

    made = set_up(engine.owner_url, build_schema(), app_role=new_role)

    assert (made.app_role, made.role_is_new) == (new_role, True)
    assert made.steps_taken == len(load_migrations(Dialect.POSTGRES))
    PostgresStore(made.app_url).close()


def test_setting_up_again_takes_no_step_and_changes_nothing(engine: PostgresEngine) -> None:
    before = engine.as_owner(PROTECTION)

    again = set_up(engine.owner_url, build_schema())

    assert (again.steps_taken, again.role_is_new) == (0, False)
    assert engine.as_owner(PROTECTION) == before


def test_setting_up_again_repairs_whatever_somebody_has_changed(engine: PostgresEngine) -> None:
    before = meddled = engine.as_owner(PROTECTION)
    harmless = []
    for change in MEDDLING:
        engine.as_owner(change.format(app=engine.app_role))
        if meddled == (meddled := engine.as_owner(PROTECTION)):
            harmless.append(change)

    set_up(engine.owner_url, build_schema())

    assert set(engine.as_owner(PROTECTION)) ^ set(before) == set()
    assert harmless == []


def test_several_that_set_up_a_new_database_at_once_all_succeed_and_take_each_step_once(
    engine: PostgresEngine, new_role: str
) -> None:
    engine.as_owner("DROP SCHEMA groundplan CASCADE")
    start = threading.Barrier(AT_ONCE)

    def one_set_up() -> tuple[int, bool]:
        start.wait()
        made = set_up(engine.owner_url, build_schema(), app_role=new_role)
        return made.steps_taken, made.role_is_new

    with ThreadPoolExecutor(AT_ONCE) as pool:
        made = [one.result() for one in [pool.submit(one_set_up) for _ in range(AT_ONCE)]]

    assert sum(taken for taken, _ in made) == len(load_migrations(Dialect.POSTGRES))
    assert sum(is_new for _, is_new in made) == 1


def test_a_database_of_a_newer_groundplan_gets_no_role(engine: PostgresEngine, new_role: str, tmp_path: Path) -> None:
    engine.mark_altered()
    set_up(engine.owner_url, build_schema(), steps=steps_with(tmp_path / "newer", Dialect.POSTGRES, *SECOND))
    before = engine.as_owner(PROTECTION)

    with pytest.raises(NewerSchema):
        set_up(engine.owner_url, build_schema(), app_role=new_role)

    assert engine.as_owner(PROTECTION) == before
    assert count_roles(engine, new_role) == []


def test_a_step_reaches_the_rows_that_are_hidden_from_the_owner(engine: PostgresEngine, tmp_path: Path) -> None:
    declared = Table("test_rows", EVERYBODY)
    engine.install("CREATE TABLE test_rows (tenant_id text PRIMARY KEY, body text)", Schema((declared,)))
    engine.as_owner("INSERT INTO test_rows VALUES ('local', 'old')")
    backfill = steps_with(tmp_path / "steps", Dialect.POSTGRES, "UPDATE test_rows SET body = 'new';")

    set_up(engine.owner_url, Schema((*build_schema().tables, declared)), steps=backfill)

    assert engine.as_owner("SELECT body FROM test_rows") == [("new",)]
    assert engine.as_owner("SELECT relforcerowsecurity FROM pg_class WHERE relname = 'test_rows'") == [(True,)]


def test_setting_up_again_serves_the_role_that_was_served_before(engine: PostgresEngine, new_role: str) -> None:
    switched = set_up(engine.owner_url, build_schema(), app_role=new_role)
    assert (switched.app_role, switched.replaced_role) == (new_role, engine.app_role)

    again = set_up(engine.owner_url, build_schema())

    assert (again.app_role, again.replaced_role) == (new_role, None)
    assert set_up(engine.owner_url, build_schema(), app_role=engine.app_role).replaced_role == new_role


def test_somebody_other_than_the_owner_may_not_set_up_again(engine: PostgresEngine) -> None:
    with pytest.raises(OtherOwner):
        set_up(engine.superuser_url, build_schema())

    assert engine.session("ada").call("project.create", name="atlas").project.name == "atlas"


def test_a_role_that_was_replaced_has_no_right_left(engine: PostgresEngine, new_role: str) -> None:
    set_up(engine.owner_url, build_schema(), app_role=new_role)
    set_up(engine.owner_url, build_schema(), app_role=engine.app_role)

    rights = engine.as_owner(
        f"SELECT has_schema_privilege('{new_role}', 'groundplan', 'USAGE'), "
        f"has_table_privilege('{new_role}', 'projects', 'SELECT'), "
        f"has_function_privilege('{new_role}', 'gp_projects_as(text[])', 'EXECUTE')"
    )

    assert rights == [(False, False, False)]
