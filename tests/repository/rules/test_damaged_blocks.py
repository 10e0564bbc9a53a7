"""A block that has lost its last line is left alone, and repaired when that is forced; no text of people is lost."""

from __future__ import annotations

import pytest

from groundplan.repository.rules.export_plan import REPAIRED
from groundplan.repository.rules.formats.registry import RuleFormat
from groundplan.repository.rules.marks import format_end_mark
from tests.repository.rules.notebook import Notebook

FILE = "src/cart/AGENTS.md"
BREAKS = pytest.mark.parametrize("breaks", ["\n", "\r\n"], ids=["lf", "crlf"])


def damaged(notebook: Notebook, breaks: str = "\n") -> str:
    """Let the atom's block lose its last line; what people wrote stands above and below it."""
    atom = notebook.atom()
    notebook.export(RuleFormat.AGENTS)
    text = notebook.files()[FILE].replace(f"{format_end_mark(atom.id)}\n", "")
    notebook.write(FILE, f"Above.\n{text}Below.\n".replace("\n", breaks))
    return str(atom.id)


@BREAKS
def test_a_block_without_its_end_is_left_alone_and_the_reason_says_what_to_do(notebook: Notebook, breaks: str) -> None:
    atom_id = damaged(notebook, breaks)
    before = notebook.files()

    (drifted,) = notebook.export(RuleFormat.AGENTS).drifted
    (skipped,) = notebook.take(RuleFormat.AGENTS).skipped

    assert (drifted.path, drifted.atom_id, drifted.can_be_taken) == (FILE, atom_id, False)
    assert format_end_mark(atom_id) in drifted.reason
    assert skipped.reason == drifted.reason
    assert notebook.files() == before


@BREAKS
@pytest.mark.parametrize("remedy", ["put back", "delete"])
def test_both_remedies_that_the_reason_names_are_ones(notebook: Notebook, breaks: str, remedy: str) -> None:
    atom_id = damaged(notebook, breaks)
    text = notebook.files()[FILE]
    if remedy == "put back":
        notebook.edit(FILE, "Below.", f"{format_end_mark(atom_id)}{breaks}Below.")
    else:
        notebook.write(FILE, "".join(line for line in text.splitlines(keepends=True) if "Generated" not in line))

    assert notebook.export(RuleFormat.AGENTS).is_complete
    assert notebook.export(RuleFormat.AGENTS).is_up_to_date
    assert notebook.files()[FILE].count("Never round twice.") == (1 if remedy == "put back" else 2)


@BREAKS
def test_force_leaves_the_text_to_people_and_writes_a_new_block(notebook: Notebook, breaks: str) -> None:
    atom_id = damaged(notebook, breaks)
    before = notebook.files()[FILE]
    mark = next(line for line in before.splitlines(keepends=True) if "Generated" in line)

    done = notebook.export(RuleFormat.AGENTS, force=True)

    assert [(one.path, one.atom_id, one.reason) for one in done.repaired] == [(FILE, atom_id, REPAIRED)]
    assert (done.written, done.is_complete) == ([FILE], True)
    after = notebook.files()[FILE]
    assert after.startswith(before.replace(mark, "") + breaks + "<!-- Generated")
    assert after.endswith(f"{format_end_mark(atom_id)}{breaks}")
    assert after.count("\n") == after.count(breaks)
    assert notebook.export(RuleFormat.AGENTS).is_up_to_date


def test_blocks_behind_one_without_its_end_are_blocks_still(notebook: Notebook) -> None:
    atom = notebook.atom()
    notebook.atom("Other", knowledge="Other.")
    notebook.export(RuleFormat.AGENTS)
    notebook.edit(FILE, f"{format_end_mark(atom.id)}\n", "Below.\n")
    notebook.edit(FILE, "Never", "Do not")

    done = notebook.export(RuleFormat.AGENTS, force=True)

    assert [one.atom_id for one in done.repaired] == [atom.id]
    text = notebook.files()[FILE]
    places = [text.index(word) for word in ("Do not round", "Below.", "Never round", "# Other")]
    assert places == sorted(places)
    assert text.count("# Other") == 1
    assert notebook.export(RuleFormat.AGENTS).is_up_to_date


def test_what_stands_between_a_block_without_its_end_and_a_copy_of_it_is_not_lost(notebook: Notebook) -> None:
    notebook.atom()
    notebook.export(RuleFormat.AGENTS)
    block = notebook.files()[FILE]
    notebook.write(FILE, "".join(block.splitlines(keepends=True)[:-1]) + f"Between.\n{block}")

    assert not notebook.export(RuleFormat.AGENTS).is_complete
    notebook.export(RuleFormat.AGENTS, force=True)

    assert "Between.\n<!-- Generated" in notebook.files()[FILE]
    assert notebook.export(RuleFormat.AGENTS).is_up_to_date


def test_the_damaged_block_of_another_project_is_not_ours_to_repair(notebook: Notebook) -> None:
    theirs = damaged(notebook)
    before = notebook.files()
    other = Notebook(notebook.session, "other", notebook.folder)
    assert other.export(RuleFormat.AGENTS).is_up_to_date
    other.atom("Ours")

    done = other.export(RuleFormat.AGENTS, force=True)

    assert [(one.path, one.atom_id) for one in done.refused] == [(FILE, theirs)]
    assert (done.repaired, done.written) == ([], [])
    assert notebook.files() == before


def test_a_check_repairs_nothing_and_a_write_that_is_refused_is_no_repair(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged(notebook)
    before = notebook.files()
    monkeypatch.setattr("groundplan.repository.rules.folder.FILE_BYTES_MAX", len(before[FILE]))

    done = notebook.export(RuleFormat.AGENTS, force=True)

    assert (done.repaired, [one.path for one in done.refused]) == ([], [FILE])
    assert notebook.files() == before
