"""All patterns of a project, arranged so that a path meets only the few that may match it.

A pattern lies at the directories it begins with: `src/ui/**` and `src/ui/*.ts` at `src/ui/`, `**/*.md` at the root. A
path looks at each directory it goes through. What is meant for everything below matches without a further look. Where
many patterns lie at one directory, each is filed under something that the last name of a path, or one on the way, must
be, begin with or end with, or else under a part of the path: of what a pattern offers, the least crowded. What is found
that way is then matched.

It is not made for several threads: nothing may be put or removed while somebody searches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from groundplan.knowledge.paths.buckets import Bucket, BucketIndex, IndexedPattern
from groundplan.knowledge.paths.names import split_path
from groundplan.knowledge.paths.pattern import parse_pattern


class TooManySteps(Exception):
    """Too much would have to be looked at."""


class PathIndex:
    """Which keys have a pattern that matches a path."""

    def __init__(self) -> None:
        self._by_key: dict[str, tuple[IndexedPattern, ...]] = {}
        self._entries: dict[
            str, IndexedPattern
        ] = {}  # by the text of the pattern, which is also a path that matches it
        self._buckets: dict[str, Bucket] = {}  # by the directories that patterns begin with
        self._longest = 0  # of these directories, in characters; never less than it is
        self._size = 0
        self.steps = 0  # at most so many characters were looked at for the path that was last asked for

    def __len__(self) -> int:
        return len(self._by_key)

    @property
    def size(self) -> int:
        """How many patterns it holds, braces written out, counted for each key that has them."""
        return self._size

    def put(self, key: str, patterns: Sequence[str]) -> None:
        """Give a key these patterns, and no others.

        Raises:
            MalformedPattern: one of them is none; the key keeps what it had.
        """
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
        """Forget a key, if it is known."""
        for entry in self._by_key.pop(key, ()):
            self._release(entry, key)

    def _get_entry(self, text: str) -> IndexedPattern:
        """The entry of a pattern: the one that is here, or one that is not here yet, and has no keys."""
        if entry := self._entries.get(text):
            return entry
        pattern = parse_pattern(text)
        return self._entries.get(pattern.text) or IndexedPattern(pattern)

    def _add_to_buckets(self, entry: IndexedPattern) -> None:
        self._entries[entry.pattern.text] = entry
        for route in entry.pattern.routes:
            shelf = self._buckets.get(route.head)
            if shelf is None:
                shelf = self._buckets[route.head] = Bucket()
                self._longest = max(self._longest, len(route.head))
            shelf.put(entry, route)

    def _release(self, entry: IndexedPattern, key: str) -> None:
        self._size -= len(entry.pattern.alternatives)
        entry.keys.remove(key)
        if entry.keys:
            return
        del self._entries[entry.pattern.text]
        for route in entry.pattern.routes:
            shelf = self._buckets.get(route.head)
            if shelf is not None:
                shelf.remove(entry, route)
                if not shelf:
                    del self._buckets[route.head]

    def matching(self, path: str, *, steps_max: int | None = None) -> list[str]:
        """The keys of which a pattern matches a path, sorted. The path must be normalised.

        Raises:
            TooManySteps: more would have to be looked at than `steps_max` allows; `steps` says how much is.
        """
        return self._match(path, {}, steps_max)

    def match_many(self, paths: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
        """Each path with its keys. Files of one directory share most of the search."""
        folders: dict[str, _DirectorySearch] = {}
        return ((path, self._match(path, folders)) for path in paths)

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
        tried = folder.candidates
        if folder.files:
            tried = set(tried)
            for files in folder.files:
                tried.update(files.last.found(names[-1]), files.parts.found(path))
        self.steps = len(path) * sum(len(entry.pattern.alternatives) for entry in tried)
        if steps_max is not None and self.steps > steps_max:
            raise TooManySteps
        for entry in tried:
            if entry.pattern.matches_names(path, names):
                keys |= entry.keys
        return sorted(keys)

    def _search_directory(self, names: list[str]) -> _DirectorySearch:
        """What the directory of a path has for all files in it."""
        folder = _DirectorySearch()
        prefix = ""
        for depth, name in enumerate(names):
            shelf = self._buckets.get(prefix)
            if shelf is not None:
                for entry in shelf.below:
                    folder.below |= entry.keys
                folder.candidates.update(shelf.unindexed)
                if shelf.files is not None:
                    folder.files.append(shelf.files)
                    folder.candidates.update(*map(shelf.files.by_directory.found, set(names[depth:-1])))
            prefix += name + "/"
            if len(prefix) > self._longest:
                break
        return folder


class _DirectorySearch:
    """The part of a search that all files of a directory share."""

    __slots__ = ("below", "candidates", "files")

    def __init__(self) -> None:
        self.below: set[str] = set()  # keys that match without a further look
        self.candidates: set[IndexedPattern] = set()
        self.files: list[BucketIndex] = []  # where to look up more, for each file
