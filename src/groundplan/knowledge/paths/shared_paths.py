"""Find paths that share a file: equal paths, a folder and its content, and a pattern and its matches.

Two patterns have a file in common when they are equal, or when one matches the text of the other. Plain paths are
looked up by their text and by the folders above them; only patterns are matched. So the time grows with the number of
paths and of what is found, and both are limited.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator

from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.paths.index import AFTER_SLASH, PathIndex, TooManySteps
from groundplan.knowledge.paths.names import ROOT, parse_paths
from groundplan.knowledge.paths.pattern import PATTERN_CHARS_MAX, MalformedPattern
from groundplan.providers import SharedPaths

PAIRS_MAX = 100_000
STEPS_MAX = 20_000_000  # characters compared with patterns, about a second
PATTERN_CHARACTERS = frozenset("*?[{")


def find_shared_paths(tx: Transaction, paths: Collection[str], among: Collection[str]) -> SharedPaths:
    """Return for each path or pattern the ones in `among` that match a common file."""
    parsed = _parse(paths)
    search = _Search(parsed, parsed if among is paths else _parse(among))
    try:
        for path, other in search.list_pairs():
            search.add(path, other)
    except TooManySteps:
        return SharedPaths(search.found, is_complete=False)
    return SharedPaths(search.found, is_complete=True)


class _Paths:
    """Some paths by their normalized texts."""

    def __init__(self) -> None:
        self.written: dict[str, list[str]] = {}  # as they were given
        self.is_folder: dict[str, bool | None] = {}  # None: only the patterns tell
        self.patterns = PathIndex()
        self.lengths: set[int] = set()
        self.sorted: list[str] = []


def _parse(texts: Collection[str]) -> _Paths:
    parsed = _Paths()
    for text in texts:
        for path, is_folder in parse_paths([text]).items():
            parsed.written.setdefault(path, []).append(text)
            if not PATTERN_CHARACTERS.isdisjoint(path):
                _add_pattern(parsed.patterns, path)
            else:
                parsed.is_folder[path] = is_folder or parsed.is_folder.get(path)
    parsed.lengths = set(map(len, parsed.written))
    parsed.sorted = sorted(parsed.written)
    return parsed


def _add_pattern(patterns: PathIndex, text: str) -> None:
    if len(text) > PATTERN_CHARS_MAX:
        return
    try:
        patterns.put(text, [text])
    except MalformedPattern:
        return  # a name with a bracket: it is compared as a plain path


class _Search:
    """A search for pairs of paths, one from each side."""

    def __init__(self, paths: _Paths, among: _Paths) -> None:
        self._paths, self._among = paths, among
        self._steps = STEPS_MAX
        self._pairs = PAIRS_MAX
        self.found: dict[str, dict[str, None]] = {}

    def add(self, path: str, other: str) -> None:
        """Add a pair of normalized paths as they were written."""
        for text in self._paths.written[path]:
            others = self.found.setdefault(text, {})
            for other_text in self._among.written[other]:
                if other_text not in others:
                    if not self._pairs:
                        raise TooManySteps
                    self._pairs -= 1
                    others[other_text] = None

    def list_pairs(self) -> Iterator[tuple[str, str]]:
        """Yield every pair that shares a file. Some pairs are repeated."""
        for path in self._paths.written:
            yield from ((path, other) for other in _find_related(path, self._among))
            yield from ((path, other) for other in self._match(self._among, path, self._paths))
        for other in self._among.written if len(self._paths.patterns) else ():
            yield from ((path, other) for path in self._match(self._paths, other, self._among))

    def _match(self, side: _Paths, path: str, side_of_path: _Paths) -> list[str]:
        """Return the patterns of one side that match a path of the other, or a path in it if it is a folder."""
        if not len(side.patterns):
            return []
        is_folder = side_of_path.is_folder.get(path, False)
        found = side.patterns.find_matches(path, is_folder=is_folder, steps_max=self._steps)
        self._steps -= side.patterns.steps
        return found


def _find_related(path: str, among: _Paths) -> Iterator[str]:
    """Yield the paths that equal a path, are a folder above it, or are below it."""
    if path in among.written:
        yield path
    if path == ROOT:
        yield from among.written
        return
    if ROOT in among.written:
        yield ROOT
    end = path.find("/")
    while end > 0:
        if end in among.lengths and path[:end] in among.written:
            yield path[:end]
        end = path.find("/", end + 1)
    texts = among.sorted
    yield from texts[bisect_left(texts, path + "/") : bisect_left(texts, path + AFTER_SLASH)]
