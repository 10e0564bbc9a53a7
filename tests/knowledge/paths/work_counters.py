"""Work counted instead of timed: the same number on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


def count_lines(act: Callable[[], Any]) -> int:
    """Return how many lines of Python a call runs."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


class CountedPath:
    """The names of a path, which count how many of their characters are read."""

    def __init__(self, path: str) -> None:
        self.characters = 0
        self._names = path.split("/")

    def __iter__(self) -> Iterator[Iterator[str]]:
        return map(self._count_characters, self._names)

    def _count_characters(self, name: str) -> Iterator[str]:
        for character in name:
            self.characters += 1
            yield character
