"""Choose by priority the entries that fit into the size of a briefing.

Each list gives its entries in order. First, a list takes its leading entries and at most half of what is left, so that
one long list does not hide all others; then what is left is filled in the order of priority, also with later entries
that are shorter. Last, an excerpt of a text that is too long uses the rest. What is left out is counted, and the room
for that count and for the calls that get the rest is reserved before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from typing import Any

from msgspec import UNSET, Struct, field, structs

from groundplan.briefing.briefing import Briefing, WhyStep
from groundplan.kernel.answers import count_chars

SMALL_CHARS = 400  # a briefing with less room has no empty lists
EXCERPT_CHARS_MIN = 40  # shorter ones say nothing
ASSUMPTIONS_CHARS = len(',"assumptions":[]')
LISTS = ("why", "marks", "facts", "missing", "constraints", "knowledge", "before", "overlap", "decisions")
LISTS_NEVER_EMPTY = {"marks"}

CallsFor = Callable[[Collection[str]], list[str]]  # the calls that get what was left out of some lists


class Entry(Struct):
    """An entry of a list in full and in shorter forms. `text_field` names the text that may be shortened."""

    forms: tuple[Any, ...]
    text_field: str | None = None
    step: str | None = None  # the key of the step that an assumption belongs to
    sizes: tuple[int, ...] = ()  # of the forms in characters, each with its comma

    def __post_init__(self) -> None:
        self.sizes = tuple([count_chars(form) + 1 for form in self.forms])  # a list: it is faster, and there are many


class Part(Struct):
    """The entries of one list that were read, and the `total` number of entries."""

    name: str
    entries: Sequence[Entry]
    total: int
    leading: int = 1  # so many entries are taken before the others, without a limit
    is_chain: bool = False  # an entry is taken only after all before it
    taken: dict[int, Any] = field(default_factory=dict)
    excerpts: dict[int, Any] = field(default_factory=dict)

    @property
    def left(self) -> int:
        return self.total - len(self.taken)

    @property
    def least_chars(self) -> int:
        """The number of characters of the shortest remaining entry; infinity if none remains."""
        sizes = (entry.sizes[-1] for index, entry in enumerate(self.entries) if index not in self.taken)
        return min(sizes, default=sys.maxsize)


class Filler:
    """Takes entries of the parts while `free` characters are left."""

    def __init__(self, parts: Sequence[Part], free: int, *, lean: bool) -> None:
        self.parts = parts
        self.free = free
        self.lean = lean
        self._steps: dict[str, WhyStep] = {}  # those that were taken, by key

    def take_all(self) -> bool:
        """Add every entry and return True; if an entry was not read or does not fit, add none and return False."""
        if any(part.total > len(part.entries) for part in self.parts):
            return False
        if sum(entry.sizes[0] for part in self.parts for entry in part.entries) > self.free:
            return False
        before = self.free
        for part in self.parts:
            self._take(part, limit=before)
        if any(part.left for part in self.parts):
            self._clear(before)
            return False
        return True

    def take_leading(self) -> None:
        """Add the leading entries of each list, and more of it until half of the free characters are used."""
        for part in self.parts:
            self._take(part, limit=self.free // 2, leading=part.leading)

    def take_rest(self) -> None:
        """Add every entry that fits, in the order of priority."""
        for part in self.parts:
            self._take(part, limit=self.free)

    def take_excerpts(self) -> None:
        """Fill the free characters with excerpts of texts that did not fit."""
        for part in self.parts:
            for index, entry in enumerate(part.entries):
                if self.free < EXCERPT_CHARS_MIN:
                    return
                if index not in part.taken and entry.text_field is not None:
                    self._take_excerpt(part, index, entry.forms[0], entry.text_field)

    def _take(self, part: Part, *, limit: int, leading: int = 0) -> None:
        end = max(self.free - limit, 0)
        if self.free < part.least_chars:
            return
        for index, entry in enumerate(part.entries):
            if index in part.taken:
                continue
            least = end if index >= leading else 0
            if not self._take_entry(part, index, entry, least) and part.is_chain:
                return
            if self.free <= 0:
                return

    def _take_entry(self, part: Part, index: int, entry: Entry, least: int) -> bool:
        """Add the longest form of an entry that leaves `least` characters free; return False if no form does."""
        step = None if entry.step is None else self._steps.get(entry.step)
        if entry.step is not None and step is None:
            return False
        around = self._count_around(part, step)
        for form, size in zip(entry.forms, entry.sizes, strict=True):
            chars = size + around
            if self.free - chars < least:
                continue
            self.free -= chars
            part.taken[index] = form
            if step is not None:
                step.assumptions = [*(step.assumptions or ()), form]
            if isinstance(form, WhyStep):
                self._steps[form.key] = form
            return True
        return False

    def _count_around(self, part: Part, step: WhyStep | None) -> int:
        """Return the characters of the name and the brackets of a list if its first entry is added now, else 0."""
        if step is not None:
            return 0 if step.assumptions else ASSUMPTIONS_CHARS
        is_first = not part.taken and not part.excerpts
        is_new = is_first and (self.lean or part.name in LISTS_NEVER_EMPTY)
        return count_chars(part.name) + 4 if is_new else 0

    def _take_excerpt(self, part: Part, index: int, form: Any, text_field: str) -> None:
        text = getattr(form, text_field)
        room = self.free - 1 - self._count_around(part, None)
        bare = structs.replace(form, **{text_field: UNSET}, excerpt="…")
        kept = min(room - count_chars(bare), len(text) - 1)
        while kept >= EXCERPT_CHARS_MIN:
            excerpt = structs.replace(bare, excerpt=f"{text[:kept]}…")
            over = count_chars(excerpt) - room
            if over <= 0:
                self.free -= count_chars(excerpt) + 1 + self._count_around(part, None)
                part.excerpts[index] = excerpt
                return
            kept -= max(over // 2, 1)  # a character may be escaped to two and more

    def _clear(self, free: int) -> None:
        for step in self._steps.values():
            step.assumptions = UNSET
        for part in self.parts:
            part.taken.clear()
        self._steps.clear()
        self.free = free


def fill_briefing(parts: Sequence[Part], room: int, calls_for: CallsFor, *, lean: bool) -> Briefing | None:
    """Return a briefing of at most `room` characters; None if not even the shortest one fits."""
    is_short = lean or room < SMALL_CHARS
    free = room - count_chars(_build(parts, lean=is_short))
    if free < 0:
        return None
    filler = Filler(parts, free, lean=is_short)
    if filler.take_all():
        return _build(parts, lean=is_short)
    for calls in (calls_for, _name_no_call):
        if (notes := _count_notes(parts, calls)) <= free:
            break
    else:
        return None
    filler.free = free - notes
    filler.take_leading()
    filler.take_rest()
    while (fewer := _count_notes(parts, calls)) < notes:
        filler.free += notes - fewer  # what needs no note gives its room back
        notes = fewer
        filler.take_rest()
    filler.take_excerpts()
    return _add_notes(_build(parts, lean=is_short), parts, calls)


def _name_no_call(_: Collection[str]) -> list[str]:
    return []


def _build(parts: Sequence[Part], *, lean: bool) -> Briefing:
    taken = {part.name: part.taken | part.excerpts for part in parts}
    briefing = Briefing()
    for name in LISTS:
        shown = taken.get(name, {})
        is_left_out = not shown and (lean or name in LISTS_NEVER_EMPTY)
        setattr(briefing, name, UNSET if is_left_out else [shown[index] for index in sorted(shown)])
    return briefing


def _add_notes(briefing: Briefing, parts: Sequence[Part], calls_for: CallsFor) -> Briefing:
    left: dict[str, int] = {}
    for part in parts:
        if part.left:
            left[part.name] = left.get(part.name, 0) + part.left
    briefing.left_out = left or UNSET
    briefing.more = calls_for(left) or UNSET
    return briefing


def _count_notes(parts: Sequence[Part], calls_for: CallsFor) -> int:
    """Return the characters of the notes about entries that are left out."""
    return count_chars(_add_notes(Briefing(), parts, calls_for))
