"""A written rule is read back unchanged, and rules of people are read as intended."""

from __future__ import annotations

import pytest
from hypothesis import given

from groundplan.repository.rules.rule import (
    ExportedAtom,
    Rule,
    normalize_line_breaks,
    parse_generated,
    parse_handwritten,
    render_body,
)
from tests.repository.rules import rule_strategies


def test_a_rule_shows_its_name_what_it_belongs_to_and_the_knowledge_as_it_is() -> None:
    assert render_body(rule_strategies.subject(), names_files=True) == (
        "# Checkout Page\n"
        "> Files: `src/pages/checkout/**`, `src/components/checkout-*.tsx`\n"
        "> Part of: Pages\n"
        "> Related: Cart (shares the price formatter)\n"
        ">\n"
        "> All pages use the shared layout.\n"
        ">\n"
        "> Routes are guarded in the middleware.\n"
        "\n"
        "Locales come from the registry, not from local files.\n\nPrices are integers, in cents.\n"
    )


@given(rule_strategies.subjects)
def test_what_is_written_is_read_back(subject: ExportedAtom) -> None:
    knowledge = normalize_line_breaks(subject.knowledge)

    molecule = subject.part_of, normalize_line_breaks(subject.molecule_knowledge) or None

    assert parse_generated(render_body(subject, names_files=True)) == Rule(
        knowledge, subject.name, subject.patterns, *molecule
    )
    assert parse_generated(render_body(subject, names_files=False)) == Rule(knowledge, subject.name, None, *molecule)


def test_a_quotation_that_somebody_put_under_the_heading_is_knowledge() -> None:
    assert parse_generated("# Cart\n> Never round twice.\n\nMore.\n") == Rule("> Never round twice.\n\nMore.", "Cart")


def test_without_its_heading_the_text_says_no_name() -> None:
    assert parse_generated("Never round twice.\n") == Rule("Never round twice.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Cart\n\nNever round twice.", Rule("Never round twice.", "Cart")),
        ("\n\n##  Cart ##\nNever round twice.\n\n", Rule("Never round twice.", "Cart")),
        ("Never round twice.\n\n## Cart\nMore.", Rule("Never round twice.\n\n## Cart\nMore.", "Cart")),
        ("```sh\n# no heading\n```\n# Cart\nMore.", Rule("```sh\n# no heading\n```\n# Cart\nMore.", "Cart")),
        (
            "~~~~\n```\n# no heading\n~~~\n# nor this\n~~~~\n#",
            Rule("~~~~\n```\n# no heading\n~~~\n# nor this\n~~~~\n#"),
        ),
        ("#no heading\nNever round twice.", Rule("#no heading\nNever round twice.")),
        ("# C#\nSharp.", Rule("Sharp.", "C#")),
        ("", Rule("")),
    ],
)
def test_the_first_heading_is_the_name_and_on_top_nothing_else(text: str, expected: Rule) -> None:
    assert parse_handwritten(text) == expected


@given(rule_strategies.subjects)
def test_a_file_that_somebody_writes_like_ours_says_the_same(subject: ExportedAtom) -> None:
    bare = ExportedAtom(subject.atom_id, subject.project_id, 1, "Cart", subject.patterns, subject.knowledge)

    assert parse_handwritten(render_body(bare, names_files=False)) == Rule(
        normalize_line_breaks(subject.knowledge), "Cart"
    )


@pytest.mark.parametrize("line", ["# a" + " " * 500_000 + "b", "# " + "# " * 250_000, "`a" * 250_000, "`" * 500_000])
def test_a_long_line_takes_no_longer_than_its_length(line: str) -> None:
    # Quadratic time would take too long here.
    assert parse_handwritten(line).knowledge in ("", line.strip())
    assert parse_generated(f"# Cart\n> Files: {line}\n").knowledge == ""
