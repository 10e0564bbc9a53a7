"""`groundplan purpose compliance --code`: files and folders are checked, within limits, without a project."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from groundplan.surfaces.cli.purpose import compliance, source_files
from tests.surfaces.cli.conftest import Run

PARENT = "parent_id"
FORBIDDEN = f"CREATE TABLE toc_nodes (\n  tenant_id int,\n  {PARENT} int\n);\n"
FINE = "CREATE TABLE toc_nodes (tenant_id int);\n"


def write(path: str, text: str = FORBIDDEN) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
    return path


def test_a_forbidden_pattern_ends_with_status_6_and_names_file_line_and_section(run: Run) -> None:
    write("db/001.sql")

    ended = run("purpose", "compliance", "--code", "db")

    assert ended.code == 6
    first, action, *_, last = ended.out.splitlines()
    assert first.startswith("db/001.sql:3: block: ")
    assert first.endswith("(section 1, Graph Model Verification)")
    assert action.startswith("  Connect nodes by rows of toc_edges")
    assert last == "BLOCKED: 1 blocked, 0 warnings in 1 file."
    assert not Path("groundplan.db").exists()


def test_json_has_the_findings_and_the_same_status(run: Run) -> None:
    write("db/001.sql")

    ended = run("purpose", "compliance", "--code", "db", "--json")

    answer = json.loads(ended.out)
    (finding,) = answer.pop("findings")
    assert ended.code == 6
    assert answer == {"status": "BLOCKED", "files": 1, "blocked": 1, "warnings": 0, "skipped": []}
    assert {key: finding[key] for key in ("file", "line", "severity", "rule", "section", "title")} == {
        "file": "db/001.sql",
        "line": 3,
        "severity": "block",
        "rule": "parent_id",
        "section": 1,
        "title": "Graph Model Verification",
    }


def test_warnings_alone_are_approved(run: Run) -> None:
    write("menus.sql", f"CREATE TABLE menus ({PARENT} int);")

    answer = run("purpose", "compliance", "--code", "menus.sql", "--json").answer

    assert (answer["status"], answer["warnings"]) == ("APPROVED", 1)


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

    assert run("purpose", "compliance", "--code", "db", "--json").answer["files"] == 0
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
    monkeypatch.setattr(source_files, "FILE_BYTES_MAX", len(FORBIDDEN))
    write("db/large.sql", FORBIDDEN + " ")
    Path("db/binary.sql").write_bytes(b"\0" + FORBIDDEN.encode())
    os.mkfifo("db/pipe.sql")

    ended = run("purpose", "compliance", "--code", "db")

    assert ended.code == 0
    assert ended.out.splitlines()[-5:] == [
        "Not checked:",
        "  db/binary.sql is binary",
        f"  db/large.sql is larger than {len(FORBIDDEN)} bytes",
        "  db/pipe.sql is not a regular file",
        "APPROVED: 0 blocked, 0 warnings in 0 files.",
    ]


def test_bytes_that_are_no_utf8_do_not_hide_what_stands_beside_them(run: Run) -> None:
    Path("latin.sql").write_bytes(b"-- caf\xe9\n" + FORBIDDEN.encode())

    assert run("purpose", "compliance", "--code", "latin.sql").code == 6


def test_code_of_others_and_hidden_folders_are_not_looked_at(run: Run) -> None:
    for folder in ("node_modules/a", ".git", "venv"):
        write(f"{folder}/x.sql")

    assert run("purpose", "compliance", "--code", ".", "--json").answer["files"] == 0


def test_more_files_than_the_limit_are_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_files, "FILES_MAX", 1)
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
        ('{"kind": "publish"}',),
        ("--project", "atlas"),
        ("--project", "atlas", "{}", "{}"),
    ],
)
def test_what_makes_no_sense_together_is_a_usage_error(run: Run, arguments: tuple[str, ...]) -> None:
    assert run("purpose", "compliance", *arguments, "--json").error == (2, "usage")
