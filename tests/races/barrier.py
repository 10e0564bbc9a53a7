"""Several callers at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def at_once(calls: Sequence[Callable[[], T]]) -> list[T | Exception]:
    """What each call gave or raised, when all of them start together."""
    barrier = threading.Barrier(len(calls))
    answers: dict[int, T | Exception] = {}

    def run(place: int, call: Callable[[], T]) -> None:
        barrier.wait()
        try:
            answers[place] = call()
        except Exception as error:
            answers[place] = error

    threads = [threading.Thread(target=run, args=(place, call)) for place, call in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[place] for place in range(len(calls))]
