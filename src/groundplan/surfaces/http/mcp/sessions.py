"""The open sessions of MCP: how many there may be, whose they are, and when they end.

Only revisions with a handshake have sessions. A session is no right: each of its requests is authenticated anew. What
ends it is the client, too long a time without requests, the end of its principal's access, or the end of the server.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex

from starlette.requests import HTTPConnection

from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import Forbidden, NotFound, Unauthenticated
from groundplan.kernel.store.store import WatchedProject
from groundplan.surfaces.http.events.commit_listener import CommitListener
from groundplan.surfaces.http.monitoring.request_monitor import RunningRequests
from groundplan.surfaces.http.problems import HttpProblem
from groundplan.surfaces.http.rest import Authenticate
from groundplan.surfaces.mcp.connection import Connection

CHECK_S = 1.0  # between two looks for sessions that were idle for too long
PACE_S = 0.2  # between two checks of access, so that many commits in a row cost few reads
_RETRY_AFTER = {"retry-after": "5"}


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """How many sessions there may be, and how long one may be idle."""

    per_principal: int = 20
    per_server: int = 1_000
    idle_s: float = 1_800.0


@dataclass(slots=True, eq=False)
class OpenSession:
    """One session. It is of a principal and not of a token, which may be renewed during the session."""

    id: str
    owner: tuple[str, str]  # the organization and the actor
    protocol: Connection
    connection: HTTPConnection  # of the latest request, which can prove who the client is
    idle_since: float
    running: int = 0  # requests


class McpSessions:
    """The sessions of a server. Safe to use from several threads; `start` and `close` are for the event loop."""

    def __init__(
        self, limits: SessionLimits, listener: CommitListener, recheck: Authenticate, running: RunningRequests
    ) -> None:
        """`recheck` authenticates a client again."""
        self._limits = limits
        self._listener = listener
        self._recheck = recheck
        self._running = running
        self._lock = threading.Lock()
        self._sessions: dict[str, OpenSession] = {}
        self._changed: set[str] = set()  # organizations
        self._watched: set[str] = set()  # organizations
        self._woken = asyncio.Event()
        self._checking: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look after the sessions."""
        if self._checking is None:
            self._checking = asyncio.get_running_loop().create_task(self._check())

    def open(self, protocol: Connection, actor: Actor, connection: HTTPConnection) -> str:
        """Keep the connection of a session, and return the id of the session.

        Many clients never end a session. So a principal at its limit loses the one that was idle for the longest time;
        should its client come back, it is told to initialize again.

        Raises:
            HttpProblem: there are too many, and all of the principal have running requests.
        """
        owner = (actor.organization, actor.id)
        with self._lock:
            own = [one for one in self._sessions.values() if one.owner == owner]
            if len(own) >= self._limits.per_principal:
                idle = [one for one in own if not one.running]
                if not idle:
                    raise HttpProblem(
                        429,
                        "too_many_sessions",
                        f"all {len(own)} sessions that you may have are busy; wait for one of them",
                        headers=_RETRY_AFTER,
                        limit=len(own),
                    )
                del self._sessions[min(idle, key=lambda one: one.idle_since).id]
            elif len(self._sessions) >= self._limits.per_server:
                message = "the server has too many open sessions; try again later"
                raise HttpProblem(503, "too_many_sessions", message, headers=_RETRY_AFTER)
            session = OpenSession(token_hex(16), owner, protocol, _copy_identity(connection), time.monotonic())
            self._sessions[session.id] = session
            self._running.sessions = len(self._sessions)
        return session.id

    def get(self, session_id: str, actor: Actor) -> OpenSession | None:
        """Return a session of an actor; None if it has ended, or is somebody else's."""
        session = self._sessions.get(session_id)
        return session if session is not None and session.owner == (actor.organization, actor.id) else None

    @contextmanager
    def use(self, session: OpenSession, connection: HTTPConnection) -> Iterator[None]:
        """Keep a session open while it has a request."""
        with self._lock:
            session.connection = _copy_identity(connection)
            session.running += 1
        try:
            yield
        finally:
            with self._lock:
                session.running -= 1
                session.idle_since = time.monotonic()

    def forget(self, session: OpenSession) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(session.id, None)
            self._running.sessions = len(self._sessions)

    async def close(self) -> None:
        """Stop looking after the sessions."""
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.wait([self._checking])

    async def _check(self) -> None:
        """End idle sessions, and those without access after each change of their organization."""
        while True:
            self._watch_organizations()
            try:
                async with asyncio.timeout(CHECK_S):
                    await self._woken.wait()
            except TimeoutError:
                pass
            self._woken.clear()
            idle_before = time.monotonic() - self._limits.idle_s
            for session in list(self._sessions.values()):
                if not session.running and session.idle_since < idle_before:
                    self.forget(session)
            changed, self._changed = self._changed, set()
            if changed:
                await asyncio.to_thread(self._end_refused, changed)
                await asyncio.sleep(PACE_S)

    def _watch_organizations(self) -> None:
        """Follow the changes of the organizations that have sessions now."""
        wanted = {session.owner[0] for session in list(self._sessions.values())}
        for organization in self._watched - wanted:
            self._listener.unsubscribe(("mcp", organization))
        for organization in wanted - self._watched:

            def wake(changed: str = organization) -> None:
                self._changed.add(changed)
                self._woken.set()

            self._listener.subscribe(("mcp", organization), WatchedProject(organization), wake)
        self._watched = wanted

    def _end_refused(self, organizations: set[str]) -> None:
        """End the sessions of some organizations whose latest token would be refused now. Runs in a thread."""
        is_refused: dict[str, bool] = {}
        for session in list(self._sessions.values()):
            if session.owner[0] in organizations:
                token = session.connection.headers["authorization"]
                if token not in is_refused:
                    is_refused[token] = self._is_refused(session)
                if is_refused[token]:
                    self.forget(session)

    def _is_refused(self, session: OpenSession) -> bool:
        try:
            actor = self._recheck(session.connection)
            return (actor.organization, actor.id) != session.owner
        except (Unauthenticated, Forbidden, NotFound):  # of a token of an issuer, the account may be unknown now
            return True
        except Exception:
            return False  # the store is busy; each request is authenticated in any case


def _copy_identity(connection: HTTPConnection) -> HTTPConnection:
    """Return what proves who sent a request, for a session to keep: without the message, which may be large."""
    return HTTPConnection({name: connection.scope[name] for name in ("type", "method", "path", "headers", "client")})
