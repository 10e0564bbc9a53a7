"""A block without its last line is left alone, and repaired if forced; no text of people is lost."""

from __future__ import annotations

import pytest

from groundplan.repository.rules.formats import RuleFormat
from groundplan.repository.rules.marks import format_end_mark
from groundplan.repository.rules.plan_files import REPAIRED
from tests.repository.rules.rules_project import RulesProject

FILE = "src/cart/AGENTS.md"
BREAKS = pytest.mark.parametrize("breaks", ["\n", "\r\n"], ids=["lf", "crlf"])


def damage_block(project: RulesProject, breaks: str = "\n") -> str:
    """Remove the last line of the atom's block; people's text is above and below it."""
    atom = project.atom()
    project.export(RuleFormat.AGENTS)
    text = project.files()[FILE].replace(f"{format_end_mark(atom.id)}\n", "")
    project.write(FILE, f"Above.\n{text}Below.\n".replace("\n", breaks))
    return str(atom.id)


@BREAKS
def test_a_block_without_its_end_is_left_alone_and_the_reason_says_what_to_do(
    project: RulesProject, breaks: str
) -> None:
    atom_id = damage_block(project, breaks)
    before = project.files()

    (drifted,) = project.export(RuleFormat.AGENTS).drifted
    (skipped,) = project.import_rules(RuleFormat.AGENTS).skipped

    assert (drifted.path, drifted.atom_id, drifted.can_be_overwritten) == (FILE, atom_id, False)
    assert format_end_mark(atom_id) in drifted.reason
    assert skipped.reason == drifted.reason
    assert project.files() == before


@BREAKS
@pytest.mark.parametrize("remedy", ["put back", "delete"])
def test_both_remedies_that_the_reason_names_are_ones(project: RulesProject, breaks: str, remedy: str) -> None:
    atom_id = damage_block(project, breaks)
    text = project.files()[FILE]
    if remedy == "put back":
        project.edit(FILE, "Below.", f"{format_end_mark(atom_id)}{breaks}Below.")
    else:
        project.write(FILE, "".join(line for line in text.splitlines(keepends=True) if "Generated" not in line))

    assert project.export(RuleFormat.AGENTS).is_complete
    assert project.export(RuleFormat.AGENTS).is_up_to_date
    assert project.files()[FILE].count("Never round twice.") == (1 if remedy == "put back" else 2)


@BREAKS
def test_force_leaves_the_text_to_people_and_writes_a_new_block(project: RulesProject, breaks: str) -> None:
    atom_id = damage_block(project, breaks)
    before = project.files()[FILE]
    mark = next(line for line in before.splitlines(keepends=True) if "Generated" in line)

    done = project.export(RuleFormat.AGENTS, force=True)

    assert [(one.path, one.atom_id, one.reason) for one in done.repaired] == [(FILE, atom_id, REPAIRED)]
    assert (done.written, done.is_complete) == ([FILE], True)
    after = project.files()[FILE]
    assert after.startswith(before.replace(mark, "") + breaks + "<!-- Generated")
    assert after.endswith(f"{format_end_mark(atom_id)}{breaks}")
    assert after.count("\n") == after.count(breaks)
    assert project.export(RuleFormat.AGENTS).is_up_to_date


def test_blocks_behind_one_without_its_end_are_blocks_still(project: RulesProject) -> None:
    atom = project.atom()
    project.atom("Other", knowledge="Other.")
    project.export(RuleFormat.AGENTS)
    project.edit(FILE, f"{format_end_mark(atom.id)}\n", "Below.\n")
    project.edit(FILE, "Never", "Do not")

    done = project.export(RuleFormat.AGENTS, force=True)

    assert [one.atom_id for one in done.repaired] == [atom.id]
    text = project.files()[FILE]
    places = [text.index(word) for word in ("Do not round", "Below.", "Never round", "# Other")]
    assert places == sorted(places)
    assert text.count("# Other") == 1
    assert project.export(RuleFormat.AGENTS).is_up_to_date


def test_what_stands_between_a_block_without_its_end_and_a_copy_of_it_is_not_lost(project: RulesProject) -> None:
    project.atom()
    project.export(RuleFormat.AGENTS)
    block = project.files()[FILE]
    project.write(FILE, "".join(block.splitlines(keepends=True)[:-1]) + f"Between.\n{block}")

    assert not project.export(RuleFormat.AGENTS).is_complete
    project.export(RuleFormat.AGENTS, force=True)

    assert "Between.\n<!-- Generated" in project.files()[FILE]
    assert project.export(RuleFormat.AGENTS).is_up_to_date


def test_the_damaged_block_of_another_project_is_not_ours_to_repair(project: RulesProject) -> None:
    theirs = damage_block(project)
    before = project.files()
    other = RulesProject(project.session, "other", project.folder)
    assert other.export(RuleFormat.AGENTS).is_up_to_date
    other.atom("Ours")

    done = other.export(RuleFormat.AGENTS, force=True)

    assert [(one.path, one.atom_id) for one in done.refused] == [(FILE, theirs)]
    assert (done.repaired, done.written) == ([], [])
    assert project.files() == before


def test_a_check_repairs_nothing_and_a_write_that_is_refused_is_no_repair(
    project: RulesProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage_block(project)
    before = project.files()
    monkeypatch.setattr("groundplan.repository.rules.folder.FILE_BYTES_MAX", len(before[FILE]))

    done = project.export(RuleFormat.AGENTS, force=True)

    assert (done.repaired, [one.path for one in done.refused]) == ([], [FILE])
    assert project.files() == before
