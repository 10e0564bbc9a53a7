"""An index of all patterns of a project, so that a path is only compared with the few that may match it.

A pattern is stored at the literal directories it begins with: `src/ui/**` and `src/ui/*.ts` at `src/ui/`, `**/*.md` at
the root. A search visits each directory of the path. `dir/**` matches without a comparison. Where many patterns are at
one directory, each is indexed by a term that a name of the path must equal, begin with or end with, or by a substring
of the path; the least crowded term of a pattern is used. The candidates found that way are then matched.

A search below a folder takes every pattern that begins inside of it, and tries those that begin above it.

The index is not thread-safe: it must not change during a search.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from groundplan.knowledge.paths.buckets import Bucket, BucketIndex, IndexedPattern
from groundplan.knowledge.paths.names import ROOT, split_path
from groundplan.knowledge.paths.pattern import parse_pattern

AFTER_SLASH = "0"  # the next character


class TooManySteps(Exception):
    """The search would exceed the limit of steps."""


class PathIndex:
    """Find the keys with a pattern that matches a path."""

    def __init__(self) -> None:
        self._by_key: dict[str, tuple[IndexedPattern, ...]] = {}
        # By the text of the pattern, which is also a path that matches it.
        self._entries: dict[str, IndexedPattern] = {}
        self._buckets: dict[str, Bucket] = {}  # by the directories that patterns begin with
        self._longest = 0  # an upper bound of the length of these directories, in characters
        self._sorted: tuple[list[str], list[str]] | None = None  # the texts and these directories, if they are sorted
        self._size = 0
        self.steps = 0  # an upper bound of the cost of the last search

    def __len__(self) -> int:
        return len(self._by_key)

    @property
    def size(self) -> int:
        """The number of patterns after brace expansion, counted once per key."""
        return self._size

    def put(self, key: str, patterns: Sequence[str]) -> None:
        """Replace the patterns of a key."""
        wanted = {entry.pattern.text: entry for entry in map(self._get_entry, patterns)}
        for entry in wanted.values():
            if not entry.keys:
                self._add_to_buckets(entry)
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
        """Return the entry of a pattern, or a new one without keys that is not yet in the index."""
        if entry := self._entries.get(text):
            return entry
        pattern = parse_pattern(text)
        return self._entries.get(pattern.text) or IndexedPattern(pattern)

    def _add_to_buckets(self, entry: IndexedPattern) -> None:
        self._entries[entry.pattern.text] = entry
        self._sorted = None
        for route in entry.pattern.routes:
            bucket = self._buckets.get(route.head)
            if bucket is None:
                bucket = self._buckets[route.head] = Bucket()
                self._longest = max(self._longest, len(route.head))
            bucket.put(entry, route)

    def _release(self, entry: IndexedPattern, key: str) -> None:
        self._size -= len(entry.pattern.alternatives)
        entry.keys.remove(key)
        if entry.keys:
            return
        del self._entries[entry.pattern.text]
        self._sorted = None
        for route in entry.pattern.routes:
            bucket = self._buckets.get(route.head)
            if bucket is not None:
                bucket.remove(entry, route)
                if not bucket:
                    del self._buckets[route.head]

    def find_matches(self, path: str, *, steps_max: int | None = None) -> list[str]:
        """Return the sorted keys with a pattern that matches a normalized path."""
        return self._match(path, {}, steps_max)

    def matching_below(self, folder: str, *, steps_max: int | None = None) -> list[str]:
        """Return the sorted keys with a pattern that can match a path below a normalized folder; `.` is the root."""
        self.steps = 0
        if folder == ROOT:
            self.steps = len(self._by_key)
            return sorted(key for key, entries in self._by_key.items() if entries)
        names = split_path(folder)
        if names is None:
            return []
        prefix = folder + "/"
        found = set(self._entries_inside(prefix))
        candidates: set[IndexedPattern] = set()
        above = ""
        for name in names:
            if bucket := self._buckets.get(above):
                found.update(bucket.below)
                candidates.update(bucket.others)
            above += name + "/"
        candidates -= found
        self.steps = len(found) + len(folder) * sum(len(entry.pattern.alternatives) for entry in candidates)
        if steps_max is not None and self.steps > steps_max:
            raise TooManySteps
        found.update(entry for entry in candidates if entry.pattern.can_match_below_names(prefix, names))
        return sorted(set().union(*(entry.keys for entry in found)))

    def _entries_inside(self, prefix: str) -> Iterator[IndexedPattern]:
        """Yield the patterns that begin with a folder: their text, or the directories of an alternative."""
        if self._sorted is None:
            self._sorted = sorted(self._entries), sorted(self._buckets)
        texts, heads = (_cut(some, prefix) for some in self._sorted)
        buckets = [self._buckets[head] for head in heads]
        return chain(map(self._entries.__getitem__, texts), *(chain(one.below, one.others) for one in buckets))

    def match_many(self, paths: Iterable[str], *, steps_max: int | None = None) -> Iterator[tuple[str, list[str]]]:
        """Yield each path with its keys. Files of one directory share most of the search."""
        folders: dict[str, _DirectorySearch] = {}
        left = steps_max
        for path in paths:
            yield path, self._match(path, folders, left)
            if left is not None:
                left -= self.steps

    def _match(self, path: str, folders: dict[str, _DirectorySearch], steps_max: int | None = None) -> list[str]:
        self.steps = 0
        names = split_path(path)
        if names is None:
            return []
        directory = path[: -len(names[-1])]
        folder = folders.get(directory)
        if folder is None:
            folder = folders[directory] = self._search_directory(names)
        keys = set(folder.below)
        if path in self._entries:
            keys |= self._entries[path].keys
        candidates = folder.candidates
        if folder.files:
            candidates = set(candidates)
            for files in folder.files:
                candidates.update(files.last.find_candidates(names[-1]), files.parts.find_candidates(path))
        self.steps = len(path) * sum(len(entry.pattern.alternatives) for entry in candidates)
        if steps_max is not None and self.steps > steps_max:
            raise TooManySteps
        for entry in candidates:
            if entry.pattern.matches_names(path, names):
                keys |= entry.keys
        return sorted(keys)

    def _search_directory(self, names: list[str]) -> _DirectorySearch:
        """Return the part of the search that all files in the directory of a path share."""
        folder = _DirectorySearch()
        prefix = ""
        for depth, name in enumerate(names):
            bucket = self._buckets.get(prefix)
            if bucket is not None:
                for entry in bucket.below:
                    folder.below |= entry.keys
                folder.candidates.update(bucket.unindexed)
                if bucket.files is not None:
                    folder.files.append(bucket.files)
                    folder.candidates.update(*map(bucket.files.by_directory.find_candidates, set(names[depth:-1])))
            prefix += name + "/"
            if len(prefix) > self._longest:
                break
        return folder


def _cut(texts: list[str], prefix: str) -> list[str]:
    """Return those of some sorted texts that begin with a folder, given with its `/`."""
    return texts[bisect_left(texts, prefix) : bisect_left(texts, prefix[:-1] + AFTER_SLASH)]


class _DirectorySearch:
    """The part of a search that all files of a directory share."""

    __slots__ = ("below", "candidates", "files")

    def __init__(self) -> None:
        self.below: set[str] = set()  # keys that match without a comparison
        self.candidates: set[IndexedPattern] = set()
        self.files: list[BucketIndex] = []  # indexes to search again for each file
