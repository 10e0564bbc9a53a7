"""Text in the picture is measured, broken into lines, and never markup."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.picture.text import clean_line, escape_markup, measure_width, truncate_to_width, wrap_to_width
from tests.purpose.exchange.theory_strategies import NEVER_STORED, hostile_text, tries

SIZE, ROOM = 15, 160.0
texts = hostile_text() | st.text(max_size=80)


def without_spaces(text: str) -> str:
    return text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "thousandths"),
    [("i", 278), ("m", 1000), ("W", 1000), ("0", 557), ("A", 723), (" ", 278), ("é", 557), ("ж", 719)],
)
def test_letters_are_as_wide_as_in_bold_arial_or_a_little_wider(text: str, thousandths: int) -> None:
    assert measure_width(text, 1000) == thousandths


def test_what_the_table_does_not_know_is_counted_wide_and_marks_are_not_counted() -> None:
    assert measure_width("水", 10) == 10
    assert measure_width("🚰", 10) == 13
    assert measure_width("Ǆ", 10) == 13.5
    assert measure_width("e\u0301", 10) == measure_width("e", 10)


@tries(40)
@given(texts, st.integers(1, 6))
def test_no_line_is_wider_than_its_room_and_there_are_not_too_many(text: str, lines_max: int) -> None:
    lines = wrap_to_width(text, SIZE, ROOM, lines_max)

    assert len(lines) <= lines_max
    assert all(measure_width(line, SIZE) <= ROOM for line in lines)
    assert without_spaces("".join(lines)) == without_spaces(clean_line(text)) or lines[-1].endswith("…")


@tries(30)
@given(texts)
def test_text_that_fits_is_all_there(text: str) -> None:
    assert without_spaces("".join(wrap_to_width(text, SIZE, ROOM, 10_000))) == without_spaces(clean_line(text))


def test_lines_break_between_words_and_inside_a_word_only_if_it_fills_a_line_by_itself() -> None:
    assert wrap_to_width("A broken pump runs again within a week", SIZE, ROOM, 5) == [
        "A broken pump runs",
        "again within a week",
    ]
    assert wrap_to_width("x " + "W" * 30, SIZE, ROOM, 5) == ["x", "W" * 10, "W" * 10, "W" * 10]


def test_the_last_line_says_that_there_is_more() -> None:
    assert wrap_to_width("one two three four five six seven", SIZE, 60, 2) == ["one two", "three…"]
    assert truncate_to_width("seven", SIZE, 30) == "s…"


@tries(40)
@given(hostile_text())
def test_escaped_text_comes_back_from_any_reader_of_xml(text: str) -> None:
    element = ElementTree.fromstring(f'<a b="{escape_markup(text)}">{escape_markup(text)}</a>')  # noqa: S314 - our own text

    lines = text.replace("\r\n", "\n").replace("\r", "\n")  # which XML normalizes
    assert element.text == (lines or None)
    assert element.attrib["b"] == lines.replace("\n", " ").replace("\t", " ")
    assert not len(element)


def test_what_xml_cannot_hold_is_replaced() -> None:
    ElementTree.fromstring(f"<a>{escape_markup(NEVER_STORED)}</a>")  # noqa: S314 - our own text


def test_signs_that_turn_the_order_of_letters_are_not_drawn() -> None:
    assert clean_line("a\u202eb\u2066c\u200fd") == "abcd"
