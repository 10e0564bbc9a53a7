"""A gate in front of the PostgreSQL of the tests, which can be closed and opened again like a server that is down."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, TypeVar

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.postgres import base_directory

T = TypeVar("T")
PORT = 5432
CHUNK_BYTES = 65_536


class Gate:
    """A Unix socket that forwards to a server. Closed, it refuses connections and cuts those that there are."""

    def __init__(self, folder: Path, url: str) -> None:
        self._path = folder / f".s.PGSQL.{PORT}"
        target = conninfo_to_dict(url)
        self.url = make_conninfo(url, host=str(folder), port=PORT)
        self._host, self._port = str(target["host"]), int(target.get("port") or PORT)
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.connections = 0  # since the beginning
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def open(self) -> None:
        """Accept connections."""
        self._wait_for(self._open())

    def close(self) -> None:
        """Refuse connections and cut the existing ones."""
        self._wait_for(self._close())

    def stop(self) -> None:
        """End the thread."""
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait_for(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def _open(self) -> None:
        self._server = await asyncio.start_unix_server(self._forward, self._path)

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
            self._path.unlink(missing_ok=True)
        for writer in self._writers:
            writer.transport.abort()
        while self._writers:
            await asyncio.sleep(0)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._host.startswith("/"):
                there = await asyncio.open_unix_connection(f"{self._host}/.s.PGSQL.{self._port}")
            else:
                there = await asyncio.open_connection(self._host, self._port)
            self.connections += 1
            pair = {writer, there[1]}
            self._writers |= pair
            try:
                await asyncio.gather(_copy(reader, there[1]), _copy(there[0], writer))
            finally:
                self._writers -= pair
        finally:
            writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await reader.read(CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
    writer.transport.abort()


@contextlib.contextmanager
def make_gate(url: str) -> Iterator[Gate]:
    """An open gate to the server of a URL."""
    with TemporaryDirectory(prefix="gp-gate-", dir=base_directory()) as folder:
        gate = Gate(Path(folder), url)
        gate.open()
        try:
            yield gate
        finally:
            gate.stop()
