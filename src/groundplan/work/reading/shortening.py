"""An answer of any content in a fixed number of tokens: texts are shortened first, then lists lose their ends.

A text that is cut is an excerpt and is never shown under the name of the whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from msgspec import UNSET, UnsetType

from groundplan.kernel.output_gate import encode, fits

T = TypeVar("T")

TEXT_CHARS_MAX = 4096
READABLE_CHARS = 60  # below it, a list with fewer entries tells more than one with shorter texts
RECOGNIZABLE_CHARS = 24

Kept = Mapping[str, int]  # how many entries of each list


class Excerpted(NamedTuple):
    """A text, whole or in part; neither of a text that is not there."""

    whole: str | UnsetType
    excerpt: str | UnsetType


def excerpted(stored: str | UnsetType, chars_max: int) -> Excerpted:
    """A stored text if it is short enough, else as much of it as is allowed."""
    if stored is UNSET or len(stored) <= chars_max:
        return Excerpted(stored, UNSET)
    return Excerpted(UNSET, stored[: chars_max - 1] + "…")


def fitted(
    render: Callable[[int, Kept], T], listed: Mapping[str, int], floors: Mapping[str, int], tokens_max: int
) -> T:
    """The fullest answer that fits. `render` makes one from the length of its texts and of its lists.

    `listed` says how many entries there are of each list, the most important list first; `floors`, how many should stay
    as long as texts can still be read.
    """

    def is_fitting(chars: int) -> bool:
        return fits(encode(render(chars, kept)), tokens_max)

    kept = dict(listed)
    if is_fitting(TEXT_CHARS_MAX):
        return render(TEXT_CHARS_MAX, kept)
    for chars, floor in ((READABLE_CHARS, floors), (RECOGNIZABLE_CHARS, floors), (RECOGNIZABLE_CHARS, {})):
        while not is_fitting(chars):
            longest = _farthest_above(kept, floor)
            if longest is None:
                break
            kept[longest] -= 1
        else:
            return render(_widest(is_fitting, chars), kept)
    return render(RECOGNIZABLE_CHARS, kept)


def _farthest_above(kept: Kept, floor: Mapping[str, int]) -> str | None:
    """The list with most to spare; of several, the least important one."""
    spare = {name: count - min(count, floor.get(name, 0)) for name, count in kept.items()}
    most = max(spare.values(), default=0)
    return next((name for name in reversed(spare) if spare[name] == most), None) if most else None


def _widest(is_fitting: Callable[[int], bool], fitting: int) -> int:
    """The largest number of characters that fits, given one that does."""
    too_wide = TEXT_CHARS_MAX
    while too_wide - fitting > 1:
        between = (fitting + too_wide) // 2
        if is_fitting(between):
            fitting = between
        else:
            too_wide = between
    return fitting
