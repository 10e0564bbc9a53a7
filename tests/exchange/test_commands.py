"""`groundplan import` and `export` on the command line: exit codes, the shape of --json, and what people see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from groundplan.exchange.import_source import SourceTool, TargetTool
from groundplan.surfaces.cli.exchange import SourceChoice, TargetChoice
from groundplan.surfaces.cli.program import run
from tests.exchange.backlog_folder import BacklogFolder
from tests.exchange.beads_files import issue, write_issues

KEYS = ["project", "tool", "dry_run", "counts", "skipped", "left_out", "lost", "placed", "conflicts", "warnings"]


class Shell:
    """A shell in a folder with a plan."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.db = str(folder / "plan.db")
        self._capsys = capsys
        self.run("init")

    def run(self, *words: str) -> tuple[int, str, str]:
        code = run([*words, "--db", self.db])
        captured = self._capsys.readouterr()
        return code, captured.out, captured.err

    def json(self, *words: str) -> tuple[int, Any]:
        code, out, err = self.run(*words, "--json")
        return code, json.loads(out or err)


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)


def test_the_commands_offer_every_tool() -> None:
    assert {*get_args(SourceChoice)} == {*SourceTool}
    assert {*get_args(TargetChoice)} == {*TargetTool}


def test_a_folder_without_a_plan_says_where_it_was_looked_for_and_is_exit_3(shell: Shell) -> None:
    (shell.folder / "docs/.notes").mkdir(parents=True)
    (shell.folder / "docs/.notes/PLAN.md").write_text("- [ ] hidden\n")
    (shell.folder / "docs/README.md").write_text("# No boxes\n")

    for tool in ("markdown", "speckit"):
        code, failure = shell.json("import", "--from", tool, "docs", "--project", "isle")
        assert (code, failure["error"]["code"]) == (3, "not_found")
        assert failure["error"]["details"]["left_out"]["files in the hidden folder .notes"] == 1
    assert shell.json("project", "list")[1]["projects"] == []
    assert shell.run("import", "--from", "markdown", "docs/README.md", "--project", "isle")[0] == 0


def test_json_has_the_published_shape_and_a_dry_run_the_same(shell: Shell) -> None:
    path = str(write_issues(shell.folder, [issue("a", blocks=["a"]), issue("b", parents=["c"]), issue("c", "closed")]))

    code, preview = shell.json("import", "--from", "beads", path, "--project", "isle", "--dry-run")
    assert (code, [*preview], preview["dry_run"]) == (0, KEYS, True)
    assert shell.json("project", "list")[1]["projects"] == []
    code, report = shell.json("import", "--from", "beads", path, "--project", "isle")

    assert (code, [*report]) == (0, KEYS)
    assert report["counts"] == {"created": 3, "updated": 0, "unchanged": 0, "skipped": 0, "conflicts": 0}
    assert {name: report[name] for name in KEYS if name != "dry_run"} == {
        name: preview[name] for name in KEYS if name != "dry_run"
    }


def test_a_bad_line_ends_with_2_and_names_file_and_line_and_skipping_it_with_6(shell: Shell) -> None:
    path = write_issues(shell.folder, [issue("a")])
    path.write_text(path.read_text() + "{\n")

    code, refused = shell.json("import", "--from", "beads", str(path), "--project", "isle")
    assert (code, refused["error"]["details"]["line"], refused["error"]["details"]["file"]) == (2, 2, str(path))
    assert shell.json("project", "list")[1]["projects"] == []

    code, report = shell.json("import", "--from", "beads", str(path), "--project", "isle", "--skip-bad")
    assert (code, report["counts"]["skipped"], report["skipped"][0]["line"]) == (6, 1, 2)


def test_what_cannot_be_read_ends_with_2_and_an_unknown_project_with_3(shell: Shell) -> None:
    assert shell.run("import", "--from", "beads", "missing.jsonl", "--project", "isle")[0] == 2
    assert shell.run("import", "--from", "beads", ".", "--project", "isle")[0] == 2
    assert shell.run("export", "--to", "beads", "--project", "nowhere")[0] == 3


