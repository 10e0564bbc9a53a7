"""Divide several lists of one answer into pages: the entries that fit, and the position of the next page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from groundplan.kernel.answers import Budget, LeftOut, take_page

PagePosition = tuple[int, ...]


class PageEntry(NamedTuple):
    """An entry on a page: its position, its list in the answer (`nodes.added`), and the item."""

    position: PagePosition
    part: str
    item: Any


def list_entries(lists: Iterable[tuple[str, Sequence[Any]]], after: PagePosition | None) -> list[PageEntry]:
    """Return the entries of some lists after a position, which is the index of the list and the index in the list."""
    return [
        PageEntry((number, index), part, item)
        for number, (part, items) in enumerate(lists)
        for index, item in enumerate(items)
        if after is None or (number, index) > after
    ]


def fill_page(
    answer: Any, entries: Sequence[PageEntry], budget: Budget, cursor_after: Callable[[PagePosition], str]
) -> LeftOut:
    """Add the leading entries that fit to the lists of an answer. Return the number of missing entries by list."""
    if budget.is_limited:
        budget.reserve(answer, Counter(entry.part for entry in entries))
    page = take_page(
        budget,
        entries,
        cursor_after=lambda entry: cursor_after(entry.position),
        item=lambda entry: entry.item,
        part=lambda entry: entry.part,
    )
    for entry in page.rows:
        attrgetter(entry.part)(answer).append(entry.item)
    answer.next_cursor = page.next_cursor
    return page.left_out
