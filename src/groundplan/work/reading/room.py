"""How much still fits into an answer.

A cap is given in tokens and a token is always four characters of compact JSON, so what fits is found by adding up the
length of each part as it will be written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from groundplan.kernel.output_gate import CHARS_PER_TOKEN, encode

T = TypeVar("T")


class Room:
    """The characters of an answer that are not spoken for."""

    def __init__(self, answer_tokens_max: int, frame: Any) -> None:
        """Room in an answer that consists of this frame so far. A cap of 0 is none."""
        self._free: float = answer_tokens_max * CHARS_PER_TOKEN - length(frame) if answer_tokens_max else float("inf")

    def takes(self, part: Any, *, and_chars: int = 0) -> bool:
        """Whether this still fits, with its comma and some characters more; if so, it is in."""
        needed = length(part) + 1 + and_chars
        if needed > self._free:
            return False
        self._free -= needed
        return True

    def beginning(self, parts: Iterable[T]) -> list[T]:
        """As many of these as fit, up to the first that does not."""
        found: list[T] = []
        for part in parts:
            if not self.takes(part):
                break
            found.append(part)
        return found


def length(value: Any) -> int:
    """How many characters a value has in an answer."""
    encoded = encode(value)
    return len(encoded) if encoded.isascii() else len(encoded.decode())
