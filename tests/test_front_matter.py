"""Front matter is read as YAML reads it where YAML can, and ends in fields or in an error with a line for any text."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.front_matter import (
    Field,
    FieldText,
    Nested,
    UnreadableFrontMatter,
    parse_fields,
    parse_front,
    split_text,
)
from tests.proof import scaled

_telling = st.sampled_from(
    (
        "\n",
        "\n\n",
        " ",
        "  ",
        "\t",
        "'",
        '"',
        "\\",
        "\\n",
        "#",
        " #",
        ":",
        ": ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "|",
        ">",
    )
)
_loose = st.lists(_telling | st.sampled_from(("a", "key", "---", "...", "@", "*", "&x", "!t", "0")), max_size=40).map(
    "".join
)
_texts = st.text(st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from("\n 'x\"#:-"), max_size=100)


@pytest.fixture(params=["the loader in C", "the loader in Python"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each loader of PyYAML: a build without the one in C has only the other."""
    if request.param == "the loader in Python":
        monkeypatch.delattr(yaml, "CBaseLoader")
    return str(request.param)


def values(text: str) -> dict[str, str | list[str]]:
    fields = parse_fields(text)
    return {
        name: field.texts if isinstance(field.value, tuple) else "".join(field.texts) for name, field in fields.items()
    }


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: b c # d", "b c"),
        ("a: b#c", "b#c"),
        ("a: b\n  c\n\n  d", "b c\nd"),
        ("a: 'it''s'", "it's"),
        ('a: "\\u00e9\\t\\"\\x41"  # b', 'é\t"A'),
        ("a: 'one\n  two'", "one two"),
        ("a: >-\n  one\n  two\n\n  three\n", "one two\nthree"),
        ("a: |\n  one\n    two\nb: c", "one\n  two\n"),
        ("a: >-2\n    one", "  one"),
        ("a:\n  below", "below"),
        ("a: >= 3", ">= 3"),
        ('a: "x" and "y"', '"x" and "y"'),
        ("a: [@ada, '@ben']", ["@ada", "@ben"]),
        ("a: []", []),
        ("a: [\xa0, 'b',\n  c]", ["\xa0", "b", "c"]),
        ("a:\n- b\n- >-\n  c\n  d\n- 'e'", ["b", "c d", "e"]),
        ("a:\n    - b: c\n    - https://d", ["b: c", "https://d"]),
        ("a:", ""),
        ("a: |+\n  b\n\n...\n", "b\n\n"),
        ("a:\n- |2+\n\n...\n# c\n", ["\n"]),
    ],
)
def test_a_value_is_read_in_every_form(text: str, expected: str | list[str]) -> None:
    assert values(text)["a"] == expected


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("a: b\nno field\n", 3, "line 3"),
        ("a: b\n<<<<<<< HEAD\n", 3, "not a field"),
        ("a: b\na: c", 3, "twice"),
        ("a: b\nc: 'd", 3, "quote"),
        ('a: "\\q"', 2, "escape"),
        ('a: "\\U00110000"', 2, "YAML"),
        ('a: "\\UFFFFFFFF"', 2, "YAML"),
        ("a: |\n   b\n  c", 2, "YAML"),
        ("a: [b", 2, "bracket"),
        ("a:\n  - b\n c", 2, "below each other"),
        (": b", 2, "not a field"),
        ("a: b\n...\nc: d", 3, "not a field"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text: str, line: int, word: str) -> None:
    with pytest.raises(UnreadableFrontMatter, match=word) as refused:
        parse_front(f"---\n{text}\n---\n")
    assert refused.value.line == line


def test_a_field_has_its_line_and_a_body_too() -> None:
    parts = split_text("---\n# first\na: b\n\nc:\n  - d\n---\nbody\n")

    assert {name: field.line for name, field in parse_front(parts.front).items()} == {"a": 3, "c": 5}
    assert (parts.body, parts.body_line) == ("body\n", 8)


def test_quotes_tags_and_nesting_are_reported() -> None:
    fields = parse_fields("a: 5\nb: '5'\nc: !!int 5\nd:\n  e: f\ng: [h, [i]]")

    assert [fields[name].value for name in "abc"] == [
        FieldText("5"),
        FieldText("5", is_plain=False),
        FieldText("5", tag="!!int"),
    ]
    assert (fields["d"].value, fields["g"].value) == (Nested(), (FieldText("h"), Nested()))


@settings(max_examples=scaled(100, 5000))
@given(
    st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), _texts | st.lists(_texts, max_size=4), max_size=4),
    st.sampled_from((None, "'", '"', "|", ">")),
    st.sampled_from((20, 80, 10_000)),
    st.booleans(),
)
def test_texts_and_lists_of_texts_are_what_yaml_wrote(
    fields: dict[str, Any], style: str | None, width: int, is_flow: bool
) -> None:
    if is_flow:
        fields = {**fields, "z": ["only lists are written in brackets"]}
    written = yaml.safe_dump(
        fields, default_style=style, width=width, default_flow_style=None if is_flow else False, allow_unicode=True
    )
    if style is None and fields != yaml.safe_load(written):
        return
    if not fields:
        return

    read = parse_fields(written)

    assert {
        name: [item.text for item in field.value if isinstance(item, FieldText)]
        if isinstance(field.value, tuple)
        else field.value.text
        for name, field in read.items()
        if not isinstance(field.value, Nested)
    } == fields


@settings(max_examples=scaled(300, 20_000))
@given(_loose | st.text(max_size=60))
def test_any_text_ends_in_fields_or_in_an_error_with_a_line_of_it(text: str) -> None:
    fields: dict[str, Field] = {}
    line = 1
    try:
        fields = parse_fields(text)
    except UnreadableFrontMatter as error:
        line = error.line
    assert 1 <= line <= text.count("\n") + 1
    assert sum(len(field.text) for field in fields.values()) <= 2 * len(text)


@settings(max_examples=scaled(100, 5000))
@given(_loose)
def test_splitting_loses_no_text(text: str) -> None:
    try:
        parts = split_text(f"---\n{text}")
    except UnreadableFrontMatter:
        return
    assert parts.front + parts.body in (f"---\n{text}", f"---\n{text}\n")
