"""A member is added to JSON and removed again, and every other character stays."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.repository.setup.json_text import BrokenJson, add_member, parse, read_member, remove_member

ENTRY = {"command": "groundplan", "args": ["mcp", "--agent", "claude"]}
NAMES = ("mcpServers", "groundplan")

# With comments, trailing commas, tabs, CRLF, everything on one line, and a byte order mark.
FILES = [
    "{}",
    "{}\n",
    "{\n}\n",
    "{ }",
    '{"mcpServers": {}}',
    '{"mcpServers": {"other": {"command": "x"}}}',
    '{\n  "mcpServers": {\n    "other": {\n      "command": "x"\n    }\n  }\n}\n',
    '{\n\t"a": 1,\n\t"mcpServers": { }\n}',
    '{\r\n    "a": [1, 2],\r\n    "mcpServers": {\r\n    }\r\n}\r\n',
    '{ // settings\n  "a": 1, // one\n  /* two */ "b": 2,\n}\n',
    '// on top\n{\n  "mcpServers": { // servers\n    // the other\n    "other": {"command": "x",},\n  },\n}\n',
    '{ /* two\n lines */ "a": "http://x/*no comment*/" }\n',
    '\ufeff{"a": "\\u00e9 \\" {"}',
]


def strip_comments(text: str) -> str:
    """Return JSON without comments, byte order mark and trailing commas, by another way than the code's own."""
    string = r'"(?:\\.|[^"\\])*"'
    text = re.sub(rf"({string})|//[^\n]*|/\*.*?\*/", lambda one: one[1] or "", text.lstrip("\ufeff"), flags=re.DOTALL)
    return re.sub(rf"({string})|,(?=\s*[}}\]])", lambda one: one[1] or "", text)


def with_entry(before: dict[str, Any]) -> dict[str, Any]:
    return {**before, "mcpServers": {**before.get("mcpServers", {}), "groundplan": ENTRY}}


@pytest.mark.parametrize("text", FILES)
def test_an_entry_is_added_and_nothing_else_changes(text: str) -> None:
    added = add_member(text, NAMES, ENTRY)

    assert json.loads(strip_comments(added)) == with_entry(json.loads(strip_comments(text)))
    assert read_member(added, NAMES) == ENTRY
    rest = iter(added)
    assert all(char in rest for char in text), "characters were only added"
    assert ("\r\n" in text) == ("\r\n" in added)
    assert not re.search("[^\r]\n", added) or "\r" not in text


@pytest.mark.parametrize("text", FILES)
def test_an_entry_that_was_added_can_be_removed(text: str) -> None:
    removed = remove_member(add_member(text, NAMES, ENTRY), NAMES)

    before = json.loads(strip_comments(text))
    assert json.loads(strip_comments(removed)) == {"mcpServers": {}, **before}
    assert sorted(re.findall(r"//[^\r\n]*|/\*.*?\*/", removed)) == sorted(re.findall(r"//[^\r\n]*|/\*.*?\*/", text))


def test_the_last_of_several_members_is_removed_with_the_comma_before_it() -> None:
    text = '{"mcpServers": {"a": 1, "groundplan": {}}}'

    assert json.loads(remove_member(text, NAMES)) == {"mcpServers": {"a": 1}}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(
    before=st.dictionaries(st.text(max_size=4), VALUES, max_size=3),
    servers=st.none() | st.dictionaries(st.text(max_size=4), VALUES, max_size=3),
    indent=st.sampled_from([None, 0, 1, 2, 4, "\t"]),
)
def test_any_document_keeps_its_meaning(
    before: dict[str, Any], servers: dict[str, Any] | None, indent: int | str | None
) -> None:
    if servers is not None:
        before = {**before, "mcpServers": servers}
    text = json.dumps(before, indent=indent)

    added = add_member(text, NAMES, ENTRY)

    assert json.loads(added) == with_entry(before) == parse(added).decode()
    assert json.loads(remove_member(added, NAMES)) == {"mcpServers": {}, **before}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1, column 1"),
        ("[1]", "line 1, column 1"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ('{"a": }', "line 1, column 7"),
        ('{"a": 1} x', "line 1, column 10"),
        ('{"a": 1, "a": 2}', "line 1, column 10"),
        ('{"a": "b\n"}', "line 1, column 7"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a" 1}', "line 1, column 6"),
        ("{ /* }", "line 1, column 3"),
        ('{\n<<<<<<< HEAD\n"a": 1}', "line 2, column 1"),
        ('{"a":' * 200, "line 1, column"),
        ('{"mcpServers": []}', "line 1, column 2"),
    ],
)
def test_what_is_not_an_object_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(BrokenJson, match=place):
        add_member(text, NAMES, ENTRY)
