"""A pool of connections to PostgreSQL. Each caller opens its own connection if none is free.

There is no background thread and no growing pause between attempts: while the server is down, each caller tries for a
few seconds, and the first attempt after the server is back succeeds. A server that hangs is limited by the timeout of
the connection.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import BoundedSemaphore, Lock
from typing import Any, NamedTuple

import psycopg
from psycopg import Connection, errors
from psycopg.pq import TransactionStatus

ATTEMPT_S_MIN = 2  # the shortest timeout that psycopg and libpq use for a connection
POLL_S = 0.1  # between attempts to connect, and between checks while waiting for a free connection
UNUSED_S_MAX = 570.0  # a connection that nobody used for so long is closed here, as soon as anybody calls,
IDLE_S_MAX = 600.0  # and by the server, if nobody calls
STATEMENTS_MAX = 1_000  # that a connection keeps prepared; by default psycopg keeps 100, fewer than one agent uses
LIFETIME_S_MAX = 3600.0  # limits the memory of a server process, and follows a server that has moved
# A refused login has no SQLSTATE here, only a message. In another language it is reported as a server that is down.
REFUSED_LOGIN_PHRASES = ("authentication failed", "no password supplied", "does not exist", "not permitted to log in")

_OPEN_TRANSACTION = (TransactionStatus.INTRANS, TransactionStatus.INERROR)


def is_login_refused(error: Exception) -> bool:
    """Return True if the server answered but refused the login, so that another attempt is useless."""
    return any(phrase in str(error) for phrase in REFUSED_LOGIN_PHRASES)


def limit_idle_time(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return connection settings that let the server close idle connections."""
    return {**settings, "options": f"{settings.get('options', '')} -c idle_session_timeout={int(IDLE_S_MAX * 1000)}"}


class ConnectionPool:
    """At most `connections_max` connections, each used by one caller at a time."""

    def __init__(
        self,
        url: str,
        settings: Mapping[str, Any],
        *,
        connections_max: int,
        wait_s: float,
        first: Connection | None = None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`first` is a connection that the pool takes over."""
        self._url = url
        self._settings = limit_idle_time(settings)
        self._wait_s = wait_s
        self._clock = clock
        self._pause = pause
        self._slots = BoundedSemaphore(connections_max)
        self._idle: deque[_PooledConnection] = deque()  # the most recently used one last
        self._lock = Lock()
        self._is_closed = False
        if first is not None:
            self._idle.append(_pool_connection(first, clock()))

    @contextmanager
    def connection(self, check: Callable[[], None] | None = None) -> Iterator[Connection]:
        """Yield a connection outside of a transaction. Afterwards it is rolled back and returned to the pool.

        `check` is called from time to time while the caller waits; it raises to end the wait.
        """
        give_up_at = self._clock() + self._wait_s
        self._take_slot(give_up_at, check)
        try:
            used = self._take_idle() or self._connect(give_up_at, check)
            try:
                yield used.connection
            finally:
                self._put_back(used)
        finally:
            self._slots.release()

    def drain(self) -> None:
        """Close all unused connections, after a sign that the server has closed them."""
        with self._lock:
            idle, self._idle = self._idle, deque()
        for pooled in idle:
            pooled.connection.close()

    def close(self) -> None:
        """Close all connections. A connection in use is closed when it is returned."""
        with self._lock:  # so that no connection is put back afterwards
            self._is_closed = True
        self.drain()

    @property
    def is_closed(self) -> bool:
        """True after the pool was closed."""
        return self._is_closed

    def _take_slot(self, give_up_at: float, check: Callable[[], None] | None) -> None:
        if self._slots.acquire(blocking=False):
            return
        while (remaining_s := give_up_at - self._clock()) > 0:
            if self._slots.acquire(timeout=min(POLL_S, remaining_s)):
                return
            if check:
                check()
        raise errors.ConnectionTimeout(f"no connection became free within {self._wait_s:g} s")

    def _take_idle(self) -> _PooledConnection | None:
        with self._lock:
            latest = self._idle.pop() if self._idle else None
        if latest is None or self._clock() - latest.used_at < UNUSED_S_MAX:
            return latest
        latest.connection.close()
        self.drain()  # the others were unused for longer
        return None

    def _connect(self, give_up_at: float, check: Callable[[], None] | None) -> _PooledConnection:
        if self._is_closed:
            raise psycopg.OperationalError("the store is closed")
        while (remaining_s := give_up_at - self._clock()) >= ATTEMPT_S_MIN:
            timeout = {"connect_timeout": int(remaining_s)}
            try:
                made = psycopg.connect(self._url, **{**self._settings, **timeout})
            except psycopg.OperationalError as error:
                if is_login_refused(error) or give_up_at - self._clock() < ATTEMPT_S_MIN + POLL_S:
                    raise
            else:
                return _pool_connection(made, self._clock())
            if check:
                check()
            self._pause(POLL_S)
        raise errors.ConnectionTimeout(f"no connection became free within {self._wait_s:g} s")

    def _put_back(self, used: _PooledConnection) -> None:
        connection, now = used.connection, self._clock()
        if connection.pgconn.transaction_status in _OPEN_TRANSACTION:
            with suppress(psycopg.Error):
                connection.rollback()
        is_usable = connection.pgconn.transaction_status == TransactionStatus.IDLE
        surplus = [used]
        with self._lock:
            if is_usable and now - used.opened_at < LIFETIME_S_MAX and not self._is_closed:
                self._idle.append(used._replace(used_at=now))
                surplus = [self._idle.popleft()] if now - self._idle[0].used_at > UNUSED_S_MAX else []
        for pooled in surplus:
            pooled.connection.close()


class _PooledConnection(NamedTuple):
    """A connection, the time of its opening, and the time of its last use."""

    connection: Connection
    opened_at: float
    used_at: float


def _pool_connection(connection: Connection, now: float) -> _PooledConnection:
    connection.prepared_max = STATEMENTS_MAX
    return _PooledConnection(connection, now, now)
