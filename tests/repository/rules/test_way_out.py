"""What is drifted is so no longer when the plan says what it says, whichever atom that is."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.repository.rules.export_plan import ATOM_GONE, HAND_EDITED
from groundplan.repository.rules.formats.registry import RuleFormat
from groundplan.repository.rules.marks import format_end_mark
from tests.repository.rules.notebook import Notebook
from tests.repository.rules.test_export import CART, each_format

FILE = CART[RuleFormat.AGENTS]


def edited_and_forgotten(notebook: Notebook, form: RuleFormat, **more: Any) -> str:
    """Edit the file of an atom and delete the atom, whose id it was."""
    atom = notebook.atom(**more)
    notebook.export(form)
    notebook.edit(CART[form], "Never", "Do not")
    notebook.forget(atom)
    return str(atom.id)


@each_format
@pytest.mark.parametrize("is_in_a_molecule", [False, True])
def test_an_edit_that_was_taken_in_as_a_new_atom_is_drifted_no_longer(
    notebook: Notebook, form: RuleFormat, is_in_a_molecule: bool
) -> None:
    gone = edited_and_forgotten(
        notebook, form, **({"moleculeId": notebook.molecule("Pages").id} if is_in_a_molecule else {})
    )
    assert [one.reason for one in notebook.export(form).drifted] == [ATOM_GONE]
    (made,) = notebook.take(form).created

    done = notebook.export(form)

    assert (done.written, done.removed, done.is_complete) == ([CART[form]], [], True)
    assert notebook.export(form).is_up_to_date
    text = notebook.files()[CART[form]]
    assert (f"atom={made.atom_id}" in text, gone in text, "Pages" in text) == (True, False, is_in_a_molecule)
    assert text.count("Do not round twice.") == 1


@each_format
def test_so_is_one_that_got_another_name_and_other_patterns(notebook: Notebook, form: RuleFormat) -> None:
    edited_and_forgotten(notebook, form)
    notebook.edit(CART[form], "# Cart", "# Basket")
    notebook.edit(CART[form], "src/cart/**", "./src/basket/**")
    notebook.take(form)

    done = notebook.export(form)

    assert (done.removed, done.is_complete) == ([CART[form]], True)
    assert list(notebook.files()) == done.written
    assert notebook.kept() == [("Basket", ("src/basket/**",), "Do not round twice.")]
    assert notebook.export(form).is_up_to_date


@each_format
def test_an_edit_that_says_more_than_any_atom_stays(notebook: Notebook, form: RuleFormat) -> None:
    edited_and_forgotten(notebook, form)
    notebook.take(form)
    notebook.edit(CART[form], "twice.", "thrice.")

    done = notebook.export(form)

    reason = ATOM_GONE if form is RuleFormat.AGENTS else HAND_EDITED
    assert [(one.path, one.reason) for one in done.drifted] == [(CART[form], reason)]
    assert "Do not round thrice." in notebook.files()[CART[form]]


@each_format
def test_an_edit_that_the_plan_keeps_in_another_spelling_is_drifted_no_longer(
    notebook: Notebook, form: RuleFormat
) -> None:
    atom = notebook.atom(moleculeId=notebook.molecule("Pages").id)
    notebook.export(form)
    notebook.edit(CART[form], "src/cart/**", "./src/cart/*")
    notebook.edit(CART[form], "twice.\n", "twice.\n\n")
    assert not notebook.export(form).is_complete
    notebook.take(form)
    assert notebook.read(atom.id).paths == ["src/cart/*"]

    assert notebook.export(form).written == [CART[form]]
    assert notebook.export(form).is_up_to_date


@each_format
def test_an_edit_of_what_is_never_read_back_stays_until_it_is_forced(notebook: Notebook, form: RuleFormat) -> None:
    notebook.atom(moleculeId=notebook.molecule("Pages").id)
    notebook.export(form)
    notebook.edit(CART[form], "Part of: Pages", "Part of: Pages, or so")

    assert [one.reason for one in notebook.export(form).drifted] == [HAND_EDITED]
    assert notebook.export(form, force=True).written == [CART[form]]


@pytest.mark.parametrize("form", [RuleFormat.CLAUDE, RuleFormat.CURSOR])
def test_a_field_of_somebody_s_own_is_nothing_that_an_atom_says(notebook: Notebook, form: RuleFormat) -> None:
    edited_and_forgotten(notebook, form)
    notebook.take(form)
    notebook.edit(CART[form], "---\n<!--", "owner: Ada\n---\n<!--")

    assert [one.reason for one in notebook.export(form).drifted] == [HAND_EDITED]
    assert "owner: Ada" in notebook.files()[CART[form]]


@pytest.mark.parametrize("form", [RuleFormat.CLAUDE, RuleFormat.CURSOR])
def test_front_matter_that_nobody_can_read_says_what_no_atom_says(notebook: Notebook, form: RuleFormat) -> None:
    edited_and_forgotten(notebook, form)
    notebook.take(form)
    notebook.edit(CART[form], "---\n<!--", "other: [\n---\n<!--")

    assert [one.reason for one in notebook.export(form).drifted] == [HAND_EDITED]


class TestSharedFiles:
    """AGENTS.md, in which people write too."""

    def test_the_block_stays_where_it_stands(self, notebook: Notebook) -> None:
        edited_and_forgotten(notebook, RuleFormat.AGENTS)
        block = notebook.files()[FILE]
        notebook.take(RuleFormat.AGENTS)
        notebook.write(FILE, f"Above.\n\n{block}\nBelow.\n")

        notebook.export(RuleFormat.AGENTS)

        text = notebook.files()[FILE]
        assert text.startswith("Above.\n\n<!-- Generated")
        assert text.endswith(" -->\n\nBelow.\n")
        assert text.count("<!-- Generated") == 1
        assert notebook.export(RuleFormat.AGENTS).is_up_to_date

    @pytest.mark.parametrize("is_first", [True, False])
    def test_beside_the_block_of_the_new_atom_the_old_one_goes(self, notebook: Notebook, is_first: bool) -> None:
        gone = edited_and_forgotten(notebook, RuleFormat.AGENTS)
        old = notebook.files()[FILE]
        notebook.take(RuleFormat.AGENTS)
        notebook.export(RuleFormat.AGENTS)
        new = notebook.files()[FILE]
        notebook.write(FILE, f"{old}\n{new}" if is_first else f"{new}\n{old}")
        assert format_end_mark(gone) in notebook.files()[FILE]

        assert notebook.export(RuleFormat.AGENTS).is_complete
        assert notebook.files() == {FILE: new}
