"""Exported rule files follow the atoms: written, updated and removed, but never over a manual edit."""

from __future__ import annotations

import pytest

from groundplan.kernel.errors import NotFound
from groundplan.repository.rules import export
from groundplan.repository.rules.export import NOT_CARRIED, RulesOutOfReach
from groundplan.repository.rules.formats import RuleFormat
from groundplan.repository.rules.marks import format_end_mark
from groundplan.repository.rules.plan_files import ATOM_GONE, HAND_EDITED, NOT_OURS
from tests.repository.rules.rules_project import RulesProject

CART = {
    RuleFormat.CLAUDE: ".claude/rules/groundplan/cart.md",
    RuleFormat.CURSOR: ".cursor/rules/groundplan/cart.mdc",
    RuleFormat.AGENTS: "src/cart/AGENTS.md",
    RuleFormat.COPILOT: ".github/instructions/groundplan/cart.instructions.md",
}
each_format = pytest.mark.parametrize("form", RuleFormat)


@each_format
def test_an_atom_becomes_a_rule_where_the_tool_looks_for_it(project: RulesProject, form: RuleFormat) -> None:
    pages = project.molecule("Pages")
    other = project.atom("Stripe", "src/stripe/**")
    gone = project.atom("Gone", "x")
    project.atom(
        moleculeId=pages.id,
        relatedAtoms=[{"atomId": other.id, "reason": "pays\nthrough it"}, {"atomId": gone.id, "reason": "was"}],
    )
    project.delete(gone)

    done = project.export(form)

    assert CART[form] in done.written
    assert len(done.written) == 2
    assert done.is_complete
    text = project.files()[CART[form]]
    assert "\n# Cart\n" in text
    lines = ("> Part of: Pages", "> Related: Stripe (pays through it)", ">", "> Holds for all of them.", "")
    assert "\n".join((*lines, "Never round twice.\n")) in text
    assert "src/cart/**" in text
    assert "Gone" not in text


@each_format
def test_the_same_atoms_give_the_same_bytes_and_a_second_run_changes_nothing(
    project: RulesProject, form: RuleFormat
) -> None:
    for name in ("b", "a", "ä"):
        project.atom(name, f"src/{name}/**", "src/cart/x")
    first = project.export(form)
    files = project.files()

    again = project.export(form)

    assert (again.written, again.removed, again.is_up_to_date) == ([], [], True)
    assert again.unchanged == first.written == list(files)
    for path in files:
        (project.folder / path).unlink()
    project.export(form)
    assert project.files() == files


@each_format
def test_a_changed_atom_is_refreshed_in_place(project: RulesProject, form: RuleFormat) -> None:
    atom = project.atom()
    project.export(form)
    project.change(atom, knowledge="Round once.")

    done = project.export(form)

    assert (done.written, done.removed) == ([CART[form]], [])
    assert "\nRound once.\n" in project.files()[CART[form]]
    assert "Never" not in project.files()[CART[form]]
    assert "version=2" in project.files()[CART[form]]


@each_format
def test_a_new_version_that_says_nothing_new_leaves_the_file_as_it_is(project: RulesProject, form: RuleFormat) -> None:
    atom = project.atom()
    project.export(form)
    files = project.files()
    project.change(atom, confirm="9fceb02d0ae598e95dc970b74767f19372d61af8")

    assert project.export(form).is_up_to_date
    assert project.files() == files


@each_format
def test_the_rule_of_an_atom_that_is_gone_renamed_or_elsewhere_goes_too(
    project: RulesProject, form: RuleFormat
) -> None:
    gone = project.atom()
    renamed = project.atom("Old", "src/old/**")
    project.export(form)
    project.delete(gone)
    project.change(renamed, name="New", paths=["src/new/**"])

    done = project.export(form)

    assert (len(done.written), len(done.removed)) == (1, 2)
    assert list(project.files()) == done.written
    assert "new" in done.written[0]


@each_format
def test_an_edit_by_hand_is_reported_and_stays_until_it_is_forced(project: RulesProject, form: RuleFormat) -> None:
    atom = project.atom()
    project.export(form)
    project.edit(CART[form], "Never", "Do not")
    edited = project.files()
    project.change(atom, knowledge="Round once.")

    done = project.export(form)

    assert [(one.path, one.atom_id, one.reason) for one in done.drifted] == [(CART[form], atom.id, HAND_EDITED)]
    assert (done.written, done.is_complete) == ([], False)
    assert project.files() == edited
    assert project.export(form, force=True).written == [CART[form]]
    assert "Round once." in project.files()[CART[form]]
    assert project.export(form).is_up_to_date


