"""Each format carries an atom's name, patterns and knowledge there and back."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from groundplan.knowledge.paths.pattern import parse
from groundplan.repository.rules.formats import agents, cursor, front_matter
from groundplan.repository.rules.formats.front_matter import Unreadable
from groundplan.repository.rules.formats.table import Format, carries, piece_of, rule_in
from groundplan.repository.rules.line_breaks import with_lf
from groundplan.repository.rules.marking import end_of
from groundplan.repository.rules.rule import Rule, Subject
from tests.repository.rules import texts


@given(texts.subjects, st.sampled_from(Format))
def test_every_atom_is_carried_there_and_back(subject: Subject, form: Format) -> None:
    piece = piece_of(subject, form)

    assert carries(piece, subject, form)
    assert rule_in(piece, form) == Rule(with_lf(subject.knowledge), subject.name, subject.patterns)


@given(texts.subjects)
def test_the_head_for_claude_code_is_a_list_of_the_patterns_as_they_are(subject: Subject) -> None:
    front = piece_of(subject, Format.CLAUDE).front

    assert yaml.safe_load(front.strip("-\n")) == {"paths": list(subject.patterns)}


def test_the_head_for_cursor_has_its_globs_bare_and_without_blanks() -> None:
    assert cursor.front(texts.subject()) == (
        "---\n"
        "description: Checkout Page\n"
        "globs: src/pages/checkout/**,src/components/checkout-*.tsx\n"
        "alwaysApply: false\n"
        "---\n"
    )
    assert "globs: src/*.{ts,tsx}\n" in cursor.front(texts.subject(patterns=("src/*.{ts,tsx}",)))


def test_patterns_that_cannot_stand_bare_are_a_list() -> None:
    assert 'globs: ["a,b", "c #d"]\n' in cursor.front(texts.subject(patterns=("a,b", "c #d")))


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
    assert cursor.patterns(front_matter.fields(f"---\n{head}\n---\n")) == expected


@pytest.mark.parametrize("head", ["", "description: only when asked for", "globs:\nalwaysApply: false"])
def test_a_rule_for_cursor_that_somebody_must_ask_for_is_for_no_files(head: str) -> None:
    with pytest.raises(Unreadable, match="no files in particular"):
        cursor.patterns(front_matter.fields(f"---\n{head}\n---\n"))


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
    assert agents.file_for(patterns) == expected


@pytest.mark.parametrize("directory", ["src/ui", "app/[id]", "a{b,c}", "what?", "!not", "back\\slash", "*"])
def test_a_directory_stands_for_everything_below_it_whatever_it_is_called(directory: str) -> None:
    (pattern,) = agents.patterns_in(directory)

    assert parse(pattern).matches(f"{directory}/x/y.ts")
    assert not parse(pattern).matches("elsewhere/x/y.ts")
    assert agents.file_for([pattern]) == f"{directory}/AGENTS.md"
    assert agents.patterns_in("") == ("**",)


def test_knowledge_that_would_begin_or_end_its_own_block_is_not_carried_in_a_shared_file() -> None:
    for mark in (end_of(texts.ATOM), str(piece_of(texts.subject(), Format.AGENTS).mark)):
        subject = texts.subject(knowledge=f"Copied:\n{mark}\nmore")

        assert not carries(piece_of(subject, Format.AGENTS), subject, Format.AGENTS)
        assert carries(piece_of(subject, Format.CLAUDE), subject, Format.CLAUDE)
