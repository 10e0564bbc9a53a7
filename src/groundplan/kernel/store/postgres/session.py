"""Settings of a PostgreSQL session for one transaction: its actor, its time limits, and its schema behind a pooler.

The policies of every table read who acts. The server itself ends long statements, long waits for a lock, and clients
that stop in a transaction.

With a pooler in between, such as pgbouncer in transaction mode, each transaction may run in another session of the
server. So nothing may be left in a session: what the program sets at the start of a connection is set at the start of
each transaction, no statement is prepared, and nobody listens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import psycopg
from psycopg import Connection, Cursor, sql

from groundplan.kernel.actors import Actor, ActorKind
from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.store.queries import to_json_array
from groundplan.kernel.store.schema import SCHEMA_NAME

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
    """The time limits of the server: of a statement, and of a session that is idle in a transaction."""

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
    """Return a timeout for the server; 0 means none. It is later than our own, so that our error is reported."""
    return 0 if seconds == NO_LIMIT_S else min(math.ceil(seconds * 1000) + 20, MILLISECONDS_MAX)


_IDENTIFY = """
SELECT set_config('groundplan.tenant', %(tenant)s, true),
       set_config('groundplan.actor', %(actor)s, true),
       set_config('groundplan.access', %(access)s, true),
       set_config('groundplan.kind', coalesce(gp_kind_of(%(tenant)s, %(actor)s), %(kind)s), true),
       set_config('statement_timeout', %(statement_timeout)s, true),
       set_config('idle_in_transaction_session_timeout', %(idle_timeout)s, true),
       gp_kind_of(%(tenant)s, %(actor)s),
       gp_now()
"""
# For an actor with a limited token. The settings end with the transaction, so the others need not clear them.
_IDENTIFY_LIMITED = """
SELECT set_config('groundplan.role_max', %(role_max)s, true),
       set_config('groundplan.projects', %(projects)s, true),
       set_config('groundplan.sponsor', %(sponsor)s, true),
""" + _IDENTIFY.strip().removeprefix("SELECT")


class Identified(NamedTuple):
    """What the database says of the actor at the start of a transaction, and its time."""

    stored_kind: ActorKind | None  # None: the name has not acted yet
    now: str


def identify(connection: Connection, actor: Actor, limits: ServerLimits) -> Cursor[Any]:
    """Set the actor and the limits of the open transaction. The policies see the kind that is stored for its name."""
    identity = {
        "tenant": actor.organization,
        "actor": actor.id,
        "access": actor.access.value,
        "kind": actor.kind.value,
        "statement_timeout": str(to_milliseconds(limits.statement_s)),
        "idle_timeout": str(to_milliseconds(limits.idle_s)),
    }
    if actor.is_limited:
        return connection.execute(_IDENTIFY_LIMITED, identity | format_limits(actor))
    return connection.execute(_IDENTIFY, identity)


def read_identified(cursor: Cursor[Any]) -> Identified:
    """Return what the statement of `identify` answered."""
    (*_, stored_kind, now) = cursor.fetchall()[0]
    return Identified(None if stored_kind is None else ActorKind(stored_kind), str(now))


def format_limits(actor: Actor) -> dict[str, str]:
    """Return the limits of the actor's token as settings of the database. An empty text means no limit."""
    return {
        "role_max": actor.role_max or "",
        "projects": "" if actor.projects is None else to_json_array(sorted(actor.projects)),
        "sponsor": actor.sponsor or "",
    }


def is_behind_pooler(connection: Connection) -> bool:
    """Return True if a pooler is between us and the server, because another process runs the statements."""
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row != (connection.info.backend_pid,)


def format_settings(lock_wait_s: float) -> tuple[sql.Composed, ...]:
    """Return the statements that give one transaction the settings that our own connections have from their start."""
    return (
        sql.SQL("SET LOCAL search_path = {}, pg_temp").format(sql.Identifier(SCHEMA_NAME)),
        sql.SQL("SET LOCAL lock_timeout = {}").format(sql.Literal(to_milliseconds(lock_wait_s))),
    )


def rollback(connection: Connection, statement: bytes = b"ROLLBACK") -> None:
    """Roll back, and keep the prepared statements: after a rollback of its own, psycopg forgets all of them."""
    connection.pgconn.exec_(statement)