@each_format
def test_an_edited_rule_stays_though_its_atom_is_gone(project: RulesProject, form: RuleFormat) -> None:
    atom = project.atom()
    project.export(form)
    project.edit(CART[form], "Never", "Do not")
    edited = project.files()
    project.delete(atom)

    assert [one.reason for one in project.export(form).drifted] == [ATOM_GONE]
    assert project.files() == edited
    assert project.export(form, force=True).removed == [CART[form]]
    assert project.files() == {}


@each_format
def test_a_check_writes_nothing_and_tells_what_an_export_would_do(project: RulesProject, form: RuleFormat) -> None:
    atom = project.atom()
    project.atom("Other", "src/other/**")

    first = project.export(form, check=True)
    assert CART[form] in first.written
    assert not first.is_up_to_date
    assert not project.folder.exists()

    project.export(form)
    assert project.export(form, check=True).is_up_to_date
    project.delete(atom)
    before = project.files()
    assert project.export(form, check=True).removed == [CART[form]]
    assert project.files() == before


@each_format
def test_two_projects_write_into_one_working_copy_side_by_side(project: RulesProject, form: RuleFormat) -> None:
    other = RulesProject(project.session, "other", project.folder)
    project.atom()
    theirs = other.atom(knowledge="Theirs.")
    project.export(form)

    other.export(form)

    assert project.export(form).is_up_to_date
    assert other.export(form).is_up_to_date
    other.delete(theirs)
    other.export(form)
    assert project.export(form).is_up_to_date
    assert "Never round twice." in project.files()[CART[form]]


def test_atoms_of_like_names_have_files_of_their_own(project: RulesProject) -> None:
    atoms = [project.atom(name, f"src/{number}/**") for number, name in enumerate(("Cart", "CART!", "../cart"))]

    done = project.export(RuleFormat.CLAUDE)

    assert sorted(done.written) == sorted(f".claude/rules/groundplan/cart-{atom.id[:8]}.md" for atom in atoms)


@pytest.mark.parametrize("form", [RuleFormat.CLAUDE, RuleFormat.CURSOR])
def test_a_file_of_somebody_else_in_the_way_is_not_written_over(project: RulesProject, form: RuleFormat) -> None:
    project.atom()
    project.write(CART[form], "# Mine\n")
    project.write(CART[form].replace("cart", "theirs"), "---\nnot closed")

    assert [one.reason for one in project.export(form).drifted] == [NOT_OURS]
    assert project.files()[CART[form]] == "# Mine\n"
    project.export(form, force=True)
    assert "# Cart" in project.files()[CART[form]]
    assert project.files()[CART[form].replace("cart", "theirs")] == "---\nnot closed"


@pytest.mark.parametrize("form", [RuleFormat.CLAUDE, RuleFormat.CURSOR])
def test_a_folder_behind_a_link_is_refused_and_nothing_is_written(project: RulesProject, form: RuleFormat) -> None:
    project.atom()
    outside = project.folder.parent / "outside"
    outside.mkdir()
    tool = CART[form].partition("/")[0]
    project.folder.mkdir()
    (project.folder / tool).symlink_to(outside)

    with pytest.raises(RulesOutOfReach):
        project.export(form)

    assert list(outside.iterdir()) == []


@each_format
def test_a_link_in_the_place_of_a_file_is_refused_even_with_force(project: RulesProject, form: RuleFormat) -> None:
    atom = project.atom()
    project.export(form)
    outside = project.folder.parent / "outside.md"
    outside.write_text("theirs")
    (project.folder / CART[form]).unlink()
    (project.folder / CART[form]).symlink_to(outside)

    done = project.export(form, force=True)

    assert [(one.path, one.atom_id) for one in done.refused] == [(CART[form], atom.id)]
    assert outside.read_text() == "theirs"


def test_an_unknown_project_is_refused_and_an_empty_one_has_no_files(project: RulesProject) -> None:
    with pytest.raises(NotFound):
        project.session.call("knowledge.search", entityType="atom", projectId="nowhere")
    project.project = "nowhere"
    with pytest.raises(NotFound):
        project.export(RuleFormat.CLAUDE)
    project.project = "atlas"
    assert project.export(RuleFormat.CLAUDE).is_up_to_date
    assert not project.folder.exists()


def test_more_atoms_than_a_page_are_all_written(project: RulesProject) -> None:
    for number in range(103):
        project.atom(f"Atom {number}", f"src/{number}/**")

    assert len(project.export(RuleFormat.CLAUDE).written) == 103


