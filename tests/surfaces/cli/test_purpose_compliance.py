"""`groundplan purpose compliance --code`: files and folders are checked, within limits, without a project."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from groundplan.surfaces.cli.purpose import compliance
from tests.surfaces.cli.conftest import Run

PARENT = "parent_id"
FORBIDDEN = f"CREATE TABLE toc_nodes (\n  tenant_id int,\n  {PARENT} int\n);\n"
FINE = "CREATE TABLE toc_nodes (tenant_id int);\n"


def write(path: str, text: str = FORBIDDEN) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
    return path


def test_a_forbidden_pattern_ends_with_status_6_and_names_file_line_and_rule(run: Run) -> None:
    write("db/001.sql")

    ended = run("purpose", "compliance", "--code", "db")

    assert ended.code == 6
    first, *_, last = ended.out.splitlines()
    assert first.startswith("db/001.sql:3: BLOCKED: Build Rule 2: ")
    assert "Connect nodes by rows of toc_edges" in first
    assert last == "BLOCKED: 1 blocked, 0 to look at, in 1 file."
    assert not Path("groundplan.db").exists()


def test_json_has_the_findings_and_the_same_status(run: Run) -> None:
    write("db/001.sql")

    ended = run("purpose", "compliance", "--code", "db", "--json")

    answer = json.loads(ended.out)
    (finding,) = answer.pop("findings")
    assert ended.code == 6
    assert answer == {"status": "BLOCKED", "files": 1, "blocked": 1, "look": 0, "skipped": []}
    assert finding.pop("text").startswith("Build Rule 2: ")
    assert finding == {"path": "db/001.sql", "line": 3, "verdict": "BLOCKED", "rule": "parent_id"}


def test_what_a_person_has_to_look_at_ends_with_status_0_and_with_strict_with_6(run: Run) -> None:
    write("read.sql", "SELECT id FROM toc_nodes;\n")

    ended = run("purpose", "compliance", "--code", "read.sql", "--json")
    strict = run("purpose", "compliance", "--code", "read.sql", "--strict", "--json")

    assert (ended.code, strict.code) == (0, 6)
    assert ended.out == strict.out
    answer = json.loads(ended.out)
    assert (answer["status"], answer["blocked"], answer["look"]) == ("LOOK", 0, 1)
    write("read.sql", "SELECT id FROM toc_nodes WHERE tenant_id = 1;\n")
    assert run("purpose", "compliance", "--code", "read.sql", "--strict").code == 0


def test_several_paths_are_taken_as_a_shell_expands_them_and_no_file_is_checked_twice(run: Run) -> None:
    one, two = write("db/1.sql"), write("db/2.sql", FINE)
    write("src/model.py", FINE)

    files = [
        run("purpose", "compliance", "--code", *paths, "--json").out
        for paths in ([one, two], [one, "--code", two], ["db", one, "./db/2.sql"], ["db", "src"])
    ]

    assert [json.loads(out)["files"] for out in files] == [2, 2, 2, 3]


def test_a_named_file_is_checked_whatever_it_is_called_and_in_a_folder_only_sources_are(run: Run) -> None:
    write("db/schema.txt")
    write("db/fine.sql", FINE)

    assert run("purpose", "compliance", "--code", "db", "--json").answer["files"] == 1
    assert run("purpose", "compliance", "--code", "db/schema.txt").code == 6


def test_links_below_a_folder_are_not_followed(run: Run, tmp_path: Path) -> None:
    outside = write(str(tmp_path.parent / f"{tmp_path.name}-outside" / "secret.sql"))
    write("db/1.sql", FINE)
    Path("db/link.sql").symlink_to(outside)
    Path("db/folder").symlink_to(Path(outside).parent)

    answer = run("purpose", "compliance", "--code", "db", "--json").answer

    assert answer["files"] == 1
    assert answer["skipped"] == [{"file": "db/link.sql", "reason": "is a symbolic link, which is not followed"}]


def test_binary_large_and_special_files_are_skipped_and_listed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compliance, "FILE_BYTES_MAX", len(FORBIDDEN))
    write("db/large.sql", FORBIDDEN + " ")
    Path("db/binary.sql").write_bytes(b"\0" + FORBIDDEN.encode())
    os.mkfifo("db/pipe.sql")
    write("db/fine.sql", FINE)

    ended = run("purpose", "compliance", "--code", "db")

    assert ended.code == 0
    assert ended.out.splitlines()[-5:] == [
        "Not checked:",
        "  db/binary.sql is binary",
        f"  db/large.sql is larger than {len(FORBIDDEN)} bytes",
        "  db/pipe.sql is not a regular file",
        "APPROVED: 0 blocked, 0 to look at, in 1 file.",
    ]


def test_bytes_that_are_no_utf8_do_not_hide_what_stands_beside_them(run: Run) -> None:
    Path("latin.sql").write_bytes(b"-- caf\xe9\n" + FORBIDDEN.encode())

    assert run("purpose", "compliance", "--code", "latin.sql").code == 6


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_a_file_with_a_byte_order_mark_is_read_in_its_encoding(run: Run, encoding: str) -> None:
    mark = "\ufeff" if encoding.endswith("e") else ""  # the codecs of the other names write it themselves
    Path("schema").write_bytes((mark + FORBIDDEN).encode(encoding))

    ended = run("purpose", "compliance", "--code", "schema")

    assert (ended.code, ended.out.partition(" ")[0]) == (6, "schema:3:")


def test_nothing_to_check_is_not_an_approval(run: Run) -> None:
    Path("empty").mkdir()
    write("texts/readme.txt")

    ended = run("purpose", "compliance", "--code", "empty", "texts")

    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "error: nothing was checked: no SQL or source file in empty, no SQL or source file in texts; "
        "name a file, or another folder (not_checked)\n"
    )


def test_a_folder_of_which_nothing_can_be_read_is_not_approved(run: Run) -> None:
    write("db/1.sql", "\0")

    ended = run("purpose", "compliance", "--code", "db", "--json")

    assert ended.error == (2, "not_checked")
    details = json.loads(ended.err)["error"]["details"]
    assert details == {"files": 0, "skipped": [{"file": "db/1.sql", "reason": "is binary"}]}


def test_a_named_file_that_cannot_be_checked_is_refused_with_the_next_step(run: Run) -> None:
    Path("u16.sql").write_bytes(FORBIDDEN.encode("utf-16-le"))
    write("db/fine.sql", FINE)
    write("db/skipped.sql", "\0")

    ended = run("purpose", "compliance", "--code", "db", "u16.sql")

    assert ended.code == 2
    assert ended.err == (
        "error: not everything was checked: u16.sql is binary; "
        "save it as UTF-8 text of at most 8388608 bytes, or leave it out (not_checked)\n"
    )
    assert run("purpose", "compliance", "--code", "db", "db/skipped.sql", "--json").error == (2, "not_checked")
    assert run("purpose", "compliance", "--code", "db").code == 0


def test_what_is_blocked_is_shown_even_if_a_named_file_cannot_be_checked(run: Run) -> None:
    write("1.sql")
    write("2.sql", "\0")

    ended = run("purpose", "compliance", "--code", "1.sql", "2.sql")

    assert ended.code == 6
    assert ended.out.splitlines()[-3:] == [
        "Not checked:",
        "  2.sql is binary",
        "BLOCKED: 1 blocked, 0 to look at, in 1 file.",
    ]


def test_a_refusal_names_three_files_and_counts_the_others(run: Run) -> None:
    for number in range(5):
        write(f"db/{number}.sql", "\0")

    assert "db/2.sql is binary and 2 more; save it" in run("purpose", "compliance", "--code", "db").err


def test_code_of_others_and_hidden_folders_are_not_looked_at(run: Run) -> None:
    for folder in ("node_modules/a", ".git", "venv"):
        write(f"{folder}/x.sql")
    write("db/fine.sql", FINE)

    assert run("purpose", "compliance", "--code", ".", "--json").answer["files"] == 1


def test_more_files_than_the_limit_are_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compliance, "FILES_MAX", 1)
    write("db/1.sql")
    write("db/2.sql")

    assert run("purpose", "compliance", "--code", "db", "--json").error == (2, "usage")


def test_more_findings_than_the_limit_are_counted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compliance, "FINDINGS_MAX", 1)
    write("db/1.sql", FORBIDDEN + FORBIDDEN)

    answer = json.loads(run("purpose", "compliance", "--code", "db", "--json").out)

    assert (answer["blocked"], len(answer["findings"]), answer["left_out"]) == (2, 1, {"findings": 1})


@pytest.mark.parametrize(
    "arguments",
    [
        ("--code", "missing"),
        ("--code", "a\0b"),
        ("--code", ".", "--project", "atlas"),
        ("{}", "--strict"),
        ("--project", "atlas"),
        ("--project", "atlas", "{}", "{}"),
    ],
)
def test_what_makes_no_sense_together_is_a_usage_error(run: Run, arguments: tuple[str, ...]) -> None:
    assert run("purpose", "compliance", *arguments, "--json").error == (2, "usage")
