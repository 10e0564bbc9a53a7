"""The text of a token."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from groundplan.kernel.ids import ALPHABET
from groundplan.kernel.tokens.token_text import PREFIX, TEXT_CHARS, compute_digest, make_secret

SECRET = make_secret()


def test_a_scanner_recognizes_a_token_by_one_expression() -> None:
    assert re.fullmatch(rf"gpt_[{ALPHABET}]{{68}}", SECRET.text)


def test_the_id_is_readable_in_the_token_and_the_digest_does_not_contain_it() -> None:
    assert SECRET.text.startswith(PREFIX + SECRET.id)
    assert re.fullmatch(r"[0-9a-f]{64}", SECRET.digest)
    assert compute_digest(SECRET.text) == SECRET.digest


def test_no_two_tokens_are_alike() -> None:
    assert len({make_secret().text for _ in range(1000)}) == 1000


@given(st.integers(len(PREFIX), TEXT_CHARS - 1), st.sampled_from(ALPHABET))
def test_one_wrong_letter_is_noticed_without_a_look_up(index: int, letter: str) -> None:
    misspelled = SECRET.text[:index] + letter + SECRET.text[index + 1 :]

    assert (compute_digest(misspelled) is None) == (misspelled != SECRET.text)


@given(
    st.text(max_size=100) | st.sampled_from([SECRET.text + "\n", SECRET.text.upper(), SECRET.text[:-1], "gpt_" * 18])
)
def test_other_text_is_no_token(text: str) -> None:
    assert compute_digest(text) is None
