"""Trimming an answer: what is left out, in which order, and how the answer says so."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from msgspec import UNSET, Struct

from groundplan.kernel.answers import Budget, CutLists, DropField, LeftOut, Trimming, count_chars, trim


class Row(Struct):
    key: str
    refs: list[str] = []
    value: Any = None
    text: str | Any = UNSET
    left_out: LeftOut = UNSET


class Plain(Struct):
    text: Any = UNSET


class Answer(Struct):
    rows: list[Row]
    plain: list[Plain] = []
    trimming: ClassVar[Trimming] = Trimming(DropField("plain[].text"), CutLists(("rows[].refs", "rows[].value")))
    left_out: LeftOut = UNSET


def test_a_row_with_left_out_of_its_own_counts_what_it_lost() -> None:
    answer = Answer([Row(str(number), [f"ref {index}" for index in range(50)], 7) for number in range(5)])

    trim(answer, Budget(900))

    assert count_chars(answer) <= 900
    for row in answer.rows:
        assert row.value == 7
        assert row.left_out
        assert row.left_out["refs"] + len(row.refs) == 50


def test_a_list_that_may_also_be_a_number_is_cut_where_it_is_a_list() -> None:
    answer = Answer([Row("a", value=[*range(500)]), Row("b", value=3)])

    trim(answer, Budget(400))

    assert count_chars(answer) <= 400
    assert answer.rows[0].left_out
    assert answer.rows[0].left_out["value"] + len(answer.rows[0].value) == 500
    assert answer.rows[1] == Row("b", value=3)


@pytest.mark.parametrize("room", [300, 500, 700])
def test_no_more_rows_lose_a_field_than_have_to(room: int) -> None:
    answer = Answer([], [Plain("x" * 40) for _ in range(20)])

    trim(answer, Budget(room))

    assert count_chars(answer) <= room < count_chars(answer) + 2 * 52
    assert answer.left_out == {"plain.text": sum(one.text is UNSET for one in answer.plain)}


def test_other_steps_than_those_of_the_class_can_be_given() -> None:
    answer = Answer([Row("a", text="x" * 100), Row("b", text="y" * 100)])

    trim(answer, Budget(250), Trimming(DropField("rows[].text")))

    assert [row.text is UNSET for row in answer.rows] == [False, True]
