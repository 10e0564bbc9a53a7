"""`groundplan doctor` finds each fault that was planted, and changes nothing."""

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
from tests.surfaces.cli.conftest import Ended, Run

DB = Path("groundplan.db")
AS_SET_UP = {"as set up"}  # notices every change that a check of its own names as well


def failing(ended: Ended) -> dict[str, str]:
    """The checks that are not well, by name."""
    found = json.loads(ended.out)
    assert ended.code == (0 if found["ok"] else 7)
    return {check["name"]: check["status"] for check in found["checks"] if check["status"] != "ok"}


def changed(*statements: str) -> Callable[[], None]:
    def change() -> None:
        connection = sqlite3.connect(DB, isolation_level=None)
        for statement in statements:
            connection.execute(statement)
        connection.close()

    return change


def owned(team: PostgresEngine) -> psycopg.Connection:
    """A connection of whoever owns the schema."""
    return psycopg.connect(team.owner_url, autocommit=True, options="-c search_path=groundplan")


def damaged() -> None:
    content = bytearray(DB.read_bytes())
    content[4096 * 2 : 4096 * 3] = b"\xff" * 4096
    DB.write_bytes(content)


def test_a_fresh_database_is_well(run: Run) -> None:
    run("init")

    assert failing(run("doctor", "--json")) == {}
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
        (changed("DROP TRIGGER guard_events_append_only_update"), {"guards": "fail"}),
        (changed("DROP TRIGGER projects_rev_moves_by_one"), {"guards": "fail"}),
        (changed("CREATE TRIGGER theirs AFTER INSERT ON events BEGIN SELECT 1; END"), {"guards": "warn"}),
        (changed("DROP INDEX answers_by_age"), {"tables": "fail"}),
        (changed("CREATE TABLE theirs (x)"), {"tables": "warn"}),
        (changed("PRAGMA journal_mode = DELETE"), {"journal": "fail"}),
        (changed("PRAGMA user_version = 999"), {"schema": "fail", "migrations": "fail"}),
        (changed("PRAGMA user_version = 0"), {"schema": "warn", "migrations": "fail"}),
        (changed("UPDATE schema_migrations SET checksum = 'another'"), {"migrations": "fail"}),
        (changed("PRAGMA application_id = 1"), {"application": "fail"}),
        (
            changed("INSERT INTO user_memberships VALUES ('local', 'ghost', '2026-01-01T00:00:00.000Z', 'ghost')"),
            {"references": "fail"},
        ),
        (damaged, {"pages": "fail"}),
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

    assert failing(examined) == expected
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

    assert failing(run("doctor", "--json")) == {"access": "fail"}
    assert f"may not read and write {closed} (0600)" in shown.out
    assert "access: run Groundplan as user " in shown.out


