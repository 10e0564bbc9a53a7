"""The page about path patterns is right: every row of its tables is tried."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from groundplan.knowledge.paths.index import PathIndex
from groundplan.knowledge.paths.names import parse_paths
from groundplan.knowledge.paths.pattern import (
    ALTERNATIVES_MAX,
    EXPANDED_CHARS_MAX,
    PATTERN_CHARS_MAX,
    MalformedPattern,
    parse_pattern,
)

PAGE = (Path(__file__).parents[3] / "docs" / "concepts" / "path-patterns.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")

MEANINGS = "| Pattern | Matches | Does not match |"
REFUSALS = "| Pattern | Refused because it | Hint |"
REQUESTED = "| Written | Read as |"


def rows(head: str) -> list[tuple[str, ...]]:
    """Return the cells of the table with this header."""
    table = PAGE[PAGE.index(head) :].split("\n\n")[0].splitlines()[2:]
    return [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in table]


def code(cell: str) -> list[str]:
    return CODE.findall(cell)


@pytest.mark.parametrize(("pattern", "matching", "others"), rows(MEANINGS))
def test_a_pattern_matches_what_the_page_says(pattern: str, matching: str, others: str) -> None:
    (text,) = code(pattern)
    index = PathIndex()
    index.put("atom", [text])
    for path in code(matching):
        assert parse_pattern(text).matches(path), path
        assert index.find_matches(path) == ["atom"], path
    for path in code(others):
        assert not parse_pattern(text).matches(path), path
        assert index.find_matches(path) == [], path
    assert code(matching)
    assert code(others)


@pytest.mark.parametrize(("pattern", "problem", "hint"), rows(REFUSALS))
def test_a_text_is_refused_as_the_page_says(pattern: str, problem: str, hint: str) -> None:
    (text,) = code(pattern)
    with pytest.raises(MalformedPattern) as refused:
        parse_pattern(text)
    assert ([refused.value.problem], [refused.value.hint]) == (code(problem), code(hint))


@pytest.mark.parametrize(("written", "read"), rows(REQUESTED))
def test_a_path_is_read_as_the_page_says(written: str, read: str) -> None:
    assert list(parse_paths(code(written))) == list(parse_paths(code(written)[0])) == code(read)


def test_the_limits_on_the_page_are_those_that_hold() -> None:
    for limit in (
        f"{PATTERN_CHARS_MAX} characters",
        f"at most {ALTERNATIVES_MAX}",
        f"{EXPANDED_CHARS_MAX:,} characters",
    ):
        assert limit in PAGE
