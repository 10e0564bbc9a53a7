"""The feed of one principal in one project, or in the organization, shared by all its streams.

A wake-up, or the next heartbeat, makes the feed read what is new, in one short transaction of the principal, and then
authenticate again: whoever is still let in after the read was let in at each commit in it. The newest messages are kept
for the streams; one that is further behind reads by itself, in the same way.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from starlette.requests import HTTPConnection

from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import Forbidden, NotFound, Unauthenticated, Unavailable, Unexpected
from groundplan.kernel.events.follow import EventPosition, FollowedPart, read_changes
from groundplan.kernel.organizations.follow import read_organization_changes
from groundplan.kernel.store.commits.commit_watch import WatchedProject
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.transaction import Transaction
from groundplan.surfaces.http.events.messages import EventMessage, encode_change
from groundplan.surfaces.http.problems import HttpProblem
from groundplan.surfaces.http.rest import Authenticate

T = TypeVar("T")

RECENT_MAX = 500  # messages that a feed keeps
PACE_S = 0.1  # between two reads of a feed, so that many writes in a row cost few reads
RETRY_S = 1.0  # after a read that failed because the store was busy

RunInThread = Callable[[Callable[[], Any]], Awaitable[Any]]


class AccessEnded(Exception):
    """The principal may not follow the project any more."""


class FeedKey(NamedTuple):
    """Whose events, and of which project. The actor includes the token and its limits."""

    actor: Actor
    project_id: str | None  # None: the organization

    @property
    def watched(self) -> WatchedProject:
        return WatchedProject(self.actor.organization, self.project_id or "")

    def read_changes(self, tx: Transaction, position: EventPosition) -> FollowedPart:
        """Return the changes after a position."""
        if self.project_id is None:
            return read_organization_changes(tx, position)
        return read_changes(tx, self.project_id, position)


class FeedReader(NamedTuple):
    """What a feed needs to read its events in a thread."""

    store: Store
    recheck: Authenticate
    run_in_thread: RunInThread
    log: Callable[[], Unexpected]


class Feed:
    """The messages of one principal about one project. Used on the event loop only."""

    def __init__(self, key: FeedKey, reader: FeedReader, position: EventPosition, *, heartbeat_s: float) -> None:
        self.key = key
        self.position = position
        self.beats = 0  # how many heartbeats were due
        self.has_ended = False
        self.is_revoked = False  # it ended because of access: nothing more is sent
        self.connections: dict[int, HTTPConnection] = {}  # of its streams: each can prove who they are
        self._reader = reader
        self._heartbeat_s = heartbeat_s
        self._recent: deque[EventMessage] = deque()
        self._kept_after = position  # the messages above are all that came after it
        self._woken = asyncio.Event()
        self._changed = asyncio.Event()
        self.wake()  # for what was committed since `position` was read

    def wake(self) -> None:
        """Read soon what is new."""
        self._woken.set()

    async def wait_for_change(self) -> None:
        """Wait until there are messages or a heartbeat is due, or the feed has ended."""
        await self._changed.wait()

    def list_after(self, position: EventPosition) -> list[EventMessage] | None:
        """Return the messages after a position; None if they are not kept any more."""
        if position < self._kept_after:
            return None
        found = [message for message in self._recent if message.last > position]
        return None if found and found[0].first <= position else found

    async def read_after(self, position: EventPosition) -> FollowedPart:
        """Return the changes after a position.

        Raises:
            AccessEnded: the principal may not read them.
            Unavailable: the store is busy.
        """
        connection = next(reversed(self.connections.values()))
        found: FollowedPart = await self._reader.run_in_thread(partial(self._read, position, connection))
        return found

    def _read(self, position: EventPosition, connection: HTTPConnection) -> FollowedPart:
        try:
            part = self._reader.store.read(self.key.actor, lambda tx: self.key.read_changes(tx, position))
            # After the read, because a token that was revoked before one of these commits is refused now.
            actor = self._reader.recheck(connection)
        except (Unauthenticated, NotFound, Forbidden):
            raise AccessEnded from None
        except HttpProblem as problem:
            raise Unavailable(problem.problem, code=problem.code) from None
        if actor != self.key.actor:
            raise AccessEnded
        return part

    async def run(self) -> None:
        """Read at each wake-up and each heartbeat, until the feed has ended."""
        loop = asyncio.get_running_loop()
        beat_at = loop.time() + self._heartbeat_s
        while not self.has_ended:
            await self._wait_for_wake_up(beat_at - loop.time())
            is_beat = loop.time() >= beat_at
            if self.has_ended or not await self._refresh():
                continue
            if is_beat:
                beat_at = loop.time() + self._heartbeat_s
                self.beats += 1
                self._announce()
            await asyncio.sleep(PACE_S)

    async def _wait_for_wake_up(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()

    async def _refresh(self) -> bool:
        """Read everything that is new, and return whether that succeeded."""
        while self.connections:
            try:
                part = await self.read_after(self.position)
            except AccessEnded:
                self.end(is_revoked=True)
                return False
            except Unavailable:
                await asyncio.sleep(RETRY_S)
                self.wake()
                return False
            except Exception:
                self._reader.log()
                self.end(is_revoked=True)
                return False
            self._keep(part)
            if part.is_archived:
                self.end(is_revoked=False)
            if part.is_complete:
                return True
        return False

    def end(self, *, is_revoked: bool) -> None:
        """End every stream; a revoked one sends nothing more than that it ended."""
        self.has_ended = True
        self.is_revoked = self.is_revoked or is_revoked
        self.wake()
        self._announce()

    def _keep(self, part: FollowedPart) -> None:
        if not part.changes:
            return
        self._recent.extend(map(encode_change, part.changes))
        while len(self._recent) > RECENT_MAX:
            self._kept_after = self._recent.popleft().last
        self.position = part.changes[-1].last
        self._announce()

    def _announce(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
