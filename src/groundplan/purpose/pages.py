"""An answer in pages: as many entries as fit, and the place behind which the next page begins."""

from __future__ import annotations

from typing import Any, NamedTuple

from groundplan.kernel.output_gate import CHARS_PER_TOKEN, encode

Place = tuple[int, ...]


class Entry(NamedTuple):
    """Something on a page: where it stands, in which list, and what it is."""

    place: Place
    part: str
    item: Any


class Page(NamedTuple):
    """What fits, how much of each list is left, and the last place that is shown where there is more."""

    entries: list[Entry]
    left: dict[str, int]
    last: Place | None


def page_of(entries: list[Entry], *, frame: Any, tokens_max: int) -> Page:
    """The entries as far as they fit beside a frame, and at least one. 0 is no limit."""
    room = room_beside(frame, tokens_max)
    taken = 0
    for entry in entries:
        room -= len(encode(entry.item).decode()) + 1
        if tokens_max and taken and room < 0:
            break
        taken += 1
    left: dict[str, int] = {}
    for entry in entries[taken:]:
        left[entry.part] = left.get(entry.part, 0) + 1
    return Page(entries[:taken], left, entries[taken - 1].place if left else None)


def room_beside(frame: Any, tokens_max: int) -> int:
    """How many characters are left beside a frame, with some to spare for a cursor and what is said of the rest."""
    return tokens_max * 9 // 10 * CHARS_PER_TOKEN - len(encode(frame).decode())
