"""A bit-parallel automaton that matches a path in one pass, without backtracking.

Each position in a pattern is a bit of an integer, the state. A character advances every position that allows it, all by
one shift; a position at a star also stays. A position behind `**` is entered again at the start of every later name.
The time grows with the length of the path and the number of machine words that the positions fill.

All alternatives of a pattern are side by side in one integer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence

from groundplan.knowledge.paths.segment import DIRECTORIES, STAR, CharacterClass, Segment, get_tokens

LAST_CHARACTER = "\U0010ffff"


class Automaton:
    """An automaton of several rows of segments that runs over the names of a path."""

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
        """Return whether one of the rows matches the names of a path, given character by character."""
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
    """The positions of one row, as bits from the lowest on."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.ends = 0  # positions where a name must end
        self.loops = 0  # positions at a star
        self.skips = 0  # positions behind `**`
        bits_by_token: dict[str | CharacterClass, int] = defaultdict(int)
        bit = 1
        for segment in segments:
            if segment is DIRECTORIES:
                self.skips |= bit
                continue
            for token in get_tokens(segment):
                if token is STAR:
                    self.loops |= bit
                else:
                    bits_by_token[token] |= bit
                    bit <<= 1
            self.ends |= bit
            bit <<= 1
        self.width = bit.bit_length() - 1
        # A position allows the characters of some ranges. In the order of all characters, its answer changes where a
        # range begins and after it ends; between two such bounds every position treats all characters alike.
        self.allowed = 0  # positions that allow the characters before the first bound
        self.changes: dict[str, int] = defaultdict(int)
        for token, positions in bits_by_token.items():
            ranges, negated = (((token, token),), False) if isinstance(token, str) else token
            if negated:
                self.allowed |= positions
            for low, high in ranges:
                self.changes[low] ^= positions
                if high < LAST_CHARACTER:
                    self.changes[chr(ord(high) + 1)] ^= positions
