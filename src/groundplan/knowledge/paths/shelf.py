"""The patterns that begin with the same directories, filed so that a path need not try all of them."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.knowledge.paths.pattern import Pattern
from groundplan.knowledge.paths.route import Route
from groundplan.knowledge.paths.segment import Wild

LOOSE_MAX = 4  # so few are tried sooner than looked up, and most directories have no more
CROWD_MAX = 8  # so many may lie under one term before it is better to look for a part of the path


class Entry:
    """A pattern, and the keys that have it."""

    __slots__ = ("keys", "pattern")

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.keys: set[str] = set()


class Shelf:
    """What lies at one directory."""

    __slots__ = ("below", "files", "loose")

    def __init__(self) -> None:
        self.below: list[Entry] = []  # matches everything down from here
        self.loose: list[Entry] = []  # to be tried on everything
        self.files: Files | None = None  # to be looked up

    def __bool__(self) -> bool:
        return bool(self.below or self.loose or self.files is not None)

    def put(self, entry: Entry, route: Route) -> None:
        """Keep an entry for one of its routes."""
        if route.is_everything_below:
            self.below.append(entry)
        elif len(self.loose) < LOOSE_MAX:
            self.loose.append(entry)
        else:
            files = self.files or Files()
            if files.put(entry, route):
                self.files = files
            else:
                self.loose.append(entry)

    def remove(self, entry: Entry, route: Route) -> None:
        """Take an entry out, wherever it may lie because of this route."""
        for entries in (self.below, self.loose):
            if entry in entries:
                entries.remove(entry)
        if self.files is not None:
            self.files.remove(entry, route)
            self.files = self.files or None


class Terms:
    """Entries by a term."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[str, list[Entry]] = {}

    def __bool__(self) -> bool:
        return bool(self._entries)

    def crowd(self, term: str) -> int:
        """How many entries lie under a term."""
        return len(self._entries.get(term, ()))

    def put(self, entry: Entry, term: str) -> None:
        self._entries.setdefault(term, []).append(entry)

    def remove(self, entry: Entry, term: str) -> None:
        """Take an entry out, if it is there."""
        entries = self._entries.get(term, [])
        if entry in entries:
            entries.remove(entry)
            if not entries:
                del self._entries[term]


class Names(Terms):
    """Entries by what a name must be (`index`), begin with (`index*`) or end with (`*index`).

    A name that has a star of its own may be mistaken for one of the others, which only means that more is tried.
    """

    __slots__ = ("_heads", "_tails")

    def __init__(self) -> None:
        super().__init__()
        self._heads: set[int] = set()  # how long beginnings are; some of them may be gone by now
        self._tails: set[int] = set()

    def put(self, entry: Entry, term: str) -> None:
        super().put(entry, term)
        if term[-1] == "*":
            self._heads.add(len(term) - 1)
        if term[0] == "*":
            self._tails.add(len(term) - 1)

    def found(self, name: str) -> Iterator[Entry]:
        """The entries that want such a name."""
        entries = self._entries
        if name in entries:
            yield from entries[name]
        for length in self._heads:
            if (term := name[:length] + "*") in entries:
                yield from entries[term]
        for length in self._tails:
            if (term := "*" + name[-length:]) in entries:
                yield from entries[term]


class Parts(Terms):
    """Entries by a text that the path must have somewhere."""

    __slots__ = ()

    def found(self, path: str) -> Iterator[Entry]:
        """The entries that want such a path."""
        for term, entries in self._entries.items():
            if term in path:
                yield from entries


class Files:
    """Three ways to look up entries: by the last name of a path, by one on the way to it, by a part of it."""

    __slots__ = ("last", "on_the_way", "parts")

    def __init__(self) -> None:
        self.last = Names()
        self.on_the_way = Names()
        self.parts = Parts()

    def __bool__(self) -> bool:
        return bool(self.last or self.on_the_way or self.parts)

    def put(self, entry: Entry, route: Route) -> bool:
        """File an entry where it is least crowded, and there by the longest term, if it offers any."""
        best: tuple[int, int, str] | None = None
        best_file: Terms | None = None
        for file, term in self._offers(route):
            # A part is looked for in every path, where names are looked up: that is for those who have no other way.
            crowd = file.crowd(term) + (CROWD_MAX if file is self.parts else 0)
            if best is None or (crowd, -len(term), term) < best:
                best, best_file = (crowd, -len(term), term), file
        if best is None or best_file is None:
            return False
        best_file.put(entry, best[-1])
        return True

    def remove(self, entry: Entry, route: Route) -> None:
        for file, term in self._offers(route):
            file.remove(entry, term)

    def _offers(self, route: Route) -> list[tuple[Terms, str]]:
        offers: list[tuple[Terms, str]] = [(self.last, term) for term in _terms(route.last)]
        for segment in route.directories:
            offers += [(self.on_the_way, term) for term in _terms(segment)]
        offers += [(self.parts, term) for term in route.needles]
        return offers


def _terms(segment: str | Wild) -> list[str]:
    """What a name can be looked up by."""
    if isinstance(segment, str):
        return [segment]
    terms = [segment.head + "*"] if segment.head else []
    return [*terms, "*" + segment.tail] if segment.tail else terms
