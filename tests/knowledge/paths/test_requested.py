"""Requested paths are normalized: different spellings mean the same path."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.knowledge.paths.index import PathIndex
from groundplan.knowledge.paths.names import parse_paths as parse_folders_too
from groundplan.knowledge.paths.names import split_path
from tests.machines.budget import budget

STEPS = 2_000


def parse_paths(paths: str | list[str]) -> list[str]:
    return list(parse_folders_too(paths))


@pytest.mark.parametrize(
    "text",
    [
        "src/a.ts",
        "  src/a.ts\t",
        "./src/a.ts",
        "././src//a.ts",
        "src/./a.ts",
        "src/x/../a.ts",
        "src/x/y/../../a.ts/",
        r"src\a.ts",
        r".\src\a.ts",
        "`src/a.ts`",
        '"src/a.ts"',
        "'src/a.ts'",
        "``src/a.ts``",
        "- src/a.ts",
        "* src/a.ts",
        "+ src/a.ts",
        "• src/a.ts",
        "-   `src/a.ts`",
        "1. src/a.ts",
        "12) src/a.ts",
        "- [ ] src/a.ts",
        "- [x] `./src/a.ts`",
        "[X] src/a.ts",
        '"- src/a.ts"',
    ],
)
def test_decoration_and_detours_are_taken_off(text: str) -> None:
    assert parse_paths([text]) == ["src/a.ts"]
    assert parse_paths(text) == ["src/a.ts"]


@pytest.mark.parametrize(
    "text",
    ["-a.ts", "1.txt", "[x].ts", "[id]/page.tsx", "*.ts", "a - b.ts", "it's.ts", "...", ".env", "a:b", "+page.ts"],
)
def test_names_that_only_look_decorated_are_left_alone(text: str) -> None:
    assert parse_paths(text) == [text]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("/src/a.ts", "/src/a.ts"),
        ("../a.ts", "../a.ts"),
        ("src/../../a.ts", "src/../../a.ts"),
        ("C:/src/a.ts", "C:/src/a.ts"),
        (r"c:\src\a.ts", "c:/src/a.ts"),
        (r"\\server\a.ts", "//server/a.ts"),
        ("`/etc//hosts`", "/etc//hosts"),
    ],
)
def test_a_path_outside_the_repository_stays_as_it_is_and_matches_nothing(text: str, kept: str) -> None:
    index = PathIndex()
    index.put("everything", ["**", "*", "*/*", "**/a.ts"])
    assert parse_paths(text) == [kept]
    assert index.find_matches(kept) == []


def test_a_string_is_split_at_commas_and_line_breaks() -> None:
    assert parse_paths("b.ts, a.ts\r\nc.ts\n\n- d.ts,") == ["b.ts", "a.ts", "c.ts", "d.ts"]


def test_an_array_is_taken_element_by_element_also_when_it_is_written_into_a_string() -> None:
    paths = ["b,c.ts", " - `a.ts`"]
    assert parse_paths(paths) == parse_paths(json.dumps(paths)) == ["b,c.ts", "a.ts"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[id]/a.ts, b.ts", ["[id]/a.ts", "b.ts"]),
        ('["a.ts", b.ts]', ['["a.ts"', "b.ts]"]),
        ('[["a.ts"]]', ['[["a.ts"]]']),
        ("[1]", ["[1]"]),
        ("[" * 100_000, ["[" * 100_000]),
    ],
    ids=["text", "broken", "nested", "number", "deep"],
)
def test_a_string_that_is_no_array_of_strings_is_read_as_text(text: str, found: list[str]) -> None:
    assert parse_paths(text) == found


def test_what_is_empty_vanishes() -> None:
    for nothing in ("", " \n , ,\n", "[]", "- \n*\n1.", '""', "``"):
        assert parse_paths(nothing) == []
    assert parse_paths([]) == parse_paths(["", " "]) == []


def test_paths_come_in_their_order_and_once() -> None:
    assert parse_paths("b/a, ./b/a, a/b, `b/a`, b/x/../a") == ["b/a", "a/b"]


@budget(STEPS)
@given(st.lists(st.text("ab/.\\-*`' :1[]x", max_size=12), max_size=8), st.randoms(use_true_random=False))
def test_repetition_does_not_matter_and_names_lead_down_or_stay_outside(paths: list[str], random: Random) -> None:
    found = parse_paths(paths)
    again = [*paths, *paths]
    assert parse_paths(again) == found == list(dict.fromkeys(found))
    random.shuffle(again)
    assert sorted(parse_paths(again)) == sorted(found)
    for path in found:
        assert "\\" not in path
        assert (
            split_path(path) is not None
            or path.startswith("/")
            or ".." in path.split("/")
            or ":" in path
            or path == "."
        )


def test_a_text_of_nothing_but_decoration_is_no_trouble() -> None:
    for text in ("- " * 100_000, '"' * 200_000, "1. [x] " * 50_000):
        parse_paths(text)


@pytest.mark.parametrize(
    ("text", "is_folder"),
    [
        ("src/pay", None),
        ("src/pay/", True),
        ("src/a.ts", None),
        ("src/a.ts/", True),
        ("bin/run", None),
        ("`src/ui/`", True),
        (".", True),
        ("a/..", True),
    ],
)
def test_a_path_is_of_a_folder_if_it_says_so_and_its_name_says_nothing(text: str, is_folder: bool | None) -> None:
    assert list(parse_folders_too(text).values()) == [is_folder]


def test_a_path_that_is_once_written_as_a_folder_is_one() -> None:
    assert parse_folders_too("a.ts, a.ts/") == parse_folders_too("a.ts/, a.ts") == {"a.ts": True}
