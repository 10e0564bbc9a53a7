"""The open event streams of a server: their reads, messages and limits.

A wake-up, or the next heartbeat, makes a stream read what came after its position, in one short transaction of its
principal, and then authenticate again: whoever is still let in after the read was let in at each commit in it. Streams
of one principal that are at the same position share the read.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from starlette.requests import HTTPConnection

from groundplan.kernel.actors import Actor
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Forbidden, NotFound, Unauthenticated, Unavailable
from groundplan.kernel.events import (
    AreaChange,
    EventPosition,
    FollowedPart,
    FollowStart,
    read_changes,
    start_following,
)
from groundplan.kernel.organizations.history import read_organization_changes, start_following_organization
from groundplan.kernel.store.store import ChangedProjects, CommitWatch, Store, TryAgain, WatchedProject
from groundplan.kernel.store.transaction import Transaction
from groundplan.surfaces.http.answers import HttpProblem
from groundplan.surfaces.http.log_lines import log_exception
from groundplan.surfaces.http.server import Server

THREADS_MAX = 4  # apart from those of operations, which must not wait for streams
PACE_S = 0.1  # between two reads of a stream, so that many writes in a row cost few reads
RETRY_S = 1.0  # after a read or a wait that failed because the store was busy
WHERE = "a stream of events"  # in the log of a defect
_RETRY_AFTER = {"retry-after": "5"}


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """The limits of the number of streams, and their time limits."""

    per_principal: int = 20
    per_server: int = 2_000
    missed_max: int = 10_000  # events that a client may have missed; one that missed more reads everything again
    heartbeat_s: float = 15.0
    send_s: float = 20.0  # for a client to take what it was sent
    retry_ms: int = 2_000  # after which a client connects again


class AccessEnded(Exception):
    """The principal lost access to the project."""


class SentPart(NamedTuple):
    """The messages about the changes after a position."""

    body: bytes
    last: EventPosition
    has_more: bool  # or the end is known by the next read
    has_ended: bool  # there is nothing more to come


class SharedRead(NamedTuple):
    """A read that streams at the same position share if they were woken before it began."""

    began_at: float
    part: asyncio.Future[SentPart]


class EventStream:
    """The stream of one client. It is used only on the event loop."""

    def __init__(
        self,
        connection: HTTPConnection,
        actor: Actor,
        start: FollowStart,
        position: EventPosition,
        *,
        is_reset: bool,
        beat_at: float,
    ) -> None:
        self.connection = connection
        self.actor = actor  # with the token and its limits
        self.start = start
        self.position = position
        self.is_reset = is_reset
        self.beat_at = beat_at
        self.read_at = 0.0
        self.woken_at = 0.0
        self._woken = asyncio.Event()
        self._woken.set()  # for what was committed since `start` was read

    @property
    def principal(self) -> tuple[str, str]:
        return (self.actor.organization, self.actor.id)

    @property
    def watched(self) -> WatchedProject:
        return WatchedProject(self.actor.organization, self.start.project_id or "")

    def wake(self) -> None:
        """Schedule a read of new changes."""
        self.woken_at = asyncio.get_running_loop().time()
        self._woken.set()

    async def wait(self) -> bool:
        """Wait for possible changes. Return True if a heartbeat is due instead."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self.read_at + PACE_S - loop.time()))
        try:
            async with asyncio.timeout_at(self.beat_at):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()
        return loop.time() >= self.beat_at


