"""`knowledge export-rules` and `import-rules` on the command line."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.surfaces.cli.conftest import Run, RunResult

CART = Path(".claude/rules/groundplan/cart.md")


class RuleCommands:
    """Project atlas with one atom, and commands that write and read its rule files."""

    def __init__(self, run: Run) -> None:
        self.run = run
        run("project", "create", "atlas")
        nodes = '[{"ref": "a", "summary": "Describe it"}]'
        planned = run("work", "plan", "--project", "atlas", "--nodes", nodes, "--json").answer
        self.task: str = planned["created"][0]["id"]
        about = ("--type", "atom", "--project", "atlas", "--task", self.task, "--knowledge", "Never round twice.")
        made = run("knowledge", "create", "Cart", *about, "--path", "src/cart/**", "--json").answer
        self.atom: str = made["data"]["atom"]["id"]

    def export(self, *options: str) -> RunResult:
        return self.run("knowledge", "export-rules", "--format", "claude", "--project", "atlas", *options)

    def import_rules(self, *words: str) -> RunResult:
        about = ("--format", "claude", "--project", "atlas", "--task", self.task)
        return self.run("knowledge", "import-rules", *about, *words)


@pytest.fixture
def rules(run: Run) -> RuleCommands:
    return RuleCommands(run)


def test_export_tells_what_it_wrote_and_then_that_all_is_up_to_date(rules: RuleCommands) -> None:
    assert rules.export("--json").answer == {
        "format": "claude",
        "written": [str(CART)],
        "removed": [],
        "unchanged": [],
        "drifted": [],
        "refused": [],
        "repaired": [],
        "ok": True,
    }
    assert "Never round twice." in CART.read_text()
    assert rules.export("--json").answer["unchanged"] == [str(CART)]
    assert rules.export().out == "0 written, 0 removed, 1 up to date (claude).\n"


def test_a_check_fails_until_the_files_are_what_they_should_be_and_says_how(rules: RuleCommands) -> None:
    checked = rules.export("--check", "--out", "my copy")

    assert (checked.code, Path("my copy").exists()) == (6, False)
    assert f"would be written  {CART}" in checked.out
    (again,) = [line for line in checked.out.splitlines() if line.startswith("  groundplan ")]
    assert rules.run(*shlex.split(again)[1:]).code == 0
    assert rules.export("--check", "--out", "my copy").code == 0


def test_an_edit_is_reported_and_the_commands_shown_take_it_in_or_write_over_it(rules: RuleCommands) -> None:
    rules.export()
    CART.write_text(CART.read_text().replace("Never", "Do not"))

    drifted = rules.export()

    assert drifted.code == 6
    assert f"  {CART}: was edited by hand" in drifted.out
    take, force = (line.strip() for line in drifted.out.splitlines() if line.startswith("  groundplan "))
    assert "1 updated" in rules.run(*shlex.split(take.replace("ID", rules.task))[1:]).out
    assert rules.export("--check").code == 6  # the mark is that of the former text
    assert rules.export().code == 0
    CART.write_text(CART.read_text().replace("Do not", "Do"))
    assert rules.run(*shlex.split(force)[1:]).code == 0
    assert "Do not round twice." in CART.read_text()


def test_an_edit_is_data_too(rules: RuleCommands) -> None:
    rules.export()
    CART.write_text(CART.read_text().replace("Never", "Do not"))

    ended = rules.export("--json")

    assert ended.code == 6
    assert f'"drifted":[{{"file":"{CART}","atomId":"{rules.atom}","reason":"was edited by hand"}}]' in ended.out


def test_import_tells_what_became_of_each_file(rules: RuleCommands) -> None:
    Path(".claude/rules").mkdir(parents=True)
    Path(".claude/rules/a.md").write_text("---\npaths: docs/**\n---\n# Manual\n\nBe brief.\n")
    Path(".claude/rules/b.md").write_text("---\npaths: docs/\n---\n# Broken\n")

    ended = rules.import_rules(".", "--json")

    assert ended.code == 6
    taken = json.loads(ended.out)
    assert [(one["file"], one["name"]) for one in taken["created"]] == [(".claude/rules/a.md", "Manual")]
    assert [one["file"] for one in taken["skipped"]] == [".claude/rules/b.md"]
    assert "docs/**" in taken["skipped"][0]["reason"]
    again = rules.import_rules(".claude/rules")
    assert (again.code, again.err) == (6, "")
    shown = again.out
    assert "0 created, 0 updated, 1 unchanged, 1 skipped (claude)." in shown
    assert "  .claude/rules/b.md: " in shown


def test_an_import_that_skipped_nothing_ends_well(rules: RuleCommands) -> None:
    rules.export()

    assert rules.import_rules(".", "--json").answer["skipped"] == []


def test_a_damaged_block_is_told_how_to_put_right_and_force_repairs_it(rules: RuleCommands) -> None:
    about = ("knowledge", "export-rules", "--format", "agents", "--project", "atlas")
    rules.run(*about)
    file = Path("src/cart/AGENTS.md")
    *lines, last = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines) + "Ask Ada.\n")

    damaged = rules.run(*about)

    assert damaged.code == 6
    assert f"put {last.strip()} back" in damaged.out
    assert "import-rules" not in damaged.out
    (force,) = (line.strip() for line in damaged.out.splitlines() if line.startswith("  groundplan "))
    repaired = rules.run(*shlex.split(force)[1:])
    assert repaired.code == 0
    assert f"Repaired:\n  {file}: had a block without its last line" in repaired.out
    assert "".join(lines[1:]) + "Ask Ada.\n" in file.read_text()
    assert rules.run(*about, "--check").code == 0


def test_beside_an_edit_a_damaged_block_is_told_that_its_text_stays(rules: RuleCommands) -> None:
    given = ("--type", "atom", "--project", "atlas", "--task", rules.task, "--knowledge", "Once.")
    rules.run("knowledge", "create", "Other", *given, "--path", "src/other/**")
    about = ("knowledge", "export-rules", "--format", "agents", "--project", "atlas")
    rules.run(*about)
    damaged, edited = Path("src/cart/AGENTS.md"), Path("src/other/AGENTS.md")
    damaged.write_text("".join(damaged.read_text().splitlines(keepends=True)[:-1]))
    edited.write_text(edited.read_text().replace("Once.", "Twice."))

    shown = rules.run(*about).out

    take, force = (line.strip() for line in shown.splitlines() if line.startswith("  groundplan "))
    assert (str(edited) in take, str(damaged) in take) == (True, False)
    assert "kept as your own text" in shown
    assert rules.run(*shlex.split(force)[1:]).code == 0
    assert damaged.read_text().count("Never round twice.") == 2
    assert "Twice." not in edited.read_text()


def test_a_file_that_was_never_groundplan_s_is_no_edit_to_take_in_but_one_to_rename(rules: RuleCommands) -> None:
    CART.parent.mkdir(parents=True)
    CART.write_text("# Mine\n")

    shown = rules.export()

    assert shown.code == 6
    assert f"  {CART}: was not written by Groundplan" in shown.out
    assert "Rename files" in shown.out
    assert "import-rules" not in shown.out
    (force,) = (line.strip() for line in shown.out.splitlines() if line.startswith("  groundplan "))
    CART.rename(CART.with_name("mine.md"))
    assert rules.export().code == 0
    CART.write_text("# Mine\n")
    assert rules.run(*shlex.split(force)[1:]).code == 0
    assert "Never round twice." in CART.read_text()


def test_the_file_shown_to_be_taken_in_is_an_edited_one_though_others_are_in_the_way(rules: RuleCommands) -> None:
    about = ("--type", "atom", "--project", "atlas", "--task", rules.task, "--path", "src/other/**")
    rules.run("knowledge", "create", "Other", *about)
    rules.export()
    CART.write_text("# Mine\n")
    other = CART.with_name("other.md")
    other.write_text(f"{other.read_text()}Edited.\n")

    shown = rules.export().out

    take, force = (line.strip() for line in shown.splitlines() if line.startswith("  groundplan "))
    assert (str(other) in take, str(CART) in take) == (True, False)
    assert force.endswith(" --force")


def test_import_shows_the_way_back(rules: RuleCommands) -> None:
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
def test_what_cannot_be_meant_is_refused(
    rules: RuleCommands, words: tuple[str, ...], expected: tuple[int, str]
) -> None:
    Path("AGENTS.md").write_text("# Everything\n")
    words = tuple(rules.task if word == "TASK" else word for word in words)

    assert rules.run("knowledge", *words, "--json").error == expected


def test_an_export_from_a_plan_that_is_not_there_makes_none(run: Run) -> None:
    refused = run("knowledge", "export-rules", "--format", "claude", "--project", "atlas", "--json")

    assert refused.error == (7, "store_missing")
    assert list(Path().iterdir()) == []


def test_a_project_without_atoms_is_told_what_to_do(run: Run) -> None:
    run("project", "create", "empty")

    shown = run("knowledge", "export-rules", "--format", "cursor", "--project", "empty").out

    assert "import-rules --format cursor PATH --project empty --task ID" in shown
