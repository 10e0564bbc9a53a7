"""Limits of text in bytes and characters, and the rules for names."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.input_gate.text_limits import NAME_CHARS_MAX, MaxBytes, Name

SUMMARY_BYTES_MAX = 40


class Node(Struct, forbid_unknown_fields=True):
    summary: Annotated[str, MaxBytes(SUMMARY_BYTES_MAX)]
    tags: Annotated[list[Annotated[str, Meta(max_length=4)]], Meta(max_length=3)] = []
    children: list[Node] = []


class Add(Struct, forbid_unknown_fields=True, tag_field="op", tag="add"):
    title: Name


class Remove(Struct, forbid_unknown_fields=True, tag_field="op", tag="remove"):
    node: str


class Request(Struct, forbid_unknown_fields=True):
    project: Name
    nodes: list[Node] = []
    edits: list[Add | Remove] = []
    labels: dict[str, Name] = {}
    note: str | None = None


def request(**arguments: Any) -> Request:
    return parse_request({"project": "Apollo", **arguments}, Request)


def error_of(**arguments: Any) -> Invalid:
    with pytest.raises(Invalid) as caught:
        request(**arguments)
    return caught.value


@pytest.mark.parametrize("character", ["a", "ä", "\u20ac", "\U0001f600"])
def test_a_limit_in_bytes_is_met_exactly(character: str) -> None:
    def node(size_bytes: int) -> dict[str, Any]:
        filling, rest = divmod(size_bytes, len(character.encode()))
        return {"summary": character * filling + "x" * rest}

    for size_bytes in (SUMMARY_BYTES_MAX - 1, SUMMARY_BYTES_MAX):
        assert request(nodes=[node(size_bytes)]).nodes[0].summary == node(size_bytes)["summary"]
    refusal = error_of(nodes=[{"summary": "a"}, node(SUMMARY_BYTES_MAX + 1)])

    assert refusal.code == "too_long"
    assert refusal.details == {
        "field": "nodes[1].summary",
        "limit_bytes": SUMMARY_BYTES_MAX,
        "actual_bytes": SUMMARY_BYTES_MAX + 1,
    }


@pytest.mark.parametrize("character", ["a", "ä", "\U0001f600"])
def test_a_limit_in_characters_counts_code_points(character: str) -> None:
    for chars in (3, 4):
        request(nodes=[{"summary": "", "tags": [character * chars]}])
    refusal = error_of(nodes=[{"summary": "", "tags": [character * 5]}])

    assert refusal.code == "too_long"
    assert refusal.details == {"field": "nodes[0].tags[0]", "limit_chars": 4, "actual_chars": 5}


@pytest.mark.parametrize("items", [2, 3])
def test_a_list_may_have_as_many_items_as_its_limit(items: int) -> None:
    assert len(request(nodes=[{"summary": "", "tags": ["a"] * items}]).nodes[0].tags) == items


@pytest.mark.parametrize("character", ["a", "\u00e9", "e\u0301", "\U0001f600"])
def test_a_name_is_measured_after_it_was_normalised_and_trimmed(character: str) -> None:
    for chars in (NAME_CHARS_MAX - 1, NAME_CHARS_MAX):
        assert len(request(project=f"  {character * chars}\n").project) == chars
    refusal = error_of(project=character * (NAME_CHARS_MAX + 1))

    assert refusal.code == "too_long"
    assert refusal.details == {
        "field": "project",
        "limit_chars": NAME_CHARS_MAX,
        "actual_chars": NAME_CHARS_MAX + 1,
    }


def test_names_that_look_equal_are_equal_wherever_they_stand() -> None:
    decomposed, composed = " Cafe\u0301 ", "Caf\u00e9"
    admitted = request(
        project=decomposed,
        edits=[{"op": "add", "title": decomposed}],
        labels={"a": decomposed},
        note=decomposed,
    )

    assert (admitted.project, admitted.labels) == (composed, {"a": composed})
    assert admitted.edits == [Add(title=composed)]
    assert admitted.note == decomposed


@pytest.mark.parametrize("name", ["", " ", "\n", "\u2003"])
def test_a_name_of_nothing_is_refused(name: str) -> None:
    refusal = error_of(project=name)

    assert (refusal.code, refusal.details) == ("invalid_argument", {"field": "project"})


@pytest.mark.parametrize("line_break", ["\n", "\r", "\r\n", "\u2028", "\u2029"])
def test_a_name_stands_on_one_line(line_break: str) -> None:
    assert error_of(edits=[{"op": "add", "title": f"a{line_break}b"}]).details["field"] == "edits[0].title"


def test_a_name_in_a_frozen_input_is_normalised_too() -> None:
    class Frozen(Struct, forbid_unknown_fields=True, frozen=True):
        names: list[Name] | None
        name: Annotated[str | None, MaxBytes(3)] = None

    assert parse_request({"names": [" a "]}, Frozen).names == ["a"]
    with pytest.raises(Invalid):
        parse_request({"names": None, "name": "äö"}, Frozen)


def test_markers_below_a_type_that_contains_itself_are_found() -> None:
    deep: dict[str, Any] = {"summary": "x" * (SUMMARY_BYTES_MAX + 1)}
    for _ in range(3):
        deep = {"summary": "", "children": [deep]}

    assert error_of(nodes=[deep]).details["field"] == "nodes[0].children[0].children[0].children[0].summary"
