"""Rule files carry the knowledge of molecules, and bring it back once."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.repository.rules.formats.registry import RuleFormat
from tests.repository.rules.notebook import Notebook
from tests.repository.rules.test_export import CART

SHARED = "All pages share a layout.\n\n> Related: none of it\n\nRoutes are guarded."

each_format = pytest.mark.parametrize("form", list(RuleFormat))


def know_pages(notebook: Notebook) -> tuple[Any, Any]:
    """Know two atoms of one molecule, side by side."""
    molecule = notebook.molecule("Pages", SHARED)
    return tuple(
        notebook.atom(name, f"src/{name.lower()}/**", "src/shared.ts", moleculeId=molecule.id)
        for name in ("Cart", "Profile")
    )


def file_of(notebook: Notebook, form: RuleFormat) -> str:
    """The file that the atom Cart is in."""
    return next(path for path in notebook.files() if path == CART[form] or path.endswith("src/AGENTS.md"))


@each_format
def test_the_knowledge_of_a_molecule_is_exported_and_imported_into_one_molecule(
    notebook: Notebook, form: RuleFormat
) -> None:
    know_pages(notebook)
    notebook.export(form)
    other = Notebook(notebook.session, "other", notebook.folder)

    done = other.take(form)

    assert [one.name for one in done.molecules] == ["Pages"]
    assert other.molecules() == {"Pages": SHARED}
    assert sorted(other.kept()) == sorted(notebook.kept())
    found = other.session.call("knowledge.search", entityType="atom", projectId="other").items
    assert len({atom.molecule_id for atom in found} - {None}) == 1
    again = other.take(form)
    assert ([one.name for one in again.unchanged], again.molecules) == (["Cart", "Profile"], [])
    assert other.molecules() == {"Pages": SHARED}


@each_format
def test_a_molecule_of_that_name_is_joined_as_it_is(notebook: Notebook, form: RuleFormat) -> None:
    know_pages(notebook)
    notebook.export(form)
    other = Notebook(notebook.session, "other", notebook.folder)
    other.molecule("Pages", "We know better.")

    assert other.take(form).molecules == []

    assert other.molecules() == {"Pages": "We know better."}


@each_format
def test_an_edit_of_the_molecule_s_text_updates_the_molecule_and_all_its_files(
    notebook: Notebook, form: RuleFormat
) -> None:
    know_pages(notebook)
    notebook.export(form)
    notebook.edit(file_of(notebook, form), "share a layout", "share two layouts")
    assert not notebook.export(form).is_complete

    done = notebook.take(form)

    assert ([one.name for one in done.updated], [one.name for one in done.molecules]) == (["Cart"], ["Pages"])
    assert notebook.molecules() == {"Pages": SHARED.replace("a layout", "two layouts")}
    assert {knowledge for _, _, knowledge in notebook.kept()} == {"Never round twice."}
    assert notebook.export(form).is_complete
    assert notebook.export(form).is_up_to_date
    assert "share a layout" not in "".join(notebook.files().values())


@each_format
def test_an_edit_of_the_atom_s_text_does_not_take_back_what_the_molecule_says_by_now(
    notebook: Notebook, form: RuleFormat
) -> None:
    cart, _ = know_pages(notebook)
    notebook.export(form)
    pages = notebook.session.call("knowledge.get", entityType="molecule", id=cart.molecule_id).molecule
    notebook.session.call(
        "knowledge.update", entityType="molecule", id=pages.id, version=pages.version, knowledge="Says something new."
    )
    path = file_of(notebook, form)
    text = notebook.files()[path]
    notebook.write(path, text.replace("Never round", "Do not round", 1))

    assert [one.name for one in notebook.take(form).updated] == ["Cart"]

    assert notebook.molecules() == {"Pages": "Says something new."}
    assert notebook.read(cart.id).knowledge == "Do not round twice."
    assert not notebook.export(form).is_complete, "the file still has the old text of the molecule"
    assert notebook.export(form, force=True).is_complete


def test_a_file_with_several_blocks_of_a_molecule_has_its_text_once(notebook: Notebook) -> None:
    know_pages(notebook)
    notebook.export(RuleFormat.AGENTS)

    (text,) = notebook.files().values()

    assert (text.count("> All pages share a layout."), text.count("> Part of: Pages")) == (1, 2)


@each_format
def test_a_changed_molecule_is_written_into_the_files_of_its_atoms(notebook: Notebook, form: RuleFormat) -> None:
    cart, _ = know_pages(notebook)
    notebook.export(form)
    pages = notebook.session.call("knowledge.get", entityType="molecule", id=cart.molecule_id).molecule
    notebook.session.call(
        "knowledge.update", entityType="molecule", id=pages.id, version=pages.version, knowledge="New."
    )

    assert notebook.export(form).written
    assert "> New.\n" in notebook.files()[file_of(notebook, form)]
    assert notebook.export(form).is_up_to_date
