"""What a client of `groundplan mcp` waits for before any work is done: start, memory, the least round trips."""

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
from bench.peers import INITIALIZE, Peer, echo, groundplan
from bench.report import Result
from bench.rounds import Step, interleaved, medians_ms, one_core

STARTS = 15
PINGS = 2_000
CALLS = 1_000
WARM_UP = 50

START_RATIO_MAX = 4.0
RSS_MB_MAX = 40.0
PING_RATIO_MAX = 2.0
READ_RATIO_MAX = 4.0
WRITE_RATIO_MAX = 2.5


def start(options: Options) -> list[Result]:
    """From starting the process to the answer to `initialize`."""
    with _folder(options) as folder:
        fresh = (folder / f"fresh-{n}.db" for n in count())
        existing = folder / "existing.db"
        _fill(existing)
        makers: tuple[Callable[[], Peer], ...] = (
            echo,
            lambda: groundplan(next(fresh)),
            lambda: groundplan(existing),
        )
        rounds = [[_started_ms(made) for made in makers] for _ in range(options.rounds(STARTS * 2))]
    base, on_fresh, on_existing = (median(times) for times in zip(*rounds, strict=True))
    against = "bare echo"
    return [
        Result("start", "to initialize, new database", on_fresh, "ms", base, against, START_RATIO_MAX),
        Result("start", "to initialize, existing database", on_existing, "ms", base, against, START_RATIO_MAX),
    ]


def _started_ms(made: Callable[[], Peer]) -> float:
    begin = time.perf_counter()
    with made() as peer:
        peer.ask("initialize", INITIALIZE)
        return (time.perf_counter() - begin) * 1000


def memory(options: Options) -> list[Result]:
    """Resident memory of the server process."""
    with _folder(options) as folder, echo() as bare, groundplan(folder / "plan.db") as server:
        bare.begin()
        server.begin()
        begun = server.rss_mb()
        server.ask("tools/list")
        listed = server.rss_mb()
        _prepare(server)
        server.call("members", _members("list"))
        called = server.rss_mb()
        base = bare.rss_mb()
    return [
        Result("memory", "after initialize", begun, "MB", bar=RSS_MB_MAX, against=f"{base:.3g} MB (bare echo)"),
        Result("memory", "after tools/list", listed, "MB", bar=RSS_MB_MAX),
        Result("memory", "after a write and a read", called, "MB", bar=RSS_MB_MAX),
    ]


def ping(options: Options) -> list[Result]:
    """One round trip that does no work."""

    def steps(bare: Peer, server: Peer, _raw: sqlite3.Connection) -> Sequence[Step]:
        return _asking("echo", bare, bare.line("ping")), _asking("ping", server, server.line("ping"))

    took = _medians_ms(options, PINGS, steps)
    return [Result("ping", "round trip", took["ping"], "ms", took["echo"], "bare echo", PING_RATIO_MAX)]


def calls(options: Options) -> list[Result]:
    """One tool call that reads and one that writes, against an echo and the least that SQLite could do."""

    def reading(bare: Peer, server: Peer, raw: sqlite3.Connection) -> Sequence[Step]:
        seek = "SELECT value FROM rows WHERE tenant = 'local' AND key = 500"
        return (
            _asking("echo", bare, bare.line("ping")),
            Step("raw", lambda: raw.execute(seek).fetchall()),
            _asking("list", server, server.call_line("members", _members("list"))),
        )

    def writing(bare: Peer, server: Peer, raw: sqlite3.Connection) -> Sequence[Step]:
        keys = count(1_000_000)
        # Another role each time, else there would be nothing to write.
        upserts = cycle(
            [server.call_line("members", _members("upsert", userId="ben", role=one)) for one in ("viewer", "editor")]
        )
        return (
            _asking("echo", bare, bare.line("ping")),
            Step("raw", lambda: raw.execute("INSERT INTO rows VALUES ('local', ?, 'x')", (next(keys),))),
            Step("upsert", lambda: server.ask_line(next(upserts))),
        )

    read, write = _medians_ms(options, CALLS, reading), _medians_ms(options, CALLS, writing)
    floors = (read["echo"] + read["raw"], write["echo"] + write["raw"])
    return [
        Result("calls", "members list", read["list"], "ms", floors[0], "echo + raw indexed read", READ_RATIO_MAX),
        Result("calls", "members upsert", write["upsert"], "ms", floors[1], "echo + raw FULL commit", WRITE_RATIO_MAX),
    ]


def _asking(name: str, peer: Peer, line: bytes) -> Step:
    return Step(name, lambda: peer.ask_line(line))


def _medians_ms(
    options: Options, usual_rounds: int, prepared: Callable[[Peer, Peer, sqlite3.Connection], Sequence[Step]]
) -> dict[str, float]:
    """The median of each step in ms, over several sets of processes."""
    sets = []
    for _ in range(options.process_sets):
        with (
            one_core(spread=options.spread),
            _folder(options) as folder,
            echo() as bare,
            groundplan(folder / "plan.db") as server,
            _raw(folder) as raw,
        ):
            _prepare(server.begin())
            steps = prepared(bare, server, raw)
            interleaved(WARM_UP, steps)
            sets.append(interleaved(options.rounds_of_a_set(usual_rounds), steps))
    return medians_ms(sets)


@contextlib.contextmanager
def _folder(options: Options) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        yield Path(name)


def _members(operation: str, **arguments: str) -> dict[str, Any]:
    return {"operation": operation, "scopeId": "atlas", **arguments}


def _prepare(server: Peer) -> None:
    server.call("members", _members("bootstrap"))
    server.call("members", _members("upsert", userId="ben", role="editor"))


def _fill(db: Path) -> None:
    with groundplan(db) as server:
        _prepare(server.begin())


@contextlib.contextmanager
def _raw(folder: Path) -> Iterator[sqlite3.Connection]:
    """The same engine with the same promises and nothing on top."""
    with contextlib.closing(sqlite3.connect(folder / "raw.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE rows (tenant TEXT, key INT, value TEXT, PRIMARY KEY (tenant, key))")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO rows VALUES ('local', ?, 'x')", ((key,) for key in range(1_000)))
        connection.execute("COMMIT")
        yield connection
