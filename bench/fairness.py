"""Measure whether writers of one file get equal turns: every process makes small changes in a loop."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import groundplan
from bench.options import Options
from bench.race import RATIO_MIN, Limit, count_shared_turns, race
from bench.report import Result

PROJECT = "atlas"
ROLES = ("viewer", "editor")
QUICK_S = 2.0

__all__ = ["RATIO_MIN", "Fairness", "measure", "measure_rounds", "run"]


@dataclass(frozen=True, slots=True)
class Fairness:
    """The result of a race of writers."""

    writes: tuple[int, ...]  # per process, while all processes ran
    seconds: float  # how long all processes ran
    ratio: float  # the fewest writes of a process divided by the most
    writes_per_s: float
    longest_wait_s: float  # the slowest single write
    errors: tuple[str, ...]
    acknowledged: int  # all answered writes, also before and after the shared time
    recorded: int  # by how much the revision of the project rose


def measure(processes: int, seconds: float) -> Fairness:
    """Let every process write for this many seconds."""
    return _measure(processes, Limit(seconds=seconds))


def measure_rounds(processes: int, rounds: int) -> Fairness:
    """Let every process write this many times."""
    return _measure(processes, Limit(turns=rounds))


def _measure(processes: int, limit: Limit) -> Fairness:
    with tempfile.TemporaryDirectory(prefix="groundplan-fairness-") as folder:
        db = Path(folder) / "plan.db"
        with groundplan.open(str(db), actor="ada") as plan:
            plan.call("project.create", name=PROJECT)
            before = _read_revision(plan)
            logs = race(db, processes, write, limit)
            recorded = _read_revision(plan) - before
    got = count_shared_turns(logs)
    return Fairness(
        writes=got.turns,
        seconds=got.seconds,
        ratio=got.ratio,
        writes_per_s=got.per_s,
        longest_wait_s=max(log.longest_wait_s for log in logs),
        errors=tuple(error for log in logs for error in log.errors),
        acknowledged=sum(len(log.moments) for log in logs),
        recorded=recorded,
    )


def write(plan: groundplan.Session, name: str, done: int) -> str:
    """Set another role than the previous write did, so that every write changes something."""
    role = ROLES[done % len(ROLES)]
    plan.call("member.add", scopeId=PROJECT, userId=name, role=role)
    return role


def _read_revision(plan: groundplan.Session) -> int:
    rev: int = plan.call("project.list").projects[0].rev
    return rev


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    seconds = min(QUICK_S, options.seconds) if options.quick else options.seconds
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