def test_an_atom_that_slips_from_page_to_page_is_not_taken_for_deleted(
    project: RulesProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    atoms = [project.atom(f"Atom {number}", f"src/{number}/**") for number in range(3)]
    project.export(RuleFormat.CLAUDE)
    monkeypatch.setattr(export, "PAGE_SIZE", 2)
    call = project.session.call
    moved: list[object] = []

    def move_in_between(operation: str, /, **arguments: object) -> object:
        if operation == "knowledge.search" and arguments["offset"] == 2 and not moved:
            moved.append(project.change(atoms[2], name="A first one"))
        return call(operation, **arguments)

    monkeypatch.setattr(project.session, "call", move_in_between)

    assert len(project.export(RuleFormat.CLAUDE).unchanged) == 2
    assert moved
    assert len(project.files()) == 3


class TestSharedFiles:
    """AGENTS.md, which people edit too."""

    def test_what_people_wrote_stays_around_the_blocks_as_it_is(self, project: RulesProject) -> None:
        atom = project.atom("Beta", "src/**")
        project.write("src/AGENTS.md", "# Ours\n\nRun the tests.\n")
        project.export(RuleFormat.AGENTS)
        text = project.files()["src/AGENTS.md"]
        assert text.startswith("# Ours\n\nRun the tests.\n\n<!-- Generated by Groundplan: atom=")
        assert text.endswith(f"\n\nNever round twice.\n{format_end_mark(atom.id)}\n")

        project.write("src/AGENTS.md", f"{text}\nAsk Ada.\n")
        project.atom("Alpha", "src/*")
        project.atom("Gamma", "src/*")
        project.export(RuleFormat.AGENTS)

        text = project.files()["src/AGENTS.md"]
        places = [text.index(word) for word in ("# Ours", "# Alpha", "# Beta", "# Gamma", "Ask Ada.")]
        assert places == sorted(places)

    def test_when_all_atoms_are_gone_the_file_is_what_it_was(self, project: RulesProject) -> None:
        before = "# Ours\n\nRun the tests.\n"
        project.write("src/AGENTS.md", before)
        atoms = [project.atom(name, "src/**") for name in ("a", "b", "c")]
        project.export(RuleFormat.AGENTS)
        for atom in (atoms[1], atoms[0], atoms[2]):
            project.delete(atom)
            assert project.export(RuleFormat.AGENTS).is_complete

        assert project.files() == {"src/AGENTS.md": before}

    def test_blocks_stay_in_order_when_names_change_and_where_they_were_put(self, project: RulesProject) -> None:
        one, two = project.atom("a", "src/**"), project.atom("b", "src/**")
        project.export(RuleFormat.AGENTS)
        text = project.files()["src/AGENTS.md"]
        block_a, block_b = text.split("\n\n<!-- Gen")
        project.write("src/AGENTS.md", f"top\n{block_a}\nmiddle\n<!-- Gen{block_b}bottom\n")
        assert project.export(RuleFormat.AGENTS).is_up_to_date

        project.change(one, name="z")
        project.export(RuleFormat.AGENTS)

        text = project.files()["src/AGENTS.md"]
        places = [text.index(word) for word in ("top", "# b", "middle", "# z", "bottom")]
        assert places == sorted(places)
        assert two.id in text

    def test_knowledge_that_holds_the_end_of_its_own_block_is_refused_with_a_reason(
        self, project: RulesProject
    ) -> None:
        atom = project.atom()
        project.change(atom, knowledge=f"Copied.\n{format_end_mark(atom.id)}\nmore")
        project.atom("Fine", "src/fine/**")

        done = project.export(RuleFormat.AGENTS)

        assert [(one.atom_id, one.reason) for one in done.refused] == [(atom.id, NOT_CARRIED)]
        assert done.written == ["src/fine/AGENTS.md"]

    def test_a_block_that_was_copied_is_there_once_again(self, project: RulesProject) -> None:
        project.atom()
        project.export(RuleFormat.AGENTS)
        once = project.files()["src/cart/AGENTS.md"]
        project.write("src/cart/AGENTS.md", f"{once}\n{once}")
        project.write("docs/AGENTS.md", once)

        done = project.export(RuleFormat.AGENTS)

        assert (done.written, done.removed) == (["src/cart/AGENTS.md"], ["docs/AGENTS.md"])
        assert project.files() == {"src/cart/AGENTS.md": once}

    def test_a_file_of_somebody_else_is_not_touched(self, project: RulesProject) -> None:
        project.atom()
        project.write("docs/AGENTS.md", "Écoute".encode("latin-1"))
        project.write("lib/AGENTS.md", "no line break at the end")

        assert project.export(RuleFormat.AGENTS).written == ["src/cart/AGENTS.md"]
        assert (project.folder / "lib/AGENTS.md").read_text() == "no line break at the end"

    def test_a_directory_that_is_a_file_is_refused(self, project: RulesProject) -> None:
        project.atom()
        project.write("src/cart", "a file")

        (refused,) = project.export(RuleFormat.AGENTS).refused

        assert refused.path == "src/cart/AGENTS.md"
        assert refused.reason.startswith("cannot be accessed")
