"""Odd repositories and damaged files as people have them: a clear sentence, nothing overwritten, nothing half done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from groundplan.exchange.texts import FILE_BYTES_MAX
from tests.exchange.beads_files import issue
from tests.repository.working_copy import WorkingCopy
from tests.surfaces.cli.conftest import Run

LINE = json.dumps(issue("isle-a", title="Draw the harbour"))


@pytest.fixture
def found_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands look for the plan, as people do."""
    monkeypatch.delenv("GROUNDPLAN_DB")


@pytest.mark.usefixtures("found_plans")
def test_a_repository_without_commits_gets_a_plan_and_a_check_says_what_is_missing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    WorkingCopy(tmp_path / "new")
    monkeypatch.chdir(tmp_path / "new")

    assert run("init", "--hook").code == 0
    assert run("add", "First").code == 0
    refused = run("knowledge", "check")
    assert refused.code != 0
    assert "no commit" in refused.err


@pytest.mark.usefixtures("found_plans")
def test_a_submodule_uses_the_plan_above_and_makes_its_own_only_if_told(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, copy = WorkingCopy(tmp_path / "library"), WorkingCopy(tmp_path / "app")
    library.commit({"a.txt": "a"})
    copy.commit({"b.txt": "b"})
    copy.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.folder), "lib")
    monkeypatch.chdir(copy.folder)
    run("init")
    run("add", "Above")
    monkeypatch.chdir(copy.folder / "lib")

    run("init")
    assert "Above" in run("ls").out
    assert not (copy.folder / "lib" / ".groundplan").exists()
    assert run("init", "--own").code == 0
    assert "Above" not in run("ls").out


@pytest.mark.usefixtures("found_plans")
def test_of_two_plans_above_each_other_the_nearest_counts_and_where_names_the_other(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (tmp_path / "app", tmp_path / "app" / "part"):
        WorkingCopy(folder)
        monkeypatch.chdir(folder)
        assert run("init", "--own").code == 0
    run("add", "Inner")

    assert f"not used here: {tmp_path / 'app' / '.groundplan'}" in run("where").out
    monkeypatch.chdir(tmp_path / "app")
    assert "Inner" not in run("ls").out


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        (f"<<<<<<< HEAD\n{LINE}\n=======\n{LINE}\n>>>>>>> other\n", 1, "conflict marker"),
        (f"{LINE}\n{{\n", 2, "is not JSON"),
        (f"{LINE}\n".encode() + b"\xff\xff\n", 2, "UTF-8"),
    ],
    ids=["conflict markers", "half a line", "no text"],
)
def test_a_damaged_file_is_refused_with_its_line_and_makes_nothing(
    run: Run, tmp_path: Path, text: str | bytes, line: int, sentence: str
) -> None:
    path = tmp_path / "issues.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())

    refused = run("import", "--from", "beads", str(path), "--project", "isle", "--json")

    assert refused.code == 2
    error = json.loads(refused.err)["error"]
    assert (error["details"]["line"], sentence in error["message"]) == (line, True)
    assert run("project", "list", "--json").answer["projects"] == []


@pytest.mark.parametrize("text", [f"\ufeff{LINE}\n", f"{LINE}\r\n", f"{LINE}\n{LINE}\n"], ids=["BOM", "CRLF", "twice"])
def test_a_byte_order_mark_windows_line_ends_and_a_line_twice_are_one_item(run: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "issues.jsonl"
    path.write_bytes(text.encode())

    report = run("import", "--from", "beads", str(path), "--project", "isle", "--json").answer

    assert (report["counts"]["created"], report["skipped"]) == (1, [])
    assert "Draw the harbour" in run("show", "isle-a", "--project", "isle").out


def test_a_file_over_the_limit_is_refused_before_it_is_read(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "issues.jsonl"
    with path.open("wb") as file:
        file.truncate(FILE_BYTES_MAX + 1)  # of zeros, which take no space

    refused = run("import", "--from", "beads", str(path), "--project", "isle")

    assert (refused.code, "is larger than 50 MB" in refused.err) == (2, True)


def test_an_id_that_looks_like_ours_never_takes_our_node(run: Run, tmp_path: Path) -> None:
    run("project", "create", "isle")
    ours = run("add", "Ours", "--json").answer["created"][0]["id"]
    path = tmp_path / "issues.jsonl"
    path.write_text(json.dumps(issue(ours, title="Theirs")) + "\n")

    report = run("import", "--from", "beads", str(path), "--project", "isle", "--json").answer

    assert [(note["source_id"], note["what"]) for note in report["lost"]] == [(ours, "alias")]
    assert "Ours" in run("show", ours).out
    assert "Theirs" in run("ls").out
