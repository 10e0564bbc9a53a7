"""The front matter of a rule file is read as the tools write it, valid YAML or not, in bounded time."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
import yaml
from hypothesis import given

from groundplan.front_matter import FRONT_CHARS_MAX
from groundplan.repository.rules.front_matter import (
    UnreadableRule,
    parse_fields,
    parse_patterns,
    quote,
    quote_if_needed,
    split,
)
from tests.repository.rules import rule_strategies


def head(*lines: str) -> str:
    return "\n".join(("---", *lines, "---", ""))


def test_the_head_is_what_stands_between_two_fences_at_the_top() -> None:
    assert split("---\npaths: a\n---\n# Name\n---\n") == ("---\npaths: a\n---\n", "# Name\n---\n")
    assert split("---\r\npaths: a\r\n---\r\nbody") == ("---\r\npaths: a\r\n---\r\n", "body")
    assert split("# Name\n---\nno head\n---\n") == ("", "# Name\n---\nno head\n---\n")
    assert split("") == ("", "")
    assert split("  ---\n  paths: a\n  ---\n  # Name\n    code\n") == ("---\npaths: a\n---\n", "# Name\n  code\n")


def test_a_head_without_an_end_or_of_endless_length_is_refused() -> None:
    with pytest.raises(UnreadableRule, match="no second"):
        split("---\npaths: a\n# Name\n")
    with pytest.raises(UnreadableRule, match="more than"):
        split("---\n" + "a: b\n" * FRONT_CHARS_MAX + "---\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("globs: **/*.ts,src/**", ("**/*.ts", "src/**")),
        ("globs: **/*.{ts,tsx}, src/[a,b]*.ts  # why", ("**/*.{ts,tsx}", "src/[a,b]*.ts")),
        ("globs: {src,lib}/**", ("{src,lib}/**",)),
        ("globs: [a-c]*.ts", ("[a-c]*.ts",)),
        ("globs: a\\,b", ("a\\,b",)),
        ('globs: "src/**, lib/**"', ("src/**", "lib/**")),
        ('globs: ["src/**", lib/**]', ("src/**", "lib/**")),
        ("globs:\n  - src/**\n  - 'lib/**'", ("src/**", "lib/**")),
        ("globs: src/**,\n  lib/**", ("src/**", "lib/**")),
        ('globs: ["src/**", lib/**]  # why', ("src/**", "lib/**")),
        ("globs: {a,b}", ("{a,b}",)),
        ('globs: "5"', ("5",)),
        ("globs: ['5', \"null\"]", ("5", "null")),
        ("globs: 'null'", ("null",)),
        ("globs: *a,*b", ("*a", "*b")),
        ('globs: "a/**", "b/{c,d}"', ("a/**", "b/{c,d}")),
        ("globs: 'a,b', c  # why", ("a,b", "c")),
        ("globs: [a/{b,c}, app/[id]/x]", ("a/{b,c}", "app/[id]/x")),
        ("globs: [\n  a,\n  b\n]", ("a", "b")),
        ("globs:\n- a\n# more\n- b", ("a", "b")),
        ("  globs: a,b\n  other: c", ("a", "b")),
    ],
)
def test_patterns_are_read_in_every_spelling_that_is_in_use(line: str, expected: tuple[str, ...]) -> None:
    assert parse_patterns(parse_fields(head(line))["globs"]) == expected


@pytest.mark.parametrize(
    "line", ["globs:", "globs: ", "globs: ~", "globs: null", "globs: NULL", "globs: # none", "globs: ''"]
)
def test_a_field_without_a_value_is_not_there(line: str) -> None:
    assert parse_fields(head(line)) == {}


@pytest.mark.parametrize("line", ["paths: []", "paths: [ ]  # none", "paths: ','"])
def test_a_list_of_patterns_without_one_is_refused(line: str) -> None:
    with pytest.raises(UnreadableRule, match="no pattern in it"):
        parse_patterns(parse_fields(head(line))["paths"])


def test_a_description_may_hold_what_yaml_would_stumble_over() -> None:
    assert parse_fields(head("description: when: always #1")) == {"description": "when: always"}
    assert parse_fields(head("description: >", "  in", "  two lines")) == {"description": "in two lines"}


@pytest.mark.parametrize(
    "lines",
    [
        ["other: [a", "b: c"],
        ["- a", "- b"],
        ["paths:", "  a: b"],
        ["paths: [[a]]"],
        ["paths: 5"],
        ["paths: 1.5  # a number"],
        ["paths: true"],
        ["paths: 2001-01-01"],
        ["paths: {a: b}"],
        ["paths: {}"],
        ["paths: {a: b}  # why"],
        ["paths: !src/**"],
        ["paths: !!int 5"],
        ["paths: !!int"],
        ["paths: !!binary aGk="],
        ["paths: !own [a]"],
        ["paths: [a, 5]"],
        ["paths: [a, ~]"],
        ["paths: [5] # why"],
        ["paths:", "  - a", "  - !own b"],
        ["paths:", "  - true"],
        ['"globs": 5'],
        ["other: \x01"],
    ],
)
def test_what_is_no_list_of_patterns_is_refused_with_a_reason(lines: list[str]) -> None:
    with pytest.raises(UnreadableRule) as refused:
        parse_fields(head(*lines))
    assert refused.value.reason.startswith("has ")


@pytest.mark.parametrize(
    "bomb",
    [
        "x: " + "[" * 65_000,
        "x: " + "{" * 65_000,
        "x:\n " + "- " * 32_000,
        "x:\n " + "? " * 32_000,
        "\n".join(" " * depth + "a:" for depth in range(340)),
        "a: &a {k: v}\n" + "\n".join(f"b{n}: &b{n} {{<<: [*a, *a]}}" for n in range(30)),
        "x: [" + "'a'," * 16_000 + "]",
        "x: '" + "''" * 32_000,
        'x: "' + "\\x41" * 16_000 + '"',
        "x: |\n" + " a\n" * 20_000,
        "x: a\n" + " # b\n" * 12_000,
    ],
    ids=["lists", "maps", "items", "keys", "lines", "merges", "texts", "quotes", "escapes", "block", "comments"],
)
def test_what_takes_yaml_minutes_or_all_memory_is_read_or_refused_at_once(bomb: str) -> None:
    begin = time.process_time()
    with suppress(UnreadableRule):
        assert sum(len(value) for value in parse_fields(head(bomb)).values()) <= len(bomb)
    assert time.process_time() - begin < 1  # about 20 ms; what is quadratic takes seconds


def test_what_is_nested_has_no_patterns_and_what_names_another_value_is_text() -> None:
    assert parse_fields(head("other: &x 1", "and: *x", "deep:", "  er: 1")) == {
        "other": "&x 1",
        "and": "*x",
        "deep": [],
    }
    with pytest.raises(UnreadableRule, match="nested"):
        parse_fields(head("paths: " + "[" * 20))


def test_nothing_is_built_from_a_head_but_text() -> None:
    assert parse_fields(head("x: !!python/object/apply:os.abort []", "y: !!int nonsense", "z: 2001-99-99")) == {
        "x": [],
        "y": "nonsense",
        "z": "2001-99-99",
    }


@given(rule_strategies.names | rule_strategies.knowledge | rule_strategies.patterns)
def test_a_quoted_text_is_read_back_by_yaml_as_it_was(text: str) -> None:
    assert yaml.safe_load(f"- {quote(text)}") == [text]


@given(rule_strategies.names)
def test_a_plain_text_is_quoted_where_yaml_would_read_something_else(name: str) -> None:
    assert yaml.safe_load(f"description: {quote_if_needed(name)}") == {"description": name}
