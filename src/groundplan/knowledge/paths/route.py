"""One alternative of a pattern, taken apart at its `**`: what leads, what lies between, what trails.

    src/ui / *  / ** / forms / ** / *.tsx
    head     leading   between     trailing

Names that stand in a fixed place are compared there; a single plain name between two `**` is searched for. That is all
most patterns need. What takes more, say two stars in a name or a class, is for the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TypeAlias

from groundplan.knowledge.paths.segment import ANY_NAME, DIRECTORIES, Segment, Wildcard

Block: TypeAlias = tuple[str | Wildcard, ...]


class PatternRoute:
    """One alternative of a pattern."""

    __slots__ = ("between", "depth", "head", "is_open", "is_quick", "leading", "needles", "trailing")

    def __init__(self, segments: Sequence[Segment]) -> None:
        head, depth = "", 0
        for segment in segments[:-1]:  # the last one is no directory
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
            elif block or not blocks:  # several in a row are one
                blocks.append(tuple(block))
                block = []
        last = tuple(block) or (ANY_NAME,)  # `**` at the end wants a name of its own
        self.head = head
        self.depth = depth
        self.is_open = bool(blocks)  # there is a `**`
        self.leading = blocks[0] if blocks else last
        self.between = tuple(blocks[1:])
        self.trailing = last if blocks else ()
        self.is_quick = is_quick and (not self.between or all(map(_is_plain_name, self.between)))
        # Texts that a path must have somewhere: they keep most paths away from the machine.
        self.needles = () if self.is_quick else _needles([*self.directories, self.last])

    @property
    def is_everything_below(self) -> bool:
        """Whether it is `head/**`."""
        return self.is_open and self.trailing == (ANY_NAME,) and not self.leading and not self.between

    @property
    def last(self) -> str | Wildcard:
        """What the last name of a path must be."""
        return (self.trailing or self.leading)[-1]

    @property
    def directories(self) -> Iterable[str | Wildcard]:
        """What some other name below the head must be."""
        if not self.is_open:
            return self.leading[:-1]
        return chain(self.leading, *self.between, self.trailing[:-1])

    @property
    def row(self) -> list[Segment]:
        """All segments, for a machine."""
        row: list[Segment] = [*self.head.split("/")[:-1], *self.leading]
        if self.is_open:
            for block in (*self.between, self.trailing):
                row += [DIRECTORIES, *block]
        return row

    def accepts(self, names: list[str]) -> bool:
        """Whether the names of a path that begins with the head fit a quick route from there on."""
        at = self.depth + len(self.leading)
        end = len(names) - len(self.trailing)
        if at > end or (at != end and not self.is_open):
            return False
        if not _segments_match(self.trailing, names, end) or not _segments_match(self.leading, names, self.depth):
            return False
        try:
            for (name,) in self.between:
                at = names.index(str(name), at, end) + 1  # the first will do: it leaves the most to the others
        except ValueError:
            return False
        return True


def _needles(segments: Iterable[str | Wildcard]) -> tuple[str, ...]:
    """The texts that stand in these segments, longest first."""
    found: set[str] = set()
    for segment in segments:
        found.update((segment,) if isinstance(segment, str) else (segment.head, *segment.middle, segment.tail))
    return tuple(sorted(found - {""}, key=lambda text: (-len(text), text)))


def _is_plain_name(block: Block) -> bool:
    return len(block) == 1 and isinstance(block[0], str)


def _segments_match(segments: Block, names: list[str], at: int) -> bool:
    for segment in segments:
        name = names[at]
        if not (segment == name if isinstance(segment, str) else segment.accepts(name)):
            return False
        at += 1
    return True
