"""Encode answers as one line of compact JSON and measure them. Stored text is returned unchanged.

Every limit on an answer is given in tokens. A token is always four characters of compact JSON.
"""

from __future__ import annotations

from typing import Any

import msgspec

from groundplan.kernel.errors import RuleViolated

ANSWER_TOKENS_MAX = 20_000
CHARS_PER_TOKEN = 4

# Line breaks that JSON allows unescaped in a string, but at which some line readers split. Non-ASCII bytes occur only
# inside strings, so every occurrence can be replaced by its escape.
_RAW_LINE_BREAKS = {char.encode(): f"\\u{ord(char):04x}".encode() for char in "\x85\u2028\u2029"}


class AnswerTooLarge(RuleViolated):
    """The answer is longer than the caller's cap on answers."""

    code = "answer_too_large"

    def __init__(self, actual_tokens: int, limit_tokens: int) -> None:
        super().__init__(
            f"the answer has {actual_tokens} tokens, the cap is {limit_tokens}; "
            "ask for less: a smaller limit, a narrower scope, one page at a time, or fewer items per call; "
            "or allow more: a larger budget",
            actual_tokens=actual_tokens,
            limit_tokens=limit_tokens,
        )


def encode(value: Any) -> bytes:
    """Return one line of compact JSON: fields in declared order, keys in insertion order, UNSET left out.

    The same value gives the same bytes, except for a set, which has no order; answers therefore use lists.
    """
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        # An unpaired surrogate has no UTF-8 encoding. The input gate rejects it, but a file name may contain one;
        # it is sent as an escape.
        from json import dumps  # only such a text needs it

        return dumps(msgspec.to_builtins(value), separators=(",", ":")).encode("ascii")
    if not encoded.isascii():
        for raw, escaped in _RAW_LINE_BREAKS.items():
            encoded = encoded.replace(raw, escaped)
    return encoded


def count_tokens(encoded: bytes | str) -> int:
    """Return the number of tokens of an encoded answer, counted in characters and rounded up."""
    text = encoded if isinstance(encoded, str) or encoded.isascii() else encoded.decode()
    return -(-len(text) // CHARS_PER_TOKEN)


def fits(encoded: bytes | str, limit_tokens: int = ANSWER_TOKENS_MAX) -> bool:
    """Return whether an encoded answer is within the cap. A cap of 0 means no cap."""
    return limit_tokens == 0 or count_tokens(encoded) <= limit_tokens


def refuse_oversized(encoded: bytes | str, limit_tokens: int = ANSWER_TOKENS_MAX) -> None:
    """Raise if an answer is still larger than the cap after trimming.

    Raises:
        AnswerTooLarge: the answer does not fit.
    """
    if not fits(encoded, limit_tokens):
        raise AnswerTooLarge(count_tokens(encoded), limit_tokens)
