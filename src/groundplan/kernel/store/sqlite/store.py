"""The store on one SQLite file, shared by any number of threads and processes.

Every thread has its own connection. A writer waits in the write queue, so the lock of SQLite is free when its turn
comes and no caller sees `database is locked`.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Any, ClassVar, TypeVar, cast
from weakref import WeakSet

from groundplan.kernel.actors import NOBODY, Actor
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.clock import Clock, UptimeCounter, find_system_uptime, read_timestamp, system_clock
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.principals import find_kind
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.schema import Schema
from groundplan.kernel.store.sqlite.connection import FilePath, connect
from groundplan.kernel.store.sqlite.errors import translate_errors, translate_interrupted
from groundplan.kernel.store.sqlite.file import (
    STEPS_BETWEEN_CHECKS,
    hold_without_checkpoint,
    open_database,
    resolve_path,
)
from groundplan.kernel.store.sqlite.file_watch import FileReplaced, FilesInPlace, FileWatch
from groundplan.kernel.store.sqlite.write_queue import WriteQueue
from groundplan.kernel.store.store import CommitWatch, Store, retry
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
# FTS5 reads data_version to detect other writers; a mark holds the schema_version.
_READABLE_PRAGMAS = {("data_version", None), ("schema_version", None)}
# With the name of a table or an index; they tell no more than `sqlite_schema` does.
_TABLE_PRAGMAS = {"table_xinfo", "index_list", "index_info", "foreign_key_list"}


class SqliteStore(Store):
    """The store on one file."""

    runs_in_process = True
    locks_at_begin = True  # by BEGIN IMMEDIATE

    def __init__(
        self,
        path: FilePath,
        schema: Callable[[], Schema],
        *,
        clock: Clock = system_clock,
        uptime: UptimeCounter | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        # Resolved once: a later chdir, or another name of the same file, must use the same file and queue.
        self.path = resolve_path(path)
        self._clock = clock
        # The counter belongs to the clock of this machine, not to an injected one.
        self._uptime = find_system_uptime() if clock is system_clock else uptime
        self._write_queue = WriteQueue(self.path)
        self._thread_local = threading.local()
        self._open_connections: WeakSet[HeldConnection] = WeakSet()
        self._connections_lock = threading.Lock()  # guards the set above while it is iterated
        self._is_closed = False
        connection = open_database(self.path, schema, self._write_queue, cancellation or Cancellation())
        try:
            self._files = FileWatch(self.path, connection)
        except BaseException:
            connection.close()
            raise
        # It stays open when its thread ends: SQLite removes the log with the last connection.
        self._first_connection = self._thread_local.held = self._register(connection)

    def read_as_nobody(self, run: Callable[[Transaction], T]) -> T:
        """Run one statement for an unknown caller. Without a transaction this is one statement instead of three."""
        return retry(lambda: self._run_statement_as_nobody(run))

    def _run_statement_as_nobody(self, run: Callable[[Transaction], T]) -> T:
        self._check_files()
        held = self._get_connection()
        with held.in_use, translate_errors():
            return run(self._begin_at_now(held.require_open(), NOBODY, Cancellation()))

    def _read_once(self, actor: Actor, run: Callable[[Transaction], T], cancellation: Cancellation) -> T:
        self._check_files()
        held = self._get_connection()
        with held.in_use:
            connection = held.require_open()
            cancellation.start()
            try:
                connection.execute("BEGIN")
                held.watch.cancellation = cancellation
                try:
                    return run(self._begin_as(connection, actor, cancellation))
                finally:
                    held.watch.cancellation = None
                    _end_transaction(connection, "ROLLBACK")
            except sqlite3.Error as error:
                raise translate_interrupted(error, cancellation) from error

    def _write_once(self, actor: Actor, run: Callable[[Transaction], T], cancellation: Cancellation) -> T:
        # No context managers, as in `_read_once`: together they cost as much as a statement.
        held = self._get_connection()
        lock = self._write_queue.acquire(cancellation)
        try:
            with held.in_use:
                file = LockedFile(held.require_open(), self._check_files, self._files)
                try:
                    file.begin()
                    try:
                        answer, has_changes = self._run_limited(held, file.connection, actor, run, cancellation)
                        if has_changes:
                            file.commit()  # not limited: SQLite could report a commit that is done as interrupted
                        return answer
                    finally:
                        file.roll_back()
                except sqlite3.Error as error:
                    raise translate_interrupted(error, cancellation) from error
        finally:
            lock.release()

    @contextmanager
    def _hold_file(self, cancellation: Cancellation, wait_s: float | None = None) -> Iterator[LockedFile]:
        """Hold the write lock of the file, and yield it with the connection of this thread."""
        held = self._get_connection()
        with self._write_queue.hold_lock(cancellation, wait_s), held.in_use:
            yield LockedFile(held.require_open(), self._check_files, self._files)

    def _run_limited(
        self,
        held: HeldConnection,
        connection: sqlite3.Connection,
        actor: Actor,
        run: Callable[[Transaction], T],
        cancellation: Cancellation,
    ) -> tuple[T, bool]:
        """Run a function in a transaction; its statements are interrupted when the request is cancelled or out of time.

        Returns:
            The answer, and whether there is something to commit.
        """
        cancellation.start()
        held.watch.cancellation = cancellation
        try:
            tx = self._begin_as(connection, actor, cancellation)
            return run(tx), not tx.discarded
        finally:
            held.watch.cancellation = None  # a rollback must not be interrupted

    def _begin_as(self, connection: sqlite3.Connection, actor: Actor, cancellation: Cancellation) -> SqliteTransaction:
        tx = self._begin_at_now(connection, actor, cancellation)
        tx.identify(find_kind(tx, actor.id))
        return tx

    def _begin_at_now(
        self, connection: sqlite3.Connection, actor: Actor, cancellation: Cancellation
    ) -> SqliteTransaction:
        now = read_timestamp(self._clock)
        return SqliteTransaction(connection, actor, now, self.cache, cancellation, self._uptime)

    def _set_savepoint(self, tx: Transaction) -> None:
        cast("SqliteTransaction", tx).connection.execute("SAVEPOINT before_lock")

    def _rollback_to_savepoint(self, tx: Transaction) -> None:
        cast("SqliteTransaction", tx).connection.execute("ROLLBACK TO before_lock")

    def watch_commits(self) -> CommitWatch:
        from groundplan.kernel.store.sqlite.commit_watch import SqliteCommitWatch  # only a server needs it

        self._check_files()
        with translate_errors():
            return SqliteCommitWatch(self._register(connect(self.path)))

    def close(self) -> None:
        with self._connections_lock:
            if self._is_closed:
                return
            self._is_closed = True
            connections = list(self._open_connections)
        with hold_without_checkpoint(self.path, needed=self._files.must_not_checkpoint()):
            for held in connections:
                held.close()

    def _check_files(self) -> FilesInPlace:
        try:
            return self._files.check()
        except FileReplaced:
            if self._is_closed:  # SQLite removed the log
                raise StoreClosed from None
            raise

    def _get_connection(self) -> HeldConnection:
        """Return the connection of this thread."""
        held: HeldConnection | None = getattr(self._thread_local, "held", None)
        if held is None:
            self._check_files()
            with translate_errors():
                held = self._thread_local.held = self._register(self._connect())
        return held

    def _connect(self) -> sqlite3.Connection:
        return connect(self.path)

    def _register(self, connection: sqlite3.Connection) -> HeldConnection:
        connection.set_authorizer(_authorize)
        held = HeldConnection(connection)
        connection.set_progress_handler(held.watch.must_stop, STEPS_BETWEEN_CHECKS)
        with self._connections_lock:
            self._open_connections.add(held)
            if self._is_closed:
                held.close()
        return held


class LockedFile:
    """The file while a thread has its write lock, with the connection of the thread."""

    def __init__(
        self, connection: sqlite3.Connection, check_files: Callable[[], FilesInPlace], watch: FileWatch
    ) -> None:
        self.connection = connection
        self._check_files = check_files
        self._watch = watch

    def begin(self) -> None:
        """Begin a transaction, after a check that the files were not replaced."""
        files = self._check_files()
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            self._watch.mark_log(self.connection, files)
        except BaseException:
            self.roll_back()
            raise

    def commit(self) -> None:
        """Commit the transaction."""
        self.connection.execute("COMMIT")
        self._watch.confirm_commit()

    def roll_back(self) -> None:
        """Roll back the transaction, unless a commit, a full disk or an I/O error has ended it."""
        _end_transaction(self.connection, "ROLLBACK")


class _StatementWatch:
    """A progress handler that ends a statement when its request is over."""

    __slots__ = ("cancellation",)

    def __init__(self) -> None:
        self.cancellation: Cancellation | None = None

    def must_stop(self) -> bool:
        """Return True if the running statement must end."""
        return self.cancellation is not None and self.cancellation.is_over


class StoreClosed(Unavailable):
    """The store was closed."""

    code = "store_closed"

    def __init__(self) -> None:
        super().__init__("this store was closed; open it again")


class HeldConnection:
    """The connection of a thread. It is closed with its thread or with the store, whichever comes first."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.in_use = threading.RLock()  # SQLite crashes if a connection is closed while a statement runs
        self.watch = _StatementWatch()
        self._connection: sqlite3.Connection | None = connection

    def require_open(self) -> sqlite3.Connection:
        """Return the connection. Raises StoreClosed if the store is closed."""
        if self._connection is None:
            raise StoreClosed
        return self._connection

    def close(self) -> None:
        with self.in_use:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    __del__ = close


