"""`groundplan demo` shows a filled plan, on a file of its own."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

from groundplan.demo import PROJECTS
from groundplan.surfaces.cli.demo_command import _without_password
from tests.surfaces.cli.conftest import Run


def test_the_demo_has_projects_with_goals_members_with_roles_and_an_archived_one(run: Run) -> None:
    shown = run("demo", "--db", "demo.db", "--json").answer

    assert [(project["name"], bool(project["archived_at"])) for project in shown["projects"]] == [
        ("clean-water", False),
        ("pump-monitor", False),
        ("school-wells-pilot", True),
    ]
    assert all(project["goal"] for project in shown["projects"])
    assert {member["userId"]: member["role"] for member in shown["members"]} == {
        "ada": "owner",
        "ben": "editor",
        "cleo": "viewer",
    }


def test_a_second_demo_on_the_same_file_changes_nothing(run: Run) -> None:
    first = run("demo", "--db", "demo.db", "--json").answer
    run("member", "add", "cleo", "--project", "clean-water", "--role", "owner", "--db", "demo.db")
    before = run("project", "list", "--archived", "--db", "demo.db", "--json").out

    again = run("demo", "--db", "demo.db", "--json").answer

    assert (len(first["made"]), again["made"]) == (3, [])
    assert run("project", "list", "--archived", "--db", "demo.db", "--json").out == before
    assert again["members"][2]["role"] == "owner"
    assert "nothing was changed" in run("demo", "--db", "demo.db").out


def test_a_demo_that_was_cut_short_is_completed(run: Run) -> None:
    run("project", "create", "clean-water", "--db", "demo.db")

    assert len(run("demo", "--db", "demo.db", "--json").answer["members"]) == 3


def test_the_demo_keeps_away_from_the_plan_one_works_with(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GROUNDPLAN_DB", "work.db")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    shown = run("demo", "--json").answer

    assert not Path("work.db").exists()
    assert Path(shown["db"]).parent.parent == tmp_path
    assert run("--db", shown["db"], "doctor").code == 0


def test_the_commands_to_try_next_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("demo", "--db", "demo.db").out

    export, *tried = (line.strip() for line in shown.partition("Try next:\n")[2].splitlines())
    monkeypatch.setenv(*shlex.split(export)[1].split("="))
    codes = [run(*shlex.split(line)[1:]).code for line in tried if not line.startswith("#") and " mcp " not in line]

    assert codes == [0, 0, 0, 4]


def test_the_demo_fits_into_80_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [".venv/bin/groundplan"])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")

    shown = run("demo", "--db", "demo.db").out + run("project", "list", "--archived", "--db", "demo.db").out

    assert max(map(len, shown.splitlines())) <= 80
    whole = [*(project.name for project in PROJECTS), "household", "archived at", "created by"]
    assert all(word in shown for word in whole), "a name was folded"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:secret@host:5/plan?sslmode=require",
        "postgresql://ada@host:5/plan?password=secret&sslmode=require",
        "postgresql://ada@host:5/plan?sslmode=require&sslpassword=secret",
    ],
)
def test_a_password_is_taken_out_of_a_url_wherever_it_stands(url: str) -> None:
    assert _without_password(url) == "postgresql://ada@host:5/plan?sslmode=require"


def test_the_demo_runs_on_postgresql_and_keeps_its_password_off_the_screen(run: Run, owner_url: str) -> None:
    app_url = run("init", owner_url, "--json").answer["app_url"]
    password = app_url.partition("@")[0].rpartition(":")[2]

    shown = run("demo", "--db", app_url)
    data = run("demo", "--db", app_url, "--json")

    assert shown.code == data.code == 0
    assert "school-wells-pilot" in shown.out
    assert password not in shown.out + data.out
    assert json.loads(data.out)["db"].startswith("postgresql://cli_")
