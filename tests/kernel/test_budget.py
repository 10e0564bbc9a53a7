"""The budget of answers: shares, rows, pages and what is trimmed."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.answers import (
    CHARS_PER_TOKEN,
    ENVELOPE_CHARS,
    Budget,
    CutLists,
    DropField,
    LeftOut,
    Trimming,
    count_chars,
    encode,
    fits,
    take_page,
    trim,
)

TEXTS = st.lists(st.text(max_size=40), max_size=30)
TOKENS = st.integers(min_value=20, max_value=400)


class Note(Struct, kw_only=True, rename="camel"):
    """A row whose text can be left out."""

    id: int
    long_text: str | UnsetType = UNSET
    left_out: LeftOut = UNSET


class Notes(Struct, kw_only=True):
    """An answer with rows, a single value and two lists that share the rest."""

    trimming: ClassVar[Trimming] = Trimming(
        DropField("summary"), DropField("notes[].long_text"), CutLists(("notes", "others"))
    )

    summary: str | UnsetType = UNSET
    notes: list[Note]
    others: list[str]
    left_out: LeftOut = UNSET


def notes(texts: list[str], others: list[str], summary: str = "") -> Notes:
    return Notes(summary=summary, notes=[Note(id=n, long_text=text) for n, text in enumerate(texts)], others=others)


@given(TEXTS, TEXTS, st.text(max_size=200), TOKENS)
def test_a_trimmed_answer_keeps_its_cap(texts: list[str], others: list[str], summary: str, tokens: int) -> None:
    answer = notes(texts, others, summary)

    trim(answer, Budget.for_answer(tokens))

    assert fits(encode(answer), tokens)


@given(TEXTS, TEXTS, st.text(max_size=200), TOKENS)
def test_what_is_missing_is_counted_by_name(texts: list[str], others: list[str], summary: str, tokens: int) -> None:
    answer = notes(texts, others, summary)

    trim(answer, Budget.for_answer(tokens))

    left_out = answer.left_out or {}
    assert left_out.get("summary", 0) == int(bool(summary) and answer.summary is UNSET)
    assert left_out.get("notes", 0) == len(texts) - len(answer.notes)
    assert left_out.get("others", 0) == len(others) - len(answer.others)
    for note in answer.notes:
        assert (note.left_out == {"longText": 1}) == (note.long_text is UNSET)


@given(TEXTS, TEXTS)
def test_an_answer_that_fits_stays_whole(texts: list[str], others: list[str]) -> None:
    answer, whole = notes(texts, others), notes(texts, others)

    trim(answer, Budget.for_answer(100_000))

    assert answer == whole


def test_fields_go_in_the_declared_order_and_of_rows_the_last_first() -> None:
    answer = notes(["a" * 100, "b" * 100, "c" * 100], [], "s" * 40)
    room = (count_chars(answer) - 100 + ENVELOPE_CHARS) // CHARS_PER_TOKEN

    trim(answer, Budget.for_answer(room))

    assert answer.summary is UNSET
    assert [note.long_text is UNSET for note in answer.notes] == [False, False, True]


def test_lists_share_the_room_and_a_short_one_leaves_its_rest_to_the_others() -> None:
    answer = notes([], ["x" * 20] * 100)
    answer.notes = [Note(id=1)]

    trim(answer, Budget.for_answer(200))

    assert len(answer.notes) == 1
    assert len(answer.others) > 20  # more than its half
    assert answer.left_out == {"others": 100 - len(answer.others)}


def test_a_list_can_keep_its_last_entries() -> None:
    class Answer(Struct):
        trimming: ClassVar[Trimming] = Trimming(CutLists(("rows",), from_start=True))
        rows: list[int]
        left_out: LeftOut = UNSET

    answer = Answer(list(range(100, 200)))

    trim(answer, Budget.for_answer(50))

    assert answer.rows == list(range(200 - len(answer.rows), 200))
    assert answer.left_out == {"rows": 100 - len(answer.rows)}


def test_no_cap_is_no_limit() -> None:
    budget = Budget.for_answer(0)

    assert not budget.is_limited
    assert budget.spend_if_fits("x" * 1_000_000)
    assert budget.share(1, of=3).take_rows(["x"] * 1000) == ["x"] * 1000


@given(st.lists(st.integers(min_value=1, max_value=4), min_size=1, max_size=5), TEXTS, TOKENS)
def test_what_shares_take_is_taken_from_the_whole(parts: list[int], texts: list[str], tokens: int) -> None:
    whole = Budget.for_answer(tokens)
    before = whole.free_chars
    taken = [row for part in parts for row in whole.share(part, of=4).take_rows(texts)]

    assert whole.free_chars == before - sum(count_chars(row) + 1 for row in taken)
    assert whole.free_chars >= 0


@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=40, unique=True), TOKENS)
def test_pages_joined_give_every_row_once_and_each_keeps_the_budget(rows: list[str], tokens: int) -> None:
    seen: list[str] = []
    while True:
        rest = rows[len(seen) :]
        page = take_page(
            Budget.for_answer(tokens), rest, cursor_after=lambda row: f"after {row}", part=lambda _: "rows"
        )
        seen += page.rows
        assert page.rows
        assert page.left_out == ({"rows": len(rows) - len(seen)} if len(seen) < len(rows) else UNSET)
        if page.next_cursor is UNSET:
            break
        assert len(page.rows) == 1 or fits(encode([page.rows, page.next_cursor]), tokens)
    assert seen == rows


def test_a_page_of_a_longer_list_has_a_cursor_even_when_all_its_rows_fit() -> None:
    page = take_page(Budget.for_answer(0), ["a", "b"], cursor_after=lambda row: f"after {row}", has_more=True)

    assert (page.rows, page.next_cursor, page.left_out) == (["a", "b"], "after b", UNSET)


@pytest.mark.parametrize("value", ["", [], {}, UNSET, None])
def test_what_is_empty_is_not_counted_as_left_out(value: object) -> None:
    class Answer(Struct):
        trimming: ClassVar[Trimming] = Trimming(DropField("value"))
        value: object
        text: str
        left_out: LeftOut = UNSET

    answer = Answer(value, "x" * 200)

    trim(answer, Budget.for_answer(20))

    assert answer.left_out is UNSET
