"""The one way out: an answer is one line of compact JSON of known size, and stored text leaves as it came in.

A token is always four characters of compact JSON, the measure in which every limit on an answer is given.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from groundplan.kernel.errors import RuleViolated

ANSWER_TOKENS_MAX = 20_000
CHARS_PER_TOKEN = 4

# Line breaks that JSON allows raw inside a string, and that some readers of lines split at. Non-ASCII bytes
# stand only inside strings, so the escape can take their place anywhere.
_RAW_LINE_BREAKS = {char.encode(): f"\\u{ord(char):04x}".encode() for char in "\x85\u2028\u2029"}


class AnswerTooLarge(RuleViolated):
    """The answer is longer than the caller's cap on answers."""

    code = "answer_too_large"

    def __init__(self, actual_tokens: int, limit_tokens: int) -> None:
        super().__init__(
            f"the answer has {actual_tokens} tokens, the cap is {limit_tokens}; "
            "ask for less: a smaller limit, a narrower scope, page by page, or fewer things in one call",
            actual_tokens=actual_tokens,
            limit_tokens=limit_tokens,
        )


def encode(value: Any) -> bytes:
    """One line of compact JSON: fields as declared, keys as inserted, UNSET left out.

    The same value gives the same bytes, except for a set, which has no order: answers hold lists.
    """
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        # Half of a surrogate pair has no UTF-8. The input gate lets none in, but a file name may hold one,
        # and as an escape it cannot hurt.
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode("ascii")
    if not encoded.isascii():
        for raw, escaped in _RAW_LINE_BREAKS.items():
            encoded = encoded.replace(raw, escaped)
    return encoded


def count_tokens(encoded: bytes | str) -> int:
    """How many tokens an encoded answer has, counted in characters and rounded up."""
    text = encoded if isinstance(encoded, str) or encoded.isascii() else encoded.decode()
    return -(-len(text) // CHARS_PER_TOKEN)


def fits(encoded: bytes | str, limit_tokens: int = ANSWER_TOKENS_MAX) -> bool:
    """Whether an encoded answer keeps the cap. A cap of 0 is none."""
    return limit_tokens == 0 or count_tokens(encoded) <= limit_tokens


def refuse_oversized(encoded: bytes | str, limit_tokens: int = ANSWER_TOKENS_MAX) -> None:
    """The last fence before a surface: an answer that should have been cut is refused instead.

    Raises:
        AnswerTooLarge: it does not fit.
    """
    if not fits(encoded, limit_tokens):
        raise AnswerTooLarge(count_tokens(encoded), limit_tokens)
