"""Views name fields that answers have, leave out what is empty, and escape what a terminal would act on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest
from msgspec import UNSET, Struct, UnsetType

from groundplan.catalog import OPERATIONS
from groundplan.surfaces.cli.drawing import GAP, Fields, ForEach, Lines, Rows, TypeSwitch, View, When, list_columns
from groundplan.surfaces.cli.renderers import find_view

RENDERERS = {name: view for name in OPERATIONS.names if (view := find_view(name)) is not None}


class Note(Struct):
    id: str = "n1"
    text: str | UnsetType = UNSET
    tags: list[str] = []
    written_at: str = "2026-11-16T08:40:12.000Z"


class Notes(Struct):
    notes: list[Note] = []
    next_cursor: str | UnsetType = UNSET
    left_out: dict[str, int] | UnsetType = UNSET


def lines_of(capsys: pytest.CaptureFixture[str], view: View, answer: Any) -> list[str]:
    view(answer)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_a_view_leaves_out_what_is_empty_with_its_title_and_its_blank_line(capsys: pytest.CaptureFixture[str]) -> None:
    view = View(GAP, "Note {id}", Fields("text, tags"), GAP, Lines("tags", title="Tags:"), GAP)

    assert lines_of(capsys, view, Note()) == ["Note n1"]
    assert lines_of(capsys, view, Note(tags=["a"])) == ["Note n1", "tags  a", "", "Tags:", "  a"]


def test_a_table_has_a_heading_for_each_field_and_its_text_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    view = View(Rows("notes", "id, text, changed: written_at", ("tags", lambda one: len(one.tags)), empty="No notes."))

    head, _, row = lines_of(capsys, view, Notes([Note(text="two\nlines")]))

    assert head.split() == ["id", "text", "changed", "tags"]
    assert re.split(r" {2,}", row) == ["n1", "two lines", "2026-11-16 08:40", "0"]
    assert lines_of(capsys, view, Notes()) == ["No notes."]


def test_every_view_ends_with_what_is_left_out_and_the_next_page(capsys: pytest.CaptureFixture[str]) -> None:
    answer = Notes([Note()], next_cursor="abc", left_out={"old_notes": 3})

    drawn = lines_of(capsys, View(ForEach("notes", "{id}")), answer)

    assert drawn == ["n1", "", "Not shown: 3 old notes", "", "Next page: add --cursor abc"]


def test_stored_braces_are_not_read_as_fields_and_control_characters_are_escaped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    view = View(
        "{text}", Lines("text"), Fields("text"), Lines("tags", title="{text}"), Rows("tags", ("", lambda tag: tag))
    )

    drawn = "\n".join(lines_of(capsys, view, Note(text="{id}\x1b[2J", tags=["\x07{id}"])))

    assert drawn.count("{id}\\u001b[2J") == 4
    assert drawn.count("\\u0007{id}") == 2
    assert "n1" not in drawn
    assert "\x1b" not in drawn


def test_every_field_that_a_view_names_is_in_some_answer_of_its_operations() -> None:
    """Operations of one thing share blocks, so a view may name fields that only some of their answers have."""
    known: dict[str, set[str]] = {}
    for operation in OPERATIONS:
        outputs = (operation.output, *operation.other_outputs)
        known.setdefault(operation.name.partition(".")[0], set()).update(*map(field_names, outputs))
    known["work"] |= known["briefing"]  # an answer with a budget has a briefing
    known["container"] |= known["knowledge"] | known["section"] | known["briefing"]

    unknown = {name: set(names_in(view)) - known[name.partition(".")[0]] for name, view in RENDERERS.items()}

    assert {name: missing for name, missing in unknown.items() if missing} == {}


def field_names(output: Any) -> set[str]:
    """The names of all fields of the structs that a type holds."""
    names: set[str] = set()
    waiting, seen = [output], set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        waiting += get_args(one)
        if isinstance(one, type) and issubclass(one, Struct):
            names |= set(one.__struct_fields__)
            hints = get_type_hints(one)
            waiting += [hints[name] for name in one.__struct_fields__]
    return names


def names_in(block: Any) -> Iterator[str]:
    """The fields that a block names, except in the rows of a function, which may be of another kind."""
    match block:
        case str():
            yield from (name for found in re.findall(r"\{([\w.]+)\}", block) for name in found.split("."))
        case View():
            yield from (name for one in block.blocks for name in names_in(one))
        case Lines():
            yield from names_in(block.title)
            yield from names_of_source(block.source)
            if isinstance(block.source, str) and block.line:
                yield from names_of_source(block.line)
        case Fields():
            yield from (name for one in block.fields if not callable(one) for name in names_in_columns(one))
        case Rows():
            yield from names_in(block.title)
            yield from names_of_source(block.source)
            if isinstance(block.source, str):
                yield from (name for _, source in block.columns for name in names_of_source(source))
        case ForEach() | When():
            yield from names_of_source(block.source)
            inner = (*block.blocks, *getattr(block, "otherwise", ()))
            yield from (name for one in inner for name in names_in(one))
        case TypeSwitch():
            yield from (name for blocks in block.by_class.values() for one in blocks for name in names_in(one))


def names_in_columns(columns: Any) -> Iterator[str]:
    return (name for _, source in list_columns(columns) for name in names_of_source(source))


def names_of_source(source: Any) -> Iterator[str]:
    if isinstance(source, str):
        yield from names_in(source) if "{" in source else source.split(".")
