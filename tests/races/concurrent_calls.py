"""Running calls at the same moment, and their results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from groundplan.kernel.errors import GroundplanError

T = TypeVar("T")


def run_at_once(calls: Sequence[Callable[[], T]]) -> list[T | Exception]:
    """Return what each call returned or raised when all start together."""
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


def run_together(*calls: Callable[[], Any]) -> list[Any]:
    """Return the same for calls of different types."""
    return run_at_once(calls)


def outcome_codes(answers: Sequence[Any]) -> list[str]:
    """Return the code of each error, or `ok`; other exceptions are raised."""
    for one in answers:
        if isinstance(one, Exception) and not isinstance(one, GroundplanError):
            raise one
    return [one.code if isinstance(one, GroundplanError) else "ok" for one in answers]
