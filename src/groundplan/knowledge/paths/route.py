"""One alternative of a pattern, split at its `**` into head, leading, between and trailing segments.

    src/ui / *  / ** / forms / ** / *.tsx
    head     leading   between     trailing

Segments at a fixed position are compared there; a single plain name between two `**` is searched for. That is enough
for most patterns. Others, for example with two stars in a name or a class, need the automaton.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

from groundplan.knowledge.paths.automaton import Automaton
from groundplan.knowledge.paths.segment import ANY_NAME, DIRECTORIES, Segment, Wildcard

Block: TypeAlias = tuple[str | Wildcard, ...]

AUTOMATA_CACHED_MAX = 128  # of one segment each


class PatternRoute:
    """One alternative of a pattern."""

    __slots__ = ("between", "depth", "head", "is_open", "is_quick", "leading", "literals", "trailing")

    def __init__(self, segments: Sequence[Segment]) -> None:
        head, depth = "", 0
        for segment in segments[:-1]:  # the last one is not a directory
            if not isinstance(segment, str):
                break
            head += segment + "/"
            depth += 1
        blocks: list[Block] = []
        block: list[str | Wildcard] = []
        is_quick = True
        for segment in segments[depth:]:
            if segment is not DIRECTORIES:
                block.append(segment)
                is_quick = is_quick and (isinstance(segment, str) or not segment.tokens)
            elif block or not blocks:  # several `**` in a row count as one
                blocks.append(tuple(block))
                block = []
        last = tuple(block) or (ANY_NAME,)  # a final `**` must match at least one name
        self.head = head
        self.depth = depth
        self.is_open = bool(blocks)  # it contains `**`
        self.leading = blocks[0] if blocks else last
        self.between = tuple(blocks[1:])
        self.trailing = last if blocks else ()
        self.is_quick = is_quick and (not self.between or all(map(_is_plain_name, self.between)))
        # Substrings that a path must contain; they spare most paths the automaton.
        self.literals = () if self.is_quick else _collect_literals([*self.directories, self.last])

    @property
    def is_everything_below(self) -> bool:
        """Whether the route is `head/**`."""
        return self.is_open and self.trailing == (ANY_NAME,) and not self.leading and not self.between

    @property
    def last(self) -> str | Wildcard:
        """The segment that the last name of a path must match."""
        return (self.trailing or self.leading)[-1]

    @property
    def directories(self) -> Iterable[str | Wildcard]:
        """The segments that other names below the head must match."""
        if not self.is_open:
            return self.leading[:-1]
        return chain(self.leading, *self.between, self.trailing[:-1])

    @property
    def row(self) -> list[Segment]:
        """All segments, for the automaton."""
        row: list[Segment] = [*self.head.split("/")[:-1], *self.leading]
        if self.is_open:
            for block in (*self.between, self.trailing):
                row += [DIRECTORIES, *block]
        return row

    def accepts(self, names: list[str]) -> bool:
        """Return whether the names after the head match. Only for quick routes and paths that begin with the head."""
        at = self.depth + len(self.leading)
        end = len(names) - len(self.trailing)
        if at > end or (at != end and not self.is_open):
            return False
        if not _segments_match(self.trailing, names, end) or not _segments_match(self.leading, names, self.depth):
            return False
        try:
            for (name,) in self.between:
                at = names.index(str(name), at, end) + 1  # the first match leaves the most names to the others
        except ValueError:
            return False
        return True

    def can_match_below(self, names: list[str]) -> bool:
        """Return whether a path below these directories can match. Only for directories that begin with the head."""
        # Only the segments before the first `**` are at fixed positions; it matches whatever directories follow, and
        # the segments after it match names that the path still has to have.
        given = names[self.depth : self.depth + len(self.leading)]
        has_room = self.is_open or len(given) < len(self.leading)
        return has_room and all(map(_segment_matches, self.leading, given))


def _collect_literals(segments: Iterable[str | Wildcard]) -> tuple[str, ...]:
    """Return the literal texts in these segments, longest first."""
    found: set[str] = set()
    for segment in segments:
        found.update((segment,) if isinstance(segment, str) else (segment.head, *segment.middle, segment.tail))
    return tuple(sorted(found - {""}, key=lambda text: (-len(text), text)))


def _is_plain_name(block: Block) -> bool:
    return len(block) == 1 and isinstance(block[0], str)


def _segments_match(segments: Block, names: list[str], start: int) -> bool:
    for segment in segments:
        name = names[start]
        if not (segment == name if isinstance(segment, str) else segment.accepts(name)):
            return False
        start += 1
    return True


def _segment_matches(segment: str | Wildcard, name: str) -> bool:
    if isinstance(segment, str):
        return segment == name
    return segment.accepts(name) and (not segment.tokens or _build_automaton(segment).accepts([name]))


@lru_cache(AUTOMATA_CACHED_MAX)
def _build_automaton(segment: Wildcard) -> Automaton:
    return Automaton([[segment]])
