"""Rule files follow the atoms: written, refreshed and removed, but never over what somebody wrote by hand."""

from __future__ import annotations

import pytest

from groundplan.kernel.errors import NotFound
from groundplan.repository.rules import exported_atoms
from groundplan.repository.rules.export import NOT_CARRIED, RulesOutOfReach
from groundplan.repository.rules.export_plan import ATOM_GONE, HAND_EDITED, NOT_OURS
from groundplan.repository.rules.formats.registry import RuleFormat
from groundplan.repository.rules.marks import format_end_mark
from tests.repository.rules.notebook import Notebook

CART = {
    RuleFormat.CLAUDE: ".claude/rules/groundplan/cart.md",
    RuleFormat.CURSOR: ".cursor/rules/groundplan/cart.mdc",
    RuleFormat.AGENTS: "src/cart/AGENTS.md",
}
each_format = pytest.mark.parametrize("form", RuleFormat)


@each_format
def test_an_atom_becomes_a_rule_where_the_tool_looks_for_it(notebook: Notebook, form: RuleFormat) -> None:
    pages = notebook.molecule("Pages")
    other = notebook.atom("Stripe", "src/stripe/**")
    gone = notebook.atom("Gone", "x")
    notebook.atom(
        moleculeId=pages.id,
        relatedAtoms=[{"atomId": other.id, "reason": "pays\nthrough it"}, {"atomId": gone.id, "reason": "was"}],
    )
    notebook.forget(gone)

    done = notebook.export(form)

    assert CART[form] in done.written
    assert len(done.written) == 2
    assert done.is_complete
    text = notebook.files()[CART[form]]
    assert "\n# Cart\n" in text
    lines = ("> Part of: Pages", "> Related: Stripe (pays through it)", ">", "> Holds for all of them.", "")
    assert "\n".join((*lines, "Never round twice.\n")) in text
    assert "src/cart/**" in text
    assert "Gone" not in text


@each_format
def test_the_same_atoms_give_the_same_bytes_and_a_second_run_changes_nothing(
    notebook: Notebook, form: RuleFormat
) -> None:
    for name in ("b", "a", "ä"):
        notebook.atom(name, f"src/{name}/**", "src/cart/x")
    first = notebook.export(form)
    files = notebook.files()

    again = notebook.export(form)

    assert (again.written, again.removed, again.is_up_to_date) == ([], [], True)
    assert again.unchanged == first.written == list(files)
    for path in files:
        (notebook.folder / path).unlink()
    notebook.export(form)
    assert notebook.files() == files


@each_format
def test_a_changed_atom_is_refreshed_in_place(notebook: Notebook, form: RuleFormat) -> None:
    atom = notebook.atom()
    notebook.export(form)
    notebook.change(atom, knowledge="Round once.")

    done = notebook.export(form)

    assert (done.written, done.removed) == ([CART[form]], [])
    assert "\nRound once.\n" in notebook.files()[CART[form]]
    assert "Never" not in notebook.files()[CART[form]]
    assert "version=2" in notebook.files()[CART[form]]


@each_format
def test_a_new_version_that_says_nothing_new_leaves_the_file_as_it_is(notebook: Notebook, form: RuleFormat) -> None:
    atom = notebook.atom()
    notebook.export(form)
    files = notebook.files()
    notebook.change(atom, confirm="9fceb02d0ae598e95dc970b74767f19372d61af8")

    assert notebook.export(form).is_up_to_date
    assert notebook.files() == files


@each_format
def test_the_rule_of_an_atom_that_is_gone_renamed_or_elsewhere_goes_too(notebook: Notebook, form: RuleFormat) -> None:
    gone = notebook.atom()
    renamed = notebook.atom("Old", "src/old/**")
    notebook.export(form)
    notebook.forget(gone)
    notebook.change(renamed, name="New", paths=["src/new/**"])

    done = notebook.export(form)

    assert (len(done.written), len(done.removed)) == (1, 2)
    assert list(notebook.files()) == done.written
    assert "new" in done.written[0]


@each_format
def test_an_edit_by_hand_is_reported_and_stays_until_it_is_forced(notebook: Notebook, form: RuleFormat) -> None:
    atom = notebook.atom()
    notebook.export(form)
    notebook.edit(CART[form], "Never", "Do not")
    edited = notebook.files()
    notebook.change(atom, knowledge="Round once.")

    done = notebook.export(form)

    assert [(one.path, one.atom_id, one.reason) for one in done.drifted] == [(CART[form], atom.id, HAND_EDITED)]
    assert (done.written, done.is_complete) == ([], False)
    assert notebook.files() == edited
    assert notebook.export(form, force=True).written == [CART[form]]
    assert "Round once." in notebook.files()[CART[form]]
    assert notebook.export(form).is_up_to_date


