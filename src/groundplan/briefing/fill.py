"""Choose by priority the entries that fit into the size of a briefing.

First come the entries that a briefing must not lack, such as the goal. Then each list takes entries in order, and at
most half of what is left, so that one long list does not hide all others; the description of the task takes at most two
fifths of the whole answer. If the first entry of a list does not fit there, the beginning of its text stands in for it.
Then what is left is filled in the order of priority, also with later entries that are shorter, and last beginnings of
texts that are too long use the rest. What is left out is counted, and the room for that count and for the calls that
get the rest is reserved before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from msgspec import UNSET, Struct, field, structs

from groundplan.briefing.briefing import Briefing, WhyStep
from groundplan.kernel.answers import count_chars

SMALL_CHARS = 400  # a briefing with less room has no empty lists
EXCERPT_CHARS_MIN = 40  # shorter ones say nothing
FIRST_EXCERPT_CHARS_MIN = 160  # of the first entry of a list; a whole entry of another list says more than less
ASSUMPTIONS_CHARS = len(',"assumptions":[]')
LISTS = tuple(name for name in Briefing.__struct_fields__ if name not in ("left_out", "more"))
LISTS_NEVER_EMPTY = {"task", "marks", "questions"}  # they are rarely there, so an empty one would tell nothing

CallsFor = Callable[[Collection[str], int], list[str]]  # the calls that get the rest of some lists, for a given room


class Entry(Struct):
    """An entry of a list in full and in shorter forms. `text_field` names the text that may be shortened."""

    forms: tuple[Any, ...]
    text_field: str | None = None
    step: str | None = None  # the key of the step that an assumption belongs to
    key: str | None = None  # the id of a node, an atom or a molecule
    sizes: tuple[int, ...] = ()  # of the forms in characters, each with its comma

    def __post_init__(self) -> None:
        self.sizes = tuple([count_chars(form) + 1 for form in self.forms])  # a list: it is faster, and there are many


class Part(Struct):
    """The entries of one list that were read, and the `total` number of entries."""

    name: str
    entries: Sequence[Entry]
    total: int
    must: int | None = None  # the index of the entry that is taken before those of all other lists
    leading: int = 1  # so many entries without a text are taken even if they need more than half of what is left
    share: int = 1  # the list has at most this fraction of the room: 3 is a third
    first_chars: int | None = (
        None  # at its turn it takes these instead of half, and more only if no other list lacks any
    )
    is_chain: bool = False  # an entry is taken only after all before it
    brings_step: bool = False  # an entry takes the step that it belongs to along
    taken: dict[int, Any] = field(default_factory=dict)
    excerpts: dict[int, Any] = field(default_factory=dict)
    chars: int = 0  # of what was taken

    @property
    def left(self) -> int:
        return self.total - len(self.taken)

    def clear(self) -> None:
        self.taken.clear()
        self.excerpts.clear()
        self.chars = 0


class Filler:
    """Takes entries of the parts while `free` characters are left."""

    def __init__(self, parts: Sequence[Part], free: int, *, lean: bool) -> None:
        self.parts = parts
        self.free = free
        self.lean = lean
        self.room = sys.maxsize  # of which a list may have a share
        self._steps: dict[str, WhyStep] = {}  # those that were taken, by key
        self._clear(free)

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
        """Take what the briefing must have, then of each list at most half of what is left."""
        self.room = self.free
        for part in self.parts:
            if part.must is not None:
                self._take_entry(part, part.must, part.entries[part.must], 0)
        for part in self.parts:
            limit = self.free // 2 if part.first_chars is None else min(part.first_chars, self.free)
            end = self.free - limit
            excerpt_chars = limit // 2 if part.first_chars is None else limit
            if part.entries and part.entries[0].sizes[-1] > limit and excerpt_chars >= FIRST_EXCERPT_CHARS_MIN:
                self._take_excerpt(part, 0, limit=excerpt_chars)
            self._take(part, limit=self.free - end, leading=part.leading)

    def take_rest(self) -> None:
        """Add every entry that fits, in the order of priority."""
        for part in self._list_later_turns():
            self._take(part, limit=self.free)

    def take_excerpts(self) -> None:
        """Fill the remaining room with beginnings of texts that did not fit, or with more of them."""
        for part in self._list_later_turns():
            for index in range(len(part.entries)):
                if self.free < EXCERPT_CHARS_MIN:
                    return
                if index not in part.taken:
                    self._take_excerpt(part, index, limit=self.free)

    def _list_later_turns(self) -> Iterator[Part]:
        others = [part for part in self.parts if part.first_chars is None]
        yield from others
        if not any(part.left for part in others):
            yield from (part for part in self.parts if part.first_chars is not None)

    def _take(self, part: Part, *, limit: int, leading: int = 0) -> None:
        end = max(self.free - limit, 0)
        for index, entry in enumerate(part.entries):
            if index in part.taken:
                continue
            least = end if index >= leading or entry.text_field is not None else 0
            # Most entries of a long list are too long, so they are not tried.
            may_fit = self.free - entry.sizes[-1] >= least or index in part.excerpts
            if not (may_fit and self._take_entry(part, index, entry, least)) and part.is_chain:
                return
            if self.free <= 0:
                return

    def _take_entry(self, part: Part, index: int, entry: Entry, least: int) -> bool:
        """Add the longest form of an entry that leaves `least` characters free; return False if no form does."""
        step = None if entry.step is None else self._steps.get(entry.step)
        if entry.step is not None and step is None:
            if part.brings_step:
                self._take_step(entry.step, least + entry.sizes[-1] + ASSUMPTIONS_CHARS)
            step = self._steps.get(entry.step)
            if step is None:
                return False
        excerpt = part.excerpts.pop(index, None)
        returned = 0 if excerpt is None else count_chars(excerpt) + 1
        around = self._count_around(part, step) if excerpt is None else 0
        for form, size in zip(entry.forms, entry.sizes, strict=True):
            chars = size + around - returned
            if self.free - chars < least or (part.share > 1 and part.chars + chars > self.room // part.share):
                continue
            self._use(part, chars)
            part.taken[index] = form
            if step is not None:
                step.assumptions = [*(step.assumptions or ()), form]
            if isinstance(form, WhyStep):
                self._steps[form.key] = form
            return True
        if excerpt is not None:
            part.excerpts[index] = excerpt
        return False

    def _take_step(self, key: str, least: int) -> None:
        """Take the step with a key, also before its chain leads to it, if that leaves `least` characters free."""
        for part in self.parts:
            for index, entry in enumerate(part.entries if part.is_chain else ()):
                if entry.forms[0].key == key and index not in part.taken:
                    self._take_entry(part, index, entry, least)

    def _count_around(self, part: Part, step: WhyStep | None) -> int:
        """Return the characters of the name and the brackets of a list if its first entry is added now, else 0."""
        if step is not None:
            return 0 if step.assumptions else ASSUMPTIONS_CHARS
        is_first = not part.taken and not part.excerpts
        is_new = is_first and (self.lean or part.name in LISTS_NEVER_EMPTY)
        return count_chars(part.name) + 4 if is_new else 0

    def _take_excerpt(self, part: Part, index: int, *, limit: int) -> None:
        """Take as much of the text of an entry as the limit allows; of one that is there already, more."""
        entry = part.entries[index]
        if entry.text_field is None:
            return
        form, text = entry.forms[0], getattr(entry.forms[0], entry.text_field)
        before = part.excerpts.pop(index, None)
        returned = 0 if before is None else count_chars(before) + 1
        around = self._count_around(part, None) if before is None else 0
        room = min(limit, self.free) + returned - 1 - around
        bare = structs.replace(form, **{entry.text_field: UNSET}, excerpt="…")
        kept = min(room - count_chars(bare), len(text) - 1)
        while kept >= EXCERPT_CHARS_MIN:
            excerpt = structs.replace(bare, excerpt=f"{text[:kept]}…")
            over = count_chars(excerpt) - room
            if over <= 0:
                self._use(part, count_chars(excerpt) + 1 + around - returned)
                part.excerpts[index] = excerpt
                return
            kept -= max(over // 2, 1)  # a character may be escaped to two and more
        if before is not None:
            part.excerpts[index] = before

    def _use(self, part: Part, chars: int) -> None:
        self.free -= chars
        part.chars += chars

    def _clear(self, free: int) -> None:
        for part in self.parts:
            for form in (form for entry in part.entries if part.is_chain for form in entry.forms):
                form.assumptions = UNSET
            part.clear()
        self._steps.clear()
        self.free = free


def fill_briefing(parts: Sequence[Part], room: int, calls_for: CallsFor, *, lean: bool) -> Briefing | None:
    """Return a briefing of at most `room` characters; None if not even the shortest one fits."""
    is_short = lean or room < SMALL_CHARS
    filler = Filler(parts, 0, lean=is_short)
    filler.free = room - count_chars(_build(parts, lean=is_short))
    if filler.free >= 0 and filler.take_all():
        return _build(parts, lean=is_short)
    frame = _choose_frame(parts, room, calls_for, lean=is_short)
    if frame is None:
        return None
    filler.lean, calls, notes = frame
    filler.free = room - count_chars(_build(parts, lean=filler.lean)) - notes
    filler.take_leading()
    filler.take_rest()
    while (fewer := _count_notes(parts, calls, room)) < notes:
        filler.free += notes - fewer  # what needs no note gives its room back
        notes = fewer
        filler.take_rest()
    filler.take_excerpts()
    return _add_notes(_build(parts, lean=filler.lean), parts, calls, room)


def _choose_frame(
    parts: Sequence[Part], room: int, calls_for: CallsFor, *, lean: bool
) -> tuple[bool, CallsFor, int] | None:
    """Return whether empty lists are left out, the calls to name, and the characters of the notes about both.

    What the briefing must have goes before names of calls, and these before empty lists. None: there is no room.
    """
    must_chars = sum(part.entries[part.must].sizes[-1] for part in parts if part.must is not None)
    for needed in (must_chars, 0):
        for is_short, calls in ((lean, calls_for), (True, calls_for), (True, _name_no_call)):
            notes = _count_notes(parts, calls, room)
            if count_chars(_build(parts, lean=is_short)) + notes + needed <= room:
                return is_short, calls, notes
    return None


def _name_no_call(_left: Collection[str], _room: int) -> list[str]:
    return []


def _build(parts: Sequence[Part], *, lean: bool) -> Briefing:
    taken = {part.name: part.taken | part.excerpts for part in parts}
    briefing = Briefing()
    for name in LISTS:
        shown = taken.get(name, {})
        is_left_out = not shown and (lean or name in LISTS_NEVER_EMPTY)
        setattr(briefing, name, UNSET if is_left_out else [shown[index] for index in sorted(shown)])
    if briefing.why:
        briefing.why = [structs.replace(step) for step in briefing.why]  # the parts are filled again for other rooms
    return briefing


def _add_notes(briefing: Briefing, parts: Sequence[Part], calls_for: CallsFor, room: int) -> Briefing:
    left: dict[str, int] = {}
    for part in parts:
        if part.left:
            left[part.name] = left.get(part.name, 0) + part.left
    briefing.left_out = left or UNSET
    briefing.more = calls_for(left, room) or UNSET
    return briefing


def _count_notes(parts: Sequence[Part], calls_for: CallsFor, room: int) -> int:
    """Return the characters of the notes about entries that are left out."""
    return count_chars(_add_notes(Briefing(), parts, calls_for, room))
