"""Measure live events: how soon one reaches a client, and the memory of a server with 1,000 open streams."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import groundplan
from bench.options import Options
from bench.report import Result

STREAMS = 1_000
PRINCIPALS = 50  # with 20 streams each
ROUNDS = 100
MEMORY_MB_MAX = 300
LATENCY_MS_MAX = 200
PROJECT = "atlas"
_REQUEST = f"GET /v1/projects/{PROJECT}/events HTTP/1.1\r\nhost: localhost\r\nx-actor: %s\r\n\r\n"


def run(options: Options) -> list[Result]:
    """Measure on one SQLite file, and on PostgreSQL."""
    from tests.engines import PostgresEngine
    from tests.postgres import start_server

    results = list(_measure(options, "sqlite", str(options.scratch / "events.db")))
    server = start_server()
    try:
        with PostgresEngine.on(server, "bench") as engine:
            results += _measure(options, "postgres", engine.db)
    finally:
        server.stop()
    return results


def _measure(options: Options, name: str, db: str) -> Iterator[Result]:
    rounds = options.count_rounds(ROUNDS)
    with groundplan.open(db, actor="ada") as plan, _run_server(db) as (process, port):
        plan.project.create(name=PROJECT)
        for streams in (1, STREAMS):
            took = asyncio.run(_follow(plan, port, streams, rounds))
            of = f"{name}, {streams} streams"
            usual = median(ms for of_write in took for ms in of_write)
            # The clients run on the same machine, so the last one mostly waits for the others to be woken.
            last = median(map(max, took))
            yield Result("events", f"commit to a client, {of}", usual, "ms", bar=LATENCY_MS_MAX)
            yield Result("events", f"commit to the last client, {of}", last, "ms")
        memory_mb = _read_peak_mb(process.pid)
        yield Result("events", f"memory of the server, {of}", memory_mb, "MB", bar=MEMORY_MB_MAX)


async def _follow(plan: Any, port: int, streams: int, rounds: int) -> list[list[float]]:
    """Return in how many ms each of some writes reached each client."""
    readers = []
    for number in range(streams):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write((_REQUEST % f"p{number % PRINCIPALS}").encode())
        readers.append((reader, writer))
        await reader.readuntil(b"hello")
    took = []
    for number in range(rounds):
        waiting = [asyncio.create_task(_wait_for_change(reader)) for reader, _ in readers]
        await asyncio.sleep(0.15)  # between two reads of a feed: writers pause longer than that
        await asyncio.to_thread(
            plan.work.plan, project=PROJECT, nodes=[{"ref": "a", "summary": f"Walk mile {number} of {streams}"}]
        )
        committed = time.monotonic()
        arrived = await asyncio.gather(*waiting)
        took.append([1000 * (at - committed) for at in arrived])
    for _, writer in readers:
        writer.close()
    return took


async def _wait_for_change(reader: asyncio.StreamReader) -> float:
    await reader.readuntil(b'"area":"work"')
    return time.monotonic()


@contextmanager
def _run_server(db: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    with ExitStack() as stack:
        command = [sys.executable, "-m", __name__, db]
        process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        stack.callback(process.terminate)
        assert process.stdout is not None
        yield process, int(process.stdout.readline())


def _read_peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) * 1024 / 1e6


def serve_events(db: str) -> None:
    """Serve a store to whoever is named in a header."""
    import uvicorn
    from starlette.requests import HTTPConnection

    from groundplan.catalog import build_schema
    from groundplan.kernel.actors import Actor, local_actor
    from groundplan.kernel.store.open_store import open_store
    from groundplan.surfaces.http.app import build_app
    from groundplan.surfaces.http.authentication import Authenticator
    from groundplan.surfaces.http.server import Server, open_socket

    class HeaderAuthenticator(Authenticator):
        """Believes a header."""

        def find_actor(self, connection: HTTPConnection) -> Actor:
            return local_actor(connection.headers["x-actor"])

        find_actor_again = find_actor

    listening = open_socket(0)
    store = open_store(db, build_schema, for_server=True)
    app = build_app(Server(store=store, authenticator=HeaderAuthenticator(store, cookie="unused")))
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    serve_events(sys.argv[1])
