"""Buckets of patterns that begin with the same directories, with indexes that narrow the candidates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from groundplan.knowledge.paths.pattern import Pattern
from groundplan.knowledge.paths.route import PatternRoute
from groundplan.knowledge.paths.segment import Wildcard

UNINDEXED_MAX = 4  # so few are faster to try than to look up, and most directories have no more
ENTRIES_PER_TERM_MAX = 8  # above this, a substring search is better


class IndexedPattern:
    """A pattern and the keys that have it."""

    __slots__ = ("keys", "pattern")

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.keys: set[str] = set()


class Bucket:
    """The patterns at one directory."""

    __slots__ = ("below", "files", "unindexed")

    def __init__(self) -> None:
        self.below: list[IndexedPattern] = []  # these match everything below the directory
        self.unindexed: list[IndexedPattern] = []  # these are tried on every path
        self.files: BucketIndex | None = None  # the indexed rest

    def __bool__(self) -> bool:
        return bool(self.below or self.unindexed or self.files is not None)

    @property
    def others(self) -> Iterator[IndexedPattern]:
        """The entries that do not match everything below; one may come more than once."""
        return chain(self.unindexed, self.files or ())

    def put(self, entry: IndexedPattern, route: PatternRoute) -> None:
        """Add an entry for one of its routes."""
        if route.is_everything_below:
            self.below.append(entry)
        elif len(self.unindexed) < UNINDEXED_MAX:
            self.unindexed.append(entry)
        else:
            files = self.files or BucketIndex()
            if files.put(entry, route):
                self.files = files
            else:
                self.unindexed.append(entry)

    def remove(self, entry: IndexedPattern, route: PatternRoute) -> None:
        """Remove an entry that was added for this route."""
        for entries in (self.below, self.unindexed):
            if entry in entries:
                entries.remove(entry)
        if self.files is not None:
            self.files.remove(entry, route)
            self.files = self.files or None


class TermIndex:
    """Entries by a term."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[str, list[IndexedPattern]] = {}

    def __bool__(self) -> bool:
        return bool(self._entries)

    def __iter__(self) -> Iterator[IndexedPattern]:
        return chain.from_iterable(self._entries.values())

    def count_entries(self, term: str) -> int:
        """Return the number of entries under a term."""
        return len(self._entries.get(term, ()))

    def put(self, entry: IndexedPattern, term: str) -> None:
        self._entries.setdefault(term, []).append(entry)

    def remove(self, entry: IndexedPattern, term: str) -> None:
        """Remove an entry, if it is there."""
        entries = self._entries.get(term, [])
        if entry in entries:
            entries.remove(entry)
            if not entries:
                del self._entries[term]


class NameIndex(TermIndex):
    """Entries by a text that a name must equal (`index`), begin with (`index*`) or end with (`*index`).

    A name with a literal star may be confused with these, which only adds candidates.
    """

    __slots__ = ("_heads", "_tails")

    def __init__(self) -> None:
        super().__init__()
        self._heads: set[int] = set()  # lengths of beginnings; removed terms may still be counted
        self._tails: set[int] = set()

    def put(self, entry: IndexedPattern, term: str) -> None:
        super().put(entry, term)
        if term[-1] == "*":
            self._heads.add(len(term) - 1)
        if term[0] == "*":
            self._tails.add(len(term) - 1)

    def find_candidates(self, name: str) -> Iterator[IndexedPattern]:
        """Yield the entries that may match a name."""
        entries = self._entries
        if name in entries:
            yield from entries[name]
        for length in self._heads:
            if (term := name[:length] + "*") in entries:
                yield from entries[term]
        for length in self._tails:
            if (term := "*" + name[-length:]) in entries:
                yield from entries[term]


class SubstringIndex(TermIndex):
    """Entries by a text that the path must contain."""

    __slots__ = ()

    def find_candidates(self, path: str) -> Iterator[IndexedPattern]:
        """Yield the entries that may match a path."""
        for term, entries in self._entries.items():
            if term in path:
                yield from entries


class BucketIndex:
    """Three indexes of entries: by the last name of a path, by a directory, and by a substring."""

    __slots__ = ("by_directory", "last", "parts")

    def __init__(self) -> None:
        self.last = NameIndex()
        self.by_directory = NameIndex()
        self.parts = SubstringIndex()

    def __bool__(self) -> bool:
        return bool(self.last or self.by_directory or self.parts)

    def __iter__(self) -> Iterator[IndexedPattern]:
        return chain(self.last, self.by_directory, self.parts)

    def put(self, entry: IndexedPattern, route: PatternRoute) -> bool:
        """Add an entry under its least crowded and then longest term; return False if it has no term."""
        best: tuple[int, int, str] | None = None
        best_file: TermIndex | None = None
        for file, term in self._list_lookups(route):
            # Names are looked up, but substrings are searched in every path, so they are the last choice.
            crowd = file.count_entries(term) + (ENTRIES_PER_TERM_MAX if file is self.parts else 0)
            if best is None or (crowd, -len(term), term) < best:
                best, best_file = (crowd, -len(term), term), file
        if best is None or best_file is None:
            return False
        best_file.put(entry, best[-1])
        return True

    def remove(self, entry: IndexedPattern, route: PatternRoute) -> None:
        for file, term in self._list_lookups(route):
            file.remove(entry, term)

    def _list_lookups(self, route: PatternRoute) -> list[tuple[TermIndex, str]]:
        lookups: list[tuple[TermIndex, str]] = [(self.last, term) for term in _list_terms(route.last)]
        for segment in route.directories:
            lookups += [(self.by_directory, term) for term in _list_terms(segment)]
        lookups += [(self.parts, term) for term in route.literals]
        return lookups


def _list_terms(segment: str | Wildcard) -> list[str]:
    """Return the terms under which a segment can be indexed."""
    if isinstance(segment, str):
        return [segment]
    terms = [segment.head + "*"] if segment.head else []
    return [*terms, "*" + segment.tail] if segment.tail else terms
