"""Each part of a row policy and each constraint, tried alone by raw SQL."""

from __future__ import annotations

import contextlib
import sqlite3
import threading

import psycopg
import pytest

from groundplan.kernel.cancellation import READ_LIMIT_S
from groundplan.kernel.store.postgres.session import to_milliseconds
from groundplan.kernel.store.postgres.store import PostgresStore
from groundplan.kernel.store.transaction import Transaction
from tests.engines import Engine, PostgresEngine, SqliteEngine, person

NOW = "2026-01-01T00:00:00.000Z"


@pytest.fixture
def atlas(team: PostgresEngine) -> str:
    """Ada's project with an editor; Finn is in the organization but not in the project."""
    ada = team.session("ada")
    project_id: str = ada.call("project.create", name="atlas").project.id
    ada.call("member.add", scopeId="atlas", userId="ben", role="editor")
    team.session("finn").call("project.create", name="finn's own")
    return project_id


def join_as_owner(user: str, project_id: str, *, created_by: str) -> str:
    return (
        "INSERT INTO project_members (tenant_id, project_id, user_id, role, created_at, created_by) "
        f"VALUES ('local', '{project_id}', '{user}', 'owner', '{NOW}', '{created_by}')"
    )


def insert_event(project_id: str, *, actor: str, rev: str) -> str:
    return (
        "INSERT INTO events (tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes) "
        f"SELECT 'local', '{project_id}', {rev}, 9, 1, '{NOW}', '{actor}', 'x', 'x', '[]' "
        f"FROM projects WHERE id = '{project_id}'"
    )


def weaken_policy(engine: PostgresEngine, table: str, command: str, part: str) -> None:
    """Remove one part of a policy."""
    name = f"{table}_{command.lower()}"
    ((check,),) = engine.as_owner(f"SELECT with_check FROM pg_policies WHERE policyname = '{name}'")
    assert part in check, check
    engine.as_owner(f"ALTER POLICY {name} ON {table} WITH CHECK ({check.replace(part, 'true')})")


def test_nobody_makes_themselves_owner_of_a_project_that_has_members(team: PostgresEngine, atlas: str) -> None:
    attack = join_as_owner("finn", atlas, created_by="finn")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        team.as_app(person("finn"), attack)

    weaken_policy(team, "project_members", "INSERT", "gp_has_no_members(project_id)")
    team.as_app(person("finn"), attack)


def test_nobody_invites_in_anothers_name(team: PostgresEngine, atlas: str) -> None:
    attack = join_as_owner("finn", atlas, created_by="ben")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        team.as_app(person("ada"), attack)

    weaken_policy(team, "project_members", "INSERT", "(created_by = ( SELECT gp_actor() AS gp_actor))")
    team.as_app(person("ada"), attack)


def test_nobody_records_an_event_in_anothers_name(team: PostgresEngine, atlas: str) -> None:
    attack = insert_event(atlas, actor="ada", rev="rev")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        team.as_app(person("ben"), attack)

    weaken_policy(team, "events", "INSERT", "(actor_id = ( SELECT gp_actor() AS gp_actor))")
    team.as_app(person("ben"), attack)


