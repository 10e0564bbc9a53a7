"""Positions in a list that is sorted by text, short enough for a cursor.

Texts are compared by their first START_BYTES_MAX bytes. Longer texts that begin alike are in the order of their
tie-breakers, which a cursor carries whole. So a position stays valid when its row is removed or renamed, and a row that
is there throughout is on exactly one page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from groundplan.kernel.cursors.cursor import CursorValue, InvalidCursor

R = TypeVar("R")

START_BYTES_MAX = 255  # a name in ASCII is never cut
NO_LIMIT = 2**31 - 1


class TextPosition(NamedTuple):
    """The first bytes of a text, whether it has more, and a value that only one row with this text has."""

    start: bytes
    is_cut: bool
    tie_breaker: str

    @property
    def lower_bound(self) -> str:
        """The start as text; no text at this position or a later one is before it."""
        return self.start.decode(errors="ignore")  # the last character may be cut


BEFORE_ALL = TextPosition(b"", False, "")


def locate_text(text: str, tie_breaker: str) -> TextPosition:
    """Return the position of a row with this text."""
    encoded = text.encode()
    return TextPosition(encoded[:START_BYTES_MAX], len(encoded) > START_BYTES_MAX, tie_breaker)


def parse_text_position(values: Sequence[CursorValue]) -> TextPosition:
    """Return the position in the values of a cursor. Raises InvalidCursor if they are none."""
    match values:
        case [bytes() as start, (0 | 1) as is_cut, str() as tie_breaker]:
            return TextPosition(start, bool(is_cut), tie_breaker)
    raise InvalidCursor


def read_after(
    after: TextPosition, read: Callable[[int], list[R]], locate: Callable[[R], TextPosition], *, at_most: int
) -> list[R]:
    """Return the first rows after a position.

    `read` returns rows from the lower bound of the position on, sorted by their whole text, and takes their number.
    """
    rows = read(at_most)
    if not after.is_cut and not any(locate(row).is_cut for row in rows):
        return rows
    # Here the order of the database differs. Such texts are rare, so all rows are sorted here instead of by an index.
    return sorted((row for row in read(NO_LIMIT) if locate(row) > after), key=locate)[:at_most]
