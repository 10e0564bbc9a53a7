"""Several lists of one answer, page by page: the entries that fit, and the place behind which the next page begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from groundplan.kernel.budget import Budget, LeftOut, take_page

Place = tuple[int, ...]


class Entry(NamedTuple):
    """Something on a page: where it stands, in which list of the answer (`nodes.added`), and what it is."""

    place: Place
    part: str
    item: Any


def entries_of(lists: Iterable[tuple[str, Sequence[Any]]], after: Place | None) -> list[Entry]:
    """Return what stands in some lists behind a place, which is the number of the list and the index in it."""
    return [
        Entry((number, index), part, item)
        for number, (part, items) in enumerate(lists)
        for index, item in enumerate(items)
        if after is None or (number, index) > after
    ]


def fill_page(answer: Any, entries: Sequence[Entry], budget: Budget, cursor_after: Callable[[Place], str]) -> LeftOut:
    """Add the leading entries that fit to the empty lists of an answer, and return how many each list lacks."""
    if budget.is_limited:
        budget.reserve(answer, Counter(entry.part for entry in entries))
    page = take_page(
        budget,
        entries,
        cursor_after=lambda entry: cursor_after(entry.place),
        item=lambda entry: entry.item,
        part=lambda entry: entry.part,
    )
    for entry in page.rows:
        attrgetter(entry.part)(answer).append(entry.item)
    answer.next_cursor = page.next_cursor
    return page.left_out
