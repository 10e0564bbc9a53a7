"""The work of matching grows linearly with the path, and at most with its length times the cost of the pattern."""

from __future__ import annotations

from contextlib import suppress

import pytest

from groundplan.knowledge.paths.index import PathIndex, TooManySteps
from groundplan.knowledge.paths.names import PATH_CHARS_MAX
from groundplan.knowledge.paths.pattern import MalformedPattern, parse_pattern, refuse_costly
from tests.knowledge.paths.pathological_patterns import DEAR, PATHOLOGICAL, long_path
from tests.knowledge.paths.work_counters import count_lines


@pytest.mark.parametrize(("text", "unit"), PATHOLOGICAL.values(), ids=PATHOLOGICAL)
def test_a_path_of_twice_the_length_is_at_most_twice_the_work(text: str, unit: str) -> None:
    pattern = parse_pattern(text)
    short, long = (long_path(unit, chars) for chars in (PATH_CHARS_MAX // 2, PATH_CHARS_MAX))
    pattern.matches(short)  # regular expressions are compiled once
    assert count_lines(lambda: pattern.matches(long)) <= 2 * count_lines(lambda: pattern.matches(short)) + 10


@pytest.mark.parametrize(("text", "unit"), PATHOLOGICAL.values(), ids=PATHOLOGICAL)
def test_the_longest_path_is_bounded_work_even_the_first_time(text: str, unit: str) -> None:
    path = long_path(unit, PATH_CHARS_MAX)
    lines_per_character = 5
    places = sum(map(len, parse_pattern(text).alternatives))
    assert (
        count_lines(lambda: parse_pattern(text).matches(path)) <= lines_per_character * len(path) + 20 * places + 1_000
    )


@pytest.mark.parametrize(("text", "unit"), DEAR.values(), ids=DEAR)
def test_the_work_is_bounded_by_the_path_times_the_cost_of_the_pattern(text: str, unit: str) -> None:
    pattern = parse_pattern(text)
    refuse_costly(pattern)
    path = long_path(unit, PATH_CHARS_MAX // 8)
    pattern.matches(path)  # regular expressions are compiled once
    lines_per_step = 6
    assert count_lines(lambda: pattern.matches(path)) <= lines_per_step * pattern.cost * len(path)


@pytest.mark.parametrize(
    "text", ["**/" + "*a/" * 250 + "**/b", "**/" + "*?*/" * 120 + "b/**", "**/" + "*a/" * 20 + "{b,c}" * 6 + "/**"]
)
def test_a_pattern_whose_cost_is_above_the_limit_is_refused(text: str) -> None:
    with pytest.raises(MalformedPattern):
        refuse_costly(parse_pattern(text))


@pytest.mark.parametrize("text", ["{a,b}" * 20, "{a,b}" * 100, "{{a,b},{c,d}}" * 38, "{a,b,c,d}" * 56])
def test_too_many_alternatives_are_refused_without_writing_them_out(text: str) -> None:
    def error_of() -> None:
        with pytest.raises(MalformedPattern):
            parse_pattern(text)

    assert count_lines(error_of) <= 1_000


# What thousands of patterns have in common, and paths that only one of them matches.
CROWDS = {
    "directories of their own": ("src/area{}/**", "src/area{}/ui/a.ts"),
    "files of their own": ("src/area{}/file.ts", "src/area{}/file.ts"),
    "beginnings of file names": ("src/**/name{}-*.tsx", "src/ui/name{}-card.tsx"),
    "ends of file names": ("**/*-{}.ts", "src/ui/card-{}.ts"),
    "names on the way": ("**/thing{}/*.ts", "lib/thing{}/a.ts"),
    "beginnings on the way": ("src/**/mod{}-*/**", "src/a/mod{}-x/a.ts"),
    "one end, and names on the way": ("**/x{}/*.stories.tsx", "a/x{}/b.stories.tsx"),
    "one name in the end, and others on the way": ("src/*/x{}-*y/index.ts", "src/a/x{}-y/index.ts"),
    "braces": ("packages/p{}/{{src,lib}}/**", "packages/p{}/lib/a.ts"),
}


@pytest.mark.parametrize(("text", "path"), CROWDS.values(), ids=CROWDS)
def test_each_pattern_of_a_crowd_is_found(text: str, path: str) -> None:
    index = make_index(100, text)
    for n in range(100):
        assert index.find_matches(path.format(n)) == [str(n)]


@pytest.mark.parametrize(("text", "path"), CROWDS.values(), ids=CROWDS)
def test_a_path_meets_no_more_patterns_when_there_are_ten_times_as_many(text: str, path: str) -> None:
    few, many = make_index(100, text), make_index(1_000, text)
    asked = path.format(7)
    assert count_lines(lambda: many.find_matches(asked)) <= count_lines(lambda: few.find_matches(asked)) + 20


def test_patterns_that_differ_only_in_the_middle_of_a_name_are_passed_over_in_a_line_or_two_each() -> None:
    many = make_index(3_000, "**/*part{}-*/**")
    assert many.find_matches("src/xpart7-x/a.ts") == ["7"]
    assert count_lines(lambda: many.find_matches("src/xpart7-x/a.ts")) <= 2 * len(many) + 1_000


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("src/area{}/**", "src/area7/ui"),
        ("src/area{}/file.ts", "src/area7"),
        ("packages/p{}/{{src,lib}}/**", "packages/p7"),
    ],
)
def test_a_folder_meets_no_more_patterns_when_there_are_ten_times_as_many(text: str, folder: str) -> None:
    few, many = make_index(100, text), make_index(1_000, text)
    for index in (few, many):
        assert index.matching_below(folder) == ["7"]
    assert count_lines(lambda: many.matching_below(folder)) <= count_lines(lambda: few.matching_below(folder)) + 20


@pytest.mark.parametrize(("text", "unit"), PATHOLOGICAL.values(), ids=PATHOLOGICAL)
def test_the_longest_folder_is_bounded_work_even_the_first_time(text: str, unit: str) -> None:
    folder = long_path(unit, PATH_CHARS_MAX)
    alternatives = parse_pattern(text).alternatives
    places = sum(map(len, alternatives))
    lines_per_character = 5 * len(alternatives)
    work = count_lines(lambda: parse_pattern(text).can_match_below(folder))
    assert work <= lines_per_character * len(folder) + 20 * places + 1_000


def test_a_search_below_a_folder_that_would_take_too_long_is_refused_before_it_begins() -> None:
    many = make_index(1_000, "*/[a-b]{}/x")
    with pytest.raises(TooManySteps):
        many.matching_below("src", steps_max=1_000)
    assert many.steps > 1_000
    assert count_lines(lambda: suppressed(many)) <= 10 * len(many)


def suppressed(index: PathIndex) -> None:
    with suppress(TooManySteps):
        index.matching_below("src", steps_max=1_000)


def make_index(many: int, text: str) -> PathIndex:
    index = PathIndex()
    for n in range(many):
        index.put(str(n), [text.format(n)])
    return index
