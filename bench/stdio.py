"""Measure `groundplan mcp` as its client sees it: start, memory, and the smallest round trips."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count, cycle
from pathlib import Path
from statistics import median
from typing import Any

from bench.options import Options
from bench.peers import INITIALIZE, Peer, start_echo, start_groundplan
from bench.report import Result
from bench.rounds import Step, compute_medians_ms, pin_to_one_core, run_interleaved

STARTS = 15
PINGS = 2_000
CALLS = 1_000
WARM_UP = 50

START_RATIO_MAX = 4.0
RSS_MB_MAX = 40.0
PING_RATIO_MAX = 2.0
READ_RATIO_MAX = 4.0
WRITE_RATIO_MAX = 2.5


def measure_start(options: Options) -> list[Result]:
    """Measure the time from the start of the process to the answer to `initialize`."""
    with _make_folder(options) as folder:
        fresh = (folder / f"fresh-{n}.db" for n in count())
        existing = folder / "existing.db"
        _fill(existing)
        makers: tuple[Callable[[], Peer], ...] = (
            start_echo,
            lambda: start_groundplan(next(fresh)),
            lambda: start_groundplan(existing),
        )
        rounds = [[_measure_start_ms(made) for made in makers] for _ in range(options.count_rounds(STARTS * 2))]
    base, on_fresh, on_existing = (median(times) for times in zip(*rounds, strict=True))
    against = "bare echo"
    return [
        Result("start", "to initialize, new database", on_fresh, "ms", base, against, START_RATIO_MAX),
        Result("start", "to initialize, existing database", on_existing, "ms", base, against, START_RATIO_MAX),
    ]


def _measure_start_ms(made: Callable[[], Peer]) -> float:
    begin = time.perf_counter()
    with made() as peer:
        peer.ask("initialize", INITIALIZE)
        return (time.perf_counter() - begin) * 1000


def measure_memory(options: Options) -> list[Result]:
    """Measure the resident memory of the server process."""
    with _make_folder(options) as folder, start_echo() as bare, start_groundplan(folder / "plan.db") as server:
        bare.begin()
        server.begin()
        begun = server.measure_rss_mb()
        server.ask("tools/list")
        listed = server.measure_rss_mb()
        _prepare(server)
        server.call("members", _build_arguments("list"))
        called = server.measure_rss_mb()
        base = bare.measure_rss_mb()
    return [
        Result("memory", "after initialize", begun, "MB", bar=RSS_MB_MAX, against=f"{base:.3g} MB (bare echo)"),
        Result("memory", "after tools/list", listed, "MB", bar=RSS_MB_MAX),
        Result("memory", "after a write and a read", called, "MB", bar=RSS_MB_MAX),
    ]


def measure_ping(options: Options) -> list[Result]:
    """Measure a round trip without work."""

    def make_steps(bare: Peer, server: Peer, _raw: sqlite3.Connection) -> Sequence[Step]:
        return _make_step("echo", bare, bare.format_request("ping")), _make_step(
            "ping", server, server.format_request("ping")
        )

    took = _measure_medians_ms(options, PINGS, make_steps)
    return [Result("ping", "round trip", took["ping"], "ms", took["echo"], "bare echo", PING_RATIO_MAX)]


def measure_calls(options: Options) -> list[Result]:
    """Measure a tool call that reads and one that writes, compared with an echo plus raw SQLite."""

    def make_read_steps(bare: Peer, server: Peer, raw: sqlite3.Connection) -> Sequence[Step]:
        seek = "SELECT value FROM rows WHERE tenant = 'local' AND key = 500"
        return (
            _make_step("echo", bare, bare.format_request("ping")),
            Step("raw", lambda: raw.execute(seek).fetchall()),
            _make_step("list", server, server.format_call("members", _build_arguments("list"))),
        )

    def make_write_steps(bare: Peer, server: Peer, raw: sqlite3.Connection) -> Sequence[Step]:
        keys = count(1_000_000)
        # Another role each time, so that every call changes something.
        upserts = cycle(
            [
                server.format_call("members", _build_arguments("upsert", userId="ben", role=one))
                for one in ("viewer", "editor")
            ]
        )
        return (
            _make_step("echo", bare, bare.format_request("ping")),
            Step("raw", lambda: raw.execute("INSERT INTO rows VALUES ('local', ?, 'x')", (next(keys),))),
            Step("upsert", lambda: server.send(next(upserts))),
        )

    read, write = (
        _measure_medians_ms(options, CALLS, make_read_steps),
        _measure_medians_ms(options, CALLS, make_write_steps),
    )
    floors = (read["echo"] + read["raw"], write["echo"] + write["raw"])
    return [
        Result("calls", "members list", read["list"], "ms", floors[0], "echo + raw indexed read", READ_RATIO_MAX),
        Result("calls", "members upsert", write["upsert"], "ms", floors[1], "echo + raw FULL commit", WRITE_RATIO_MAX),
    ]


def _make_step(name: str, peer: Peer, line: bytes) -> Step:
    return Step(name, lambda: peer.send(line))


def _measure_medians_ms(
    options: Options, usual_rounds: int, prepared: Callable[[Peer, Peer, sqlite3.Connection], Sequence[Step]]
) -> dict[str, float]:
    """Return the median of each step in ms, over several sets of processes."""
    sets = []
    for _ in range(options.process_sets):
        with (
            pin_to_one_core(spread=options.spread),
            _make_folder(options) as folder,
            start_echo() as bare,
            start_groundplan(folder / "plan.db") as server,
            _open_raw(folder) as raw,
        ):
            _prepare(server.begin())
            steps = prepared(bare, server, raw)
            run_interleaved(WARM_UP, steps)
            sets.append(run_interleaved(options.count_rounds_of_a_set(usual_rounds), steps))
    return compute_medians_ms(sets)


@contextlib.contextmanager
def _make_folder(options: Options) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        yield Path(name)


def _build_arguments(operation: str, **arguments: str) -> dict[str, Any]:
    return {"operation": operation, "scopeId": "atlas", **arguments}


def _prepare(server: Peer) -> None:
    server.call("members", _build_arguments("bootstrap"))
    server.call("members", _build_arguments("upsert", userId="ben", role="editor"))


def _fill(db: Path) -> None:
    with start_groundplan(db) as server:
        _prepare(server.begin())


@contextlib.contextmanager
def _open_raw(folder: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to a plain SQLite table with the same durability."""
    with contextlib.closing(sqlite3.connect(folder / "raw.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE rows (tenant TEXT, key INT, value TEXT, PRIMARY KEY (tenant, key))")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO rows VALUES ('local', ?, 'x')", ((key,) for key in range(1_000)))
        connection.execute("COMMIT")
        yield connection
