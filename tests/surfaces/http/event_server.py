"""An application on an event loop in a thread of its own, and clients that follow events."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from starlette.requests import HTTPConnection

from groundplan.kernel.actors import Actor, local_actor
from groundplan.kernel.store.store import Store
from groundplan.surfaces.http.app import build_app
from groundplan.surfaces.http.event_streams import EventStreams, StreamLimits
from groundplan.surfaces.http.server import Server
from tests.surfaces.http.client import ACTOR, FunctionAuthenticator, make_scope, name_headers

PATIENCE_S = 60  # only a test that fails waits for so long
COMMENT = "comment"
CHANGE = "message"


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """One server-sent event. A comment has no data."""

    name: str
    id: str | None
    data: Any

    @property
    def rev(self) -> int:
        return int((self.id or "0").partition(".")[0])


def trust_header(connection: HTTPConnection) -> Actor:
    """Return the actor that the tests name in a header."""
    return local_actor(connection.headers.get(ACTOR, "ada"))


class OpenStream:
    """A client with an open stream."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.last_id: str | None = None
        self._loop = loop
        self._started = threading.Event()
        self._received: queue.Queue[ReceivedEvent | None] = queue.Queue()
        self._gone = asyncio.Event()
        self._takes = asyncio.Event()
        self._takes.set()
        self.body = b""

    async def receive(self) -> Any:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        await self._takes.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            return
        self.body += message["body"]
        self._started.set()
        if self.status == 200:
            *blocks, rest = self.body.split(b"\n\n")
            self.body = rest
            for block in blocks:
                self._add(block.decode())

    def _add(self, block: str) -> None:
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        if "retry" in fields:
            return
        name = COMMENT if "" in fields else fields.get("event", CHANGE)
        self._received.put(ReceivedEvent(name, fields.get("id"), json.loads(fields.get("data", "null"))))

    def end(self) -> None:
        """Note that the application has ended the stream."""
        self._received.put(None)
        self._started.set()

    def wait_for_start(self) -> None:
        assert self._started.wait(PATIENCE_S)

    def next(self, *, comments: bool = False) -> ReceivedEvent | None:
        """Return the next event; None at the end of the stream."""
        while True:
            event = self._received.get(timeout=PATIENCE_S)
            if event is not None and event.id is not None:
                self.last_id = event.id
            if event is None or comments or event.name != COMMENT:
                return event

    def read_until_end(self) -> list[ReceivedEvent]:
        return list(iter(self.next, None))

    def read_until(self, rev: int) -> list[ReceivedEvent]:
        """Return the events up to a revision."""
        found: list[ReceivedEvent] = []
        while not found or found[-1].rev < rev:
            event = self.next()
            assert event is not None, found
            found.append(event)
        return found

    def stop_reading(self) -> None:
        self._loop.call_soon_threadsafe(self._takes.clear)

    def disconnect(self) -> None:
        self._loop.call_soon_threadsafe(self._gone.set)


class EventServer:
    """The application, as a server process would run it."""

    def __init__(self, store: Store, authenticate: Callable[[HTTPConnection], Actor], limits: StreamLimits) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.app: Any = build_app(
            Server(store=store, authenticator=FunctionAuthenticator(store, authenticate)), stream_limits=limits
        )
        self._lifespan = self.app.router.lifespan_context(self.app)
        self._opened: list[tuple[OpenStream, Future[None]]] = []
        self.run(self._lifespan.__aenter__())

    @property
    def streams(self) -> EventStreams:
        found: EventStreams = self.app.state.event_streams
        return found

    def run(self, awaited: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(awaited, self._loop).result(PATIENCE_S)

    def follow(
        self,
        project: str | None = "atlas",
        *,
        after: str | None = None,
        method: str = "GET",
        query: str = "",
        **headers: str,
    ) -> OpenStream:
        """Open a stream of a project, or of the organization, and wait for its first bytes."""
        target = f"/v1/organization/events{query}" if project is None else f"/v1/projects/{project}/events{query}"
        given = headers if after is None else {**headers, "last_event_id": after}
        stream = OpenStream(self._loop)

        async def run() -> None:
            try:
                await self.app(make_scope(method, target, name_headers(given)), stream.receive, stream.send)
            finally:
                stream.end()

        self._opened.append((stream, asyncio.run_coroutine_threadsafe(run(), self._loop)))
        stream.wait_for_start()
        return stream

    def stop(self) -> None:
        """Begin to stop, as the server does at a signal."""
        self._loop.call_soon_threadsafe(self.streams.stop)

    def close(self) -> None:
        for stream, running in self._opened:
            stream.disconnect()
            running.result(PATIENCE_S)
        self.run(self._lifespan.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextmanager
def event_server(
    store: Store, authenticate: Callable[[HTTPConnection], Actor] = trust_header, **limits: Any
) -> Iterator[EventServer]:
    """Run the application for the duration of the context."""
    server = EventServer(store, authenticate, StreamLimits(**limits))
    try:
        yield server
    finally:
        server.close()
