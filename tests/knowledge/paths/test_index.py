"""An index answers like its patterns one by one, after any additions and removals in any order."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.knowledge.paths.index import PathIndex
from groundplan.knowledge.paths.names import ROOT
from groundplan.knowledge.paths.pattern import MalformedPattern, parse_pattern
from tests.knowledge.paths.random_paths import SOUND_TEXTS, generate_paths
from tests.machines.budget import budget

STEPS = 450

# Many patterns in few directories, so that every kind of bucket is used.
KEYS = st.sampled_from([f"atom-{n}" for n in range(20)])
BEGINNINGS = st.sampled_from(("", "", "a/", "a/", "a/b/", "**/", "**/a/", "a/**/"))
PATTERNS = st.lists(st.tuples(BEGINNINGS, SOUND_TEXTS).map("".join), max_size=3)
ATOMS = st.lists(st.tuples(KEYS, PATTERNS), max_size=40)
SEEDS = st.integers(0, 2**32)


def keep_patterns(patterns: Iterable[str]) -> list[str]:
    kept = []
    for text in patterns:
        try:
            parse_pattern(text)
        except MalformedPattern:
            continue
        kept.append(text)
    return kept


def build_index(atoms: Iterable[tuple[str, list[str]]]) -> PathIndex:
    index = PathIndex()
    for key, patterns in atoms:
        index.put(key, patterns)
    return index


@pytest.mark.slow
@budget(STEPS)
@given(ATOMS, SEEDS)
def test_it_finds_what_the_patterns_match_one_by_one(given_atoms: list[tuple[str, list[str]]], seed: int) -> None:
    atoms = {key: keep_patterns(patterns) for key, patterns in given_atoms}
    index = build_index(atoms.items())
    paths = generate_paths([text for patterns in atoms.values() for text in patterns], seed)
    for path in paths:
        expected = [
            key for key, patterns in atoms.items() if any(parse_pattern(text).matches(path) for text in patterns)
        ]
        assert index.find_matches(path) == sorted(expected), path
    assert list(index.match_many(paths)) == [(path, index.find_matches(path)) for path in paths]


@pytest.mark.slow
@budget(STEPS)
@given(ATOMS, SEEDS)
def test_it_finds_below_a_folder_what_the_patterns_can_match_one_by_one(
    given_atoms: list[tuple[str, list[str]]], seed: int
) -> None:
    atoms = {key: keep_patterns(patterns) for key, patterns in given_atoms}
    index = build_index(atoms.items())
    folders = {*generate_paths([text for patterns in atoms.values() for text in patterns], seed)}
    for folder in folders - {ROOT}:  # for the index the root, for a pattern no folder
        expected = [
            key
            for key, patterns in atoms.items()
            if any(parse_pattern(text).can_match_below(folder) for text in patterns)
        ]
        assert index.matching_below(folder) == sorted(expected), folder
    assert index.matching_below(ROOT) == sorted(key for key, patterns in atoms.items() if patterns)


@budget(STEPS)
@given(st.lists(st.tuples(KEYS, st.none() | PATTERNS), max_size=40), SEEDS)
def test_after_any_changes_it_is_like_one_that_was_built_afresh_in_any_order(
    changes: list[tuple[str, list[str] | None]], seed: int
) -> None:
    index = PathIndex()
    atoms: dict[str, list[str]] = {}
    for key, patterns in changes:
        if patterns is None:
            index.remove(key)
            atoms.pop(key, None)
        else:
            atoms[key] = keep_patterns(patterns)
            index.put(key, atoms[key])
    shuffled = list(atoms.items())
    Random(seed).shuffle(shuffled)  # noqa: S311 - the same order every time
    fresh = build_index(shuffled)
    paths = generate_paths([text for _, patterns in changes for text in patterns or ()], seed)
    assert [index.find_matches(path) for path in paths] == [fresh.find_matches(path) for path in paths]
    assert [index.matching_below(path) for path in paths] == [fresh.matching_below(path) for path in paths]
    assert (len(index), index.size) == (len(fresh), fresh.size) == (len(atoms), fresh.size)
    for key in atoms:
        index.remove(key)
    assert (len(index), index.size) == (0, 0)
    assert not any(held for held in vars(index).values() if isinstance(held, dict)), "something is left behind"


@pytest.mark.parametrize("text", ["**/*part{}-*/**", "src/**/name?{}-*.tsx", "**/[a-z]*{}-[a-z]*", "src/**/*{}-*"])
def test_patterns_that_differ_only_in_the_middle_of_a_name_are_all_found(text: str) -> None:
    index = build_index((str(n), [text.format(n)]) for n in range(100))
    assert index.find_matches("src/part7-x/name-7-card.tsx") == ["7"]
    index.remove("7")
    assert index.find_matches("src/part7-x/name-7-card.tsx") == []


@pytest.mark.parametrize(
    ("path", "below"),
    [
        ("scripts/deploy", ["begins", "deep", "deploy"]),
        ("scripts", ["begins", "deep", "deploy", "file"]),
        ("src/[id]", ["begins", "deep", "escaped"]),
        ("bin/run", []),
        ("bin", ["begins", "deep", "file in bin"]),
        ("v1.2", ["begins", "deep", "dotted"]),
        ("src/pay", []),
        ("scripts/dep", []),
    ],
)
def test_a_path_is_a_folder_if_the_literal_beginning_of_a_pattern_lies_below_it(path: str, below: list[str]) -> None:
    index = build_index(
        [
            ("deploy", ["scripts/deploy/**"]),
            ("file", ["scripts/build"]),
            ("file in bin", ["bin/*.sh"]),
            ("dotted", ["v1.2/**"]),
            ("escaped", ["src/\\[id\\]/*.ts"]),
            ("begins", ["**/*.ts"]),
            ("deep", ["**/a/*"]),
            ("one name", ["src/*/deep/**"]),
        ]
    )

    assert index.find_matches(path, is_folder=None) == sorted([*below, *(["one name"] if path == "src/[id]" else [])])
    assert index.find_matches(path, is_folder=False) == []


def test_a_folder_finds_what_is_inside_of_it_and_what_reaches_into_it() -> None:
    index = build_index(
        [
            ("inside", ["src/pay/api/*.ts"]),
            ("file", ["src/pay/a.ts"]),
            ("all", ["src/pay/**"]),
            ("above", ["src/**/*.ts"]),
            ("one name", ["src/*/a.ts"]),
            ("braces", ["{src,lib}/{pay,get}/x?.ts"]),
            ("itself", ["src/pay"]),
            ("too short", ["src/*"]),
            ("beside", ["src/payments/**", "src/pa?/b", "lib/**"]),
            ("brackets", ["src/[pay]/a.ts"]),
        ]
    )
    assert index.matching_below("src/pay") == ["above", "all", "beside", "braces", "file", "inside", "one name"]
    assert index.matching_below("src/pay/api") == ["above", "all", "inside"]
    assert index.matching_below("src/[pay]") == ["above", "brackets", "one name"]
    assert index.matching_below("/src/pay") == index.matching_below("../src") == []


def test_a_segment_that_stands_for_no_name_leads_nowhere() -> None:
    for text in ("src/[.]/a", "src/[.]./a", "src/[.][.]/a"):
        assert not parse_pattern(text).can_match_below("src/b")
        assert parse_pattern(text).can_match_below("src"), "the text itself is a path that it matches"
    assert parse_pattern("src/*/[.a]").can_match_below("src/b")


def test_keys_come_sorted_and_once() -> None:
    index = build_index([("b", ["src/**", "**/*.ts", "src/a.ts"]), ("a", ["src/{a,b}.ts"]), ("c", ["lib/**"])])
    assert index.find_matches("src/a.ts") == ["a", "b"]


def test_putting_a_key_again_replaces_its_patterns() -> None:
    index = build_index([("a", ["src/**", "docs/**"])])
    index.put("a", ["docs/**", "lib/**"])
    assert [index.find_matches(path) for path in ("src/x", "docs/x", "lib/x")] == [[], ["a"], ["a"]]


def test_a_key_whose_new_patterns_are_malformed_keeps_what_it_had() -> None:
    index = build_index([("a", ["src/**"])])
    with pytest.raises(MalformedPattern):
        index.put("a", ["lib/**", "x["])
    assert (index.find_matches("src/x"), index.find_matches("lib/x"), index.size) == (["a"], [], 1)


def test_a_pattern_equal_to_the_path_is_found_whatever_its_signs_mean() -> None:
    index = build_index([("page", ["app/[id]/page.tsx"]), ("braces", ["x{a,b}"])])
    assert index.find_matches("app/[id]/page.tsx") == ["page"]
    assert index.find_matches("app/i/page.tsx") == ["page"]
    assert [index.find_matches(path) for path in ("x{a,b}", "xa")] == [["braces"], ["braces"]]


def test_its_size_counts_written_out_patterns_of_every_key() -> None:
    index = build_index(
        [("a", ["src/{a,b}/**", "lib/**"]), ("b", ["lib/**"]), ("c", ["./lib/**", "lib/**"]), ("d", [])]
    )
    assert (len(index), index.size) == (4, 5)


def test_removing_what_is_not_there_changes_nothing() -> None:
    index = build_index([("a", ["src/**"])])
    index.remove("b")
    assert (len(index), index.size) == (1, 1)
