"""What the server ends by itself: long statements, long waits for a lock, and clients that stop in a transaction."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import psycopg
from psycopg import Connection

from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation

STATEMENT_S_MAX = 30.0  # of a statement before the limit of its request is set
LOCK_WAIT_S_MAX = 20.0  # longer than a sleeping client can keep the lock of a project
IDLE_S_MAX = 15.0  # a client that stops inside a transaction is disconnected, which frees its locks
# The same for a write with a time limit. A statement that runs when the client stops ends at the limit of its request;
# then this time passes. By default that is 10 s and 4 s, so the lock is free within 15 s.
IDLE_IN_WRITE_S_MAX = 4.0
SHORTEN_AFTER_S = 0.5  # how much longer than its request a statement may run
CANCEL_S_MAX = 1.0
MILLISECONDS_MAX = 2**31 - 1


class ServerLimits(NamedTuple):
    """What the server itself ends: a statement, and a session that is idle in a transaction."""

    statement_s: float
    idle_s: float


@contextmanager
def close_if_interrupted(connection: Connection, cancellation: Cancellation) -> Iterator[None]:
    """Close a connection on which a statement was interrupted.

    The server may get the interrupt after the statement has ended. On a connection in the pool it would then stop a
    statement of the next request.
    """
    try:
        yield
    finally:
        if cancellation.was_interrupted:
            connection.close()


def interrupt(connection: Connection) -> None:
    """Stop the running statement of a connection, from any thread."""
    with suppress(psycopg.Error):  # the connection is lost; the statement notices it, too
        connection.cancel_safe(timeout=CANCEL_S_MAX)


def set_statement_timeout(connection: Connection, seconds: float) -> None:
    """Let the server stop each following statement of the transaction after this time."""
    connection.execute("SELECT set_config('statement_timeout', %s, true)", (str(to_milliseconds(seconds)),))


def to_milliseconds(seconds: float) -> int:
    """Return a timeout of the server, where 0 is none. It is later than ours, so that ours is the reason."""
    return 0 if seconds == NO_LIMIT_S else min(math.ceil(seconds * 1000) + 20, MILLISECONDS_MAX)
