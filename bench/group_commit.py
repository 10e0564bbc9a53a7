"""Measure how many writes the threads of a server commit: one thread and eight, on a slow and on a fast disk."""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from bench.options import Options
from bench.report import Result
from groundplan.catalog import build_schema
from groundplan.kernel.actors import local_actor
from groundplan.kernel.store.sqlite.group_commit import GroupCommitStore
from groundplan.kernel.store.sqlite.store import SqliteStore
from groundplan.session import Session

PROJECT = "atlas"
THREADS = 8
SYNC_DELAY_S = 0.005  # a slow disk
SHARED_RATIO_MIN = 3.0
ROUNDS = 5
ROUND_S, QUICK_ROUND_S = 1.0, 0.3


class SlowDiskConnection(sqlite3.Connection):
    """A connection whose commits take longer, as on a slow disk."""

    delay_s = 0.0

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        cursor = super().execute(sql, *arguments)
        if sql == "COMMIT" and self.delay_s:
            time.sleep(self.delay_s)
        return cursor


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    seconds = QUICK_ROUND_S if options.quick else ROUND_S
    results = []
    for delay_s, disk in ((SYNC_DELAY_S, "sync of 5 ms"), (0.0, "no delay")):
        with _delay_commits(delay_s):
            rounds = [_measure_round(options.scratch, seconds) for _ in range(options.count_rounds(ROUNDS))]
        one, eight, eight_alone = (statistics.median(column) for column in zip(*rounds, strict=True))
        bar = SHARED_RATIO_MIN if delay_s else None
        what = f"{THREADS} threads, {disk}"
        results += [
            Result("groups", what, eight, "writes/s", one, "1 thread", bar=bar, at_least=True),
            Result("groups", what, eight, "writes/s", eight_alone, "own commits", bar=1.0, at_least=True),
        ]
    return results


def _measure_round(scratch: Path, seconds: float) -> tuple[float, float, float]:
    """Return the writes in a second: of one thread, of all with shared commits, and of all with their own."""
    return (
        _count_writes(GroupCommitStore, 1, scratch, seconds),
        _count_writes(GroupCommitStore, THREADS, scratch, seconds),
        _count_writes(SqliteStore, THREADS, scratch, seconds),
    )


def _count_writes(kind: type[SqliteStore], threads: int, scratch: Path, seconds: float) -> float:
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        store = kind(Path(folder) / "plan.db", build_schema)
        session = Session(store, local_actor("ada"))
        session.call("project.create", name=PROJECT)
        counts = [0] * threads
        ends_at = time.monotonic() + seconds

        def write(number: int) -> None:
            while time.monotonic() < ends_at:
                session.call("work.plan", project=PROJECT, nodes=[{"ref": "a", "summary": f"Task of {number}"}])
                counts[number] += 1

        workers = [threading.Thread(target=write, args=(number,)) for number in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        store.close()
    return sum(counts) / seconds


@contextmanager
def _delay_commits(delay_s: float) -> Iterator[None]:
    connect = sqlite3.connect

    def connect_to_slow_disk(*arguments: Any, **named: Any) -> sqlite3.Connection:
        return connect(*arguments, factory=SlowDiskConnection, **named)

    with (
        mock.patch.object(sqlite3, "connect", connect_to_slow_disk),
        mock.patch.object(SlowDiskConnection, "delay_s", delay_s),
    ):
        yield
