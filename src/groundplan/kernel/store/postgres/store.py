"""The store on PostgreSQL, where row level security isolates organizations and projects.

The app role owns nothing and every table has policies. The actor is set for one transaction at a time
(`set_config(…, is_local => true)`), so a pooled connection cannot pass it on to the next caller.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from time import monotonic
from typing import Any, ClassVar, LiteralString, TypeVar, cast

import msgspec
import psycopg
from psycopg import Connection, errors

from groundplan.kernel.actors import NOBODY, Actor
from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.clock import Clock, format_timestamp
from groundplan.kernel.errors import Forbidden, Invalid, Unavailable
from groundplan.kernel.store.migrations import NewerSchema
from groundplan.kernel.store.postgres.catalog import read_role_privileges
from groundplan.kernel.store.postgres.pool import ConnectionPool, is_login_refused, limit_idle_time
from groundplan.kernel.store.postgres.session import (
    IDLE_IN_WRITE_S_MAX,
    IDLE_S_MAX,
    LOCK_WAIT_S_MAX,
    SHORTEN_AFTER_S,
    STATEMENT_S_MAX,
    Identified,
    ServerLimits,
    close_if_interrupted,
    format_settings,
    identify,
    interrupt,
    is_behind_pooler,
    read_identified,
    rollback,
    set_statement_timeout,
    to_milliseconds,
)
from groundplan.kernel.store.queries import Query, Row
from groundplan.kernel.store.schema import SCHEMA_NAME, find_refusal
from groundplan.kernel.store.store import CommitWatch, Store, TryAgain, retry
from groundplan.kernel.store.transaction import RowConverters, Transaction
from groundplan.migrations import get_latest_version

T = TypeVar("T")

CONNECTIONS_MAX = 16
CONNECT_S_MAX = 5
PREPARE_AFTER = 1  # the calls of a statement after which it is prepared; a command that runs once prepares none
ANALYZE_ROWS_MIN = 1_000  # of the statements of a write, after which it looks whether a table needs new statistics
ANALYZE_S_MAX = 5.0
ROWS_PARAMETER = "rows"  # a statement with this parameter takes many rows at once, as JSON
GUARD_SQLSTATE = "GP001"  # raised by our triggers


class PostgresStore(Store):
    """The store on a PostgreSQL server."""

    locks_at_begin = False
    runs_in_process = False

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        connections_max: int = CONNECTIONS_MAX,
        idle_s: float = IDLE_S_MAX,
        idle_in_write_s: float = IDLE_IN_WRITE_S_MAX,
        lock_wait_s: float = LOCK_WAIT_S_MAX,
        as_owner: bool = False,
    ) -> None:
        """With `as_owner`, the store is for administration: it connects as owner of the schema, without policies."""
        self._clock = clock  # None: the clock of the database, which all clients share
        self._idle_s = idle_s
        self._idle_in_write_s = idle_in_write_s
        self._lock_wait_s = lock_wait_s
        settings: dict[str, Any] = {
            "autocommit": True,
            "connect_timeout": CONNECT_S_MAX,
            "options": f"-c search_path={SCHEMA_NAME},pg_temp -c statement_timeout={to_milliseconds(STATEMENT_S_MAX)} "
            f"-c lock_timeout={to_milliseconds(lock_wait_s)} "
            f"-c idle_in_transaction_session_timeout={to_milliseconds(idle_s)}",
        }
        with translate_errors(), ExitStack() as on_failure:
            # Not by the pool, which tries again for a while.
            first = psycopg.connect(url, **limit_idle_time(settings))
            on_failure.callback(first.close)
            self._is_pooled = is_behind_pooler(first)
            # A pooler drops the options above, so each transaction sets them.
            self._settings = format_settings(lock_wait_s) if self._is_pooled else ()
            settings["prepare_threshold"] = None if self._is_pooled else PREPARE_AFTER
            first.prepare_threshold = settings["prepare_threshold"]
            with first.transaction():
                for setting in self._settings:
                    first.execute(setting)
                check_role_and_schema(first, as_owner=as_owner)
            on_failure.pop_all()
        # It logs lost connections to stderr, with host and user; callers get an error instead.
        logging.getLogger("psycopg").addHandler(logging.NullHandler())
        logging.getLogger("psycopg").propagate = False
        self._connect_watch = partial(psycopg.connect, url, **settings)
        self._pool = ConnectionPool(url, settings, connections_max=connections_max, wait_s=CONNECT_S_MAX, first=first)

    def _read_once(self, actor: Actor, run: Callable[[Transaction], T], cancellation: Cancellation) -> T:
        cancellation.start()
        limits = ServerLimits(cancellation.current_limit_s, cancellation.current_limit_s)
        with self._transaction(actor, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", cancellation, limits) as tx:
            return run(tx)

    def read_as_nobody(self, run: Callable[[Transaction], T]) -> T:
        """Run one statement for an unknown caller. Without a transaction it needs one round trip instead of four."""
        if self._is_pooled:  # there each transaction sets where the tables are
            return super().read_as_nobody(run)
        return retry(lambda: self._run_statement_as_nobody(run))

    def _run_statement_as_nobody(self, run: Callable[[Transaction], T]) -> T:
        with translate_errors(), self._pool.connection() as connection:
            clock = format_timestamp(self._clock()) if self._clock else None
            try:
                return run(PostgresTransaction(connection, NOBODY, clock or "", self.cache, clock=clock))
            except psycopg.OperationalError as error:
                if not connection.broken:
                    raise
                self._pool.drain()  # the server closed it while it was in the pool, and probably the others, too
                raise TryAgain from error

    def _write_once(self, actor: Actor, run: Callable[[Transaction], T], cancellation: Cancellation) -> T:
        cancellation.start(self._lock_wait_s)
        has_limit = cancellation.current_limit_s < NO_LIMIT_S
        # The statement that waits for the lock has the limit of the lock; it sets the limit of those after it.
        limits = ServerLimits(STATEMENT_S_MAX, self._idle_in_write_s if has_limit else self._idle_s)
        # READ COMMITTED, so that every statement after the lock sees the commit of its previous holder; under
        # REPEATABLE READ it would see the snapshot from before the wait.
        with self._transaction(actor, "BEGIN ISOLATION LEVEL READ COMMITTED", cancellation, limits) as tx:
            answer = run(tx)
        if not tx.discarded and tx.rows >= ANALYZE_ROWS_MIN:
            self._analyze()
        return answer

    def _analyze(self) -> None:
        """Bring the statistics of tables that grew up to date. The write is committed, so nothing here fails it."""
        with suppress(psycopg.Error), self._pool.connection() as connection, connection.transaction():
            connection.execute(f"SET LOCAL lock_timeout = {to_milliseconds(ANALYZE_S_MAX)}")
            set_statement_timeout(connection, ANALYZE_S_MAX)
            connection.execute(f"SELECT {SCHEMA_NAME}.gp_analyze_grown_tables()")

    @contextmanager
    def _transaction(
        self, actor: Actor, begin: LiteralString, cancellation: Cancellation, limits: ServerLimits
    ) -> Iterator[PostgresTransaction]:
        with (
            translate_errors(cancellation),
            self._pool.connection(cancellation.check_cancelled) as connection,
            close_if_interrupted(connection, cancellation),
        ):
            try:
                with cancellation.interruptible(partial(interrupt, connection)):
                    cancellation.check()
                    identified = self._begin(connection, begin, actor, limits)
                    clock = format_timestamp(self._clock()) if self._clock else None
                    now = clock or identified.now
                    tx = PostgresTransaction(connection, actor, now, self.cache, cancellation, clock=clock)
                    tx.identify(identified.stored_kind)
                    yield tx
                    if tx.discarded:
                        rollback(connection)
                    else:
                        _commit(connection)
            except BaseException:
                # Outside of the block above: a cancellation must not interrupt the rollback.
                with suppress(psycopg.Error):
                    rollback(connection)
                raise

    def _begin(self, connection: Connection, begin: LiteralString, actor: Actor, limits: ServerLimits) -> Identified:
        """Begin a transaction of the actor in one round trip, and return what the database says of the actor."""
        try:
            with connection.pipeline():
                connection.execute(begin)
                for setting in self._settings:
                    connection.execute(setting)
                identified = identify(connection, actor, limits)
            return read_identified(identified)
        except psycopg.OperationalError as error:
            # The server closed the connection while it was in the pool, and probably the others, too. No statement ran
            # yet, so it is safe to retry with a new one.
            self._pool.drain()
            raise TryAgain from error

    def _set_savepoint(self, tx: Transaction) -> None:
        cast("PostgresTransaction", tx).connection.execute("SAVEPOINT before_lock")

    def _rollback_to_savepoint(self, tx: Transaction) -> None:
        rollback(cast("PostgresTransaction", tx).connection, b"ROLLBACK TO before_lock")

    def watch_commits(self) -> CommitWatch:
        from groundplan.kernel.store.postgres.commit_watch import PostgresCommitWatch  # only a server needs it

        return PostgresCommitWatch(self._connect_watch, lambda: self._pool.is_closed, can_listen=not self._is_pooled)

    def close(self) -> None:
        self._pool.close()


class PostgresTransaction(Transaction):
    """A transaction on a pooled connection."""

    runs_in_process = False
    _row_converters: ClassVar[RowConverters] = {}

    def __init__(
        self,
        connection: Connection,
        actor: Actor,
        now: str,
        cache: dict[str, Any],
        cancellation: Cancellation | None = None,
        *,
        clock: str | None,
    ) -> None:
        super().__init__(actor, now, cache, cancellation, clock=clock)
        self.connection = connection
        self.rows = 0  # that statements read or changed
        self._statement_s = self.cancellation.current_limit_s  # the server stops a statement after this time

    @property
    def statement_timeout(self) -> str:
        return str(to_milliseconds(self.cancellation.current_limit_s))

    def run(self, query: Query, /, **parameters: Any) -> int:
        return self._query(query, parameters).rowcount

    def run_many(self, query: Query, rows: Iterable[Mapping[str, Any]], /) -> None:
        if ROWS_PARAMETER in query.parameters:
            self._query(query, {ROWS_PARAMETER: msgspec.json.encode(list(rows)).decode()})
            return
        self._check_time()
        with self.connection.cursor() as cursor:
            cursor.executemany(_get_sql(query), [{**row, **self._ambient} for row in rows])
            self.rows += max(cursor.rowcount, 0)

    def _fetch(self, query: Query, shape: type[T] | None, parameters: dict[str, Any]) -> list[Any]:
        cursor = self._query(query, parameters)
        convert = self._row_converters.get((query, shape)) or self._build_converter(query, shape, cursor)
        return convert(cursor.fetchall())

    def _query(self, query: Query, parameters: dict[str, Any]) -> psycopg.Cursor[Row]:
        self._check_time()
        cursor = self.connection.execute(_get_sql(query), parameters | self._ambient)
        self.rows += max(cursor.rowcount, 0)
        return cursor

    def _check_time(self) -> None:
        """Raise if the request is over, and limit the next statement to the remaining time of the request."""
        remaining_s = self.cancellation.ends_at - monotonic()
        if remaining_s < 0:
            raise self.cancellation.build_error()
        if self._statement_s - remaining_s > SHORTEN_AFTER_S:  # false if there is no limit: inf - inf is NaN
            self._statement_s = remaining_s
            set_statement_timeout(self.connection, remaining_s)


def _commit(connection: Connection) -> None:
    try:
        connection.execute("COMMIT")
    except psycopg.OperationalError as error:
        if not connection.broken:
            raise  # the server refused the commit
        raise CommitUncertain from error


class CommitUncertain(Unavailable):
    """The connection was lost during the commit."""

    code = "store_commit_uncertain"
    may_retry = False

    def __init__(self) -> None:
        super().__init__(
            "the connection to PostgreSQL was lost during the commit, so the change may be there; look before you "
            "repeat it, or send it with an op_id"
        )


def check_role_and_schema(connection: Connection, *, as_owner: bool = False) -> None:
    """Raise if the role bypasses row level security, or if the schema is missing, outdated or newer.

    With `as_owner`, raise if the role does not own the schema instead.
    """
    held = read_role_privileges(connection)
    if as_owner and (held is None or not held.owns_tables):
        raise OwnerRequired
    if not as_owner and (held is None or any(held)):
        raise UnsafeRole
    has_schema = connection.execute("SELECT to_regclass('schema_migrations') IS NOT NULL").fetchone()
    if has_schema != (True,):
        raise NoSchema
    row = connection.execute("SELECT max(number) FROM schema_migrations").fetchone()
    known = get_latest_version()
    number = (row and row[0]) or 0
    if number > known:
        raise NewerSchema(number, known)
    if number < known:
        raise OutdatedSchema(number, known)


def _get_sql(query: Query) -> LiteralString:
    # The text is from a file of Groundplan; values are always parameters.
    return query.postgres


class UnsafeRole(Unavailable):
    """The role could bypass row level security."""

    code = "store_unsafe_role"

    def __init__(self) -> None:
        super().__init__(
            "this role is a superuser, owns the tables or bypasses row level security; "
            "connect with the app URL that groundplan init prints"
        )


class OwnerRequired(Forbidden):
    """Only the role that owns the schema may do this."""

    code = "store_owner_required"

    def __init__(self) -> None:
        super().__init__("only the owner of the database may do this; give the URL of that role, as to groundplan init")


class NoSchema(Unavailable):
    """The database is not set up, or not for this role."""

    code = "store_not_groundplan"

    def __init__(self) -> None:
        super().__init__("there is no Groundplan in this database; run groundplan init with the owner's URL first")


class OutdatedSchema(Unavailable):
    """The schema is older than this Groundplan, and the app role may not migrate it."""

    code = "store_outdated"

    def __init__(self, stored: int, known: int) -> None:
        super().__init__(
            f"this database has schema {stored} and this Groundplan needs {known}; "
            "run groundplan init with the owner's URL",
            found=stored,
            known=known,
        )


@contextmanager
def translate_errors(cancellation: Cancellation | None = None) -> Iterator[None]:
    """Translate errors of PostgreSQL to errors of Groundplan; unknown errors are raised unchanged."""
    try:
        yield
    except (errors.SerializationFailure, errors.DeadlockDetected) as error:
        raise TryAgain from error
    except errors.InsufficientPrivilege as error:
        raise Forbidden("the database does not allow this for your role") from error
    except errors.QueryCanceled as error:
        if cancellation is not None and cancellation.is_over:
            raise cancellation.build_error() from error
        raise Unavailable("the database took too long; nothing was written", code="store_too_slow") from error
    except errors.LockNotAvailable as error:
        raise Unavailable("another write holds the lock for too long; try again", code="store_busy") from error
    except errors.IdleInTransactionSessionTimeout as error:
        raise Unavailable(
            "this process stopped inside a transaction, so PostgreSQL ended it and nothing was written; try again",
            code="store_disconnected",
        ) from error
    except psycopg.ProgrammingError as error:
        if error.sqlstate is not None:
            raise
        # Without an SQLSTATE, the URL could not be parsed. Its text is not shown, because it may contain a password.
        raise Invalid(
            "this is not a valid PostgreSQL URL; write postgresql://USER:PASSWORD@HOST:PORT/NAME", code="invalid_url"
        ) from None
    except errors.DiskFull as error:
        raise Unavailable(
            "the database's disk is full; nothing was written. Free some space, then try again", code="store_disk_full"
        ) from error
    except psycopg.OperationalError as error:
        if is_login_refused(error):
            raise Unavailable(
                "PostgreSQL refused the login, or has no such database; check user, password and name",
                code="store_refused",
            ) from error
        raise Unavailable(
            "PostgreSQL does not answer, or has no free connection; check that it runs and that the URL is right",
            code="store_down",
        ) from error
    except psycopg.Error as error:
        refused = find_refusal(error.diag.message_primary or "") if error.sqlstate == GUARD_SQLSTATE else None
        if refused is None:
            raise
        raise refused from error
