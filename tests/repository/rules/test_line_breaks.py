"""Files that git has checked out with CRLF are what they were with LF, and are written with CRLF again."""

from __future__ import annotations

import pytest

from groundplan.repository.rules.formats.registry import RuleFormat
from groundplan.repository.rules.line_breaks import normalize_line_breaks
from groundplan.repository.rules.marks import format_end_mark
from tests.repository.rules.notebook import Notebook
from tests.repository.rules.test_export import CART, each_format


def check_out_with_crlf(notebook: Notebook) -> dict[str, str]:
    """What git does on Windows."""
    for path, text in notebook.files().items():
        notebook.write(path, normalize_line_breaks(text).replace("\n", "\r\n"))
    return notebook.files()


@each_format
def test_what_was_exported_is_up_to_date_with_crlf_and_is_not_written_again(
    notebook: Notebook, form: RuleFormat
) -> None:
    notebook.atom(moleculeId=notebook.molecule("Pages").id)
    notebook.atom("Windows", "src/cart/*", knowledge="Written\r\nthere.")
    notebook.export(form)
    files = check_out_with_crlf(notebook)

    for options in ({}, {"check": True}, {"force": True}):
        done = notebook.export(form, **options)
        assert (done.is_up_to_date, done.unchanged) == (True, list(files))
    assert notebook.files() == files


@each_format
def test_a_changed_atom_is_written_with_crlf_where_its_file_has_it(notebook: Notebook, form: RuleFormat) -> None:
    atom = notebook.atom()
    notebook.atom("Same", "src/cart/*")
    notebook.export(form)
    check_out_with_crlf(notebook)
    notebook.change(atom, knowledge="Round once.\n\nAlways.\r\nReally.")

    assert notebook.export(form).written == [CART[form]]

    text = notebook.files()[CART[form]]
    assert "\r\nRound once.\r\n\r\nAlways.\r\nReally.\r\n" in text
    assert text.count("\r") == text.count("\n") == text.count("\r\n")
    assert notebook.export(form).is_up_to_date


@each_format
def test_an_edit_is_noticed_among_crlf_taken_in_with_lf_and_can_be_forced_away(
    notebook: Notebook, form: RuleFormat
) -> None:
    atom = notebook.atom(knowledge="Never round twice.\r\nNever.")
    notebook.export(form)
    check_out_with_crlf(notebook)
    assert notebook.take(form).unchanged
    assert notebook.read(atom.id).version == 1
    notebook.edit(CART[form], "Never round", "Do not round")
    assert [one.path for one in notebook.export(form).drifted] == [CART[form]]

    notebook.take(form)

    assert notebook.read(atom.id).knowledge == "Do not round twice.\nNever."
    assert notebook.export(form).is_complete
    notebook.edit(CART[form], "Do not", "Do")
    assert notebook.export(form, force=True).written == [CART[form]]
    assert "Do not round twice.\r\nNever.\r\n" in notebook.files()[CART[form]]


@each_format
def test_the_rule_of_an_atom_that_is_gone_goes_though_it_has_crlf(notebook: Notebook, form: RuleFormat) -> None:
    atom = notebook.atom()
    notebook.export(form)
    check_out_with_crlf(notebook)
    notebook.forget(atom)

    assert notebook.export(form).removed == [CART[form]]


@each_format
def test_a_single_line_with_another_break_is_no_edit(notebook: Notebook, form: RuleFormat) -> None:
    notebook.atom()
    notebook.export(form)
    notebook.edit(CART[form], "# Cart\n", "# Cart\r\n")
    files = notebook.files()

    assert notebook.export(form).is_up_to_date
    assert notebook.files() == files


@pytest.mark.parametrize("form", [RuleFormat.CLAUDE, RuleFormat.CURSOR])
def test_a_file_of_somebody_else_that_is_forced_keeps_its_line_breaks(notebook: Notebook, form: RuleFormat) -> None:
    notebook.atom()
    notebook.write(CART[form], "# Mine\r\n")

    notebook.export(form, force=True)

    text = notebook.files()[CART[form]]
    assert text.count("\n") == text.count("\r\n") > 1


class TestSharedFiles:
    """AGENTS.md, in which people write too."""

    MIXED = "# Ours\r\n\r\nRun\nthe tests.\r\n"

    def test_what_people_wrote_keeps_every_byte_while_blocks_come_change_and_go(self, notebook: Notebook) -> None:
        notebook.write("src/AGENTS.md", self.MIXED)
        one = notebook.atom("a", "src/**")

        notebook.export(RuleFormat.AGENTS)
        first = notebook.files()["src/AGENTS.md"]
        assert first.startswith(f"{self.MIXED}\r\n<!-- Generated")
        assert first.endswith(f"Never round twice.\r\n{format_end_mark(one.id)}\r\n")

        notebook.write("src/AGENTS.md", f"{first}\r\nAsk\nAda.")
        two = notebook.atom("b", "src/**")
        notebook.change(one, knowledge="Round once.")
        notebook.export(RuleFormat.AGENTS)
        text = notebook.files()["src/AGENTS.md"]
        assert text.startswith(f"{self.MIXED}\r\n<!-- Generated")
        assert text.endswith(f"{format_end_mark(two.id)}\r\n\r\nAsk\nAda.")
        ours = text.removeprefix(self.MIXED).removesuffix("Ask\nAda.")
        assert ours.count("\n") == ours.count("\r\n")
        assert ours.count("<!-- Generated") == 2

        notebook.forget(one)
        notebook.forget(two)
        notebook.export(RuleFormat.AGENTS)
        assert notebook.files()["src/AGENTS.md"] == f"{self.MIXED}\r\nAsk\nAda."

    def test_the_block_of_another_project_keeps_its_line_breaks(self, notebook: Notebook) -> None:
        other = Notebook(notebook.session, "other", notebook.folder)
        other.atom(knowledge="Theirs.")
        other.export(RuleFormat.AGENTS)
        theirs = notebook.files()[CART[RuleFormat.AGENTS]]
        notebook.write(CART[RuleFormat.AGENTS], f"Ours.\r\n{theirs}")
        notebook.atom()

        notebook.export(RuleFormat.AGENTS)

        assert notebook.files()[CART[RuleFormat.AGENTS]].startswith(f"Ours.\r\n{theirs}\r\n<!-- Generated")

    def test_a_block_at_the_end_of_a_file_that_does_not_end_its_line_is_up_to_date(self, notebook: Notebook) -> None:
        notebook.atom("b", "src/cart/**")
        notebook.export(RuleFormat.AGENTS)
        notebook.write(CART[RuleFormat.AGENTS], notebook.files()[CART[RuleFormat.AGENTS]].rstrip("\n"))
        assert notebook.export(RuleFormat.AGENTS).is_up_to_date

        notebook.edit(CART[RuleFormat.AGENTS], "Never", "Do not")
        notebook.atom("a", "src/cart/**")
        notebook.atom("c", "src/cart/**")
        notebook.export(RuleFormat.AGENTS)

        text = notebook.files()[CART[RuleFormat.AGENTS]]
        assert text.count("-->\n\n<!-- Generated") == 2
        assert "Do not round twice." in text
