"""`groundplan doctor` finds each planted fault and changes nothing."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from groundplan.kernel.store.sqlite import checkup
from tests.engines import PostgresEngine
from tests.surfaces.cli.conftest import Run, RunResult

DB = Path("groundplan.db")
AS_SET_UP = {"as set up"}  # notices every change that another check names as well


def failed_checks(ended: RunResult) -> dict[str, str]:
    """Return the failed checks by name."""
    found = json.loads(ended.out)
    assert ended.code == (0 if found["ok"] else 7)
    return {check["name"]: check["status"] for check in found["checks"] if check["status"] != "ok"}


def change_sql(*statements: str) -> Callable[[], None]:
    def change() -> None:
        connection = sqlite3.connect(DB, isolation_level=None)
        for statement in statements:
            connection.execute(statement)
        connection.close()

    return change


def connect_as_owner(team: PostgresEngine) -> psycopg.Connection:
    """Return a connection of the schema's owner."""
    return psycopg.connect(team.owner_url, autocommit=True, options="-c search_path=groundplan")


def damage() -> None:
    content = bytearray(DB.read_bytes())
    content[4096 * 2 : 4096 * 3] = b"\xff" * 4096
    DB.write_bytes(content)


def test_a_fresh_database_is_well(run: Run) -> None:
    run("init")

    assert failed_checks(run("doctor", "--json")) == {}
    shown = run("doctor")
    assert shown.code == 0
    assert "No checks failed." in shown.out


@pytest.mark.parametrize(
    ("plant", "expected"),
    [
        (lambda: DB.chmod(0o644), {"modes": "fail"}),
        (lambda: DB.with_name("groundplan.db-lock").chmod(0o666), {"modes": "fail"}),
        (lambda: DB.chmod(0o400), {"access": "fail"}),
        (lambda: DB.chmod(0o000), {"access": "fail"}),
        (lambda: DB.with_name("groundplan.db-gate").chmod(0o400), {"access": "fail"}),
        (lambda: Path().chmod(0o777), {"folder": "fail"}),
        (lambda: Path().chmod(0o1777), {"folder": "warn"}),
        (change_sql("DROP TRIGGER guard_events_append_only_update"), {"guards": "fail"}),
        (change_sql("DROP TRIGGER projects_rev_moves_by_one"), {"guards": "fail"}),
        (change_sql("CREATE TRIGGER theirs AFTER INSERT ON events BEGIN SELECT 1; END"), {"guards": "warn"}),
        (change_sql("DROP INDEX answers_in_order"), {"tables": "fail"}),
        (change_sql("CREATE TABLE theirs (x)"), {"tables": "warn"}),
        (change_sql("PRAGMA journal_mode = DELETE"), {"journal": "fail"}),
        (change_sql("PRAGMA user_version = 999"), {"schema": "fail", "migrations": "fail"}),
        (change_sql("PRAGMA user_version = 0"), {"schema": "warn", "migrations": "fail"}),
        (change_sql("UPDATE schema_migrations SET checksum = 'another'"), {"migrations": "fail"}),
        (change_sql("PRAGMA application_id = 1"), {"application": "fail"}),
        (
            change_sql(
                "INSERT INTO user_memberships VALUES ('local', 'ghost', '2026-01-01T00:00:00.000Z', 'ghost', 'member')"
            ),
            {"references": "fail"},
        ),
        (damage, {"pages": "fail"}),
        (lambda: DB.write_bytes(b"no database at all, but long enough for a header" * 9), {"application": "fail"}),
        (lambda: DB.write_bytes(DB.read_bytes()[:16] + b"\xff" * 44 + DB.read_bytes()[60:]), {"application": "fail"}),
        (lambda: DB.write_bytes(b""), {"application": "fail"}),
        (DB.unlink, {"file": "fail"}),
    ],
)
def test_a_planted_fault_is_found_and_the_rest_is_well(
    run: Run, plant: Callable[[], None], expected: dict[str, str]
) -> None:
    run("init")
    Path().chmod(0o700)
    plant()

    examined = run("doctor", "--json")

    assert failed_checks(examined) == expected
    assert all(check["fix"] for check in json.loads(examined.out)["checks"] if check["name"] in expected)


