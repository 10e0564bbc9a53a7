"""Encoding of answers: one line, unchanged text, a known and limited size."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.answers import (
    ANSWER_TOKENS_MAX,
    AnswerTooLarge,
    count_tokens,
    encode,
    fits,
    refuse_oversized,
)
from groundplan.kernel.errors import RuleViolated


class Answer(Struct, rename="camel"):
    zulu_time: str
    alpha: int | None = None
    note: str | UnsetType = UNSET


def test_fields_stand_in_the_order_of_their_declaration_and_unset_ones_are_left_out() -> None:
    assert encode(Answer(zulu_time="now")) == b'{"zuluTime":"now","alpha":null}'
    assert encode(Answer(zulu_time="now", note="")) == b'{"zuluTime":"now","alpha":null,"note":""}'


def test_keys_of_free_objects_stay_in_the_order_in_which_they_were_stored() -> None:
    assert encode({"b": 1, "a": [2, {"d": 3, "c": 4}]}) == b'{"b":1,"a":[2,{"d":3,"c":4}]}'


@given(
    st.text(st.characters(exclude_categories=()) | st.sampled_from("\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\ud800"))
)
def test_an_answer_is_exactly_one_line_however_lines_are_counted(text: str) -> None:
    encoded = encode({text: Answer(zulu_time=text)})

    assert len(encoded.splitlines()) == 1
    assert len(encoded.decode("utf-8").splitlines()) == 1


TEXT = st.characters(exclude_categories=["Cs"]) | st.sampled_from('\n\\"\x85\u2028\u2029\U0001f600')


@given(st.text(TEXT))
def test_stored_text_leaves_unaltered(text: str) -> None:
    assert json.loads(encode({"text": text})) == {"text": text}


@pytest.mark.parametrize(("text", "line"), [("\u2028", b'"\\u2028"'), ("\u2029", b'"\\u2029"'), ("\x85", b'"\\u0085"')])
def test_a_line_separator_leaves_as_an_escape(text: str, line: bytes) -> None:
    assert encode(text) == line


def test_half_of_a_surrogate_pair_leaves_as_an_escape() -> None:
    answer = Answer(zulu_time="\ud800\u2028ä")

    assert encode(answer) == b'{"zuluTime":"\\ud800\\u2028\\u00e4","alpha":null}'


@pytest.mark.parametrize(("chars", "expected"), [(0, 0), (1, 1), (3, 1), (4, 1), (5, 2), (8, 2), (9, 3)])
@pytest.mark.parametrize("character", ["a", "ä", "\U0001f600"])
def test_a_token_is_four_characters_rounded_up_in_text_and_in_bytes(character: str, chars: int, expected: int) -> None:
    assert count_tokens(character * chars) == expected
    assert count_tokens((character * chars).encode()) == expected


@pytest.mark.parametrize("character", ["a", "\u20ac"])
@pytest.mark.parametrize("limit_tokens", [1, 500, ANSWER_TOKENS_MAX])
def test_an_answer_may_fill_the_cap_exactly(character: str, limit_tokens: int) -> None:
    for chars in (limit_tokens * 4 - 1, limit_tokens * 4):
        assert fits((character * chars).encode(), limit_tokens)
        refuse_oversized(character * chars, limit_tokens)

    above = character * (limit_tokens * 4 + 1)
    assert not fits(above, limit_tokens)
    with pytest.raises(AnswerTooLarge) as caught:
        refuse_oversized(above.encode(), limit_tokens)
    assert caught.value.code == "answer_too_large"
    assert caught.value.details == {"actual_tokens": limit_tokens + 1, "limit_tokens": limit_tokens}


def test_an_oversized_answer_is_a_rule_of_ours_and_says_what_to_ask_for() -> None:
    refusal: Any = AnswerTooLarge(30_000, 20_000)

    assert isinstance(refusal, RuleViolated)
    for word in ("30000", "20000", "limit", "scope", "page"):
        assert word in refusal.message


def test_the_cap_is_20_000_tokens_unless_another_one_is_given() -> None:
    assert not fits("a" * 80_001)
    with pytest.raises(AnswerTooLarge):
        refuse_oversized("a" * 80_001)


def test_a_cap_of_zero_is_no_cap() -> None:
    refuse_oversized("a" * 1_000_000, 0)
