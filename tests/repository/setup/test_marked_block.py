"""A marked block is added, brought up to date and removed; the text around it is never touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.repository.setup.blocks import append_block, format_block, remove_block, replace_block

OLD = format_block("one\ntwo\n", comment="<!--")
NEW = format_block("one\nthree\n", comment="<!--")


@given(text=st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=30))
def test_the_text_around_a_block_stays(text: str) -> None:
    added = append_block(text, OLD)

    assert added.startswith(text)
    removed = remove_block(added)
    assert removed.kept is None
    assert removed.text is not None
    assert removed.text.rstrip("\n") == text.rstrip("\n")


def test_a_block_is_brought_up_to_date_in_its_place() -> None:
    edited = replace_block(f"before\n\n{OLD}after\n", NEW)

    assert edited == (f"before\n\n{NEW}after\n", None)


def test_a_file_with_windows_line_breaks_keeps_them() -> None:
    added = append_block("before\r\n", OLD)

    assert added.count("\n") == added.count("\r\n")
    edited = replace_block(added, NEW)
    assert edited is not None
    assert edited.text == append_block("before\r\n", NEW)


@pytest.mark.parametrize(
    "text",
    [
        OLD.replace("two", "two, and what a person added"),
        OLD.replace("<!-- groundplan:end -->\n", ""),
        OLD + OLD,
        OLD.replace("two\n", f"two\n{OLD}"),
    ],
    ids=["edited", "without an end", "twice", "nested"],
)
def test_a_block_that_somebody_changed_is_left_alone(text: str) -> None:
    for edited in (replace_block(text, NEW), remove_block(text)):
        assert edited is not None
        assert edited.text == text
        assert edited.kept


def test_a_text_without_a_block_has_none() -> None:
    assert replace_block("about <!-- groundplan:end -->\n", NEW) is None
    assert remove_block("plain\n") == ("plain\n", None)
