"""All open streams of a server: their feeds and their limits."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from starlette.requests import HTTPConnection

from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import Unexpected
from groundplan.kernel.events.follow import EventPosition, FollowStart, start_following
from groundplan.kernel.organizations.follow import start_following_organization
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.transaction import Transaction
from groundplan.surfaces.http.events.commit_listener import CommitListener
from groundplan.surfaces.http.events.feed import Feed, FeedKey, FeedReader
from groundplan.surfaces.http.problems import HttpProblem
from groundplan.surfaces.http.rest import Authenticate

THREADS_MAX = 4  # apart from those of operations, which must not wait for streams


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """How many streams there may be, and the times that they keep."""

    per_principal: int = 20
    per_server: int = 2_000
    missed_max: int = 10_000  # events that a client may have missed; one that missed more reads everything again
    heartbeat_s: float = 15.0
    send_s: float = 20.0  # for a client to take what it was sent
    retry_ms: int = 2_000  # after which a client connects again


class EventStream:
    """The stream of one client."""

    def __init__(self, number: int, feed: Feed, start: FollowStart, position: EventPosition, *, is_reset: bool) -> None:
        self.number = number
        self.feed = feed
        self.start = start
        self.position = position
        self.is_reset = is_reset
        self.beats = feed.beats


class EventStreams:
    """The streams of a server. Its methods are called on the event loop."""

    def __init__(
        self,
        store: Store,
        authenticate: Authenticate,
        *,
        limits: StreamLimits | None = None,
        recheck: Authenticate | None = None,
        listener: CommitListener,
        log: Callable[[], Unexpected],
    ) -> None:
        """`recheck` authenticates the clients of open streams again, if that is another function."""
        self.limits = limits or StreamLimits()
        self.is_stopping = False
        self._store = store
        self._authenticate = authenticate
        self._listener = listener
        self._threads = ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="events")
        self._reader = FeedReader(store, recheck or authenticate, self._run_in_thread, log)
        self._feeds: dict[FeedKey, Feed] = {}
        self._tasks: dict[Feed, asyncio.Task[None]] = {}
        self._streams: dict[int, EventStream] = {}
        self._per_principal: Counter[tuple[str, str]] = Counter()
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._streams)

    async def open(
        self, connection: HTTPConnection, project: str | None, after: EventPosition | None
    ) -> EventStream | None:
        """Return a new stream of a project, or of the organization if `project` is None.

        Returns None if the project is archived and the client has seen everything.

        Raises:
            GroundplanError: the client may not read the project.
            HttpProblem: there are too many streams, or the server stops.
        """
        self._refuse_over_limit()
        actor, start = await self._run_in_thread(partial(self._start, connection, project, after))
        self._refuse_over_limit(actor)
        is_reset = after is not None and (after > start.last or start.missed > self.limits.missed_max)
        position = start.last if after is None or is_reset else after
        if start.is_archived and position == start.last and not is_reset:
            return None
        feed = self._join_feed(FeedKey(actor, start.project_id), start.last)
        stream = EventStream(next(self._numbers), feed, start, position, is_reset=is_reset)
        feed.connections[stream.number] = connection
        self._streams[stream.number] = stream
        self._per_principal[_get_principal(actor)] += 1
        return stream

    def leave(self, stream: EventStream) -> None:
        """Forget a stream whose client is gone, and its feed if it was the last one."""
        feed = stream.feed
        principal = _get_principal(feed.key.actor)
        del self._streams[stream.number]
        del feed.connections[stream.number]
        self._per_principal[principal] -= 1
        if not self._per_principal[principal]:
            del self._per_principal[principal]
        if not feed.connections:
            self._tasks.pop(feed).cancel()
            if self._feeds.get(feed.key) is feed:
                del self._feeds[feed.key]
            self._listener.unsubscribe(feed)

    def stop(self) -> None:
        """End every stream with `bye`, and open no more."""
        self.is_stopping = True
        for stream in self._streams.values():
            stream.feed.end(is_revoked=False)

    def close(self) -> None:
        """End the tasks and the threads."""
        for task in self._tasks.values():
            task.cancel()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _start(
        self, connection: HTTPConnection, project: str | None, after: EventPosition | None
    ) -> tuple[Actor, FollowStart]:
        actor = self._authenticate(connection)
        missed_max = self.limits.missed_max

        def start(tx: Transaction) -> FollowStart:
            if project is None:
                return start_following_organization(tx, after, missed_max=missed_max)
            return start_following(tx, project, after, missed_max=missed_max)

        return actor, self._store.read(actor, start)

    def _refuse_over_limit(self, actor: Actor | None = None) -> None:
        if self.is_stopping:
            raise HttpProblem(503, "stopping", "the server stops; connect again in a moment", headers=_RETRY_AFTER)
        if len(self._streams) >= self.limits.per_server:
            raise HttpProblem(
                503, "too_many_streams", "the server has too many open streams; try again later", headers=_RETRY_AFTER
            )
        limit = self.limits.per_principal
        if actor is not None and self._per_principal[_get_principal(actor)] >= limit:
            raise HttpProblem(
                429,
                "too_many_streams",
                f"you have {limit} open streams, which is the limit; close one first",
                headers=_RETRY_AFTER,
                limit=limit,
            )

    def _join_feed(self, key: FeedKey, position: EventPosition) -> Feed:
        feed = self._feeds.get(key)
        if feed is None or feed.has_ended:
            feed = self._feeds[key] = Feed(key, self._reader, position, heartbeat_s=self.limits.heartbeat_s)
            self._tasks[feed] = asyncio.get_running_loop().create_task(feed.run())
            self._listener.subscribe(feed, key.watched, feed.wake)
        return feed

    async def _run_in_thread(self, call: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)


_RETRY_AFTER = {"retry-after": "5"}


def _get_principal(actor: Actor) -> tuple[str, str]:
    return (actor.organization, actor.id)
