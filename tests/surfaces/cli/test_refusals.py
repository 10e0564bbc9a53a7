"""Errors of the program: a sentence, a code, an exit status by family, and no stack trace."""

from __future__ import annotations

import json
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from groundplan.surfaces.cli import program
from tests.surfaces.cli.conftest import Run

# Loopback, and a port that nothing listens on.
NOBODY_THERE = "postgresql://ada@127.0.0.1:1/plan"


@pytest.fixture
def atlas(run: Run) -> None:
    run("project", "create", "atlas")
    run("member", "add", "cleo", "--project", "atlas", "--role", "viewer")


@pytest.mark.usefixtures("atlas")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("project", "create", "  "), (2, "invalid_argument")),
        (("project", "archive", "atals"), (3, "not_found")),
        (("project", "archive", "atlas", "--access", "members", "--person", "mallory"), (3, "not_found")),
        (("project", "list", "--access", "members", "--person", "mallory"), (3, "not_found")),
        (("project", "archive", "atlas", "--access", "members", "--person", "cleo"), (4, "forbidden")),
        (("project", "create", "atlas"), (5, "project_exists")),
        (
            ("member", "remove", "ada", "--project", "atlas"),
            (6, "pciv_scope_members_last_owner_forbidden"),
        ),
        (("project", "list", "--db", NOBODY_THERE), (7, "store_down")),
    ],
)
def test_the_family_of_an_error_decides_the_exit_status(
    run: Run, arguments: tuple[str, ...], expected: tuple[int, str]
) -> None:
    assert run(*arguments, "--json").error == expected


@pytest.mark.usefixtures("atlas")
def test_without_json_an_error_is_one_sentence_with_its_code(run: Run) -> None:
    refused = run("project", "archive", "atals")

    assert refused.err == "error: no project 'atals' here; did you mean 'atlas'? (not_found)\n"
    assert (refused.code, refused.out) == (3, "")


def test_where_roles_decide_nobody_is_not_let_in(run: Run) -> None:
    run("init")

    assert run("project", "list", "--access", "members", "--json").error == (4, "unauthenticated")
    assert run("project", "list", "--access", "open", "--json").code == 0


def test_an_op_id_has_one_effect_and_is_refused_for_another_request(run: Run) -> None:
    first = run("project", "create", "atlas", "--op-id", "1", "--json").answer

    assert run("project", "create", "atlas", "--op-id", "1", "--json").answer == first
    assert run("project", "create", "borea", "--op-id", "1", "--json").error == (5, "op_id_reused")
    assert len(run("project", "list", "--json").answer["projects"]) == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("project", "create", "a\0b"), "control_character"),
        (("project", "create", "atlas", "--goal", "a\0b"), "control_character"),
        (("project", "create", "\udcff"), "invalid_text"),
        (("project", "list", "--agent", "a\0b"), "control_character"),
        (("project", "list", "--agent", " "), "invalid_argument"),
        (("project", "list", "--agent", "x" * 256), "too_long"),
        (("project", "list", "--db", "a\0b"), "config_invalid_value"),
        (("project", "list", "--db", ""), "config_invalid_value"),
        (("project", "list", "--db", ":memory:"), "config_invalid_value"),
        (("project", "list", "--db", "mysql://ada:secret@host/plan"), "config_invalid_value"),
        (("project", "list", "--db", "postgresql://[host/plan"), "config_invalid_value"),
        (("project", "list", "--db", "postgresql://host/plan?sslmod=secret"), "config_invalid_value"),
        (("project", "list", "--config", "a\0b"), "config_missing"),
        (("init", "a\0b"), "config_invalid_value"),
        (("demo", "--db", "a\0b"), "config_invalid_value"),
    ],
)
def test_text_that_no_store_could_keep_is_refused(run: Run, arguments: tuple[str, ...], code: str) -> None:
    refused = run(*arguments, "--json")

    assert refused.error == (2, code)
    assert "secret" not in refused.err


