"""The store on one SQLite file, shared by any number of threads and processes.

Every thread has its own connection. A writer waits in the write queue, so the lock of SQLite is free when its turn
comes and no caller sees `database is locked`.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast
from weakref import WeakSet

from groundplan.kernel.actors import Actor
from groundplan.kernel.clock import Clock, UptimeCounter, find_system_uptime, format_timestamp, system_clock
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.sqlite.errors import translate_errors
from groundplan.kernel.store.sqlite.file import connect, open_database, resolve_path
from groundplan.kernel.store.sqlite.write_queue import WriteQueue
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.tables import Schema
from groundplan.kernel.store.transaction import RowConverters, Transaction

T = TypeVar("T")

# The actions allowed on an app connection. SQLite refuses all others (DDL, ATTACH, PRAGMA, …), so even injected SQL
# cannot drop a trigger or disable a check.
_ALLOWED_ACTIONS = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_SAVEPOINT,
    }
)


class SqliteStore(Store):
    """The store on one file."""

    must_recheck_after_lock = False  # BEGIN IMMEDIATE takes the write lock before the first statement

    def __init__(
        self,
        path: Path,
        schema: Callable[[], Schema],
        *,
        clock: Clock = system_clock,
        uptime: UptimeCounter | None = None,
    ) -> None:
        # Resolved once: a later chdir, or another name of the same file, must use the same file and queue.
        self.path = resolve_path(path)
        self._clock = clock
        # The counter belongs to the clock of this machine, not to an injected one.
        self._uptime = find_system_uptime() if clock is system_clock else uptime
        self._write_queue = WriteQueue(self.path)
        self._thread_local = threading.local()
        self._open_connections: WeakSet[_Connection] = WeakSet()
        self._connections_lock = threading.Lock()  # guards the set above while it is iterated
        self._is_closed = False
        self._thread_local.held = self._register(open_database(self.path, schema, self._write_queue))
        self._name = str(self.path)
        self._identity = _read_file_identity(self._name)

    def _read_once(self, actor: Actor, run: Callable[[Transaction], T]) -> T:
        self._check_in_place()
        held = self._get_connection()
        with held.in_use, translate_errors():
            connection = held.require_open()
            connection.execute("BEGIN")
            try:
                return run(self._begin_at_now(connection, actor))
            finally:
                _end_transaction(connection, "ROLLBACK")

    @contextmanager
    def _open_write(self, actor: Actor) -> Iterator[Transaction]:
        self._check_in_place()
        held = self._get_connection()
        with self._write_queue.hold_lock(), held.in_use, translate_errors():
            self._check_in_place()  # again, after the wait
            connection = held.require_open()
            connection.execute("BEGIN IMMEDIATE")
            tx = self._begin_at_now(connection, actor)
            try:
                yield tx
                connection.execute("ROLLBACK" if tx.discarded else "COMMIT")
            except BaseException:
                _end_transaction(connection, "ROLLBACK")
                raise

    def _begin_at_now(self, connection: sqlite3.Connection, actor: Actor) -> SqliteTransaction:
        return SqliteTransaction(connection, actor, format_timestamp(self._clock()), self.cache, self._uptime)

    def _set_savepoint(self, tx: Transaction) -> None:
        cast(SqliteTransaction, tx).connection.execute("SAVEPOINT before_lock")

    def _rollback_to_savepoint(self, tx: Transaction) -> None:
        cast(SqliteTransaction, tx).connection.execute("ROLLBACK TO before_lock")

    def close(self) -> None:
        with self._connections_lock:
            self._is_closed = True
            connections = list(self._open_connections)
        for held in connections:
            held.close()

    def _check_in_place(self) -> None:
        # Open descriptors still refer to a file that was removed or renamed; writes to it would be lost.
        if _read_file_identity(self._name) != self._identity:
            raise FileReplaced(self.path)

    def _get_connection(self) -> _Connection:
        """Return the connection of this thread."""
        if not hasattr(self._thread_local, "held"):
            with translate_errors():
                self._thread_local.held = self._register(connect(self.path))
        held: _Connection = self._thread_local.held
        return held

    def _register(self, connection: sqlite3.Connection) -> _Connection:
        connection.set_authorizer(_authorize)
        held = _Connection(connection)
        with self._connections_lock:
            self._open_connections.add(held)
            if self._is_closed:
                held.close()
        return held


class _Connection:
    """The connection of a thread. It is closed with its thread or with the store, whichever ends first."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.in_use = threading.RLock()  # SQLite crashes if a connection is closed while a statement runs
        self._connection: sqlite3.Connection | None = connection

    def require_open(self) -> sqlite3.Connection:
        """Return the connection. Raises Unavailable if the store is closed."""
        if self._connection is None:
            raise Unavailable("this store was closed; open it again", code="store_closed")
        return self._connection

    def close(self) -> None:
        with self.in_use:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    __del__ = close


class FileReplaced(Unavailable):
    """The open file was removed or replaced by another one."""

    code = "store_replaced"

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path.name!r} was removed or replaced while it was open, and nothing was written; restart Groundplan. "
            "To restore a backup, first stop every program that uses the file"
        )


class SqliteTransaction(Transaction):
    """A transaction on one connection."""

    _row_converters: ClassVar[RowConverters] = {}

    def __init__(
        self,
        connection: sqlite3.Connection,
        actor: Actor,
        now: str,
        cache: dict[str, Any],
        uptime: UptimeCounter | None = None,
    ) -> None:
        super().__init__(actor, now, cache, uptime=uptime)
        self.connection = connection
        self._execute = connection.execute
        self._executemany = connection.executemany

    def _query(self, query: Query, parameters: dict[str, Any]) -> sqlite3.Cursor:
        return self._execute(query.sqlite, parameters | self._ambient)

    def run(self, query: Query, /, **parameters: Any) -> int:
        return self._execute(query.sqlite, parameters | self._ambient).rowcount

    def run_many(self, query: Query, rows: Iterable[Mapping[str, Any]], /) -> None:
        self._executemany(query.sqlite, [{**row, **self._ambient} for row in rows])


def _authorize(action: int, first: str | None, *_rest: str | None) -> int:
    if first == "schema_migrations" and action != sqlite3.SQLITE_READ:
        return sqlite3.SQLITE_DENY  # only the migration runner writes this table
    # FTS5 reads data_version to detect other writers.
    if action in _ALLOWED_ACTIONS or (action == sqlite3.SQLITE_PRAGMA and first == "data_version"):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _read_file_identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - runs before every transaction, and is twice as fast
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _end_transaction(connection: sqlite3.Connection, statement: str) -> None:
    # A full disk or an I/O error may have ended the transaction.
    if connection.in_transaction:
        connection.execute(statement)
