"""Each format carries an atom's name, patterns and knowledge there and back."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from groundplan.knowledge.paths.pattern import parse_pattern
from groundplan.repository.rules import formats, front_matter
from groundplan.repository.rules.formats import RuleFormat, parse_piece, render_piece, survives_round_trip
from groundplan.repository.rules.marks import format_end_mark
from groundplan.repository.rules.rule import (
    ExportedAtom,
    Rule,
    normalize_line_breaks,
    normalize_patterns,
    normalize_rule,
)
from tests.repository.rules import rule_strategies


@given(rule_strategies.subjects, st.sampled_from(RuleFormat))
def test_every_atom_is_carried_there_and_back(subject: ExportedAtom, form: RuleFormat) -> None:
    piece = render_piece(subject, form)

    assert survives_round_trip(piece, subject, form)
    assert normalize_rule(parse_piece(piece, form)) == Rule(
        normalize_line_breaks(subject.knowledge), subject.name, tuple(normalize_patterns(subject.patterns))
    )


@given(rule_strategies.subjects)
def test_the_head_for_claude_code_is_a_list_of_the_patterns_as_they_are(subject: ExportedAtom) -> None:
    front = render_piece(subject, RuleFormat.CLAUDE).front

    assert yaml.safe_load(front.strip("-\n")) == {"paths": list(subject.patterns)}


def test_the_head_for_cursor_has_its_globs_bare_and_without_blanks() -> None:
    assert formats.render_cursor(rule_strategies.subject()) == (
        "---\n"
        "description: Checkout Page\n"
        "globs: src/pages/checkout/**,src/components/checkout-*.tsx\n"
        "alwaysApply: false\n"
        "---\n"
    )
    assert "globs: src/*.{ts,tsx}\n" in formats.render_cursor(rule_strategies.subject(patterns=("src/*.{ts,tsx}",)))


def test_patterns_that_cannot_stand_bare_are_a_list() -> None:
    assert 'globs: ["a,b", "c #d"]\n' in formats.render_cursor(rule_strategies.subject(patterns=("a,b", "c #d")))


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("alwaysApply: true", ("**",)),
        ("globs: src/**\nalwaysApply: True", ("**",)),
        ("globs: src/**, lib/**\nalwaysApply: false", ("src/**", "lib/**")),
        ("paths: [src/**]", ("src/**",)),
    ],
)
def test_a_rule_for_cursor_is_for_its_globs_or_always(head: str, expected: tuple[str, ...]) -> None:
    assert formats.read_cursor_patterns(front_matter.parse_fields(f"---\n{head}\n---\n")) == expected


@pytest.mark.parametrize("head", ["", "description: only when asked for", "globs:\nalwaysApply: false"])
def test_a_rule_for_cursor_that_somebody_must_ask_for_is_for_no_files(head: str) -> None:
    assert formats.read_cursor_patterns(front_matter.parse_fields(f"---\n{head}\n---\n")) == ()


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["src/pages/checkout/**", "src/components/checkout-*.tsx"], "src/AGENTS.md"),
        (["src/pages/checkout/**"], "src/pages/checkout/AGENTS.md"),
        (["src/shared/email-client.ts"], "src/shared/AGENTS.md"),
        (["./src/a/*.ts"], "src/a/AGENTS.md"),
        (["src/{a,b}/x/**"], "src/AGENTS.md"),
        (["app/[id]/page.tsx"], "app/AGENTS.md"),
        (["app/\\[id\\]/page.tsx"], "app/[id]/AGENTS.md"),
        (["src/ab/**", "src/abc/**"], "src/AGENTS.md"),
        (["**/*.md"], "AGENTS.md"),
        (["README.md"], "AGENTS.md"),
        (["src/**", "docs/**"], "AGENTS.md"),
        ([".git/hooks/**"], "AGENTS.md"),
        (["web/node_modules/x/**"], "web/AGENTS.md"),
    ],
)
def test_a_block_goes_into_the_deepest_directory_that_holds_all_its_files(patterns: list[str], expected: str) -> None:
    assert formats.choose_file(patterns) == expected


@pytest.mark.parametrize("directory", ["src/ui", "app/[id]", "a{b,c}", "what?", "!not", "back\\slash", "*"])
def test_a_directory_stands_for_everything_below_it_whatever_it_is_called(directory: str) -> None:
    (pattern,) = formats.build_patterns(directory)

    assert parse_pattern(pattern).matches(f"{directory}/x/y.ts")
    assert not parse_pattern(pattern).matches("elsewhere/x/y.ts")
    assert formats.choose_file([pattern]) == f"{directory}/AGENTS.md"
    assert formats.build_patterns("") == ("**",)


def test_knowledge_that_would_begin_or_end_its_own_block_is_not_carried_in_a_shared_file() -> None:
    for mark in (
        format_end_mark(rule_strategies.ATOM),
        str(render_piece(rule_strategies.subject(), RuleFormat.AGENTS).mark),
    ):
        subject = rule_strategies.subject(knowledge=f"Copied:\n{mark}\nmore")

        assert not survives_round_trip(render_piece(subject, RuleFormat.AGENTS), subject, RuleFormat.AGENTS)
        assert survives_round_trip(render_piece(subject, RuleFormat.CLAUDE), subject, RuleFormat.CLAUDE)
