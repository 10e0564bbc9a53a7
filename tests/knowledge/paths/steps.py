"""How much work something is, counted instead of timed: the same on every machine, and free where nobody counts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


def lines_run(act: Callable[[], Any]) -> int:
    """How many lines of Python are run."""
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


class Counted:
    """The names of a path, which count how many of their characters are asked for."""

    def __init__(self, path: str) -> None:
        self.characters = 0
        self._names = path.split("/")

    def __iter__(self) -> Iterator[Iterator[str]]:
        return map(self._spelled, self._names)

    def _spelled(self, name: str) -> Iterator[str]:
        for character in name:
            self.characters += 1
            yield character
