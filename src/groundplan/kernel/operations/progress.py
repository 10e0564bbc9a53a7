"""Progress of long operations: handlers count the work that is done, and a surface can show it.

Without a watcher, counting has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

_watcher: ContextVar[Callable[[int, int], object] | None] = ContextVar("progress_watcher", default=None)


@contextmanager
def watch_progress(report: Callable[[int, int], object]) -> Iterator[None]:
    """Within the block, call a watcher with the amount of work that is done and the total."""
    token = _watcher.set(report)
    try:
        yield
    finally:
        _watcher.reset(token)


def report_progress(done: int, total: int) -> None:
    """Report the amount of work that is done to the watcher, if there is one."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(done, total)


def count_progress(items: Iterable[T], total: int) -> Iterator[T]:
    """Yield items, and report the number of items that are done."""
    for done, item in enumerate(items):
        report_progress(done, total)
        yield item
    report_progress(total, total)


class WorkCounter:
    """A counter of work that is done in several rounds."""

    def __init__(self, total: int) -> None:
        self._done, self._total = 0, total

    def add(self, parts: int) -> None:
        """Add to the number of parts that are done."""
        self._done += parts
        report_progress(self._done, self._total)
