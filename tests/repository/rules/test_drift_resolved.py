"""A drifted rule is in sync again when the plan has its text, in any atom."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.repository.rules.formats import RuleFormat
from groundplan.repository.rules.marks import format_end_mark
from groundplan.repository.rules.plan_files import ATOM_GONE, HAND_EDITED
from tests.repository.rules.rules_project import RulesProject
from tests.repository.rules.test_export import CART, each_format

FILE = CART[RuleFormat.AGENTS]


def edit_and_delete(project: RulesProject, form: RuleFormat, **more: Any) -> str:
    """Edit the file of an atom, delete the atom, and return its id."""
    atom = project.atom(**more)
    project.export(form)
    project.edit(CART[form], "Never", "Do not")
    project.delete(atom)
    return str(atom.id)


@each_format
@pytest.mark.parametrize("is_in_a_molecule", [False, True])
def test_an_edit_that_was_taken_in_as_a_new_atom_is_drifted_no_longer(
    project: RulesProject, form: RuleFormat, is_in_a_molecule: bool
) -> None:
    gone = edit_and_delete(project, form, **({"moleculeId": project.molecule("Pages").id} if is_in_a_molecule else {}))
    assert [one.reason for one in project.export(form).drifted] == [ATOM_GONE]
    (made,) = project.import_rules(form).created

    done = project.export(form)

    assert (done.written, done.removed, done.is_complete) == ([CART[form]], [], True)
    assert project.export(form).is_up_to_date
    text = project.files()[CART[form]]
    assert (f"atom={made.atom_id}" in text, gone in text, "Pages" in text) == (True, False, is_in_a_molecule)
    assert text.count("Do not round twice.") == 1


@each_format
def test_so_is_one_that_got_another_name_and_other_patterns(project: RulesProject, form: RuleFormat) -> None:
    edit_and_delete(project, form)
    project.edit(CART[form], "# Cart", "# Basket")
    project.edit(CART[form], "src/cart/**", "./src/basket/**")
    project.import_rules(form)

    done = project.export(form)

    assert (done.removed, done.is_complete) == ([CART[form]], True)
    assert list(project.files()) == done.written
    assert project.read_atoms() == [("Basket", ("src/basket/**",), "Do not round twice.")]
    assert project.export(form).is_up_to_date


@each_format
def test_an_edit_that_says_more_than_any_atom_stays(project: RulesProject, form: RuleFormat) -> None:
    edit_and_delete(project, form)
    project.import_rules(form)
    project.edit(CART[form], "twice.", "thrice.")

    done = project.export(form)

    reason = ATOM_GONE if form is RuleFormat.AGENTS else HAND_EDITED
    assert [(one.path, one.reason) for one in done.drifted] == [(CART[form], reason)]
    assert "Do not round thrice." in project.files()[CART[form]]


@each_format
def test_an_edit_that_the_plan_keeps_in_another_spelling_is_drifted_no_longer(
    project: RulesProject, form: RuleFormat
) -> None:
    atom = project.atom(moleculeId=project.molecule("Pages").id)
    project.export(form)
    project.edit(CART[form], "src/cart/**", "./src/cart/*")
    project.edit(CART[form], "twice.\n", "twice.\n\n")
    assert not project.export(form).is_complete
    project.import_rules(form)
    assert project.read(atom.id).paths == ["src/cart/*"]

    assert project.export(form).written == [CART[form]]
    assert project.export(form).is_up_to_date


@each_format
def test_an_edit_of_what_is_never_read_back_stays_until_it_is_forced(project: RulesProject, form: RuleFormat) -> None:
    project.atom(moleculeId=project.molecule("Pages").id)
    project.export(form)
    project.edit(CART[form], "Part of: Pages", "Part of: Pages, or so")

    assert [one.reason for one in project.export(form).drifted] == [HAND_EDITED]
    assert project.export(form, force=True).written == [CART[form]]


@pytest.mark.parametrize("form", [RuleFormat.CLAUDE, RuleFormat.CURSOR])
def test_a_field_of_somebody_s_own_is_nothing_that_an_atom_says(project: RulesProject, form: RuleFormat) -> None:
    edit_and_delete(project, form)
    project.import_rules(form)
    project.edit(CART[form], "---\n<!--", "owner: Ada\n---\n<!--")

    assert [one.reason for one in project.export(form).drifted] == [HAND_EDITED]
    assert "owner: Ada" in project.files()[CART[form]]


@pytest.mark.parametrize("form", [RuleFormat.CLAUDE, RuleFormat.CURSOR])
def test_front_matter_that_nobody_can_read_says_what_no_atom_says(project: RulesProject, form: RuleFormat) -> None:
    edit_and_delete(project, form)
    project.import_rules(form)
    project.edit(CART[form], "---\n<!--", "other: [\n---\n<!--")

    assert [one.reason for one in project.export(form).drifted] == [HAND_EDITED]


class TestSharedFiles:
    """AGENTS.md, which people edit too."""

    def test_the_block_stays_where_it_stands(self, project: RulesProject) -> None:
        edit_and_delete(project, RuleFormat.AGENTS)
        block = project.files()[FILE]
        project.import_rules(RuleFormat.AGENTS)
        project.write(FILE, f"Above.\n\n{block}\nBelow.\n")

        project.export(RuleFormat.AGENTS)

        text = project.files()[FILE]
        assert text.startswith("Above.\n\n<!-- Generated")
        assert text.endswith(" -->\n\nBelow.\n")
        assert text.count("<!-- Generated") == 1
        assert project.export(RuleFormat.AGENTS).is_up_to_date

    @pytest.mark.parametrize("is_first", [True, False])
    def test_beside_the_block_of_the_new_atom_the_old_one_goes(self, project: RulesProject, is_first: bool) -> None:
        gone = edit_and_delete(project, RuleFormat.AGENTS)
        old = project.files()[FILE]
        project.import_rules(RuleFormat.AGENTS)
        project.export(RuleFormat.AGENTS)
        new = project.files()[FILE]
        project.write(FILE, f"{old}\n{new}" if is_first else f"{new}\n{old}")
        assert format_end_mark(gone) in project.files()[FILE]

        assert project.export(RuleFormat.AGENTS).is_complete
        assert project.files() == {FILE: new}
