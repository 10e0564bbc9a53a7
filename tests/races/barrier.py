"""Several callers at the same moment, and how it ended for each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from groundplan.kernel.errors import GroundplanError

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


def together(*calls: Callable[[], Any]) -> list[Any]:
    """The same, for calls of several sorts."""
    return at_once(calls)


def codes(answers: Sequence[Any]) -> list[str]:
    """How calls ended: the code of each refusal, `ok` for an answer; anything else is raised."""
    for one in answers:
        if isinstance(one, Exception) and not isinstance(one, GroundplanError):
            raise one
    return [one.code if isinstance(one, GroundplanError) else "ok" for one in answers]
