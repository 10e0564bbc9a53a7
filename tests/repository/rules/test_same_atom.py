"""If several files are about one atom, the first one counts, the same in every run."""

from __future__ import annotations

import pytest

from groundplan.repository.rules.formats import RuleFormat
from groundplan.repository.rules.import_rules import BOTH_CHANGED
from tests.repository.rules.rules_project import RulesProject
from tests.repository.rules.test_export import CART
from tests.repository.rules.test_import_rules import names, reasons

RULES = ".claude/rules"


def write(project: RulesProject, **texts: str) -> None:
    for name, text in texts.items():
        project.write(f"{RULES}/{name}.md", f"# Cart\n\n{text}\n")


def test_the_first_is_taken_and_the_others_are_skipped_in_every_run(project: RulesProject) -> None:
    write(project, a="One.", b="Two.", c="One.")

    for is_new in (True, False, False):
        taken = project.import_rules(RuleFormat.CLAUDE)

        assert names(taken) == ((["Cart"], [], ["Cart"]) if is_new else ([], [], ["Cart", "Cart"]))
        ((path, reason),) = reasons(taken, project.folder).items()
        assert path == f"{RULES}/b.md"
        assert f"{RULES}/a.md" in reason
        assert project.read_atoms() == [("Cart", ("**",), "One.")]


@pytest.mark.parametrize("named", [("b.md", "a.md"), ("a.md", "b.md"), ("./b.md", "")])
def test_the_order_is_that_of_their_paths_not_that_in_which_they_are_named(
    project: RulesProject, named: tuple[str, str]
) -> None:
    write(project, a="One.", b="Two.")

    project.import_rules(RuleFormat.CLAUDE, *(f"{RULES}/{name}" for name in named))

    assert project.read_atoms() == [("Cart", ("**",), "One.")]


def test_an_edit_of_the_first_is_taken_and_one_of_another_is_not(project: RulesProject) -> None:
    write(project, a="One.", b="Two.")
    project.import_rules(RuleFormat.CLAUDE)
    write(project, b="Three.")
    assert names(project.import_rules(RuleFormat.CLAUDE)) == ([], [], ["Cart"])

    write(project, a="Four.")

    assert names(project.import_rules(RuleFormat.CLAUDE)) == ([], ["Cart"], [])
    assert project.read_atoms() == [("Cart", ("**",), "Four.")]


def test_an_edit_of_what_was_exported_waits_while_the_file_it_once_came_from_comes_first(project: RulesProject) -> None:
    write(project, cart="Never round twice.")
    project.import_rules(RuleFormat.CLAUDE)
    project.export(RuleFormat.CLAUDE)
    project.edit(CART[RuleFormat.CLAUDE], "Never", "Do not")

    for _ in range(2):
        taken = project.import_rules(RuleFormat.CLAUDE)
        assert names(taken) == ([], [], ["Cart"])
        assert list(reasons(taken, project.folder)) == [CART[RuleFormat.CLAUDE]]
    (project.folder / RULES / "cart.md").unlink()

    assert names(project.import_rules(RuleFormat.CLAUDE)) == ([], ["Cart"], [])
    assert project.read_atoms() == [("Cart", ("**",), "Do not round twice.")]


def test_what_was_exported_and_not_edited_speaks_for_nobody(project: RulesProject) -> None:
    write(project, zebra="One.")
    project.import_rules(RuleFormat.CLAUDE)
    project.export(RuleFormat.CLAUDE)
    write(project, zebra="Two.")

    assert names(project.import_rules(RuleFormat.CLAUDE)) == ([], ["Cart"], ["Cart"])


def test_while_the_first_waits_for_a_decision_nobody_else_speaks(project: RulesProject) -> None:
    atom = project.atom("Cart", "**")
    project.export(RuleFormat.CLAUDE)
    project.edit(CART[RuleFormat.CLAUDE], "Never", "Do not")
    project.change(atom, knowledge="Round once.")
    write(project, zebra="Otherwise.")

    found = reasons(project.import_rules(RuleFormat.CLAUDE), project.folder)

    assert found[CART[RuleFormat.CLAUDE]] == BOTH_CHANGED
    assert CART[RuleFormat.CLAUDE] in found[f"{RULES}/zebra.md"]
    assert project.read(atom.id).knowledge == "Round once."


def test_a_file_that_can_be_no_rule_does_not_stand_in_the_way_of_the_next(project: RulesProject) -> None:
    write(project, a="é" * 16_385, b="Two.")

    for _ in range(2):
        assert list(reasons(project.import_rules(RuleFormat.CLAUDE), project.folder)) == [f"{RULES}/a.md"]
        assert project.read_atoms() == [("Cart", ("**",), "Two.")]


@pytest.mark.parametrize("other", ["aaa", "zebra"])
@pytest.mark.parametrize("name", ["Cart", "Basket"])
def test_a_name_that_an_edit_gives_or_leaves_is_one_file_s_for_good(
    project: RulesProject, name: str, other: str
) -> None:
    project.atom("Cart", "**")
    project.export(RuleFormat.CLAUDE)
    project.edit(CART[RuleFormat.CLAUDE], "# Cart", "# Basket")
    project.write(f"{RULES}/{other}.md", f"# {name}\n\nOtherwise.\n")
    project.import_rules(RuleFormat.CLAUDE)
    kept = project.read_atoms()

    again = project.import_rules(RuleFormat.CLAUDE)

    assert (again.created, again.updated) == ([], [])
    assert project.read_atoms() == kept


def test_the_parts_of_one_file_do_not_write_over_each_other(project: RulesProject) -> None:
    project.atom()
    project.export(RuleFormat.AGENTS)
    path = CART[RuleFormat.AGENTS]
    (project.folder / ".git").mkdir()
    project.edit(path, "Never", "Do not")
    project.write(path, project.files()[path] + "\n# Cart\n\nOtherwise.\n")

    for is_new in (True, False):
        taken = project.import_rules(RuleFormat.AGENTS)
        assert names(taken) == (([], ["Cart"], []) if is_new else ([], [], ["Cart"]))
        assert "another part of it" in reasons(taken, project.folder)[path]
    assert project.read_atoms() == [("Cart", ("src/cart/**",), "Do not round twice.")]


def test_a_pattern_in_another_spelling_is_the_same_pattern(project: RulesProject) -> None:
    project.write(f"{RULES}/a.md", "---\npaths: [././src/**, ' docs/** ']\n---\n# Cart\n\nOne.\n")

    assert names(project.import_rules(RuleFormat.CLAUDE)) == (["Cart"], [], [])
    assert names(project.import_rules(RuleFormat.CLAUDE)) == ([], [], ["Cart"])
    assert project.read_atoms() == [("Cart", ("src/**", "docs/**"), "One.")]
