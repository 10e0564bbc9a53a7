"""Pages of a list that is sorted by a name which only one row has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec import UNSET, UnsetType

from groundplan.kernel.cursors.cursor import decode_cursor, encode_cursor
from groundplan.kernel.cursors.text_positions import (
    BEFORE_ALL,
    NO_LIMIT,
    TextPosition,
    locate_text,
    parse_text_position,
    read_after,
)
from groundplan.kernel.store.transaction import Transaction

R = TypeVar("R")


def read_name_page(
    tx: Transaction,
    operation: str,
    cursor: str | None,
    read: Callable[[str, int], list[R]],
    get_name: Callable[[R], str],
    *,
    limit: int | None,
) -> tuple[list[R], str | UnsetType]:
    """Return one page, and the cursor of the next one if there are more rows.

    `read` takes a name and a number, and returns that many rows with names after it, sorted by name.

    Raises:
        InvalidCursor: the cursor belongs to another list.
    """
    after = BEFORE_ALL if cursor is None else parse_text_position(decode_cursor(tx, operation, None, cursor))

    def locate(row: R) -> TextPosition:
        return _locate_name(get_name(row))

    # One row more than the limit shows whether there is another page.
    at_most = limit + 1 if limit else NO_LIMIT
    rows = read_after(after, lambda number: read(after.lower_bound, number), locate, at_most=at_most)
    page = rows[:limit]
    return page, encode_cursor(tx, operation, None, *locate(page[-1])) if len(rows) > len(page) else UNSET


def _locate_name(name: str) -> TextPosition:
    position = locate_text(name, "")
    if not position.is_cut:
        return position
    from hashlib import sha256  # here, because names are rarely that long

    return position._replace(tie_breaker=sha256(name.encode()).hexdigest())