@pytest.mark.parametrize("command", [("project", "list"), ("init",)])
def test_a_path_that_cannot_be_a_database_is_refused_and_left_as_it_was(run: Run, command: tuple[str, ...]) -> None:
    Path("notes.txt").write_text("not a database, and longer than the header of one\n" * 10)
    Path("folder").mkdir()
    with sqlite3.connect("other.db") as other:
        other.execute("CREATE TABLE theirs (x)")
    before = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}

    assert run(*command, "--db", "missing/plan.db", "--json").error == (7, "store_cannot_open")
    assert run(*command, "--db", "folder", "--json").error == (7, "store_cannot_open")
    assert run(*command, "--db", "notes.txt", "--json").error == (7, "store_not_groundplan")
    assert run(*command, "--db", "other.db", "--json").error == (7, "store_not_groundplan")
    assert {name: Path(name).read_bytes() for name in before} == before


def test_a_database_of_a_newer_groundplan_is_not_touched(run: Run) -> None:
    run("init")
    with sqlite3.connect("groundplan.db") as connection:
        connection.execute("PRAGMA user_version = 999")

    assert run("project", "list", "--json").error == (7, "store_newer")


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (("projct",), "project"),
        (("project", "lst"), "list"),
        (("project", "create", "atlas", "--gaol", "x"), "--goal"),
        (("member", "add", "ben", "--projekt", "atlas", "--role", "viewer"), "--project"),
    ],
)
def test_a_slip_in_a_word_is_answered_with_what_was_meant(run: Run, arguments: tuple[str, ...], near: str) -> None:
    refused = run(*arguments, "--json")

    assert refused.error == (2, "usage")
    assert json.loads(refused.err)["error"]["details"]["near"] == near
    assert f"did you mean {near}?" in run(*arguments).err


@pytest.mark.parametrize(
    "arguments",
    [
        ("member", "add", "ben"),
        ("member", "add", "ben", "--project", "atlas", "--role", "king"),
        ("project", "create"),
        ("project", "list", "surplus"),
        ("project", "list", "--access", "everybody"),
        ("project", "list", "--db"),
        ("init", "--app-role", "app"),
        ("--nonsense",),
    ],
)
def test_a_command_line_that_makes_no_sense_is_a_usage_error(run: Run, arguments: tuple[str, ...]) -> None:
    assert run("--json", *arguments).error == (2, "usage")
    refused = run(*arguments)
    assert refused.err.startswith("error: ")
    assert refused.err.endswith("(usage)\n")
    assert refused.err.count("\n") == 1


def test_a_wrong_choice_is_answered_with_the_allowed_ones(run: Run) -> None:
    refused = run("member", "add", "ben", "--project", "atlas", "--role", "king").err

    assert "viewer, editor or owner" in refused


def _defect(*_arguments: object, **_options: object) -> None:
    raise ZeroDivisionError("secret of the inside")


def test_a_defect_shows_a_reference_and_nothing_of_its_cause(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.surfaces.cli.command_settings.load_settings", _defect)

    failed = run("project", "list")

    assert (failed.code, failed.out) == (1, "")
    assert "secret" not in failed.err
    assert "Traceback" not in failed.err
    assert run("project", "list", "--json").error == (1, "unexpected")


def test_the_log_has_the_whole_story_of_a_defect(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.surfaces.cli.command_settings.load_settings", _defect)
    monkeypatch.setenv("GROUNDPLAN_LOG", "groundplan.log")

    failed = run("project", "list", "--json")

    reference = json.loads(failed.err)["error"]["details"]["reference"]
    log = Path("groundplan.log").read_text()
    assert reference in log
    assert "secret of the inside" in log
    assert stat.S_IMODE(Path("groundplan.log").stat().st_mode) == 0o600


@pytest.mark.parametrize("log", ["missing/folder/log", ""])
def test_a_log_that_cannot_be_written_does_not_hide_the_error(
    run: Run, monkeypatch: pytest.MonkeyPatch, log: str
) -> None:
    monkeypatch.setattr("groundplan.surfaces.cli.command_settings.load_settings", _defect)
    monkeypatch.setenv("GROUNDPLAN_LOG", log)

    assert run("project", "list", "--json").error == (1, "unexpected")


def test_ctrl_c_ends_quietly(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("groundplan.surfaces.cli.command_settings.load_settings", interrupted)

    assert run("project", "list") == (130, "", "")


def test_ctrl_c_before_the_command_is_built_ends_quietly(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "run", interrupted)

    assert run("project", "list") == (130, "", "")


def test_a_closed_output_stream_is_no_reason_to_fail(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)

    assert run("init").code == 0
