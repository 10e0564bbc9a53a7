"""Rule files carry the knowledge of molecules, and bring it back once."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.repository.rules.formats import RuleFormat
from tests.repository.rules.rules_project import RulesProject
from tests.repository.rules.test_export import CART

SHARED = "All pages share a layout.\n\n> Related: none of it\n\nRoutes are guarded."

each_format = pytest.mark.parametrize("form", list(RuleFormat))


def know_pages(project: RulesProject) -> tuple[Any, Any]:
    """Create two atoms of one molecule, side by side."""
    molecule = project.molecule("Pages", SHARED)
    return tuple(
        project.atom(name, f"src/{name.lower()}/**", "src/shared.ts", moleculeId=molecule.id)
        for name in ("Cart", "Profile")
    )


def file_of(project: RulesProject, form: RuleFormat) -> str:
    """Return the file that the atom Cart is in."""
    return next(path for path in project.files() if path == CART[form] or path.endswith("src/AGENTS.md"))


@each_format
def test_the_knowledge_of_a_molecule_is_exported_and_imported_into_one_molecule(
    project: RulesProject, form: RuleFormat
) -> None:
    know_pages(project)
    project.export(form)
    other = RulesProject(project.session, "other", project.folder)

    done = other.import_rules(form)

    assert [one.name for one in done.molecules] == ["Pages"]
    assert other.molecules() == {"Pages": SHARED}
    assert sorted(other.read_atoms()) == sorted(project.read_atoms())
    found = other.session.call("knowledge.search", entityType="atom", projectId="other").items
    assert len({atom.molecule_id for atom in found} - {None}) == 1
    again = other.import_rules(form)
    assert ([one.name for one in again.unchanged], again.molecules) == (["Cart", "Profile"], [])
    assert other.molecules() == {"Pages": SHARED}


@each_format
def test_a_molecule_of_that_name_is_joined_as_it_is(project: RulesProject, form: RuleFormat) -> None:
    know_pages(project)
    project.export(form)
    other = RulesProject(project.session, "other", project.folder)
    other.molecule("Pages", "We know better.")

    assert other.import_rules(form).molecules == []

    assert other.molecules() == {"Pages": "We know better."}


@each_format
def test_an_edit_of_the_molecule_s_text_updates_the_molecule_and_all_its_files(
    project: RulesProject, form: RuleFormat
) -> None:
    know_pages(project)
    project.export(form)
    project.edit(file_of(project, form), "share a layout", "share two layouts")
    assert not project.export(form).is_complete

    done = project.import_rules(form)

    assert ([one.name for one in done.updated], [one.name for one in done.molecules]) == (["Cart"], ["Pages"])
    assert project.molecules() == {"Pages": SHARED.replace("a layout", "two layouts")}
    assert {knowledge for _, _, knowledge in project.read_atoms()} == {"Never round twice."}
    assert project.export(form).is_complete
    assert project.export(form).is_up_to_date
    assert "share a layout" not in "".join(project.files().values())


@each_format
def test_an_edit_of_the_atom_s_text_does_not_take_back_what_the_molecule_says_by_now(
    project: RulesProject, form: RuleFormat
) -> None:
    cart, _ = know_pages(project)
    project.export(form)
    pages = project.session.call("knowledge.get", entityType="molecule", id=cart.molecule_id).molecule
    project.session.call(
        "knowledge.update", entityType="molecule", id=pages.id, version=pages.version, knowledge="Says something new."
    )
    path = file_of(project, form)
    text = project.files()[path]
    project.write(path, text.replace("Never round", "Do not round", 1))

    assert [one.name for one in project.import_rules(form).updated] == ["Cart"]

    assert project.molecules() == {"Pages": "Says something new."}
    assert project.read(cart.id).knowledge == "Do not round twice."
    assert not project.export(form).is_complete, "the file still has the old text of the molecule"
    assert project.export(form, force=True).is_complete


def test_a_file_with_several_blocks_of_a_molecule_has_its_text_once(project: RulesProject) -> None:
    know_pages(project)
    project.export(RuleFormat.AGENTS)

    (text,) = project.files().values()

    assert (text.count("> All pages share a layout."), text.count("> Part of: Pages")) == (1, 2)


@each_format
def test_a_changed_molecule_is_written_into_the_files_of_its_atoms(project: RulesProject, form: RuleFormat) -> None:
    cart, _ = know_pages(project)
    project.export(form)
    pages = project.session.call("knowledge.get", entityType="molecule", id=cart.molecule_id).molecule
    project.session.call(
        "knowledge.update", entityType="molecule", id=pages.id, version=pages.version, knowledge="New."
    )

    assert project.export(form).written
    assert "> New.\n" in project.files()[file_of(project, form)]
    assert project.export(form).is_up_to_date