def test_a_file_beside_it_that_root_left_behind_is_found(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init")
    real_files = checkup._stat_files

    def with_a_stranger(path: Path) -> Iterator[checkup._FileStat]:
        # Only root can give a file away, so the file is said to be somebody else's.
        first, *others = real_files(path)
        yield first._replace(owner=first.owner + 1)
        yield from others

    monkeypatch.setattr(checkup, "_stat_files", with_a_stranger)

    assert failing(run("doctor", "--json")) == {"access": "fail"}


@pytest.mark.parametrize("mode", [0o644, 0o400])
def test_nobody_is_told_to_change_the_mode_of_a_file_that_is_not_ours(run: Run, mode: int) -> None:
    Path("README.md").write_text("# Notes\n")
    changed("CREATE TABLE theirs (x)")()
    DB.rename("other.db")
    for name in ("README.md", "other.db"):
        Path(name).chmod(mode)

        assert failing(run("doctor", "--db", name, "--json")) == {"application": "fail"}
        assert "chmod" not in run("doctor", "--db", name).out


def test_only_files_that_stay_are_named_in_what_to_do(run: Run) -> None:
    run("init")
    DB.chmod(0o644)

    assert "-wal" not in run("doctor").out


def test_doctor_makes_no_file_and_brings_nothing_up_to_date(run: Run) -> None:
    assert run("doctor", "--db", "missing.db").code == 7
    assert list(Path().iterdir()) == []

    run("init")
    changed("PRAGMA user_version = 0")()
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    run("doctor")
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_a_folder_is_not_a_database(run: Run) -> None:
    Path("folder").mkdir()

    assert failing(run("doctor", "--db", "folder", "--json")) == {"file": "fail"}


def test_a_postgresql_that_is_down_is_found(run: Run) -> None:
    assert failing(run("doctor", "--db", "postgresql://127.0.0.1:1/plan", "--json")) == {"opening": "fail"}
    assert "opening: check that it runs" in run("doctor", "--db", "postgresql://127.0.0.1:1/plan").out


def test_a_missing_driver_is_named_with_the_command_that_installs_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("checkup", "setup"):
        monkeypatch.setitem(sys.modules, f"groundplan.kernel.store.postgres.{module}", None)

    assert failing(run("doctor", "--db", "postgresql://127.0.0.1:1/plan", "--json")) == {"driver": "fail"}
    assert "driver: run: pip install" in run("doctor", "--db", "postgresql://127.0.0.1:1/plan").out
    assert run("init", "postgresql://127.0.0.1:1/plan", "--json").refusal == (7, "store_no_driver")


def test_faults_of_a_postgresql_database_are_found_and_init_repairs_them(run: Run, team: PostgresEngine) -> None:
    team.mark_altered()
    app = ("--db", team.app_url, "--json")
    assert failing(run("doctor", *app)) == {}

    repairable = {
        "row security": "ALTER TABLE events NO FORCE ROW LEVEL SECURITY",
        "policies": "DROP POLICY events_select ON events",
        "grants": f'GRANT TRUNCATE ON events TO "{team.app_role}"',
        "guards": "ALTER TABLE events DISABLE TRIGGER guard_events_append_only_row_update",
    }
    with owned(team) as owner:
        found: set[str] = set()
        for check, statement in repairable.items():  # each adds what its check finds, and nothing else
            owner.execute(statement.encode())
            found.add(check)
            assert failing(run("doctor", *app)).keys() - AS_SET_UP == found
        assert run("init", team.owner_url).code == 0
        assert failing(run("doctor", *app)) == {}
        owner.execute("UPDATE schema_migrations SET checksum = 'another'")
        assert failing(run("doctor", *app)).keys() - AS_SET_UP == {"migrations"}


def test_a_schema_of_another_version_and_a_careless_function_are_found(run: Run, team: PostgresEngine) -> None:
    team.mark_altered()
    app = ("--db", team.app_url, "--json")
    with owned(team) as owner:
        owner.execute("CREATE FUNCTION careless() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'")
        assert failing(run("doctor", *app)).keys() - AS_SET_UP == {"functions"}
        owner.execute("DROP FUNCTION careless()")

        owner.execute("INSERT INTO schema_migrations VALUES (999, 'later', '-', '2026-01-01T00:00:00.000Z')")
        assert failing(run("doctor", *app)) == {"schema": "fail"}
        assert run("project", "list", *app).refusal == (7, "store_newer")

        owner.execute("DELETE FROM schema_migrations")
        assert failing(run("doctor", *app)) == {"schema": "fail"}


def test_an_owner_is_told_to_use_the_app_url(run: Run, team: PostgresEngine) -> None:
    assert failing(run("doctor", "--db", team.owner_url, "--json")) == {"role": "fail"}


def test_a_postgresql_database_that_nobody_changed_is_well(run: Run, team: PostgresEngine) -> None:
    assert run("doctor", "--db", team.app_url, "--json").answer["ok"]


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
    with owned(team) as owner:
        owner.execute(change.format(app=team.app_role).encode())

    assert "as set up" in failing(run("doctor", "--db", team.app_url, "--json"))