class EventStreams:
    """The streams of a server. Its methods must be called on the event loop."""

    def __init__(self, server: Server, limits: StreamLimits) -> None:
        self.limits = limits
        self.is_stopping = False
        self._store = server.store
        self._authenticator = server.authenticator
        self._listener = CommitListener(server.store)
        self._threads = ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="events")
        self._streams: set[EventStream] = set()
        self._per_principal: Counter[tuple[str, str]] = Counter()
        self._reads: dict[tuple[Actor, str | None, EventPosition], SharedRead] = {}

    def __len__(self) -> int:
        return len(self._streams)

    async def open(
        self, connection: HTTPConnection, project: str | None, after: EventPosition | None
    ) -> EventStream | None:
        """Return a new stream of a project; if `project` is None, of the organization.

        Returns None if the project is archived and the client has seen everything.
        """
        self._refuse_over_limit()
        loop = asyncio.get_running_loop()
        actor, start = await loop.run_in_executor(self._threads, self._start, connection, project, after)
        self._refuse_over_limit(actor)
        is_reset = after is not None and (after > start.last or start.missed > self.limits.missed_max)
        position = start.last if after is None or is_reset else after
        if start.is_archived and position == start.last and not is_reset:
            return None
        beat_at = loop.time() + self.limits.heartbeat_s
        stream = EventStream(connection, actor, start, position, is_reset=is_reset, beat_at=beat_at)
        self._streams.add(stream)
        self._per_principal[stream.principal] += 1
        self._listener.subscribe(stream)
        return stream

    async def next(self, stream: EventStream) -> tuple[bytes, bool]:
        """Wait for the next message of a stream. Return it, and True if it is the last."""
        while True:
            is_beat = await stream.wait()
            if self.is_stopping:
                return encode_named("bye"), True
            try:
                part = await self._read_shared(stream)
            except AccessEnded:
                return encode_named("closed"), True
            except Unavailable:
                await asyncio.sleep(RETRY_S)
                stream.wake()
                continue
            except Exception:
                log_exception(WHERE)
                return encode_named("closed"), True
            if part.body:
                stream.position = part.last
                if part.has_more:
                    stream.wake()
                return part.body, False
            if part.has_ended:
                return encode_named("closed"), True
            if is_beat:
                stream.beat_at = asyncio.get_running_loop().time() + self.limits.heartbeat_s
                return HEARTBEAT, False

    def leave(self, stream: EventStream) -> None:
        """Remove a stream whose client has disconnected."""
        self._listener.unsubscribe(stream)
        self._streams.discard(stream)
        self._per_principal[stream.principal] -= 1
        if not self._per_principal[stream.principal]:
            del self._per_principal[stream.principal]

    def stop(self) -> None:
        """End every stream with `bye`, and refuse new ones."""
        self.is_stopping = True
        for stream in self._streams:
            stream.wake()

    def close(self) -> None:
        """End the threads."""
        self._listener.close()
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def _read_shared(self, stream: EventStream) -> SentPart:
        """Return the changes after the position of a stream."""
        loop = asyncio.get_running_loop()
        key = (stream.actor, stream.start.project_id, stream.position)
        shared = self._reads.get(key)
        if shared is None or shared.began_at < stream.woken_at or shared.part.done():
            reading = loop.run_in_executor(self._threads, self._read, stream.actor, stream.position, stream)
            shared = self._reads[key] = SharedRead(loop.time(), reading)
            reading.add_done_callback(partial(self._forget_read, key))
        stream.read_at = loop.time()
        return await asyncio.shield(shared.part)

    def _forget_read(self, key: tuple[Actor, str | None, EventPosition], reading: asyncio.Future[SentPart]) -> None:
        if (shared := self._reads.get(key)) is not None and shared.part is reading:
            del self._reads[key]
        if not reading.cancelled():
            reading.exception()  # all clients may be gone by now

    # --- In a thread ----------------------------------------------------------------------------------------------

    def _start(
        self, connection: HTTPConnection, project: str | None, after: EventPosition | None
    ) -> tuple[Actor, FollowStart]:
        actor = self._authenticator.find_actor(connection)
        missed_max = self.limits.missed_max

        def start(tx: Transaction) -> FollowStart:
            if project is None:
                return start_following_organization(tx, after, missed_max=missed_max)
            return start_following(tx, project, after, missed_max=missed_max)

        return actor, self._store.read(actor, start)

    def _read(self, actor: Actor, position: EventPosition, stream: EventStream) -> SentPart:
        project = stream.start.project_id

        def read(tx: Transaction) -> FollowedPart:
            return read_organization_changes(tx, position) if project is None else read_changes(tx, project, position)

        try:
            part = self._store.read(actor, read)
            # After the read, because a token that was revoked before one of these commits is refused now.
            actor_now = self._authenticator.find_actor_again(stream.connection)
        except (Unauthenticated, NotFound, Forbidden):
            raise AccessEnded from None
        except HttpProblem as problem:  # too many requests, or the issuer of tokens does not answer
            raise Unavailable(problem.problem, code=problem.code) from None
        if actor_now != actor:
            raise AccessEnded
        body = b"".join(map(encode_change, part.changes))
        last = part.changes[-1].last if part.changes else position
        return SentPart(body, last, not part.is_complete or part.is_archived, part.is_archived)

    def _refuse_over_limit(self, actor: Actor | None = None) -> None:
        if self.is_stopping:
            raise HttpProblem(503, "stopping", "the server stops; connect again in a moment", headers=_RETRY_AFTER)
        if len(self._streams) >= self.limits.per_server:
            raise HttpProblem(
                503, "too_many_streams", "the server has too many open streams; try again later", headers=_RETRY_AFTER
            )
        limit = self.limits.per_principal
        if actor is not None and self._per_principal[actor.organization, actor.id] >= limit:
            raise HttpProblem(
                429,
                "too_many_streams",
                f"you have {limit} open streams, which is the limit; close one first",
                headers=_RETRY_AFTER,
                limit=limit,
            )


