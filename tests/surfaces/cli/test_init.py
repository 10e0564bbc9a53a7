"""`groundplan init` creates a database and prints the next steps."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

import psycopg
import pytest

from groundplan.kernel.store.migrations import Dialect, load_migrations
from groundplan.migrations import get_latest_version
from groundplan.skills import SKILL_NAMES
from tests.engines import PostgresEngine
from tests.surfaces.cli.conftest import Run


@pytest.fixture
def _copied_migrations() -> None:
    """Migrate every new file, because `init` promises that."""


def test_a_new_file_is_ready_and_open_to_its_owner_only(run: Run) -> None:
    umask = os.umask(0)
    try:
        made = run("init", "--json")
    finally:
        os.umask(umask)

    assert made.answer == {
        "db": "groundplan.db",
        "created": True,
        "mode": "0600",
        "schema": get_latest_version(),
    }
    assert {stat.S_IMODE(path.stat().st_mode) for path in Path().iterdir()} == {0o600}


def test_init_again_changes_nothing(run: Run) -> None:
    run("init")
    run("project", "create", "atlas")

    assert run("init", "--json").answer["created"] is False
    assert len(run("project", "list", "--json").answer["projects"]) == 1
    assert "up to date" in run("init").out


def test_init_takes_the_path_as_an_argument_too_and_prints_commands_that_work(run: Run) -> None:
    shown = run("init", "my plan.db").out

    assert Path("my plan.db").exists()
    (create,) = [line for line in shown.splitlines() if "project create" in line]
    assert run(*shlex.split(create)[1:]).code == 0
    assert len(run("--db", "my plan.db", "project", "list", "--json").answer["projects"]) == 1


def test_init_leaves_a_wide_mode_alone_but_says_so(run: Run) -> None:
    run("init")
    Path("groundplan.db").chmod(0o644)

    assert "groundplan doctor" in run("init").out
    assert run("init", "--json").answer["mode"] == "0644"


def test_init_on_postgresql_prints_an_app_url_that_works(run: Run, owner_url: str) -> None:
    made = run("init", "--db", owner_url, "--json").answer
    assert made["role_is_new"] is True
    assert (made["steps_taken"], made["schema"]) == (len(load_migrations(Dialect.POSTGRES)), get_latest_version())

    app = ("--db", made["app_url"])
    assert run("project", "create", "atlas", *app, "--json").answer["project"]["role"] == "owner"
    assert "atlas" in run("project", "list", *app).out
    assert run("doctor", *app).code == 0
    assert run("project", "list", "--db", owner_url, "--json").error == (7, "store_unsafe_role")


def test_on_postgresql_stored_roles_decide_and_who_runs_init_administers(run: Run, owner_url: str) -> None:
    made = run("init", "--db", owner_url, "--json").answer
    assert made["administrator"] == "ada"
    app = ("--db", made["app_url"], "--json")
    run("project", "create", "atlas", *app)

    refused = run("project", "create", "borealis", *app, "--person", "mallory")
    assert refused.error == (3, "not_found")
    assert "--access open" in refused.err
    assert run("work", "next", "--project", "atlas", *app, "--person", "mallory").error == (3, "not_found")

    run("org", "member", "add", "mallory", *app)
    assert run("project", "create", "borealis", *app, "--person", "mallory").answer["project"]["role"] == "owner"
    assert "--access open" not in run("work", "next", "--project", "atlas", *app, "--person", "mallory").err
    assert run("project", "create", "corvus", *app, "--person", "zoe", "--access", "open").code == 0


def test_people_of_a_postgresql_store_from_before_stored_roles_decided_keep_what_they_made(
    run: Run, team: PostgresEngine
) -> None:
    app = ("--db", team.app_url, "--json")
    run("project", "create", "atlas", *app, "--access", "open")

    assert run("project", "list", *app).answer["projects"][0]["role"] == "owner"
    assert run("project", "list", *app, "--person", "ben").error == (3, "not_found")
    assert run("org", "member", "add", "ben", *app).error == (4, "administrator_required")

    assert run("init", team.owner_url, "--json").answer["administrator"] == "ada"

    assert run("org", "member", "add", "ben", *app).code == 0
    assert run("project", "list", *app, "--person", "ben").answer["projects"] == []


def test_init_says_why_its_caller_cannot_administer(run: Run, team: PostgresEngine) -> None:
    run("org", "member", "add", "ada", "--kind", "agent", "--db", team.app_url, "--access", "open", "--person", "ben")

    made = run("init", team.owner_url)

    assert made.code == 0
    assert "ada was not made an administrator of organization local: the name 'ada' is that of an agent" in made.out


def test_init_again_on_postgresql_keeps_the_password_and_does_not_pretend_to_know_it(
    run: Run, team: PostgresEngine
) -> None:
    team.mark_altered()
    again = run("init", team.owner_url, "--json").answer

    assert (again["role_is_new"], again["steps_taken"]) == (False, 0)
    assert psycopg.conninfo.conninfo_to_dict(again["app_url"]).get("password") is None
    assert "existed already and keeps its password" in run("init", team.owner_url).out
    assert run("project", "list", "--db", team.app_url).code == 0


def test_the_app_role_can_be_named(run: Run, owner_url: str, worker: str) -> None:
    role = f"cli_{worker}_Other Role"

    shown = run("init", owner_url, "--app-role", role)

    (url,) = [line for line in shown.out.splitlines() if line.startswith("postgresql://")]
    assert "shown only once" in shown.out
    assert psycopg.conninfo.conninfo_to_dict(url)["user"] == role
    assert run("project", "list", "--db", url).code == 0


def test_the_app_role_may_not_set_up(run: Run, team: PostgresEngine) -> None:
    assert run("init", team.app_url, "--json").error == (4, "forbidden")


@pytest.mark.parametrize("role", ["", "x" * 64])
def test_a_role_name_that_postgresql_would_cut_is_refused(run: Run, role: str) -> None:
    refused = run("init", "postgresql://127.0.0.1:1/plan", "--app-role", role, "--json")

    assert refused.error == (2, "usage")


def test_a_database_that_nobody_set_up_says_so(run: Run, owner_url: str, worker: str) -> None:
    role = f"cli_{worker}_stranger"
    with psycopg.connect(owner_url, autocommit=True) as owner:
        owner.execute(psycopg.sql.SQL("CREATE ROLE {} LOGIN").format(psycopg.sql.Identifier(role)))
    url = owner_url.replace("postgres@", f"{role}@")

    assert run("project", "list", "--db", url, "--json").error == (7, "store_not_groundplan")
    assert run("doctor", "--db", url).code == 7


def test_a_lost_password_is_replaced_by_a_new_one(run: Run, owner_url: str) -> None:
    def stored(role: str) -> object:
        with psycopg.connect(owner_url) as owner:
            return owner.execute("SELECT rolpassword FROM pg_authid WHERE rolname = %s", (role,)).fetchone()

    first = run("init", owner_url, "--json").answer
    before = stored(first["app_role"])

    again = run("init", owner_url, "--new-password", "--json").answer

    assert again["role_is_new"] is False
    assert psycopg.conninfo.conninfo_to_dict(again["app_url"])["password"]
    assert stored(first["app_role"]) != before
    assert "shown only once" in run("init", owner_url, "--new-password").out


def test_a_role_that_could_step_around_the_policies_is_not_taken_as_app_role(run: Run, owner_url: str) -> None:
    assert run("init", owner_url, "--app-role", "postgres", "--json").error == (2, "unsafe_app_role")
    with psycopg.connect(owner_url) as owner:
        assert owner.execute("SELECT to_regnamespace('groundplan')").fetchone() == (None,)


def test_options_of_postgresql_are_refused_for_a_file(run: Run) -> None:
    assert run("init", "--new-password", "--json").error == (2, "usage")


def test_init_again_serves_the_same_role_and_says_when_another_one_is_to_serve(
    run: Run, owner_url: str, worker: str
) -> None:
    first = run("init", owner_url, "--app-role", f"cli_{worker}_team", "--json").answer

    assert run("init", owner_url, "--json").answer["app_role"] == first["app_role"]
    switched = run("init", owner_url, "--app-role", f"cli_{worker}_other")
    assert f"Role cli_{worker}_team, which was used until now, has lost its access" in switched.out


def test_init_puts_the_skills_in_place_beside_the_database(run: Run) -> None:
    made = run("init", "--skills", ".claude/skills", "--json").answer

    assert made["created"] is True
    written = made["skills"]["written"]
    assert written == [f"{name}/SKILL.md" for name in SKILL_NAMES]
    assert all(Path(".claude/skills", path).read_text(encoding="utf-8").startswith("---\nname: ") for path in written)
    assert run("init", "--skills", ".claude/skills", "--json").answer["skills"] == {
        "written": [],
        "unchanged": written,
        "kept": [],
    }


def test_init_keeps_a_skill_that_somebody_edited_and_says_so(run: Run) -> None:
    (first, *_) = run("init", "--skills", "skills", "--json").answer["skills"]["written"]
    Path("skills", first).write_text("mine", encoding="utf-8")

    again = run("init", "--skills", "skills")

    assert again.code == 0
    assert "up to date" in again.out
    assert f"  {first} was not written by Groundplan, so it was not changed" in again.out
    assert Path("skills", first).read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("directory", ["", "file"])
def test_skills_need_a_directory_and_without_one_no_database_is_made(run: Run, directory: str) -> None:
    Path("file").write_text("", encoding="utf-8")

    assert run("init", "--skills", directory, "--json").error == (2, "usage")
    assert not Path("groundplan.db").exists()
