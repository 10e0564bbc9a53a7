"""Time steps in turns, so that other load on the machine affects all compared steps alike."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median
from typing import Any, TypeAlias

Times: TypeAlias = dict[str, list[float]]  # in s, by the name of what was timed


@dataclass(frozen=True, slots=True)
class Step:
    """A function to time. `before` and `check` are not timed."""

    name: str
    act: Callable[[], Any]
    before: Callable[[], object] | None = None
    check: Callable[[Any], object] | None = None


def run_interleaved(rounds: int, steps: Sequence[Step]) -> Times:
    """Run the steps in turns and return the durations of each."""
    times: Times = {step.name: [] for step in steps}
    for _ in range(rounds):
        for step in steps:
            if step.before is not None:
                step.before()
            begin = time.perf_counter()
            result = step.act()
            times[step.name].append(time.perf_counter() - begin)
            if step.check is not None:
                step.check(result)
    return times


def compute_medians_ms(sets: Iterable[Times]) -> dict[str, float]:
    """Return the median of each step in ms, over several sets of processes."""
    gathered: dict[str, list[list[float]]] = {}
    for times in sets:
        for name, taken in times.items():
            gathered.setdefault(name, []).append(taken)
    return {name: median(chain.from_iterable(taken)) * 1000 for name, taken in gathered.items()}


@contextlib.contextmanager
def pin_to_one_core(*, spread: bool = False) -> Iterator[None]:
    """Keep this process and its children on one core, if the system supports it.

    They only take turns. Otherwise some run on the core of their client and some do not, and waking a process on
    another core costs more than the rest of a round trip: the same ping took 0.02 ms or 0.1 ms, by chance.
    """
    if spread or not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
