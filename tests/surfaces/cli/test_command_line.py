"""The grammar of the command line: where options stand, what a value may be, and what is answered to a slip."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from groundplan.commands import COMMANDS, NOT_COMMANDS
from groundplan.surfaces.cli.command_line import COMMON_OPTIONS, Command, argument, option, parse_line
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.program import build_command
from tests.standby import Standby
from tests.surfaces.cli.conftest import Run
from tests.surfaces.cli.everyday.test_terminal import on_terminal

EXAMPLE = Command(
    ("paint",),
    parameters=(
        argument("WALL", required=True),
        argument("COLOURS", key="colours", many=True),
        option("--coats", "-c", value="N", type=int, low=1, high=9),
        option("--tag", "-t", value="TAG", many=True),
        option("--finish", value="matt|gloss", choices=("matt", "gloss"), default="matt"),
        option("--wet", off="--no-wet"),
    ),
    common=COMMON_OPTIONS,
)
DEFAULTS = {"colours": None, "coats": None, "tag": None, "finish": "matt", "wet": None}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("north", {}),
        ("north red blue", {"colours": ["red", "blue"]}),
        ("--coats 2 north --json red", {"coats": 2, "colours": ["red"]}),
        ("north -c2 --tag=a -t b", {"coats": 2, "tag": ["a", "b"]}),
        ("north --wet --wet", {"wet": True}),
        ("north --no-wet", {"wet": False}),
        ("north --tag -a", {"tag": ["-a"]}),
        ("north --tag=", {"tag": [""]}),
        ("north -- --wet -- -x", {"colours": ["--wet", "--", "-x"]}),
        ("north - -5 -.5", {"colours": ["-", "-5", "-.5"]}),
    ],
)
def test_options_stand_in_any_place_and_values_are_taken_as_they_are(line: str, expected: dict[str, Any]) -> None:
    assert parse_line(EXAMPLE, line.split()).convert() == {"wall": "north", **DEFAULTS, **expected}


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("", "WALL is missing"),
        ("north --coats", "--coats needs a value, N"),
        ("north --coats --wet", "write --coats=--wet"),
        ("north --coats two", "--coats must be a whole number from 1 to 9, not 'two'"),
        ("north --coats 10", "--coats must be a whole number from 1 to 9, not '10'"),
        ("north --coats 1 --coats 2", "--coats is given twice"),
        ("north -c 1 --coats=1", "--coats is given twice"),
        ("north --wet --no-wet", "--no-wet is given twice"),
        ("north --wet=yes", "--wet takes no value"),
        ("north --finish glos", "did you mean gloss?"),
        ("north --finish=", "--finish must be matt or gloss"),
        ("north --cots 1", "did you mean --coats?"),
        ("north --unheard", "a value that begins with a dash stands after --"),
    ],
)
def test_a_line_that_makes_no_sense_is_answered_with_what_to_write(line: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_line(EXAMPLE, line.split()).convert()

    assert hint in str(refused.value)
    assert "paint --help" in str(refused.value)


def test_a_command_without_a_list_refuses_what_is_too_much() -> None:
    with pytest.raises(UsageError, match="paint does not take 'blue'"):
        parse_line(EXAMPLE._replace(parameters=(argument("WALL", required=True),)), ["north", "blue"])


def test_no_option_looks_like_a_negative_number() -> None:
    names = {name for entry in COMMANDS for one in build_command(entry).options for name in one.names}
    assert not [name for name in names if name.lstrip("-")[:1].isdigit()]


def test_every_option_for_the_project_has_the_same_short_form() -> None:
    options = [(entry.words, one.names) for entry in COMMANDS for one in build_command(entry).options]
    assert not [words for words, names in options if "--project" in names and "-P" not in names]


def test_a_word_that_is_also_a_title_is_the_word_first_and_then_the_title(run: Run) -> None:
    run("project", "create", "atlas")
    assert run("add", "next").code == 0
    assert run("add", "--", "--json").code == 0

    assert [line.split("  ")[1] for line in run("ls").out.splitlines()] == ["next", "--json"]
    assert run("show", "next").code == 0


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("projct",), "project"),
        (("nxt",), "next"),
        (("publish",), "purpose publish"),
        (("purpose", "publsh"), "publish"),
        (("hydrate",), "context hydrate"),
        (("project", "list", "--jsn"), "--json"),
        (("ls", "--lmit", "3"), "--limit"),
        (("ls", "opne"), "open"),
    ],
)
def test_a_slip_is_answered_with_what_was_probably_meant(run: Run, words: tuple[str, ...], near: str) -> None:
    refused = run(*words, "--json")

    assert refused.error == (2, "usage")
    assert json.loads(refused.err)["error"]["details"]["near"] == near


def test_an_earlier_word_and_one_of_another_tool_lead_to_the_right_one(run: Run) -> None:
    for words in NOT_COMMANDS:
        refused = run(*words.split(), "--json")
        assert refused.error == (2, "usage"), words
        assert NOT_COMMANDS[words] in json.loads(refused.err)["error"]["message"]


# --- Odd surroundings -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--db=", "--org=", "--agent=", "--access=", "--config=", "--project="])
def test_an_empty_value_of_a_common_option_is_refused_with_a_reason(run: Run, option: str) -> None:
    run("project", "create", "atlas")

    refused = run("ls", option, "--json")
    assert refused.code == 2
    assert json.loads(refused.err)["error"]["message"]


@pytest.mark.parametrize(
    "words", [("op", "project.create", "-"), ("work", "plan", "--project", "atlas", "--nodes", "-")]
)
def test_two_megabytes_on_standard_input_are_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    text = json.dumps({"name": "x" * 2_000_000}).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))

    assert run(*words, "--json").error == (2, "too_large")
    assert list(Path().iterdir()) == []


def test_without_a_home_a_word_works_and_only_forgets_the_last_task(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("project", "create", "atlas")
    for variable in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as where the account has no folder

    assert run("add", "First").code == 0
    assert run("ls").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("help",), ("ls", "--help"), ("ls",), ("board",), ("tree",), ("where",)])
def test_a_terminal_of_twenty_columns_gets_whole_lines(run: Run, program: Standby, words: tuple[str, ...]) -> None:
    run("project", "create", "atlas")
    run("add", "Draw the whole coast of the island")

    with on_terminal(program, *words, "--no-pager", columns=20) as terminal:
        assert terminal.read_all()
        assert terminal.process.returncode == 0


# --- op ---------------------------------------------------------------------------------------------------------------


def test_op_calls_any_operation_and_answers_json(run: Run) -> None:
    made = run("op", "project.create", '{"name": "atlas"}')
    assert made.answer["project"]["name"] == "atlas"
    listed = run("project", "list", "--json").out
    assert run("op", "project.list", "--json").out == run("op", "project.list").out == listed
    assert run("op", "briefing.serving", '{"project": "atlas"}').answer == {"served": []}


def test_op_takes_its_arguments_from_a_file(run: Run) -> None:
    Path("made.json").write_text('{"name": "atlas"}', encoding="utf-8")

    assert run("op", "project.create", "@made.json").answer["project"]["name"] == "atlas"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("work.nxt",), (2, "usage")),
        (("project.create", "{"), (2, "invalid_json")),
        (("project.create", "[]"), (2, "invalid_argument")),
        (("project.create", '{"nam": "x"}'), (2, "unknown_argument")),
        (("project.list",), (7, "store_missing")),
        ((), (2, "usage")),
    ],
)
def test_a_wrong_call_says_what_is_wrong_and_creates_nothing(
    run: Run, words: tuple[str, ...], error: tuple[int, str]
) -> None:
    assert run("op", *words, "--json").error == error