class SqliteTransaction(Transaction):
    """A transaction on one connection."""

    runs_in_process = True
    _row_converters: ClassVar[RowConverters] = {}

    def __init__(
        self,
        connection: sqlite3.Connection,
        actor: Actor,
        now: str,
        cache: dict[str, Any],
        cancellation: Cancellation | None = None,
        uptime: UptimeCounter | None = None,
    ) -> None:
        super().__init__(actor, now, cache, cancellation, uptime=uptime)
        self.connection = connection
        cursor = connection.cursor()  # one for all statements, whose rows are always fetched at once
        self._execute = cursor.execute
        self._executemany = cursor.executemany

    # The time is compared here and not in a method: there are many statements, and most take microseconds.

    def _fetch(self, query: Query, shape: type[T] | None, parameters: dict[str, Any]) -> list[Any]:
        if monotonic() > self.cancellation.ends_at:
            raise self.cancellation.build_error()
        cursor = self._execute(query.sqlite, parameters | self._ambient)
        convert = self._row_converters.get((query, shape)) or self._build_converter(query, shape, cursor)
        return convert(cursor.fetchall())

    def run(self, query: Query, /, **parameters: Any) -> int:
        if monotonic() > self.cancellation.ends_at:
            raise self.cancellation.build_error()
        return self._execute(query.sqlite, parameters | self._ambient).rowcount

    def run_many(self, query: Query, rows: Iterable[Mapping[str, Any]], /) -> None:
        self.cancellation.check()
        self._executemany(query.sqlite, [{**row, **self._ambient} for row in rows])


def _authorize(action: int, first: str | None, *rest: str | None) -> int:
    if first == "schema_migrations" and action != sqlite3.SQLITE_READ:
        return sqlite3.SQLITE_DENY  # only the migration runner writes this table
    if action in _ALLOWED_ACTIONS:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and (first in _TABLE_PRAGMAS or (first, *rest[:1]) in _READABLE_PRAGMAS):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _end_transaction(connection: sqlite3.Connection, statement: str) -> None:
    # A full disk or an I/O error may have ended the transaction.
    if connection.in_transaction:
        connection.execute(statement)