# --- Messages ---------------------------------------------------------------------------------------------------------

# id: 42.0
# data: {"area":"work","ids":["k7m2qp"],"actor":"ada"}
#
# A message without a name is a change. The named ones are `hello` (the stream has begun), `reset` (read everything
# again), `closed` (there is nothing more to see) and `bye` (the server stops; connect again).

HEARTBEAT = b": heartbeat\n\n"


def encode_change(change: AreaChange) -> bytes:
    """Return the message of a change."""
    data: dict[str, Any] = {"area": change.area, "ids": change.ids, "actor": change.actor}
    if change.actor_kind:
        data["actor_kind"] = change.actor_kind
    if change.left_out:
        data["left_out"] = change.left_out
    return b"id: %s\ndata: %s\n\n" % (str(change.last).encode(), encode(data))


def encode_named(name: str, *, rev: int | None = None, position: EventPosition | None = None) -> bytes:
    """Return a message about the stream itself. A client that reconnects continues after `position`."""
    data = {} if rev is None else {"rev": rev}
    place = b"" if position is None else b"id: %s\n" % str(position).encode()
    return b"event: %s\n%sdata: %s\n\n" % (name.encode(), place, encode(data))


def encode_retry(retry_ms: int) -> bytes:
    """Return the message that sets the time in milliseconds before a client reconnects."""
    return b"retry: %d\n\n" % retry_ms


# --- Commits ----------------------------------------------------------------------------------------------------------

CLOSE_S = 1.0  # for the thread; PostgreSQL lets it wait for a quarter of that


class CommitListener:
    """A listener that wakes the streams of a changed project or organization. One thread serves all streams.

    Its methods are called on the event loop, and so is `EventStream.wake`.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._streams: set[EventStream] = set()
        self._thread: threading.Thread | None = None
        self._has_streams = threading.Event()
        self._closing = threading.Event()

    def subscribe(self, stream: EventStream) -> None:
        """Wake a stream after each change, and once immediately."""
        self._streams.add(stream)
        self._has_streams.set()
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._listen, args=(loop,), name="commits", daemon=True)
            self._thread.start()

    def unsubscribe(self, stream: EventStream) -> None:
        """Stop waking a stream."""
        self._streams.discard(stream)
        if not self._streams:
            self._has_streams.clear()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._has_streams.set()
        if self._thread is not None:
            self._thread.join(CLOSE_S)

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for commits until the listener is closed. This runs in a separate thread."""
        watch: CommitWatch | None = None
        while not self._closing.is_set():
            self._has_streams.wait()
            try:
                watch = watch or self._store.watch_commits()
                commits = watch.wait({stream.watched for stream in list(self._streams)})
                if commits.projects and not self._closing.is_set():
                    loop.call_soon_threadsafe(self._wake, commits)
            except (Unavailable, TryAgain) as error:
                if isinstance(error, Unavailable) and error.code == "store_closed":
                    break
                self._closing.wait(RETRY_S)
            except RuntimeError:  # the event loop is closed
                break
            except Exception:
                log_exception(WHERE)
                self._closing.wait(RETRY_S)
        if watch is not None:
            watch.close()

    def _wake(self, commits: ChangedProjects) -> None:
        for stream in self._streams:
            if stream.watched in commits.projects:
                stream.wake()
