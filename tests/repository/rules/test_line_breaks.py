"""Files with CRLF line ends are read like those with LF and written with CRLF again."""

from __future__ import annotations

import pytest

from groundplan.repository.rules.formats import RuleFormat
from groundplan.repository.rules.marks import format_end_mark
from groundplan.repository.rules.rule import normalize_line_breaks
from tests.repository.rules.rules_project import RulesProject
from tests.repository.rules.test_export import CART, each_format


def check_out_with_crlf(project: RulesProject) -> dict[str, str]:
    """Convert files as git does on Windows."""
    for path, text in project.files().items():
        project.write(path, normalize_line_breaks(text).replace("\n", "\r\n"))
    return project.files()


@each_format
def test_what_was_exported_is_up_to_date_with_crlf_and_is_not_written_again(
    project: RulesProject, form: RuleFormat
) -> None:
    project.atom(moleculeId=project.molecule("Pages").id)
    project.atom("Windows", "src/cart/*", knowledge="Written\r\nthere.")
    project.export(form)
    files = check_out_with_crlf(project)

    for options in ({}, {"check": True}, {"force": True}):
        done = project.export(form, **options)
        assert (done.is_up_to_date, done.unchanged) == (True, list(files))
    assert project.files() == files


@each_format
def test_a_changed_atom_is_written_with_crlf_where_its_file_has_it(project: RulesProject, form: RuleFormat) -> None:
    atom = project.atom()
    project.atom("Same", "src/cart/*")
    project.export(form)
    check_out_with_crlf(project)
    project.change(atom, knowledge="Round once.\n\nAlways.\r\nReally.")

    assert project.export(form).written == [CART[form]]

    text = project.files()[CART[form]]
    assert "\r\nRound once.\r\n\r\nAlways.\r\nReally.\r\n" in text
    assert text.count("\r") == text.count("\n") == text.count("\r\n")
    assert project.export(form).is_up_to_date


@each_format
def test_an_edit_is_noticed_among_crlf_taken_in_with_lf_and_can_be_forced_away(
    project: RulesProject, form: RuleFormat
) -> None:
    atom = project.atom(knowledge="Never round twice.\r\nNever.")
    project.export(form)
    check_out_with_crlf(project)
    assert project.import_rules(form).unchanged
    assert project.read(atom.id).version == 1
    project.edit(CART[form], "Never round", "Do not round")
    assert [one.path for one in project.export(form).drifted] == [CART[form]]

    project.import_rules(form)

    assert project.read(atom.id).knowledge == "Do not round twice.\nNever."
    assert project.export(form).is_complete
    project.edit(CART[form], "Do not", "Do")
    assert project.export(form, force=True).written == [CART[form]]
    assert "Do not round twice.\r\nNever.\r\n" in project.files()[CART[form]]


@each_format
def test_the_rule_of_an_atom_that_is_gone_goes_though_it_has_crlf(project: RulesProject, form: RuleFormat) -> None:
    atom = project.atom()
    project.export(form)
    check_out_with_crlf(project)
    project.delete(atom)

    assert project.export(form).removed == [CART[form]]


@each_format
def test_a_single_line_with_another_break_is_no_edit(project: RulesProject, form: RuleFormat) -> None:
    project.atom()
    project.export(form)
    project.edit(CART[form], "# Cart\n", "# Cart\r\n")
    files = project.files()

    assert project.export(form).is_up_to_date
    assert project.files() == files


@pytest.mark.parametrize("form", [RuleFormat.CLAUDE, RuleFormat.CURSOR])
def test_a_file_of_somebody_else_that_is_forced_keeps_its_line_breaks(project: RulesProject, form: RuleFormat) -> None:
    project.atom()
    project.write(CART[form], "# Mine\r\n")

    project.export(form, force=True)

    text = project.files()[CART[form]]
    assert text.count("\n") == text.count("\r\n") > 1


class TestSharedFiles:
    """AGENTS.md, which people edit too."""

    MIXED = "# Ours\r\n\r\nRun\nthe tests.\r\n"

    def test_what_people_wrote_keeps_every_byte_while_blocks_come_change_and_go(self, project: RulesProject) -> None:
        project.write("src/AGENTS.md", self.MIXED)
        one = project.atom("a", "src/**")

        project.export(RuleFormat.AGENTS)
        first = project.files()["src/AGENTS.md"]
        assert first.startswith(f"{self.MIXED}\r\n<!-- Generated")
        assert first.endswith(f"Never round twice.\r\n{format_end_mark(one.id)}\r\n")

        project.write("src/AGENTS.md", f"{first}\r\nAsk\nAda.")
        two = project.atom("b", "src/**")
        project.change(one, knowledge="Round once.")
        project.export(RuleFormat.AGENTS)
        text = project.files()["src/AGENTS.md"]
        assert text.startswith(f"{self.MIXED}\r\n<!-- Generated")
        assert text.endswith(f"{format_end_mark(two.id)}\r\n\r\nAsk\nAda.")
        ours = text.removeprefix(self.MIXED).removesuffix("Ask\nAda.")
        assert ours.count("\n") == ours.count("\r\n")
        assert ours.count("<!-- Generated") == 2

        project.delete(one)
        project.delete(two)
        project.export(RuleFormat.AGENTS)
        assert project.files()["src/AGENTS.md"] == f"{self.MIXED}\r\nAsk\nAda."

    def test_the_block_of_another_project_keeps_its_line_breaks(self, project: RulesProject) -> None:
        other = RulesProject(project.session, "other", project.folder)
        other.atom(knowledge="Theirs.")
        other.export(RuleFormat.AGENTS)
        theirs = project.files()[CART[RuleFormat.AGENTS]]
        project.write(CART[RuleFormat.AGENTS], f"Ours.\r\n{theirs}")
        project.atom()

        project.export(RuleFormat.AGENTS)

        assert project.files()[CART[RuleFormat.AGENTS]].startswith(f"Ours.\r\n{theirs}\r\n<!-- Generated")

    def test_a_block_at_the_end_of_a_file_that_does_not_end_its_line_is_up_to_date(self, project: RulesProject) -> None:
        project.atom("b", "src/cart/**")
        project.export(RuleFormat.AGENTS)
        project.write(CART[RuleFormat.AGENTS], project.files()[CART[RuleFormat.AGENTS]].rstrip("\n"))
        assert project.export(RuleFormat.AGENTS).is_up_to_date

        project.edit(CART[RuleFormat.AGENTS], "Never", "Do not")
        project.atom("a", "src/cart/**")
        project.atom("c", "src/cart/**")
        project.export(RuleFormat.AGENTS)

        text = project.files()[CART[RuleFormat.AGENTS]]
        assert text.count("-->\n\n<!-- Generated") == 2
        assert "Do not round twice." in text
