"""What a client of `groundplan mcp` waits for and pays: start, memory, round trips, tokens."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, count, cycle
from pathlib import Path
from statistics import median

from bench.peers import INITIALIZE, Peer, echo, groundplan
from bench.report import Options, Result, interleaved

CHARS_PER_TOKEN = 4

Actions = Sequence[Callable[[], object]]

STARTS = 15
PINGS = 2_000
CALLS = 1_000
WARM_UP = 50
PROCESS_SETS = 4

START_RATIO_MAX = 4.0
RSS_MB_MAX = 40.0
PING_RATIO_MAX = 2.0
READ_RATIO_MAX = 4.0
WRITE_RATIO_MAX = 2.5
TOKENS_MAX = {None: 5_000, "work,knowledge,briefing": 2_500, "all": 8_000}


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="groundplan-bench-") as name:
        yield Path(name)


def start(options: Options) -> list[Result]:
    """From starting the process to the answer to `initialize`."""
    with _folder() as folder:
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


def memory(_options: Options) -> list[Result]:
    """Resident memory of the server process."""
    with _folder() as folder, echo() as bare, groundplan(folder / "plan.db") as server:
        bare.begin()
        server.begin()
        begun = server.rss_mb()
        server.ask("tools/list")
        listed = server.rss_mb()
        _prepare(server)
        server.ask("tools/call", _members("list"))
        called = server.rss_mb()
        base = bare.rss_mb()
    return [
        Result("memory", "after initialize", begun, "MB", bar=RSS_MB_MAX, against=f"{base:.3g} MB (bare echo)"),
        Result("memory", "after tools/list", listed, "MB", bar=RSS_MB_MAX),
        Result("memory", "after a write and a read", called, "MB", bar=RSS_MB_MAX),
    ]


def ping(options: Options) -> list[Result]:
    """One round trip that does no work."""

    def actions(bare: Peer, server: Peer, _raw: sqlite3.Connection) -> Actions:
        echoed, pinged = bare.line("ping"), server.line("ping")
        return lambda: bare.ask_line(echoed), lambda: server.ask_line(pinged)

    base, pinged = _medians_ms(options, PINGS, actions)
    return [Result("ping", "round trip", pinged, "ms", base, "bare echo", PING_RATIO_MAX)]


def calls(options: Options) -> list[Result]:
    """One tool call that reads and one that writes, against an echo and the least that SQLite could do."""

    def reading(bare: Peer, server: Peer, raw: sqlite3.Connection) -> Actions:
        echoed, listed = bare.line("ping"), server.line("tools/call", _members("list"))
        return (
            lambda: bare.ask_line(echoed),
            lambda: raw.execute("SELECT value FROM rows WHERE tenant = 'local' AND key = 500").fetchall(),
            lambda: server.ask_line(listed),
        )

    def writing(bare: Peer, server: Peer, raw: sqlite3.Connection) -> Actions:
        echoed, keys = bare.line("ping"), count(1_000_000)
        # Another role each time, else there would be nothing to write.
        upserts = cycle(
            [server.line("tools/call", _members("upsert", userId="ben", role=role)) for role in ("viewer", "editor")]
        )
        return (
            lambda: bare.ask_line(echoed),
            lambda: raw.execute("INSERT INTO rows VALUES ('local', ?, 'x')", (next(keys),)),
            lambda: server.ask_line(next(upserts)),
        )

    *least_read, read = _medians_ms(options, CALLS, reading)
    *least_write, write = _medians_ms(options, CALLS, writing)
    return [
        Result("calls", "members list", read, "ms", sum(least_read), "echo + raw indexed read", READ_RATIO_MAX),
        Result("calls", "members upsert", write, "ms", sum(least_write), "echo + raw FULL commit", WRITE_RATIO_MAX),
    ]


def _medians_ms(
    options: Options, usual_rounds: int, prepared: Callable[[Peer, Peer, sqlite3.Connection], Actions]
) -> list[float]:
    """The median of each action in ms, over several sets of processes."""
    sets = []
    for _ in range(PROCESS_SETS):
        with (
            contextlib.nullcontext() if options.spread else _one_core(),
            _folder() as folder,
            echo() as bare,
            groundplan(folder / "plan.db") as server,
            _raw(folder) as raw,
        ):
            _prepare(server.begin())
            actions = prepared(bare, server, raw)
            interleaved(WARM_UP, actions)
            sets.append(interleaved(-(-options.rounds(usual_rounds) // PROCESS_SETS), actions))
    return [median(chain.from_iterable(times)) * 1000 for times in zip(*sets, strict=True)]


@contextlib.contextmanager
def _one_core() -> Iterator[None]:
    """Keep this process and those it starts on one core, where the system can.

    They only ever take turns. Left alone, some lie on the core of their client and some do not, and waking a process on
    another core costs more than all the rest of a round trip: the same ping measured 0.02 ms or 0.1 ms, by chance.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def tokens(_options: Options) -> list[Result]:
    """What tools/list costs a client before it has asked anything."""
    results = []
    for groups, bar in TOKENS_MAX.items():
        flags = ("--tools", groups) if groups else ()
        with _folder() as folder, groundplan(folder / "plan.db", *flags) as server:
            listing = server.begin().ask("tools/list")["tools"]
        size = -(-len(json.dumps({"tools": listing}, separators=(",", ":"))) // CHARS_PER_TOKEN)
        what = f"tools/list, {groups or 'default'}; tools: {len(listing)}"
        results.append(Result("tokens", what, size, "tokens", bar=bar))
    return results


def _members(operation: str, **arguments: str) -> dict[str, object]:
    return {"name": "members", "arguments": {"operation": operation, "scopeId": "atlas", **arguments}}


def _prepare(server: Peer) -> None:
    server.ask("tools/call", _members("bootstrap"))
    server.ask("tools/call", _members("upsert", userId="ben", role="editor"))


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