@each_format
def test_an_edited_rule_stays_though_its_atom_is_gone(notebook: Notebook, form: RuleFormat) -> None:
    atom = notebook.atom()
    notebook.export(form)
    notebook.edit(CART[form], "Never", "Do not")
    edited = notebook.files()
    notebook.forget(atom)

    assert [one.reason for one in notebook.export(form).drifted] == [ATOM_GONE]
    assert notebook.files() == edited
    assert notebook.export(form, force=True).removed == [CART[form]]
    assert notebook.files() == {}


@each_format
def test_a_check_writes_nothing_and_tells_what_an_export_would_do(notebook: Notebook, form: RuleFormat) -> None:
    atom = notebook.atom()
    notebook.atom("Other", "src/other/**")

    first = notebook.export(form, check=True)
    assert CART[form] in first.written
    assert not first.is_up_to_date
    assert not notebook.folder.exists()

    notebook.export(form)
    assert notebook.export(form, check=True).is_up_to_date
    notebook.forget(atom)
    before = notebook.files()
    assert notebook.export(form, check=True).removed == [CART[form]]
    assert notebook.files() == before


@each_format
def test_two_projects_write_into_one_working_copy_side_by_side(notebook: Notebook, form: RuleFormat) -> None:
    other = Notebook(notebook.session, "other", notebook.folder)
    notebook.atom()
    theirs = other.atom(knowledge="Theirs.")
    notebook.export(form)

    other.export(form)

    assert notebook.export(form).is_up_to_date
    assert other.export(form).is_up_to_date
    other.forget(theirs)
    other.export(form)
    assert notebook.export(form).is_up_to_date
    assert "Never round twice." in notebook.files()[CART[form]]


def test_atoms_of_like_names_have_files_of_their_own(notebook: Notebook) -> None:
    atoms = [notebook.atom(name, f"src/{number}/**") for number, name in enumerate(("Cart", "CART!", "../cart"))]

    done = notebook.export(RuleFormat.CLAUDE)

    assert sorted(done.written) == sorted(f".claude/rules/groundplan/cart-{atom.id[:8]}.md" for atom in atoms)


@pytest.mark.parametrize("form", [RuleFormat.CLAUDE, RuleFormat.CURSOR])
def test_a_file_of_somebody_else_in_the_way_is_not_written_over(notebook: Notebook, form: RuleFormat) -> None:
    notebook.atom()
    notebook.write(CART[form], "# Mine\n")
    notebook.write(CART[form].replace("cart", "theirs"), "---\nnot closed")

    assert [one.reason for one in notebook.export(form).drifted] == [NOT_OURS]
    assert notebook.files()[CART[form]] == "# Mine\n"
    notebook.export(form, force=True)
    assert "# Cart" in notebook.files()[CART[form]]
    assert notebook.files()[CART[form].replace("cart", "theirs")] == "---\nnot closed"


@pytest.mark.parametrize("form", [RuleFormat.CLAUDE, RuleFormat.CURSOR])
def test_a_folder_behind_a_link_is_refused_and_nothing_is_written(notebook: Notebook, form: RuleFormat) -> None:
    notebook.atom()
    outside = notebook.folder.parent / "outside"
    outside.mkdir()
    tool = CART[form].partition("/")[0]
    notebook.folder.mkdir()
    (notebook.folder / tool).symlink_to(outside)

    with pytest.raises(RulesOutOfReach):
        notebook.export(form)

    assert list(outside.iterdir()) == []


@each_format
def test_a_link_in_the_place_of_a_file_is_refused_even_with_force(notebook: Notebook, form: RuleFormat) -> None:
    atom = notebook.atom()
    notebook.export(form)
    outside = notebook.folder.parent / "outside.md"
    outside.write_text("theirs")
    (notebook.folder / CART[form]).unlink()
    (notebook.folder / CART[form]).symlink_to(outside)

    done = notebook.export(form, force=True)

    assert [(one.path, one.atom_id) for one in done.refused] == [(CART[form], atom.id)]
    assert outside.read_text() == "theirs"


def test_an_unknown_project_is_refused_and_an_empty_one_has_no_files(notebook: Notebook) -> None:
    with pytest.raises(NotFound):
        notebook.session.call("knowledge.search", entityType="atom", projectId="nowhere")
    notebook.project = "nowhere"
    with pytest.raises(NotFound):
        notebook.export(RuleFormat.CLAUDE)
    notebook.project = "atlas"
    assert notebook.export(RuleFormat.CLAUDE).is_up_to_date
    assert not notebook.folder.exists()


def test_more_atoms_than_a_page_are_all_written(notebook: Notebook) -> None:
    for number in range(103):
        notebook.atom(f"Atom {number}", f"src/{number}/**")

    assert len(notebook.export(RuleFormat.CLAUDE).written) == 103


