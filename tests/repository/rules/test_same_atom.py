"""Where several files are about one atom, the first speaks for it, the same one in every run."""

from __future__ import annotations

import pytest

from groundplan.repository.rules.formats.registry import RuleFormat
from groundplan.repository.rules.import_rules import BOTH_CHANGED
from tests.repository.rules.notebook import Notebook
from tests.repository.rules.test_export import CART
from tests.repository.rules.test_import_rules import names, reasons

RULES = ".claude/rules"


def write(notebook: Notebook, **texts: str) -> None:
    for name, text in texts.items():
        notebook.write(f"{RULES}/{name}.md", f"# Cart\n\n{text}\n")


def test_the_first_is_taken_and_the_others_are_skipped_in_every_run(notebook: Notebook) -> None:
    write(notebook, a="One.", b="Two.", c="One.")

    for is_new in (True, False, False):
        taken = notebook.take(RuleFormat.CLAUDE)

        assert names(taken) == ((["Cart"], [], ["Cart"]) if is_new else ([], [], ["Cart", "Cart"]))
        ((path, reason),) = reasons(taken, notebook.folder).items()
        assert path == f"{RULES}/b.md"
        assert f"{RULES}/a.md" in reason
        assert notebook.kept() == [("Cart", ("**",), "One.")]


@pytest.mark.parametrize("named", [("b.md", "a.md"), ("a.md", "b.md"), ("./b.md", "")])
def test_the_order_is_that_of_their_paths_not_that_in_which_they_are_named(
    notebook: Notebook, named: tuple[str, str]
) -> None:
    write(notebook, a="One.", b="Two.")

    notebook.take(RuleFormat.CLAUDE, *(f"{RULES}/{name}" for name in named))

    assert notebook.kept() == [("Cart", ("**",), "One.")]


def test_an_edit_of_the_first_is_taken_and_one_of_another_is_not(notebook: Notebook) -> None:
    write(notebook, a="One.", b="Two.")
    notebook.take(RuleFormat.CLAUDE)
    write(notebook, b="Three.")
    assert names(notebook.take(RuleFormat.CLAUDE)) == ([], [], ["Cart"])

    write(notebook, a="Four.")

    assert names(notebook.take(RuleFormat.CLAUDE)) == ([], ["Cart"], [])
    assert notebook.kept() == [("Cart", ("**",), "Four.")]


def test_an_edit_of_what_was_exported_waits_while_the_file_it_once_came_from_comes_first(notebook: Notebook) -> None:
    write(notebook, cart="Never round twice.")
    notebook.take(RuleFormat.CLAUDE)
    notebook.export(RuleFormat.CLAUDE)
    notebook.edit(CART[RuleFormat.CLAUDE], "Never", "Do not")

    for _ in range(2):
        taken = notebook.take(RuleFormat.CLAUDE)
        assert names(taken) == ([], [], ["Cart"])
        assert list(reasons(taken, notebook.folder)) == [CART[RuleFormat.CLAUDE]]
    (notebook.folder / RULES / "cart.md").unlink()

    assert names(notebook.take(RuleFormat.CLAUDE)) == ([], ["Cart"], [])
    assert notebook.kept() == [("Cart", ("**",), "Do not round twice.")]


def test_what_was_exported_and_not_edited_speaks_for_nobody(notebook: Notebook) -> None:
    write(notebook, zebra="One.")
    notebook.take(RuleFormat.CLAUDE)
    notebook.export(RuleFormat.CLAUDE)
    write(notebook, zebra="Two.")

    assert names(notebook.take(RuleFormat.CLAUDE)) == ([], ["Cart"], ["Cart"])


def test_while_the_first_waits_for_a_decision_nobody_else_speaks(notebook: Notebook) -> None:
    atom = notebook.atom("Cart", "**")
    notebook.export(RuleFormat.CLAUDE)
    notebook.edit(CART[RuleFormat.CLAUDE], "Never", "Do not")
    notebook.change(atom, knowledge="Round once.")
    write(notebook, zebra="Otherwise.")

    found = reasons(notebook.take(RuleFormat.CLAUDE), notebook.folder)

    assert found[CART[RuleFormat.CLAUDE]] == BOTH_CHANGED
    assert CART[RuleFormat.CLAUDE] in found[f"{RULES}/zebra.md"]
    assert notebook.read(atom.id).knowledge == "Round once."


def test_a_file_that_can_be_no_rule_does_not_stand_in_the_way_of_the_next(notebook: Notebook) -> None:
    write(notebook, a="é" * 16_385, b="Two.")

    for _ in range(2):
        assert list(reasons(notebook.take(RuleFormat.CLAUDE), notebook.folder)) == [f"{RULES}/a.md"]
        assert notebook.kept() == [("Cart", ("**",), "Two.")]


@pytest.mark.parametrize("other", ["aaa", "zebra"])
@pytest.mark.parametrize("name", ["Cart", "Basket"])
def test_a_name_that_an_edit_gives_or_leaves_is_one_file_s_for_good(notebook: Notebook, name: str, other: str) -> None:
    notebook.atom("Cart", "**")
    notebook.export(RuleFormat.CLAUDE)
    notebook.edit(CART[RuleFormat.CLAUDE], "# Cart", "# Basket")
    notebook.write(f"{RULES}/{other}.md", f"# {name}\n\nOtherwise.\n")
    notebook.take(RuleFormat.CLAUDE)
    kept = notebook.kept()

    again = notebook.take(RuleFormat.CLAUDE)

    assert (again.created, again.updated) == ([], [])
    assert notebook.kept() == kept


def test_the_parts_of_one_file_do_not_write_over_each_other(notebook: Notebook) -> None:
    notebook.atom()
    notebook.export(RuleFormat.AGENTS)
    path = CART[RuleFormat.AGENTS]
    (notebook.folder / ".git").mkdir()
    notebook.edit(path, "Never", "Do not")
    notebook.write(path, notebook.files()[path] + "\n# Cart\n\nOtherwise.\n")

    for is_new in (True, False):
        taken = notebook.take(RuleFormat.AGENTS)
        assert names(taken) == (([], ["Cart"], []) if is_new else ([], [], ["Cart"]))
        assert "another part of it" in reasons(taken, notebook.folder)[path]
    assert notebook.kept() == [("Cart", ("src/cart/**",), "Do not round twice.")]


def test_a_pattern_in_another_spelling_is_the_same_pattern(notebook: Notebook) -> None:
    notebook.write(f"{RULES}/a.md", "---\npaths: [././src/**, ' docs/** ']\n---\n# Cart\n\nOne.\n")

    assert names(notebook.take(RuleFormat.CLAUDE)) == (["Cart"], [], [])
    assert names(notebook.take(RuleFormat.CLAUDE)) == ([], [], ["Cart"])
    assert notebook.kept() == [("Cart", ("src/**", "docs/**"), "One.")]
