"""Do writers of one file get equal turns? Every process writes as fast as it can, through the real store.

Writes are counted in the time that all processes share: from the moment the last one began to the moment the first one
ended. Outside it somebody had the file to themselves, which says nothing about fairness.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, cycle
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

import groundplan
from bench.report import Options, Result

PROJECT = "atlas"
START_S_MAX = 60.0
RATIO_MIN = 0.5


@dataclass(frozen=True, slots=True)
class Fairness:
    """What the writers got."""

    writes: tuple[int, ...]  # of each process, in the shared time
    seconds: float  # how long that was
    longest_wait_s: float  # the slowest single write
    errors: tuple[str, ...]
    acknowledged: int  # all writes that were answered, in and outside the shared time
    recorded: int  # the revisions that the project has moved on by

    @property
    def ratio(self) -> float:
        """How much the unluckiest process got of what the luckiest got."""
        return min(self.writes) / max(self.writes) if max(self.writes) else 0.0

    @property
    def writes_per_s(self) -> float:
        return sum(self.writes) / self.seconds if self.seconds else 0.0


class _Log(NamedTuple):
    began: float
    moments: list[float]  # when each write was answered, on the clock that all processes share
    longest_wait_s: float
    errors: list[str]


def measure(processes: int, seconds: float) -> Fairness:
    """Write for some seconds."""
    return _measure(processes, seconds=seconds, rounds=None)


def measure_rounds(processes: int, rounds: int) -> Fairness:
    """Let every process write so many times."""
    return _measure(processes, seconds=None, rounds=rounds)


def _measure(processes: int, *, seconds: float | None, rounds: int | None) -> Fairness:
    spawning = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="groundplan-fairness-") as folder:
        db = str(Path(folder) / "plan.db")
        with groundplan.open(db, actor="ada") as plan:
            plan.call("project.create", name=PROJECT)
            before = _revision(plan)
            barrier, logs = spawning.Barrier(processes), spawning.Queue()
            writers = [
                spawning.Process(target=_write, args=(db, f"agent-{n}", seconds, rounds, barrier, logs))
                for n in range(processes)
            ]
            for writer in writers:
                writer.start()
            found = [logs.get(timeout=START_S_MAX + (seconds or START_S_MAX)) for _ in writers]
            for writer in writers:
                writer.join()
            return _judged([_Log(*log) for log in found], _revision(plan) - before)


def _revision(plan: groundplan.Session) -> int:
    rev: int = plan.call("project.list").projects[0].rev
    return rev


def _write(db: str, name: str, seconds: float | None, rounds: int | None, barrier: Barrier, logs: Queue[_Log]) -> None:
    moments: list[float] = []
    errors: list[str] = []
    longest = 0.0
    with groundplan.open(db, actor=name) as plan:
        plan.call("project.list")  # open the file and load the code before the race
        barrier.wait(START_S_MAX)
        began = time.monotonic()
        for role in _roles(began, seconds, rounds):
            begin = time.monotonic()
            try:
                plan.call("member.add", scopeId=PROJECT, userId=name, role=role)
            except Exception as error:  # every kind of failure counts, that is what is measured
                errors.append(f"{type(error).__name__}: {error}")
                continue
            moments.append(time.monotonic())
            longest = max(longest, moments[-1] - begin)
    logs.put(_Log(began, moments, longest, errors))


def _roles(began: float, seconds: float | None, rounds: int | None) -> Iterator[str]:
    """A role that differs from the one before, as often as the race asks for: each write changes something."""
    for done, role in zip(count(), cycle(("viewer", "editor")), strict=False):
        if (rounds is not None and done >= rounds) or (seconds is not None and time.monotonic() - began >= seconds):
            return
        yield role


def _judged(logs: list[_Log], recorded: int) -> Fairness:
    begin = max(log.began for log in logs)
    end = min((log.moments or [log.began])[-1] for log in logs)
    return Fairness(
        writes=tuple(sum(begin <= moment <= end for moment in log.moments) for log in logs),
        seconds=max(0.0, end - begin),
        longest_wait_s=max(log.longest_wait_s for log in logs),
        errors=tuple(error for log in logs for error in log.errors),
        acknowledged=sum(len(log.moments) for log in logs),
        recorded=recorded,
    )


def part(options: Options) -> list[Result]:
    """The benchmark."""
    seconds = min(2.0, options.seconds) if options.quick else options.seconds
    found = measure(options.processes, seconds)
    name = f"{options.processes} processes, {found.seconds:.0f} s"
    lost = found.acknowledged - found.recorded
    return [
        Result("fairness", f"{name}: slowest ÷ fastest", found.ratio, "", bar=RATIO_MIN, at_least=True),
        Result("fairness", f"{name}: writes", found.writes_per_s, "/s"),
        Result("fairness", f"{name}: longest wait", found.longest_wait_s * 1000, "ms"),
        Result("fairness", f"{name}: errors", len(found.errors), "", bar=0),
        Result("fairness", f"{name}: acknowledged but lost", lost, "", bar=0),
    ]