def test_an_atom_that_slips_from_page_to_page_is_not_taken_for_deleted(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    atoms = [notebook.atom(f"Atom {number}", f"src/{number}/**") for number in range(3)]
    notebook.export(RuleFormat.CLAUDE)
    monkeypatch.setattr(exported_atoms, "PAGE_SIZE", 2)
    call = notebook.session.call
    moved: list[object] = []

    def move_in_between(operation: str, /, **arguments: object) -> object:
        if operation == "knowledge.search" and arguments["offset"] == 2 and not moved:
            moved.append(notebook.change(atoms[2], name="A first one"))
        return call(operation, **arguments)

    monkeypatch.setattr(notebook.session, "call", move_in_between)

    assert len(notebook.export(RuleFormat.CLAUDE).unchanged) == 2
    assert moved
    assert len(notebook.files()) == 3


class TestSharedFiles:
    """AGENTS.md, in which people write too."""

    def test_what_people_wrote_stays_around_the_blocks_as_it_is(self, notebook: Notebook) -> None:
        atom = notebook.atom("Beta", "src/**")
        notebook.write("src/AGENTS.md", "# Ours\n\nRun the tests.\n")
        notebook.export(RuleFormat.AGENTS)
        text = notebook.files()["src/AGENTS.md"]
        assert text.startswith("# Ours\n\nRun the tests.\n\n<!-- Generated by Groundplan: atom=")
        assert text.endswith(f"\n\nNever round twice.\n{format_end_mark(atom.id)}\n")

        notebook.write("src/AGENTS.md", f"{text}\nAsk Ada.\n")
        notebook.atom("Alpha", "src/*")
        notebook.atom("Gamma", "src/*")
        notebook.export(RuleFormat.AGENTS)

        text = notebook.files()["src/AGENTS.md"]
        places = [text.index(word) for word in ("# Ours", "# Alpha", "# Beta", "# Gamma", "Ask Ada.")]
        assert places == sorted(places)

    def test_when_all_atoms_are_gone_the_file_is_what_it_was(self, notebook: Notebook) -> None:
        before = "# Ours\n\nRun the tests.\n"
        notebook.write("src/AGENTS.md", before)
        atoms = [notebook.atom(name, "src/**") for name in ("a", "b", "c")]
        notebook.export(RuleFormat.AGENTS)
        for atom in (atoms[1], atoms[0], atoms[2]):
            notebook.forget(atom)
            assert notebook.export(RuleFormat.AGENTS).is_complete

        assert notebook.files() == {"src/AGENTS.md": before}

    def test_blocks_stay_in_order_when_names_change_and_where_they_were_put(self, notebook: Notebook) -> None:
        one, two = notebook.atom("a", "src/**"), notebook.atom("b", "src/**")
        notebook.export(RuleFormat.AGENTS)
        text = notebook.files()["src/AGENTS.md"]
        block_a, block_b = text.split("\n\n<!-- Gen")
        notebook.write("src/AGENTS.md", f"top\n{block_a}\nmiddle\n<!-- Gen{block_b}bottom\n")
        assert notebook.export(RuleFormat.AGENTS).is_up_to_date

        notebook.change(one, name="z")
        notebook.export(RuleFormat.AGENTS)

        text = notebook.files()["src/AGENTS.md"]
        places = [text.index(word) for word in ("top", "# b", "middle", "# z", "bottom")]
        assert places == sorted(places)
        assert two.id in text

    def test_knowledge_that_holds_the_end_of_its_own_block_is_refused_with_a_reason(self, notebook: Notebook) -> None:
        atom = notebook.atom()
        notebook.change(atom, knowledge=f"Copied.\n{format_end_mark(atom.id)}\nmore")
        notebook.atom("Fine", "src/fine/**")

        done = notebook.export(RuleFormat.AGENTS)

        assert [(one.atom_id, one.reason) for one in done.refused] == [(atom.id, NOT_CARRIED)]
        assert done.written == ["src/fine/AGENTS.md"]

    def test_a_block_that_was_copied_is_there_once_again(self, notebook: Notebook) -> None:
        notebook.atom()
        notebook.export(RuleFormat.AGENTS)
        once = notebook.files()["src/cart/AGENTS.md"]
        notebook.write("src/cart/AGENTS.md", f"{once}\n{once}")
        notebook.write("docs/AGENTS.md", once)

        done = notebook.export(RuleFormat.AGENTS)

        assert (done.written, done.removed) == (["src/cart/AGENTS.md"], ["docs/AGENTS.md"])
        assert notebook.files() == {"src/cart/AGENTS.md": once}

    def test_a_file_of_somebody_else_is_not_touched(self, notebook: Notebook) -> None:
        notebook.atom()
        notebook.write("docs/AGENTS.md", "Écoute".encode("latin-1"))
        notebook.write("lib/AGENTS.md", "no line break at the end")

        assert notebook.export(RuleFormat.AGENTS).written == ["src/cart/AGENTS.md"]
        assert (notebook.folder / "lib/AGENTS.md").read_text() == "no line break at the end"

    def test_a_directory_that_is_a_file_is_refused(self, notebook: Notebook) -> None:
        notebook.atom()
        notebook.write("src/cart", "a file")

        (refused,) = notebook.export(RuleFormat.AGENTS).refused

        assert refused.path == "src/cart/AGENTS.md"
        assert refused.reason.startswith("cannot be accessed")