def test_what_to_do_is_printed_under_the_table(run: Run) -> None:
    run("init")
    DB.chmod(0o644)

    shown = run("doctor")

    assert shown.code == 7
    assert "modes: chmod 600 groundplan.db" in shown.out


@pytest.mark.parametrize("closed", ["groundplan.db", "groundplan.db-lock", "groundplan.db-wal"])
def test_a_file_that_this_user_may_not_use_is_found(run: Run, monkeypatch: pytest.MonkeyPatch, closed: str) -> None:
    run("init")
    Path(closed).touch(0o600)
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path).name != closed)

    shown = run("doctor")

    assert failed_checks(run("doctor", "--json")) == {"access": "fail"}
    assert f"may not read and write {closed} (0600)" in shown.out
    assert "access: run Groundplan as user " in shown.out


def test_a_file_beside_it_that_root_left_behind_is_found(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init")
    real_files = checkup._stat_files

    def with_a_stranger(path: Path) -> Iterator[checkup._FileStat]:
        # Only root can change the owner of a file, so the check is told that it is another user's.
        first, *others = real_files(path)
        yield first._replace(owner=first.owner + 1)
        yield from others

    monkeypatch.setattr(checkup, "_stat_files", with_a_stranger)

    assert failed_checks(run("doctor", "--json")) == {"access": "fail"}


@pytest.mark.parametrize("mode", [0o644, 0o400])
def test_nobody_is_told_to_change_the_mode_of_a_file_that_is_not_ours(run: Run, mode: int) -> None:
    Path("README.md").write_text("# Notes\n")
    change_sql("CREATE TABLE theirs (x)")()
    DB.rename("other.db")
    for name in ("README.md", "other.db"):
        Path(name).chmod(mode)

        assert failed_checks(run("doctor", "--db", name, "--json")) == {"application": "fail"}
        assert "chmod" not in run("doctor", "--db", name).out


def test_only_files_that_stay_are_named_in_what_to_do(run: Run) -> None:
    run("init")
    DB.chmod(0o644)

    assert "-wal" not in run("doctor").out


def test_doctor_makes_no_file_and_brings_nothing_up_to_date(run: Run) -> None:
    assert run("doctor", "--db", "missing.db").code == 7
    assert list(Path().iterdir()) == []

    run("init")
    change_sql("PRAGMA user_version = 0")()
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    run("doctor")
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_a_folder_is_not_a_database(run: Run) -> None:
    Path("folder").mkdir()

    assert failed_checks(run("doctor", "--db", "folder", "--json")) == {"file": "fail"}


def test_a_postgresql_that_is_down_is_found(run: Run) -> None:
    assert failed_checks(run("doctor", "--db", "postgresql://127.0.0.1:1/plan", "--json")) == {"opening": "fail"}
    assert "opening: check that it runs" in run("doctor", "--db", "postgresql://127.0.0.1:1/plan").out


def test_a_missing_driver_is_named_with_the_command_that_installs_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("checkup", "setup"):
        monkeypatch.setitem(sys.modules, f"groundplan.kernel.store.postgres.{module}", None)

    assert failed_checks(run("doctor", "--db", "postgresql://127.0.0.1:1/plan", "--json")) == {"driver": "fail"}
    assert "driver: run: pip install" in run("doctor", "--db", "postgresql://127.0.0.1:1/plan").out
    assert run("init", "postgresql://127.0.0.1:1/plan", "--json").error == (7, "store_no_driver")


def test_faults_of_a_postgresql_database_are_found_and_init_repairs_them(run: Run, team: PostgresEngine) -> None:
    team.mark_altered()
    team.reset()  # a copy in which no test has switched off a guard
    team.mark_altered()
    app = ("--db", team.app_url, "--access", "open", "--json")
    assert failed_checks(run("doctor", *app)) == {}

    repairable = {
        "row security": "ALTER TABLE events NO FORCE ROW LEVEL SECURITY",
        "policies": "DROP POLICY events_select ON events",
        "grants": f'GRANT TRUNCATE ON events TO "{team.app_role}"',
        "guards": "ALTER TABLE events DISABLE TRIGGER guard_events_append_only_row_update",
    }
    with connect_as_owner(team) as owner:
        found: set[str] = set()
        for check, statement in repairable.items():  # each adds what its check finds, and nothing else
            owner.execute(statement.encode())
            found.add(check)
            assert failed_checks(run("doctor", *app)).keys() - AS_SET_UP == found
        assert run("init", team.owner_url).code == 0
        assert failed_checks(run("doctor", *app)) == {}
        owner.execute("UPDATE schema_migrations SET checksum = 'another'")
        assert failed_checks(run("doctor", *app)).keys() - AS_SET_UP == {"migrations"}


def test_a_schema_of_another_version_and_a_careless_function_are_found(run: Run, team: PostgresEngine) -> None:
    team.mark_altered()
    app = ("--db", team.app_url, "--access", "open", "--json")
    with connect_as_owner(team) as owner:
        owner.execute("CREATE FUNCTION careless() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'")
        assert failed_checks(run("doctor", *app)).keys() - AS_SET_UP == {"functions"}
        owner.execute("DROP FUNCTION careless()")

        owner.execute("INSERT INTO schema_migrations VALUES (999, 'later', '-', '2026-01-01T00:00:00.000Z')")
        assert failed_checks(run("doctor", *app)) == {"schema": "fail"}
        assert run("project", "list", *app).error == (7, "store_newer")

        owner.execute("DELETE FROM schema_migrations")
        assert failed_checks(run("doctor", *app)) == {"schema": "fail"}


def test_an_owner_is_told_to_use_the_app_url(run: Run, team: PostgresEngine) -> None:
    assert failed_checks(run("doctor", "--db", team.owner_url, "--json")) == {"role": "fail"}


def test_a_store_that_nobody_can_enter_is_found_and_init_lets_its_caller_in(run: Run, team: PostgresEngine) -> None:
    app = ("--db", team.app_url, "--json")
    assert failed_checks(run("doctor", *app)) == {"organization": "fail", "access": "fail"}
    assert failed_checks(run("doctor", *app, "--access", "open")) == {}

    assert run("init", team.owner_url, "--json").answer["administrator"] == "ada"

    assert failed_checks(run("doctor", *app)) == {}


def test_an_organization_that_nobody_administers_is_found(run: Run, team: PostgresEngine) -> None:
    app = ("--db", team.app_url, "--json")
    run("project", "create", "atlas", *app, "--access", "open")

    assert failed_checks(run("doctor", *app)) == {"access": "warn"}


def test_in_a_store_from_open_access_who_made_a_project_enters_and_nobody_else(run: Run, team: PostgresEngine) -> None:
    app = ("--db", team.app_url, "--json")
    for person in ("ada", "ben"):
        run("project", "create", f"of {person}", *app, "--access", "open", "--person", person)

    run("init", team.owner_url)

    assert run("work", "next", "--project", "of ben", *app, "--person", "ben").code == 0
    assert run("work", "next", "--project", "of ben", *app).error == (3, "not_found")  # an administrator, and no member
    assert run("work", "next", "--project", "of ben", *app, "--person", "mallory").error == (3, "not_found")
    assert failed_checks(run("doctor", *app)) == {}


def test_a_postgresql_database_that_nobody_changed_is_well(run: Run, team: PostgresEngine) -> None:
    assert run("doctor", "--db", team.app_url, "--access", "open", "--json").answer["ok"]


@pytest.mark.parametrize(
    "change",
    [
        "CREATE POLICY wide ON projects FOR SELECT USING (true)",
        "GRANT UPDATE, DELETE ON events TO {app}",
        "DROP TRIGGER project_members_last_owner_stays ON project_members",
        "ALTER TABLE projects DISABLE TRIGGER projects_rev_moves_by_one",
        "ALTER TABLE projects DROP CONSTRAINT projects_rev_starts_at_one",
        "ALTER VIEW pciv_scope_members SET (security_invoker = false)",
        "CREATE OR REPLACE VIEW pciv_scope_members WITH (security_invoker = true) AS "
        "SELECT tenant_id, project_id, user_id, 'owner'::text COLLATE \"C\" AS role, created_at, created_by "
        "FROM project_members",
    ],
)
def test_a_change_that_no_check_names_is_noticed_all_the_same(run: Run, team: PostgresEngine, change: str) -> None:
    team.mark_altered()
    with connect_as_owner(team) as owner:
        owner.execute(change.format(app=team.app_role).encode())

    assert "as set up" in failed_checks(run("doctor", "--db", team.app_url, "--json"))
