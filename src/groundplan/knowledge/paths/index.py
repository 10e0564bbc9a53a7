"""An index of all patterns of a project: a path is compared only with the few patterns that may match it.

`dir/**` is found by its directory and matches without a comparison. Every other pattern stands under one term, the
least crowded of its terms:

    /src/ui/    the directories that it begins with          name-*    a text that a name of the path begins with
    forms       a name of the path                           *.ts      a text that a name of the path ends with
    *mid*       a text in the middle of a name: these few are looked for one by one

The candidates found that way are then matched. A search below a folder takes every pattern that begins inside of it,
and tries those that begin above it.

The index is not thread-safe: it must not change during a search.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from groundplan.knowledge.paths.names import ROOT, split_path
from groundplan.knowledge.paths.pattern import Pattern, PatternRoute, parse_pattern

AFTER_SLASH = "0"  # the next character
SEARCHED_PENALTY = 8  # a term that is looked for in every name is the last choice


class TooManySteps(Exception):
    """The search would exceed its limit of steps."""


class IndexedPattern:
    """A pattern, the keys that have it, and its terms in the index."""

    __slots__ = ("keys", "pattern", "terms")

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.keys: set[str] = set()
        self.terms: list[str] = []


class Beginnings:
    """The patterns of an index, sorted by their texts and by the folders that they begin with."""

    def __init__(self, entries: Mapping[str, IndexedPattern]) -> None:
        self.by_head: dict[str, list[IndexedPattern]] = {}
        for entry in entries.values():
            for route in entry.pattern.routes:
                self.by_head.setdefault(route.head, []).append(entry)
        self._entries = entries
        self._texts = sorted(entries)
        self._heads = sorted(self.by_head)

    def list_inside(self, prefix: str) -> Iterator[IndexedPattern]:
        """Yield the patterns that begin with a folder, which is given with a final `/`."""
        for text in _cut(self._texts, prefix):
            yield self._entries[text]
        for head in _cut(self._heads, prefix):
            yield from self.by_head[head]


class PathIndex:
    """An index that returns the keys with a pattern that matches a path."""

    def __init__(self) -> None:
        self._by_key: dict[str, tuple[IndexedPattern, ...]] = {}
        self._entries: dict[str, IndexedPattern] = {}  # by text, which is also a path that matches
        self._below: dict[str, list[IndexedPattern]] = {}  # those of `dir/**`, by directory
        self._terms: dict[str, list[IndexedPattern]] = {}  # the others
        self._searched: dict[str, None] = {}  # the terms that a name contains
        self._lengths: tuple[set[int], set[int]] = set(), set()  # of beginnings and ends; removed ones may be counted
        self._beginnings: Beginnings | None = None  # for searches below folders; made when one is asked
        self._size = 0
        self.steps = 0  # an upper bound of the cost of the last search

    def __len__(self) -> int:
        return len(self._by_key)

    @property
    def size(self) -> int:
        """The number of patterns after brace expansion. A pattern counts once for each of its keys."""
        return self._size

    def put(self, key: str, patterns: Sequence[str]) -> None:
        """Replace the patterns of a key."""
        wanted = {entry.pattern.text: entry for entry in map(self._get_entry, patterns)}
        for entry in wanted.values():
            if not entry.keys:
                self._add(entry)
            self._size += 0 if key in entry.keys else len(entry.pattern.alternatives)
            entry.keys.add(key)
        for entry in self._by_key.get(key, ()):
            if entry.pattern.text not in wanted:
                self._release(entry, key)
        self._by_key[key] = tuple(wanted.values())

    def remove(self, key: str) -> None:
        """Remove a key, if it exists."""
        for entry in self._by_key.pop(key, ()):
            self._release(entry, key)

    def _get_entry(self, text: str) -> IndexedPattern:
        """Return the entry of a pattern. A new entry has no keys and is not yet in the index."""
        if entry := self._entries.get(text):
            return entry
        pattern = parse_pattern(text)
        return self._entries.get(pattern.text) or IndexedPattern(pattern)

    def _add(self, entry: IndexedPattern) -> None:
        self._entries[entry.pattern.text] = entry
        self._beginnings = None
        for route in entry.pattern.routes:
            if route.is_everything_below:
                self._below.setdefault(route.head, []).append(entry)
                continue
            term = min(list_terms(route), key=self._rate_term)
            self._terms.setdefault(term, []).append(entry)
            entry.terms.append(term)
            if term[0] == term[-1] == "*":
                self._searched[term] = None
            elif term[-1] == "*":
                self._lengths[0].add(len(term) - 1)
            elif term[0] == "*":
                self._lengths[1].add(len(term) - 1)

    def _rate_term(self, term: str) -> tuple[int, int]:
        crowd = len(self._terms.get(term, ()))
        return crowd + (SEARCHED_PENALTY if term[0] == term[-1] == "*" else 0), -len(term)

    def _release(self, entry: IndexedPattern, key: str) -> None:
        self._size -= len(entry.pattern.alternatives)
        entry.keys.remove(key)
        if entry.keys:
            return
        del self._entries[entry.pattern.text]
        self._beginnings = None
        for route in entry.pattern.routes:
            if route.is_everything_below:
                _discard(self._below, route.head, entry)
        for term in entry.terms:
            _discard(self._terms, term, entry)
            if term not in self._terms:
                self._searched.pop(term, None)

    def find_matches(self, path: str, *, is_folder: bool | None = False, steps_max: int | None = None) -> list[str]:
        """Return the sorted keys with a pattern that matches a normalized path.

        If the path is a folder, these are also the keys with a pattern that can match a path below it. With None it is
        one if a pattern begins below it.
        """
        keys = self._match(path, {}, steps_max)
        if is_folder or (is_folder is None and self._begins_below(path)):
            steps = self.steps
            left = None if steps_max is None else steps_max - steps
            keys = sorted({*keys, *self.matching_below(path, steps_max=left)})
            self.steps += steps
        return keys

    def match_many(self, paths: Iterable[str], *, steps_max: int | None = None) -> Iterator[tuple[str, list[str]]]:
        """Yield each path with its keys. Files of one folder share most of the search."""
        directories: dict[str, tuple[set[str], set[IndexedPattern]]] = {}
        left = steps_max
        for path in paths:
            yield path, self._match(path, directories, left)
            if left is not None:
                left -= self.steps

    def matching_below(self, folder: str, *, steps_max: int | None = None) -> list[str]:
        """Return the sorted keys with a pattern that can match a path below a normalized folder. `.` is the root."""
        if folder == ROOT:
            self.steps = len(self._by_key)
            return sorted(key for key, entries in self._by_key.items() if entries)
        self.steps = 0
        names = split_path(folder)
        if names is None:
            return []
        prefix = folder + "/"
        beginnings = self._get_beginnings()
        entries = set(beginnings.list_inside(prefix))
        candidates: set[IndexedPattern] = set()
        for directory in _list_directories(names):
            entries.update(self._below.get(directory, ()))
            candidates.update(beginnings.by_head.get(directory, ()))
        candidates -= entries
        self._count_steps(folder, candidates, len(entries), steps_max)
        entries.update(entry for entry in candidates if entry.pattern.can_match_below_names(prefix, names))
        return sorted(set().union(*(entry.keys for entry in entries)))

    def _begins_below(self, path: str) -> bool:
        """Return whether the literal beginning of a pattern lies below a path."""
        return next(self._get_beginnings().list_inside(f"{path}/"), None) is not None

    def _get_beginnings(self) -> Beginnings:
        if self._beginnings is None:
            self._beginnings = Beginnings(self._entries)
        return self._beginnings

    def _count_steps(self, path: str, candidates: Iterable[IndexedPattern], taken: int, steps_max: int | None) -> None:
        self.steps = taken + len(path) * sum(entry.pattern.cost for entry in candidates)
        if steps_max is not None and self.steps > steps_max:
            raise TooManySteps

    def _match(
        self, path: str, directories: dict[str, tuple[set[str], set[IndexedPattern]]], steps_max: int | None
    ) -> list[str]:
        self.steps = 0
        names = split_path(path)
        if names is None:
            return []
        directory = path[: -len(names[-1])]
        if directory not in directories:
            directories[directory] = self._search_directory(names)
        below, shared = directories[directory]
        keys = set(below)
        if path in self._entries:
            keys |= self._entries[path].keys
        candidates = {*shared, *self._list_candidates(names[-1])}
        for term in self._searched:
            if term[1:-1] in path:
                candidates.update(self._terms[term])
        self._count_steps(path, candidates, 0, steps_max)
        for entry in candidates:
            if entry.pattern.matches_names(path, names):
                keys |= entry.keys
        return sorted(keys)

    def _search_directory(self, names: list[str]) -> tuple[set[str], set[IndexedPattern]]:
        """Return the keys and the candidate patterns that are the same for all files in the folder of a path."""
        keys: set[str] = set()
        candidates: set[IndexedPattern] = set()
        for directory in _list_directories(names):
            for entry in self._below.get(directory, ()):
                keys |= entry.keys
            candidates.update(self._terms.get(f"/{directory}", ()))
        for name in set(names[:-1]):
            candidates.update(self._list_candidates(name))
        return keys, candidates

    def _list_candidates(self, name: str) -> Iterator[IndexedPattern]:
        """Yield the patterns under the index terms of a name."""
        terms = self._terms
        heads, tails = self._lengths
        yield from terms.get(name, ())
        for length in heads:
            yield from terms.get(name[:length] + "*", ())
        for length in tails:
            yield from terms.get("*" + name[-length:], ())


def list_terms(route: PatternRoute) -> Iterator[str]:
    """Yield the index terms of a route. A name with a literal star can equal such a term."""
    yield f"/{route.head}"
    for segment in route.segments:
        if isinstance(segment, str):
            yield segment
            continue
        if segment.head:
            yield segment.head + "*"
        if segment.tail:
            yield "*" + segment.tail
        yield from (f"*{run.text}*" for run in segment.middle if run.is_literal)


def _list_directories(names: Sequence[str]) -> Iterator[str]:
    """Return the folders that contain a path, beginning with the root."""
    return accumulate((f"{name}/" for name in names[:-1]), initial="")


def _cut(texts: list[str], prefix: str) -> list[str]:
    """Return the texts that begin with a folder, which is given with a final `/`. The texts must be sorted."""
    return texts[bisect_left(texts, prefix) : bisect_left(texts, prefix[:-1] + AFTER_SLASH)]


def _discard(entries: dict[str, list[IndexedPattern]], name: str, entry: IndexedPattern) -> None:
    """Remove an entry from a list of the index, and the list if it becomes empty."""
    entries_of_name = entries.get(name, [])
    if entry in entries_of_name:
        entries_of_name.remove(entry)
    if not entries_of_name:
        entries.pop(name, None)
