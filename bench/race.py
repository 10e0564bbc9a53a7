"""Run several processes on one file through the real store; each takes turns as fast as it can.

Turns are counted while all processes run: from the start of the last one to the end of the first one. Before and after
that, a process may have the file to itself, which says nothing about fairness.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from itertools import count
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple, TypeAlias

import groundplan

START_S_MAX = 60.0
RATIO_MIN = 0.5

# One turn of a racer, from its name and the number of its earlier turns: a note, or None if nothing is left to do.
Turn: TypeAlias = Callable[[groundplan.Session, str, int], str | None]


class Limit(NamedTuple):
    """When a racer stops."""

    seconds: float | None = None
    turns: int | None = None

    def is_reached(self, began: float, turns: int) -> bool:
        late = self.seconds is not None and time.monotonic() - began >= self.seconds
        return late or (self.turns is not None and turns >= self.turns)


class RacerLog(NamedTuple):
    """The turns of one racer."""

    began: float
    moments: list[float]  # the end of each turn, on the clock that all processes share
    notes: list[str]  # the result of each turn
    longest_wait_s: float
    errors: list[str]


class SharedTurns(NamedTuple):
    """The turns of each racer while all of them ran."""

    turns: tuple[int, ...]
    seconds: float

    @property
    def ratio(self) -> float:
        """The fewest turns of a racer divided by the most."""
        return min(self.turns) / max(self.turns) if max(self.turns) else 0.0

    @property
    def per_s(self) -> float:
        return sum(self.turns) / self.seconds if self.seconds else 0.0


def race(db: Path, processes: int, turn: Turn, limit: Limit) -> list[RacerLog]:
    """Run the processes and return the log of each."""
    spawning = multiprocessing.get_context("spawn")
    barrier, logs = spawning.Barrier(processes), spawning.Queue()
    racers = [
        spawning.Process(target=_run, args=(str(db), f"agent-{n}", turn, limit, barrier, logs))
        for n in range(processes)
    ]
    for racer in racers:
        racer.start()
    found = [RacerLog(*logs.get(timeout=START_S_MAX + (limit.seconds or START_S_MAX))) for _ in racers]
    for racer in racers:
        racer.join()
    return found


def _run(db: str, name: str, turn: Turn, limit: Limit, barrier: Barrier, logs: Queue[RacerLog]) -> None:
    log = RacerLog(0.0, [], [], 0.0, [])
    with groundplan.open(db, actor=name) as plan:
        plan.call("project.list")  # open the file and load the code before the race
        barrier.wait(START_S_MAX)
        log = log._replace(began=time.monotonic())
        for done in count():
            if limit.is_reached(log.began, done):
                break
            begin = time.monotonic()
            try:
                note = turn(plan, name, done)
            except Exception as error:  # every kind of failure is counted
                log.errors.append(f"{type(error).__name__}: {error}")
                continue
            if note is None:
                break
            log.notes.append(note)
            log.moments.append(time.monotonic())
            log = log._replace(longest_wait_s=max(log.longest_wait_s, log.moments[-1] - begin))
    logs.put(log)


def count_shared_turns(logs: Sequence[RacerLog]) -> SharedTurns:
    """Return the turns while all racers ran."""
    begin = max(log.began for log in logs)
    end = min((log.moments or [log.began])[-1] for log in logs)
    return SharedTurns(
        turns=tuple(sum(begin <= moment <= end for moment in log.moments) for log in logs),
        seconds=max(0.0, end - begin),
    )
