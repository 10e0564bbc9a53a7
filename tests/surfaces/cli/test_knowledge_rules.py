"""`knowledge export-rules` and `import-rules` as they are typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.surfaces.cli.conftest import Ended, Run

CART = Path(".claude/rules/groundplan/cart.md")


class Rules:
    """Project atlas with one atom, and what one types to write and read its rule files."""

    def __init__(self, run: Run) -> None:
        self.run = run
        run("project", "create", "atlas")
        nodes = '[{"ref": "a", "summary": "Describe it"}]'
        planned = run("work", "plan", "--project", "atlas", "--nodes", nodes, "--json").answer
        self.task: str = planned["created"][0]["id"]
        about = ("--type", "atom", "--project", "atlas", "--task", self.task, "--knowledge", "Never round twice.")
        made = run("knowledge", "create", "Cart", *about, "--path", "src/cart/**", "--json").answer
        self.atom: str = made["data"]["atom"]["id"]

    def export(self, *options: str) -> Ended:
        return self.run("knowledge", "export-rules", "--format", "claude", "--project", "atlas", *options)

    def take(self, *words: str) -> Ended:
        about = ("--format", "claude", "--project", "atlas", "--task", self.task)
        return self.run("knowledge", "import-rules", *about, *words)


@pytest.fixture
def rules(run: Run) -> Rules:
    return Rules(run)


def test_export_tells_what_it_wrote_and_then_that_all_is_up_to_date(rules: Rules) -> None:
    assert rules.export("--json").answer == {
        "format": "claude",
        "written": [str(CART)],
        "removed": [],
        "unchanged": [],
        "drifted": [],
        "refused": [],
        "ok": True,
    }
    assert "Never round twice." in CART.read_text()
    assert rules.export("--json").answer["unchanged"] == [str(CART)]
    assert rules.export().out == "0 written, 0 removed, 1 up to date (claude).\n"


def test_a_check_fails_until_the_files_are_what_they_should_be_and_says_how(rules: Rules) -> None:
    checked = rules.export("--check", "--out", "my copy")

    assert (checked.code, Path("my copy").exists()) == (6, False)
    assert f"would be written  {CART}" in checked.out
    (again,) = [line for line in checked.out.splitlines() if line.startswith("  groundplan ")]
    assert rules.run(*shlex.split(again)[1:]).code == 0
    assert rules.export("--check", "--out", "my copy").code == 0


def test_an_edit_is_reported_and_the_commands_shown_take_it_in_or_write_over_it(rules: Rules) -> None:
    rules.export()
    CART.write_text(CART.read_text().replace("Never", "Do not"))

    drifted = rules.export()

    assert drifted.code == 6
    assert f"  {CART}: was edited by hand" in drifted.out
    take, force = (line.strip() for line in drifted.out.splitlines() if line.startswith("  groundplan "))
    assert "1 updated" in rules.run(*shlex.split(take.replace("ID", rules.task))[1:]).out
    assert rules.export("--check").code == 6  # the mark is still that of the text before
    assert rules.export().code == 0
    CART.write_text(CART.read_text().replace("Do not", "Do"))
    assert rules.run(*shlex.split(force)[1:]).code == 0
    assert "Do not round twice." in CART.read_text()


def test_an_edit_is_data_too(rules: Rules) -> None:
    rules.export()
    CART.write_text(CART.read_text().replace("Never", "Do not"))

    ended = rules.export("--json")

    assert ended.code == 6
    assert f'"drifted":[{{"file":"{CART}","atomId":"{rules.atom}","reason":"was edited by hand"}}]' in ended.out


def test_import_tells_what_became_of_each_file(rules: Rules) -> None:
    Path(".claude/rules").mkdir(parents=True)
    Path(".claude/rules/a.md").write_text("---\npaths: docs/**\n---\n# Manual\n\nBe brief.\n")
    Path(".claude/rules/b.md").write_text("---\npaths: docs/\n---\n# Broken\n")

    taken = rules.take(".", "--json").answer

    assert [(one["file"], one["name"]) for one in taken["created"]] == [(".claude/rules/a.md", "Manual")]
    assert [one["file"] for one in taken["skipped"]] == [".claude/rules/b.md"]
    assert "docs/**" in taken["skipped"][0]["reason"]
    shown = rules.take(".claude/rules").out
    assert "0 created, 0 updated, 1 unchanged, 1 skipped (claude)." in shown
    assert "  .claude/rules/b.md: " in shown


def test_import_shows_the_way_back(rules: Rules) -> None:
    Path("AGENTS.md").write_text("# Everything\n\nBe kind.\n")

    shown = rules.run(
        "knowledge", "import-rules", "AGENTS.md", "--format", "agents", "--project", "atlas", "--task", rules.task
    ).out

    assert "created  Everything  (AGENTS.md)" in shown
    found = re.search("^  (groundplan knowledge export-rules .*?)   ", shown, re.MULTILINE)
    assert found
    assert rules.run(*shlex.split(found[1])[1:]).code == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("export-rules", "--format", "cline", "--project", "atlas"), (2, "usage")),
        (("export-rules", "--project", "atlas"), (2, "usage")),
        (("export-rules", "--format", "claude", "--project", "atlas", "--check", "--force"), (2, "usage")),
        (("export-rules", "--format", "claude", "--project", "atlas", "--out", "groundplan.db"), (2, "usage")),
        (("export-rules", "--format", "claude", "--project", "nowhere"), (3, "not_found")),
        (("import-rules", "--format", "claude", "--project", "atlas", "--task", "TASK", "missing"), (3, "not_found")),
        (("import-rules", "--format", "claude", "--project", "nowhere", "--task", "TASK", "."), (3, "not_found")),
        (
            ("import-rules", "--format", "agents", "--project", "atlas", "--task", "zzzzzz", "AGENTS.md"),
            (3, "not_found"),
        ),
        (("import-rules", "--format", "claude", "--project", "atlas", "--task", "TASK"), (2, "usage")),
    ],
)
def test_what_cannot_be_meant_is_refused(rules: Rules, words: tuple[str, ...], expected: tuple[int, str]) -> None:
    Path("AGENTS.md").write_text("# Everything\n")
    words = tuple(rules.task if word == "TASK" else word for word in words)

    assert rules.run("knowledge", *words, "--json").refusal == expected


def test_an_export_from_a_plan_that_is_not_there_makes_none(run: Run) -> None:
    refused = run("knowledge", "export-rules", "--format", "claude", "--project", "atlas", "--json")

    assert refused.refusal == (7, "store_missing")
    assert list(Path().iterdir()) == []


def test_a_project_without_atoms_is_told_what_to_do(run: Run) -> None:
    run("project", "create", "empty")

    shown = run("knowledge", "export-rules", "--format", "cursor", "--project", "empty").out

    assert "import-rules --format cursor PATH --project empty --task ID" in shown
