"""Matching in one pass: each character of a path is looked at once, whatever the pattern.

The places in a pattern are the bits of an integer, which says at which of them one may be after the characters read so
far. A character moves every place that allows it one further, all of them by one shift; a star lets its place stay as
well. `**` lets its place be taken up again at the beginning of any later name. So there is never anything to go back
to: the time grows with the path's length, and with the number of machine words that the pattern's places fill.

All alternatives of a pattern stand side by side in one integer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence

from groundplan.knowledge.paths.segment import DIRECTORIES, STAR, CharacterClass, Segment, tokens_of

LAST_CHARACTER = "\U0010ffff"


class Automaton:
    """Several rows of segments, ready to be run over the names of a path."""

    __slots__ = ("_bounds", "_ends", "_final", "_loops", "_masks", "_skips", "_start")

    def __init__(self, rows: Iterable[Sequence[Segment]]) -> None:
        self._start = self._final = self._ends = self._loops = self._skips = allowed = 0
        changes: dict[str, int] = defaultdict(int)
        width = 0
        for row in map(_Row, rows):
            self._start |= 1 << width
            self._ends |= row.ends << width
            self._loops |= row.loops << width
            self._skips |= row.skips << width
            allowed |= row.allowed << width
            for bound, change in row.changes.items():
                changes[bound] ^= change << width
            width += row.width
            self._final |= 1 << width
            width += 1
        self._bounds = sorted(changes)
        self._masks = [allowed]
        for bound in self._bounds:
            allowed ^= changes[bound]
            self._masks.append(allowed)

    def accepts(self, names: Iterable[Iterable[str]]) -> bool:
        """Whether the names of a path, given character by character, lead through one of the rows to its end."""
        bounds, masks, loops, ends, skips = self._bounds, self._masks, self._loops, self._ends, self._skips
        known: dict[str, int] = {}
        state, waiting = self._start, 0
        for name in names:
            waiting |= state & skips
            state |= waiting
            for character in name:
                mask = known.get(character)
                if mask is None:
                    mask = known[character] = masks[bisect_right(bounds, character)]
                state = (state & mask) << 1 | state & loops
            state = (state & ends) << 1
            if not state and not waiting:
                return False
        return state & self._final != 0


class _Row:
    """The places of one row, from its first bit on."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.ends = 0  # places where a name must end
        self.loops = 0  # places at a star
        self.skips = 0  # places behind `**`
        places: dict[str | CharacterClass, int] = defaultdict(int)
        place = 1
        for segment in segments:
            if segment is DIRECTORIES:
                self.skips |= place
                continue
            for token in tokens_of(segment):
                if token is STAR:
                    self.loops |= place
                else:
                    places[token] |= place
                    place <<= 1
            self.ends |= place
            place <<= 1
        self.width = place.bit_length() - 1
        # A place allows the characters of some ranges. Going through all characters in order, it changes its mind where
        # a range begins and behind where it ends; between two such bounds all characters are the same to every place.
        self.allowed = 0  # before the first bound
        self.changes: dict[str, int] = defaultdict(int)
        for token, such in places.items():
            ranges, negated = (((token, token),), False) if isinstance(token, str) else token
            if negated:
                self.allowed |= such
            for low, high in ranges:
                self.changes[low] ^= such
                if high < LAST_CHARACTER:
                    self.changes[chr(ord(high) + 1)] ^= such