def test_nobody_founds_a_project_in_anothers_name(team: PostgresEngine, atlas: str) -> None:
    attack = (
        "INSERT INTO projects (tenant_id, id, name, created_at, created_by, updated_at) "
        f"VALUES ('local', 'forged', 'forged', '{NOW}', 'ada', '{NOW}')"
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        team.as_app(person("finn"), attack)

    weaken_policy(team, "projects", "INSERT", "(created_by = ( SELECT gp_actor() AS gp_actor))")
    team.as_app(person("finn"), attack)


def test_living_answers_cannot_be_swept_by_giving_a_later_date(team: PostgresEngine) -> None:
    team.session("ada").call("project.create", name="atlas", op_id="once")

    team.as_app(person("ada"), "SELECT gp_sweep_answers('9999-01-01T00:00:00.000Z', '1', 0, 1000)")

    assert team.as_owner("SELECT op_id FROM answers") == [("once",)]


def test_a_statement_cannot_run_for_ever(team: PostgresEngine) -> None:
    def setting(tx: Transaction) -> str:
        connection = tx.connection  # type: ignore[attr-defined] # of PostgreSQL
        return str(connection.execute("SELECT setting FROM pg_settings WHERE name = 'statement_timeout'").fetchone()[0])

    assert team.store.read(person("ada"), setting) == str(to_milliseconds(READ_LIMIT_S))


def test_connections_that_died_in_the_pool_cost_no_caller_anything(team: PostgresEngine) -> None:
    store = team.another_store()
    assert isinstance(store, PostgresStore)
    together = threading.Barrier(12)
    threads = [threading.Thread(target=lambda: store.read(person("ada"), lambda _: together.wait())) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    team.as_owner(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE usename = '{team.app_role}' AND datname = current_database()"
    )

    assert store.read(person("ada"), lambda _: "served") == "served"


@pytest.mark.parametrize("behind", ["rev - 1", "rev + 1"])
def test_an_event_belongs_to_the_write_that_is_going_on(engine: Engine, behind: str) -> None:
    project_id = engine.session("ada").call("project.create", name="atlas").project.id
    attack = insert_event(project_id, actor="ada", rev=behind)
    with pytest.raises(engine.refusals, match="rev_step"):
        engine.as_app(person("ada"), attack)

    table = "" if isinstance(engine, SqliteEngine) else " ON events"
    engine.as_owner(f"DROP TRIGGER events_are_of_this_write{table}")
    engine.as_app(person("ada"), attack)


def test_an_event_of_the_organization_belongs_to_its_write(engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    attack = (
        "INSERT INTO organization_events (tenant_id, rev, n, v, at, actor_id, op, subject, changes) "
        f"VALUES ('local', 99, 0, 1, '{NOW}', 'ada', 'x', 'x', '[]')"
    )
    with pytest.raises(engine.refusals, match="rev_step"):
        engine.as_app(person("ada"), attack)

    table = "" if isinstance(engine, SqliteEngine) else " ON organization_events"
    engine.as_owner(f"DROP TRIGGER organization_events_are_of_this_write{table}")
    engine.as_app(person("ada"), attack)


PRINCIPAL = (
    f"INSERT INTO principals (tenant_id, id, name, kind, created_at) VALUES ('local', 'x', '{{}}', '{{}}', '{NOW}')"
)
PROJECT = (
    "INSERT INTO projects (tenant_id, id, name, goal, rev, created_at, created_by, updated_at) "
    f"VALUES ('local', 'x', '{{}}', '{{}}', {{}}, '{NOW}', 'ada', '{NOW}')"
)
MEMBER = (
    "INSERT INTO project_members (tenant_id, project_id, user_id, role, created_at, created_by) "
    f"SELECT tenant_id, id, 'ben', '{{}}', '{NOW}', 'ada' FROM projects"
)


@pytest.mark.parametrize(
    ("well", "badly"),
    [
        (PRINCIPAL.format("x" * 255, "person"), PRINCIPAL.format("x" * 256, "person")),
        (PRINCIPAL.format("x", "agent"), PRINCIPAL.format("", "agent")),
        (PRINCIPAL.format("x", "service"), PRINCIPAL.format("x", "robot")),
        (PROJECT.format("é" * 255, "", 1), PROJECT.format("é" * 256, "", 1)),
        (PROJECT.format("x", "", 1), PROJECT.format("", "", 1)),
        (PROJECT.format("x", "é" * 2048, 1), PROJECT.format("x", "é" * 2048 + "x", 1)),
        (PROJECT.format("x", "", 1), PROJECT.format("x", "", 0)),
        (MEMBER.format("viewer"), MEMBER.format("admin")),
    ],
    ids=["name", "empty name", "kind", "project name", "empty project name", "goal bytes", "first rev", "role"],
)
def test_the_schema_itself_keeps_the_limits(engine: Engine, well: str, badly: str) -> None:
    engine.session("ada").call("project.create", name="atlas")
    engine.session("ada").call("member.add", scopeId="atlas", userId="ben", role="viewer")
    engine.session("ada").call("member.remove", scopeId="atlas", userId="ben")

    with pytest.raises(engine.refusals):
        engine.as_owner(badly, keep=False)
    engine.as_owner(well, keep=False)


def test_a_moment_in_another_spelling_is_refused(team: PostgresEngine) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        team.as_owner("UPDATE organizations SET created_at = '2026-01-01 00:00:00+00'", keep=False)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_no_other_program_writes_between_a_look_and_the_lock(engine: SqliteEngine) -> None:
    engine.session("ada").call("project.create", name="atlas")

    def locate(_tx: Transaction) -> str:
        with (
            contextlib.closing(sqlite3.connect(engine.path, timeout=0)) as stranger,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            stranger.execute("UPDATE projects SET goal = 'changed meanwhile'")
        return "atlas"

    engine.store.write(person("ada"), locate, lambda tx: tx.record("test.happened", "x"))
