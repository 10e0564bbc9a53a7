"""A pooler between this program and the server, such as pgbouncer in transaction mode.

Each transaction may run in another session of the server. So nothing may be left in a session: what the program sets at
the start of a connection is set at the start of each transaction, no statement is prepared, and nobody listens.
"""

from __future__ import annotations

from psycopg import Connection, sql

from groundplan.kernel.store.postgres.server_limits import to_milliseconds
from groundplan.kernel.store.tables import SCHEMA_NAME


def is_behind_pooler(connection: Connection) -> bool:
    """Return whether a pooler answers: the process that it names is then not the one that runs the statements."""
    found = connection.execute("SELECT pg_backend_pid()").fetchone()
    return found != (connection.info.backend_pid,)


def format_settings(connection: Connection, lock_wait_s: float) -> str:
    """Return the statements that set for one transaction what a connection of our own has from its start."""
    return (
        sql.SQL("SET LOCAL search_path = {}, pg_temp; SET LOCAL lock_timeout = {}")
        .format(sql.Identifier(SCHEMA_NAME), sql.Literal(to_milliseconds(lock_wait_s)))
        .as_string(connection)
    )