def test_a_viewer_may_not_import_but_may_look_at_a_dry_run(shell: Shell) -> None:
    path = str(write_issues(shell.folder, [issue("a")]))
    shell.run("import", "--from", "beads", path, "--project", "isle", "--person", "ada")
    shell.run("member", "add", "cleo", "--role", "viewer", "--project", "isle", "--person", "ada")
    write_issues(shell.folder, [issue("a", title="new")])
    cleo = ("--person", "cleo", "--access", "members")

    assert shell.run("import", "--from", "beads", path, "--project", "isle", *cleo)[0] == 4
    assert shell.run("import", "--from", "beads", path, "--project", "isle", "--dry-run", *cleo)[0] == 0


def test_people_see_what_becomes_what_and_what_is_lost(shell: Shell) -> None:
    issues = [issue("a", blocks=["nowhere"]), issue("b", "tombstone"), issue("c", "pinned"), issue("d", mol_type="x")]
    path = str(write_issues(shell.folder, issues))

    code, out, _ = shell.run("import", "--from", "beads", path, "--project", "isle", "--dry-run")

    assert code == 0
    for text in ("Would import", "would be made as nodes", "tombstones", "Lost:", "a: nowhere is not in the file"):
        assert text in out
    assert "Nothing was written." in out


def test_the_old_id_works_on_the_command_line(shell: Shell) -> None:
    path = str(write_issues(shell.folder, [issue("bd-a1b2", title="Draw the harbour")]))
    shell.run("import", "--from", "beads", path, "--project", "isle")

    assert "Draw the harbour" in shell.run("work", "context", "bd-a1b2")[1]


@pytest.mark.parametrize(
    "words",
    [
        ("work", "context", "a"),
        ("work", "update", "--updates", '[{"node_id": "a", "state": "begun"}]'),
        ("briefing", "a"),
        ("task", "show", "a"),
        ("section", "add", "Notes", "--type", "TASK", "--container", "a"),
    ],
)
def test_an_old_id_of_two_projects_is_that_of_the_project_that_a_command_names(
    shell: Shell, words: tuple[str, ...]
) -> None:
    path = str(write_issues(shell.folder, [issue("a")]))
    for project in ("isle", "coast"):
        shell.run("import", "--from", "beads", path, "--project", project)

    assert shell.json(*words)[1]["error"]["code"] == "ambiguous_alias"
    assert shell.json(*words, "--project", "coast")[0] == 0


def test_people_see_what_is_knowledge(shell: Shell) -> None:
    path = shell.folder / "memory.json"
    path.write_text(
        '{"entities": [{"name": "Ada", "entityType": "person", "observations": ["maps"]}], "relations": []}'
    )

    code, out, _ = shell.run("import", "--from", "memory", str(path), "--project", "isle")

    assert (code, "made as knowledge" in out) == (0, True)
    code, out, _ = shell.run(*out.splitlines()[-1].split()[2:])
    assert (code, "Ada" in out) == (0, True)


def test_an_export_says_how_many_nodes_it_wrote(shell: Shell) -> None:
    folder = BacklogFolder(shell.folder)
    folder.task("task-1")
    folder.write("decisions/decision-1 - Metres.md", "We count in metres.\n")

    assert "made as nodes and knowledge" in shell.run("import", "--from", "backlog", ".", "--project", "isle")[1]
    assert shell.json("export", "--to", "backlog", "--project", "isle", "--out", "back")[1]["items"] == 1


def test_an_export_goes_to_a_file_or_to_standard_output(shell: Shell) -> None:
    path = str(write_issues(shell.folder, [issue("a"), issue("b", blocks=["a"])]))
    shell.run("import", "--from", "beads", path, "--project", "isle")

    code, out, _ = shell.run("export", "--to", "beads", "--project", "isle")
    assert (code, [json.loads(line)["id"] for line in out.splitlines()]) == (0, ["a", "b"])
    target = str(shell.folder / "back.jsonl")
    assert shell.run("export", "--to", "beads", "--project", "isle", "--out", target)[0] == 0
    assert Path(target).read_text() == out
    assert shell.run("export", "--to", "beads", "--project", "isle", "--out", target)[0] == 2
    code, out, _ = shell.run("export", "--to", "jsonl", "--project", "isle")
    assert [json.loads(line)["sources"] for line in out.splitlines()] == [{"beads": "a"}, {"beads": "b"}]
