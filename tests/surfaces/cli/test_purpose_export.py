"""`purpose export` on the command line: files byte for byte, and the help about formats."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import get_args

import pytest

from groundplan.purpose.exchange.export import ExportFormat
from groundplan.purpose.exchange.formats import FORMATS, READABLE, WRITABLE, FileFormat, ImportFormat
from tests.standby import Standby
from tests.surfaces.cli.conftest import Run
from tests.surfaces.cli.theory_files import THEORY, FileCommands, collapse_spaces, plan_without_theory, write_file

LEFT_OUT_OF_IATI = "left out of the file, because IATI results need an indicator: G1, OP1, AC1"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plan_without_theory(tmp_path_factory.mktemp("plan"))


@pytest.fixture
def files(run: Run, plan: Path) -> FileCommands:
    return FileCommands(run, plan)


def test_the_name_of_the_file_tells_the_format_and_the_answer_says_what_was_written(files: FileCommands) -> None:
    files.begin()
    for one in WRITABLE:
        out = f"theory{FORMATS[one].suffix}".upper()

        told = files.answer("export", "--out", out)

        raw = Path(out).read_bytes()
        assert told.pop("warnings", None) == ([LEFT_OUT_OF_IATI] if one == "iati" else None)
        assert told == {"file": out, "format": one, "version": 1, "bytes": len(raw)}
        assert raw.endswith(b"\n")
    assert b"flowchart" in Path("THEORY.MMD").read_bytes()
    assert json.loads(Path("THEORY.JSON").read_text(encoding="utf-8")) == THEORY
    assert (
        files("export", "--out", "a.json").out
        == f"Wrote a.json: v1 as json, {len(Path('a.json').read_bytes())} bytes.\n"
    )


def test_an_iati_file_is_told_apart_from_what_is_not_in_it(files: FileCommands) -> None:
    files.begin()

    printed = files("export", "--format", "iati")
    assert files("export", "--out", "a.xml").out.endswith(f"\nWarnings:\n  {LEFT_OUT_OF_IATI}\n")
    assert printed.out == Path("a.xml").read_text(encoding="utf-8")
    assert printed.err == f"warning: {LEFT_OUT_OF_IATI}\n"
    assert files.answer("export", "--format", "iati")["warnings"] == [LEFT_OUT_OF_IATI]


@pytest.mark.slow
def test_a_pipe_gets_the_very_bytes_of_the_file(files: FileCommands, program: Standby, tmp_path: Path) -> None:
    files.begin()
    for one in ("json", "csv", "svg"):
        assert files("export", "--format", one, "--out", f"whole.{one}").code == 0
        words = ("purpose", "export", "--project", "atlas", "--format", one)
        printed = subprocess.run((program.command, *words), capture_output=True, check=True, cwd=tmp_path).stdout
        assert printed == Path(f"whole.{one}").read_bytes()
        assert "\u202e".encode() in printed
    assert b"\r\n" in Path("whole.csv").read_bytes()


@pytest.mark.slow
def test_who_stops_reading_is_not_complained_to(files: FileCommands, program: Standby, tmp_path: Path) -> None:
    files.begin()
    script = f"{program.command} purpose export --project atlas --format svg | true"

    ended = subprocess.run(("sh", "-c", script), capture_output=True, check=True, cwd=tmp_path)

    assert (ended.stdout, ended.stderr) == (b"", b"")


def test_a_terminal_is_shown_what_is_not_printable_and_no_carriage_returns(
    files: FileCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.begin()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)

    shown = files("export", "--format", "csv").out

    assert "[bold]A \\u202ewell" in shown
    assert "\u202e" not in shown
    assert "\r" not in shown
    assert "u000d" not in shown


def test_json_carries_the_whole_file(files: FileCommands) -> None:
    files.begin()

    told = files.answer("export", "--format", "json")

    assert (told["format"], told["version"], json.loads(told["content"])) == ("json", 1, THEORY)


def test_a_version_is_meant_by_its_number_or_by_what_it_is(files: FileCommands) -> None:
    files.begin()
    files.call("purpose.publish")
    files.call("purpose.draft")
    files.call("purpose.edit", operations=[{"op": "update_node", "node": "G1", "title": "Health"}])

    def goal(*words: str) -> tuple[int, str]:
        told = files.answer("export", "--format", "json", *words)
        return told["version"], json.loads(told["content"])["nodes"][0]["title"]

    assert goal("--draft") == goal("--version", "draft") == goal("--version", "2") == (2, "Health")
    assert goal() == goal("--version", "published") == goal("--version", "1") == (1, "Healthy people")
    assert files("export", "--format", "json", "--draft", "--version", "1", "--json").error == (2, "usage")
    assert files("export", "--format", "json", "--version", "9", "--json").error == (3, "not_found")
    assert files("export", "--format", "json", "--version", "last", "--json").error == (3, "not_found")


def test_a_format_that_nothing_tells_is_asked_for_and_the_formats_are_listed(files: FileCommands) -> None:
    files.begin()
    refused = [
        files("export", *words, "--json")
        for words in ((), ("--out", "theory"), ("--out", "theory.txt"), ("--out", "t.xmpz2"), ("--format", "xmpz2"))
    ]

    assert {one.error for one in refused} == {(2, "usage")}
    assert all(name in one.err for one in refused for name in WRITABLE)
    assert "can only be imported" in refused[3].err
    assert not [*Path().glob("t*")]


def test_a_file_that_is_there_is_written_over_only_by_force(files: FileCommands) -> None:
    files.begin()
    write_file("mine.json", "mine")

    assert files("export", "--out", "mine.json", "--json").error == (2, "usage")
    assert Path("mine.json").read_text(encoding="utf-8") == "mine"
    assert files("export", "--out", "no/such/folder.json", "--json").error == (2, "usage")
    assert files("export", "--out", "a\x00b.json", "--json").error == (2, "usage")
    assert files("export", "--out", "mine.json", "--force").code == 0
    assert json.loads(Path("mine.json").read_text(encoding="utf-8")) == THEORY


def test_a_file_that_appears_meanwhile_is_not_written_over(
    files: FileCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.begin()
    write_file("mine.json", "mine")
    monkeypatch.setattr("groundplan.surfaces.cli.purpose.theory_files.refuse_existing", lambda _out, *, force: None)

    assert files("export", "--out", "mine.json", "--json").error == (2, "usage")
    assert Path("mine.json").read_text(encoding="utf-8") == "mine"


def test_what_cannot_be_exported_leaves_no_file(files: FileCommands, run: Run) -> None:
    assert files("export", "--out", "none.json", "--json").error == (3, "not_found")
    elsewhere = ("purpose", "export", "--project", "atlas", "--out", "none.json", "--db", "no.db", "--json")
    assert run(*elsewhere).error == (7, "store_missing")
    assert not [*Path().glob("no*")]


@pytest.mark.parametrize(("word", "formats"), [("export", WRITABLE), ("import", READABLE)])
def test_help_says_of_every_format_what_it_keeps_and_loses_in_80_columns(
    files: FileCommands, monkeypatch: pytest.MonkeyPatch, word: str, formats: tuple[FileFormat, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    shown = files.run("purpose", word, "--help").out

    said = collapse_spaces(shown)
    for one in formats:
        about = FORMATS[one]
        keeps, loses = collapse_spaces(about.keeps), collapse_spaces(about.loses)
        assert f"{one} {about.description} ({about.suffix}) keeps {keeps} loses {loses}" in said
    assert max(map(len, shown.splitlines())) <= 80
    summary = collapse_spaces(files.run("purpose", "--help").out.replace("│", ""))
    assert "keeps" not in summary


def test_the_formats_one_may_say_are_those_of_the_table() -> None:
    assert get_args(ExportFormat) == WRITABLE
    assert get_args(ImportFormat) == READABLE
