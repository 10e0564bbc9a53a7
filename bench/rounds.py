"""Measure by taking turns: what else the machine does meanwhile then hits everything that is compared."""

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
    """One thing to time. What comes before it, and looking at its result, is not timed."""

    name: str
    act: Callable[[], Any]
    before: Callable[[], object] | None = None
    check: Callable[[Any], object] | None = None


def interleaved(rounds: int, steps: Sequence[Step]) -> Times:
    """How long each step took each time, all of them taking turns."""
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


def medians_ms(sets: Iterable[Times]) -> dict[str, float]:
    """The median of each step over several sets of processes."""
    gathered: dict[str, list[list[float]]] = {}
    for times in sets:
        for name, taken in times.items():
            gathered.setdefault(name, []).append(taken)
    return {name: median(chain.from_iterable(taken)) * 1000 for name, taken in gathered.items()}


@contextlib.contextmanager
def one_core(*, spread: bool = False) -> Iterator[None]:
    """Keep this process and those it starts on one core, where the system can.

    They only ever take turns. Left alone, some lie on the core of their client and some do not, and waking a process on
    another core costs more than all the rest of a round trip: the same ping measured 0.02 ms or 0.1 ms, by chance.
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
