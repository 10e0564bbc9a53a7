"""Encode answers as one line of compact JSON, measure them, and shorten those that are too long.

    encode         one line of JSON; stored text is returned unchanged
    Budget         the characters that an answer can still use: split it, take rows while they fit
    take_page      one page of a list: the rows that fit, the cursor after the last, and the number of rows left
    share_room     one page of several lists that share a room; each goes on where it stopped
    Trimming       the parts that one type of answer drops, in order; declared as `trimming` on its class
    trim           drop these parts until the answer fits
    fit_excerpts   the fullest answer of a fixed size, with excerpts of texts that are too long

Every limit on an answer is given in tokens. A token is always four characters of compact JSON. Every shortened answer
has the same fields: `left_out` is the number of missing entries by name, and `next_cursor` is the cursor of the next
page, if any. Stored text is never cut: a field is dropped whole; an excerpt is another field.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from json import dumps
from typing import Any, Generic, TypeVar, cast

import msgspec
from msgspec import NODEFAULT, UNSET, Struct, UnsetType

from groundplan.kernel.errors import RuleViolated

ANSWER_TOKENS_MAX = 20_000
LISTS_TOKENS = 1_000  # that several lists of one answer share, unless the request names a budget
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
    """Return one line of compact JSON with fields in declared order and keys in insertion order, without UNSET.

    The same value gives the same bytes, except for a set, which has no order; answers therefore use lists.
    """
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        # An unpaired surrogate has no UTF-8 encoding. The input gate rejects it, but a file name may contain one;
        # it is sent as an escape.

        return dumps(msgspec.to_builtins(value), separators=(",", ":")).encode("ascii")
    if not encoded.isascii():
        for raw, escaped in _RAW_LINE_BREAKS.items():
            encoded = encoded.replace(raw, escaped)
    return encoded


def count_tokens(encoded: bytes | str) -> int:
    """Return the size of an encoded answer in tokens, which is estimated from its characters and rounded up."""
    text = encoded if isinstance(encoded, str) or encoded.isascii() else encoded.decode()
    return -(-len(text) // CHARS_PER_TOKEN)


def fits(encoded: bytes | str, limit_tokens: int = ANSWER_TOKENS_MAX) -> bool:
    """Return True if an encoded answer is within the cap. A cap of 0 means no cap."""
    return limit_tokens == 0 or count_tokens(encoded) <= limit_tokens


def refuse_oversized(encoded: bytes | str, limit_tokens: int = ANSWER_TOKENS_MAX) -> None:
    """Raise AnswerTooLarge if an answer exceeds the cap after trimming."""
    if not fits(encoded, limit_tokens):
        raise AnswerTooLarge(count_tokens(encoded), limit_tokens)


T = TypeVar("T")

LeftOut = dict[str, int] | UnsetType  # the type of every field `left_out`
ENVELOPE_CHARS = 64  # around every answer: {"success":true,"data":…}, and `left_out`
LEFT_OUT_CHARS = 14  # `"":1234567,` without the name of a missing part, or `"left_out":{},` around all

# `"next_cursor":"…",` of several lists: as it is nearly always, and of positions in long texts.
CURSOR_CHARS, CURSOR_CHARS_MAX = 140, 530
DETAILS = "details"  # of an entry that is shown in a shorter form

# Lengths of a text in an answer of fixed size.
TEXT_CHARS_MAX = 4096
READABLE_CHARS = 60  # below it, fewer entries are better than shorter texts
RECOGNIZABLE_CHARS = 24

_UNLIMITED = float("inf")


class Budget:
    """The characters that remain for an answer or a part of it. A share also counts against its parent."""

    __slots__ = ("_free", "_parent")

    def __init__(self, chars: float, parent: Budget | None = None) -> None:
        """Start with `chars` characters. If `parent` is given, they are a share of its characters."""
        self._free = chars
        self._parent = parent

    @classmethod
    def for_answer(cls, tokens_max: int) -> Budget:
        """Return a budget of the cap on an answer without its envelope. 0 means no cap."""
        return cls(tokens_max * CHARS_PER_TOKEN - ENVELOPE_CHARS if tokens_max else _UNLIMITED)

    @property
    def is_limited(self) -> bool:
        """True if there is a cap."""
        return self._free != _UNLIMITED

    @property
    def free_chars(self) -> float:
        """The remaining characters: infinity without a cap, and negative if more was reserved than there is."""
        return self._free

    def share(self, part: int, *, of: int) -> Budget:
        """Return a budget of the free characters times `part` / `of`."""
        return Budget(self._free if self._free == _UNLIMITED else self._free * part // of, self)

    def take_lists(self, *, is_requested: bool) -> Budget:
        """Return the room that the lists of an answer share: if the request names a budget, all that is free.

        Without a cap it is as large as the usual cap, so that no answer reads a list of any length whole.
        """
        tokens_max = LISTS_TOKENS if self.is_limited else ANSWER_TOKENS_MAX
        return Budget(self._free if is_requested else min(self._free, tokens_max * CHARS_PER_TOKEN), self)

    def count_rows(self, chars_min: int) -> int:
        """Return how many rows to read if none has fewer characters: those that fit, and one that tells of more."""
        return max(int(self._free) // chars_min, 0) + 2

    def reserve(self, *parts: Any) -> Budget:
        """Subtract parts that every answer has, and return this budget."""
        for part in parts:
            self.use(count_chars(part))
        return self

    def spend_if_fits(self, part: Any) -> bool:
        """Subtract a part and its comma if it fits; return whether it does."""
        if self._free == _UNLIMITED:
            return True
        needed = count_chars(part) + 1
        if needed > self._free:
            return False
        self.use(needed)
        return True

    def take_rows(self, rows: Sequence[T], *, at_least: int = 0) -> list[T]:
        """Return the leading rows that fit; the first `at_least` rows are always included."""
        if not rows or self._free == _UNLIMITED:
            return list(rows)
        all_chars = count_chars(rows) - 1  # without the two brackets, with a comma after the last row
        if all_chars <= self._free:
            self.use(all_chars)
            return list(rows)
        for index, row in enumerate(rows):
            if not self.spend_if_fits(row):
                if index >= at_least:
                    return list(rows[:index])
                self.use(count_chars(row) + 1)
        return list(rows)

    def give_back(self, part: Any) -> None:
        """Undo `spend_if_fits` for a part."""
        self.use(-count_chars(part) - 1)

    def exchange_if_fits(self, part: Any, longer: Any) -> bool:
        """Subtract what a part needs more than another one that was subtracted, if it fits; return whether it does."""
        more = count_chars(longer) - count_chars(part)
        if more > self._free:
            return False
        self.use(more)
        return True

    def use(self, chars: float) -> None:
        """Subtract characters."""
        self._free -= chars
        if self._parent is not None:
            self._parent.use(chars)


def count_chars(value: Any) -> int:
    """Return the number of characters of a value in an answer."""
    encoded = encode(value)
    return len(encoded) if encoded.isascii() else len(encoded.decode())


class Page(msgspec.Struct, Generic[T], frozen=True):
    """The rows of one page, the cursor after its last row, and the number of remaining rows of each part."""

    rows: list[T]
    next_cursor: str | UnsetType
    left_out: LeftOut


def take_page(
    budget: Budget,
    rows: Sequence[T],
    *,
    cursor_after: Callable[[T], str],
    item: Callable[[T], Any] = lambda row: row,
    part: Callable[[T], str] | None = None,
    has_more: bool = False,
) -> Page[T]:
    """Return the leading rows that fit, at least one, with a cursor if rows remain or `has_more` is set.

    `item` returns what the answer shows of a row, `part` the name of the list that the row belongs to.
    """
    if not rows:
        return Page([], UNSET, UNSET)
    kept = len(budget.take_rows([item(row) for row in rows], at_least=1))
    if kept == len(rows) and not has_more:
        return Page(list(rows), UNSET, UNSET)
    cursor = cursor_after(rows[kept - 1])
    while kept > 1 and count_chars(cursor) > budget.free_chars:  # the cursor needs characters, too
        kept -= 1
        budget.give_back(item(rows[kept]))
        cursor = cursor_after(rows[kept - 1])
    left = dict(Counter(map(part, rows[kept:]))) if part else {}
    return Page(list(rows[:kept]), cursor, left or UNSET)


Position = Sequence[Any]  # the values of a cursor that say where a list goes on


class ListRow(msgspec.Struct, Generic[T], frozen=True):
    """An entry of a list in full and in shorter forms, and where the list goes on after it."""

    forms: Sequence[T]
    position: Position


class ListPart(msgspec.Struct, Generic[T]):
    """The entries of a list from a position on: those that were read, and the number of all."""

    name: str
    rows: Sequence[ListRow[T]]
    start: Position
    total: int
    shown: Sequence[T] = ()

    @property
    def rest(self) -> Position | None:
        """Where the list goes on; None at its end."""
        if len(self.shown) == self.total:
            return None
        return self.rows[len(self.shown) - 1].position if self.shown else self.start

    def count_left_out(self) -> dict[str, int]:
        """Return the number of entries that are not shown, and of those that are shown in a shorter form."""
        short = sum(form is not row.forms[0] for form, row in zip(self.shown, self.rows, strict=False))
        left = {self.name: self.total - len(self.shown), f"{self.name}.{DETAILS}": short}
        return {name: count for name, count in left.items() if count}


def share_room(
    room: Budget, parts: Sequence[ListPart[Any]], *, at_least: int = 0, cursor_chars: int = CURSOR_CHARS
) -> None:
    """Choose what an answer shows of lists that share a room evenly; short lists leave more.

    First come the shortest forms of all entries, then their full forms in the order of the lists. `at_least` entries
    are shown even if there is no room for them, so that a page is not empty.
    """
    waiting = [part for part in parts if part.rows]
    full = [[row.forms[0] for row in part.rows] for part in waiting]
    if all(len(part.rows) == part.total for part in parts) and (needed := count_chars(full)) <= room.free_chars:
        for part, shown in zip(waiting, full, strict=True):
            part.shown = shown
        room.use(needed)
        return
    notes = sum(len(part.name) + LEFT_OUT_CHARS for part in waiting)
    notes += sum(len(part.name) + LEFT_OUT_CHARS + len(DETAILS) + 1 for part in waiting if len(part.rows[0].forms) > 1)
    rest = Budget(room.free_chars - notes - cursor_chars, room)
    for part, shown in zip(waiting, take_even_shares(rest, [_list_short_forms(part) for part in waiting]), strict=True):
        part.shown = shown
    if waiting and not any(part.shown for part in waiting):
        waiting[0].shown = _list_short_forms(waiting[0])[:at_least]
        rest.reserve(*waiting[0].shown)
    for part in waiting:
        part.shown = [_lengthen(form, row.forms, rest) for form, row in zip(part.shown, part.rows, strict=False)]


def take_even_shares(room: Budget, lists: Sequence[Sequence[T]]) -> list[list[T]]:
    """Return the leading rows of each list that fit. The lists share the room evenly; short ones leave more."""
    taken: list[list[T]] = [[] for _ in lists]
    shortest_first = sorted(range(len(lists)), key=lambda index: count_chars(lists[index]))
    for place, index in enumerate(shortest_first):
        taken[index] = room.share(1, of=len(lists) - place).take_rows(lists[index])
    return taken


def _list_short_forms(part: ListPart[T]) -> list[T]:
    return [row.forms[-1] for row in part.rows]


def _lengthen(form: T, forms: Sequence[T], room: Budget) -> T:
    """Return the longest form of an entry that fits in the place of its shortest form."""
    return next((longer for longer in forms[:-1] if room.exchange_if_fits(form, longer)), form)


class DropField(msgspec.Struct, frozen=True):
    """A step that drops a field: `node.state`, or `rows[].text` in one row after another, beginning with the last."""

    path: str


class CutLists(msgspec.Struct, frozen=True):
    """A step that shortens lists at their ends. They share the free characters evenly; short lists leave more."""

    paths: tuple[str, ...]
    from_start: bool = False  # keep the last entries instead of the first


class Trimming(tuple[DropField | CutLists, ...]):
    """The steps that are applied in order until an answer fits."""

    def __new__(cls, *steps: DropField | CutLists) -> Trimming:
        """Create a trimming from its steps."""
        return super().__new__(cls, steps)


def trim(answer: Any, budget: Budget, steps: Trimming | None = None) -> None:
    """Drop parts of an answer until it fits, by the given steps or the steps of its class; `left_out` counts them."""
    declared: Trimming = getattr(type(answer), "trimming", Trimming())
    for step in declared if steps is None else steps:
        excess = count_chars(answer) - budget.free_chars
        if excess <= 0:
            return
        if isinstance(step, DropField):
            _drop(answer, step.path, excess, budget)
        else:
            _cut(answer, step, budget)


class _FieldLocation(msgspec.Struct, frozen=True):
    """A field of a Struct, and the place in `left_out` that counts the field when it is dropped."""

    holder: Struct
    field: str
    counter: Struct
    name: str

    @property
    def value(self) -> Any:
        return getattr(self.holder, self.field)

    @property
    def is_counted(self) -> bool:
        return self.name in (cast("Any", self.counter).left_out or ())

    def count_left_out(self, count: int) -> None:
        notes = cast("Any", self.counter)
        before = notes.left_out or {}
        notes.left_out = {**before, self.name: before.get(self.name, 0) + count}


def _drop(answer: Any, path: str, excess: float, budget: Budget) -> None:
    for place in _find_fields(answer, answer, path, ""):
        value = place.value
        if value is UNSET or value is None or value in ("", [], {}):
            continue
        is_required = _is_required(place)
        setattr(place.holder, place.field, [] if is_required else UNSET)
        excess -= count_chars(value) + (0 if is_required else len(place.field) + 4)  # `"":,`
        excess += 0 if place.is_counted else LEFT_OUT_CHARS + len(place.name)
        place.count_left_out(len(value) if isinstance(value, list | dict) else 1)
        if excess <= 0:
            excess = count_chars(answer) - budget.free_chars  # exact: `left_out` itself needs characters
            if excess <= 0:
                return


def _cut(answer: Any, step: CutLists, budget: Budget) -> None:
    places = [place for path in step.paths for place in _find_fields(answer, answer, path, "")]
    lists = [(place, place.value) for place in places if isinstance(place.value, list) and place.value]
    for place, _ in lists:
        setattr(place.holder, place.field, [])
    notes_chars = sum(len(place.name) + LEFT_OUT_CHARS for place, _ in lists)
    notes_chars += LEFT_OUT_CHARS * len({id(place.counter) for place, _ in lists})  # each row may have its own
    room = Budget(budget.free_chars - count_chars(answer) - notes_chars)
    shares = take_even_shares(room, [rows[::-1] if step.from_start else rows for _, rows in lists])
    for (place, rows), kept in zip(lists, shares, strict=True):
        setattr(place.holder, place.field, kept[::-1] if step.from_start else kept)
        if len(kept) < len(rows):
            place.count_left_out(len(rows) - len(kept))


def _find_fields(answer: Any, notes: Any, path: str, name: str) -> Iterator[_FieldLocation]:
    """Yield the fields that a path names, beginning with the last row."""
    step, _, rest = path.partition(".")
    field, is_each, _ = step.partition("[]")
    value = getattr(answer, field, UNSET)
    if value is UNSET or value is None:
        return
    if hasattr(answer, "left_out"):
        notes, name = answer, ""
    wire = _wire_name(answer, field)
    name = f"{name}.{wire}" if name else wire
    if not rest:
        yield _FieldLocation(answer, field, notes, name)
        return
    for inner in reversed(value) if is_each else (value,):
        yield from _find_fields(inner, notes, rest, name)


def _wire_name(holder: Struct, field: str) -> str:
    return holder.__struct_encode_fields__[holder.__struct_fields__.index(field)]


def _is_required(location: _FieldLocation) -> bool:
    """Return True if a field has no default. Its list may be emptied but not dropped."""
    fields, defaults = location.holder.__struct_fields__, location.holder.__struct_defaults__
    index = fields.index(location.field) - (len(fields) - len(defaults))
    return index < 0 or defaults[index] is NODEFAULT


def fit_excerpts(
    render: Callable[[int, Mapping[str, int]], T],
    counts: Mapping[str, int],
    *,
    floors: Mapping[str, int],
    tokens_max: int,
) -> T:
    """Return the largest answer that fits. `render` builds one from the length of texts and the lengths of lists.

    Texts are shortened first, then lists at their ends. `counts` is the number of entries of each list, the most
    important list first; `floors` is how many of them to keep while texts are still readable.
    """

    def is_fitting(chars: int) -> bool:
        return fits(encode(render(chars, kept)), tokens_max)

    kept = dict(counts)
    if is_fitting(TEXT_CHARS_MAX):
        return render(TEXT_CHARS_MAX, kept)
    for chars, floor in ((READABLE_CHARS, floors), (RECOGNIZABLE_CHARS, floors), (RECOGNIZABLE_CHARS, {})):
        while not is_fitting(chars):
            longest = _find_most_spare(kept, floor)
            if longest is None:
                break
            kept[longest] -= 1
        else:
            return render(_find_widest_fitting(is_fitting, chars), kept)
    return render(RECOGNIZABLE_CHARS, kept)


def _find_most_spare(counts: Mapping[str, int], floor: Mapping[str, int]) -> str | None:
    """Return the list with the most entries above its floor. Of several, the least important list is returned."""
    spare = {name: count - min(count, floor.get(name, 0)) for name, count in counts.items()}
    most = max(spare.values(), default=0)
    return next((name for name in reversed(spare) if spare[name] == most), None) if most else None


def _find_widest_fitting(is_fitting: Callable[[int], bool], fitting: int) -> int:
    """Return the largest text length that fits. The given length must fit."""
    too_wide = TEXT_CHARS_MAX
    while too_wide - fitting > 1:
        between = (fitting + too_wide) // 2
        if is_fitting(between):
            fitting = between
        else:
            too_wide = between
    return fitting
