"""The open sessions of MCP: how many there may be, whose they are, and when they end.

Only revisions with a handshake have sessions. A session is no right: each of its requests is authenticated anew. What
ends it is the client, too long a time without requests, the end of its principal's access, or the end of the server.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from starlette.requests import HTTPConnection

from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import Forbidden, NotFound, Unauthenticated
from groundplan.kernel.store.commits.commit_watch import WatchedProject
from groundplan.surfaces.http.events.commit_listener import CommitListener
from groundplan.surfaces.http.monitoring.request_monitor import RunningRequests
from groundplan.surfaces.http.problems import HttpProblem
from groundplan.surfaces.http.rest import Authenticate
from groundplan.surfaces.mcp.protocol import INVALID_REQUEST, RequestId, RpcError

CHECK_S = 1.0  # between two looks for sessions that were idle for too long
PACE_S = 0.2  # between two checks of access, so that many commits in a row cost few reads
_RETRY_AFTER = {"retry-after": "5"}


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """How many sessions there may be, and how long one may be idle."""

    per_principal: int = 20
    per_server: int = 1_000
    idle_s: float = 1_800.0


class SessionOwner(NamedTuple):
    """The principal whose session it is. Its tokens may change during the session."""

    organization: str
    actor_id: str

    @classmethod
    def of(cls, actor: Actor) -> SessionOwner:
        """Return the owner of the sessions that an actor opens."""
        return cls(actor.organization, actor.id)


@dataclass(slots=True, eq=False)
class OpenSession:
    """One session."""

    id: str
    owner: SessionOwner
    connection: HTTPConnection  # of the latest request, which can prove who the client is
    idle_since: float
    running: set[str] = field(default_factory=set)  # ids; for the SDK, 1 and "1" are the same


class McpSessions:
    """The sessions of a server. Used on the event loop only."""

    def __init__(
        self,
        limits: SessionLimits,
        listener: CommitListener,
        recheck: Authenticate,
        end: Callable[[OpenSession], Awaitable[None]],
        running: RunningRequests,
    ) -> None:
        """`recheck` authenticates a client again, and `end` tells the official server about the end of a session."""
        self._limits = limits
        self._listener = listener
        self._recheck = recheck
        self._end = end
        self._running = running
        self._sessions: dict[str, OpenSession] = {}
        self._per_owner: Counter[SessionOwner] = Counter()
        self._changed: set[str] = set()  # organizations
        self._woken = asyncio.Event()
        self._checking: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def reserve(self, actor: Actor) -> AsyncIterator[None]:
        """Count a session that is being opened.

        Many clients never end a session. So a principal at its limit loses the one that was idle for the longest time;
        should its client come back, it is told to initialize again.

        Raises:
            HttpProblem: there are too many, and all of the principal have running requests.
        """
        owner = SessionOwner.of(actor)
        if self._per_owner[owner] >= self._limits.per_principal:
            await self._end_idle(owner)
        elif self._per_owner.total() >= self._limits.per_server:
            raise HttpProblem(
                503, "too_many_sessions", "the server has too many open sessions; try again later", headers=_RETRY_AFTER
            )
        self._per_owner[owner] += 1
        try:
            yield
        finally:
            self._release(owner)

    async def _end_idle(self, owner: SessionOwner) -> None:
        idle = [one for one in self._sessions.values() if one.owner == owner and not one.running]
        if not idle:
            raise HttpProblem(
                429,
                "too_many_sessions",
                f"all {self._limits.per_principal} sessions that you may have are busy; wait for one of them",
                headers=_RETRY_AFTER,
                limit=self._limits.per_principal,
            )
        await self._end_now(min(idle, key=lambda one: one.idle_since))

    def add(self, session_id: str, actor: Actor, connection: HTTPConnection) -> None:
        """Keep a session that was opened."""
        owner = SessionOwner.of(actor)
        loop = asyncio.get_running_loop()
        self._sessions[session_id] = OpenSession(session_id, owner, connection, loop.time())
        self._per_owner[owner] += 1
        self._running.sessions = len(self._sessions)
        organization = owner.organization
        self._listener.subscribe(
            ("mcp", organization), WatchedProject(organization), lambda: self._check_access_soon(organization)
        )
        if self._checking is None or self._checking.done():
            self._checking = loop.create_task(self._check())

    def get(self, session_id: str, actor: Actor) -> OpenSession | None:
        """Return a session of an actor; None if it has ended, or is somebody else's."""
        session = self._sessions.get(session_id)
        return session if session is not None and session.owner == SessionOwner.of(actor) else None

    @contextmanager
    def use(self, session: OpenSession, request_id: RequestId | None, connection: HTTPConnection) -> Iterator[None]:
        """Keep a session open while it has a request.

        Raises:
            RpcError: a request with this id is still running. The SDK would let one of them wait for ever.
        """
        if request_id is not None and str(request_id) in session.running:
            data = {"code": "duplicate_id", "id": request_id}
            raise RpcError(INVALID_REQUEST, "a request with this id is still in progress", data)
        session.connection = connection
        if request_id is not None:
            session.running.add(str(request_id))
        try:
            yield
        finally:
            session.running.discard(str(request_id))
            session.idle_since = asyncio.get_running_loop().time()

    def forget(self, session: OpenSession) -> None:
        """Forget a session that has ended."""
        if self._sessions.pop(session.id, None) is None:
            return
        self._running.sessions = len(self._sessions)
        self._release(session.owner)
        organization = session.owner.organization
        if all(other.owner.organization != organization for other in self._sessions.values()):
            self._listener.unsubscribe(("mcp", organization))

    async def close(self) -> None:
        """Stop looking after the sessions."""
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.wait([self._checking])

    def _release(self, owner: SessionOwner) -> None:
        self._per_owner[owner] -= 1
        if not self._per_owner[owner]:
            del self._per_owner[owner]

    def _check_access_soon(self, organization: str) -> None:
        self._changed.add(organization)
        self._woken.set()

    async def _check(self) -> None:
        """End idle sessions, and those without access after each change of their organization."""
        loop = asyncio.get_running_loop()
        while self._sessions:
            try:
                async with asyncio.timeout(CHECK_S):
                    await self._woken.wait()
            except TimeoutError:
                pass
            self._woken.clear()
            idle_before = loop.time() - self._limits.idle_s
            for session in list(self._sessions.values()):
                if not session.running and session.idle_since < idle_before:
                    await self._end_now(session)
            changed, self._changed = self._changed, set()
            if changed:
                await self._end_refused(changed)
                await asyncio.sleep(PACE_S)

    async def _end_refused(self, organizations: set[str]) -> None:
        """End the sessions of some organizations whose latest token would be refused now."""
        by_token: dict[str, list[OpenSession]] = {}
        for session in self._sessions.values():
            if session.owner.organization in organizations:
                by_token.setdefault(session.connection.headers["authorization"], []).append(session)
        await asyncio.gather(*map(self._end_if_refused, by_token.values()))

    async def _end_if_refused(self, of_one_token: list[OpenSession]) -> None:
        is_refused = await asyncio.get_running_loop().run_in_executor(None, self._is_refused, of_one_token[0])
        for session in of_one_token if is_refused else ():
            await self._end_now(session)

    async def _end_now(self, session: OpenSession) -> None:
        self.forget(session)
        await self._end(session)

    def _is_refused(self, session: OpenSession) -> bool:
        """Return whether the latest request of a session would be refused now. Runs in a thread."""
        try:
            return SessionOwner.of(self._recheck(session.connection)) != session.owner
        except (Unauthenticated, Forbidden, NotFound):  # of a token of an issuer, the account may be unknown now
            return True
        except Exception:
            return False  # the store is busy; each request is authenticated in any case
