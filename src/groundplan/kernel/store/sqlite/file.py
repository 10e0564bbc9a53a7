"""The SQLite file: created with safe permissions, opened with safe settings, and migrated to the current schema."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.clock import format_timestamp, system_clock
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.ids import new_short_id
from groundplan.kernel.store.sqlite.connection import (
    APPLICATION_ID,
    SQLITE_VERSION_MIN,
    FilePath,
    build_uri,
    connect,
    has_log,
    is_foreign,
    read_version,
)
from groundplan.kernel.store.sqlite.errors import translate_errors
from groundplan.kernel.store.sqlite.log_identity import (
    LogRelation,
    LogWithoutFile,
    check_log,
    check_log_exists,
    find_relation,
    sync_folder,
)
from groundplan.kernel.store.sqlite.write_queue import WriteQueue
from groundplan.kernel.store.store import TryAgain
from groundplan.migrations import get_latest_version

if TYPE_CHECKING:
    from groundplan.kernel.store.migrations import AppliedMigration, Migration
    from groundplan.kernel.store.schema import Schema

NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
# The virtual machine of SQLite does about 20 steps in a microsecond, so a long statement is checked every few
# milliseconds, and most statements end before the first check.
STEPS_BETWEEN_CHECKS = 100_000


def resolve_path(path: FilePath) -> str:
    """Return the absolute path of a file without symbolic links."""
    try:
        return os.path.realpath(path)
    except ValueError:
        raise _cannot_open(f"{str(path)!r} is not a valid file name; name another file with --db") from None


def open_database(
    path: FilePath, schema: Callable[[], Schema], turnstile: WriteQueue, cancellation: Cancellation
) -> sqlite3.Connection:
    """Return a connection to the file. It is created or migrated if necessary.

    A migration takes as long as it needs, unless `cancellation` has a limit or another thread cancels it.
    """
    if sqlite3.sqlite_version_info < SQLITE_VERSION_MIN:
        raise Unavailable(
            f"SQLite {sqlite3.sqlite_version} is too old; Groundplan needs 3.40 or newer",
            code="store_engine_too_old",
        )
    cancellation.prepare(NO_LIMIT_S, is_write=False)  # the steps before the interrupted one stay
    try:
        with translate_errors(cancellation):
            _ensure_file(path, schema, turnstile)
            _ensure_log(path, turnstile)
            connection = connect(path)
            try:
                _bring_up_to_date(connection, path, schema, turnstile, cancellation)
            except BaseException:
                connection.close()
                raise
            return connection
    except TryAgain:
        raise Unavailable("the database is locked by another program; try again", code="store_busy") from None


@contextmanager
def hold_without_checkpoint(path: FilePath, *, needed: bool) -> Iterator[None]:
    """Within the block, prevent SQLite from writing the log to the file when other connections close.

    The last connection writes the log to the file; here that is one that may only read, and it fails to.
    """
    with contextlib.ExitStack() as stack:
        if needed:
            with contextlib.suppress(sqlite3.Error):
                uri = build_uri(path, "mode=ro")
                last = stack.enter_context(contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None)))
                last.execute("PRAGMA schema_version").fetchone()
        yield


def _bring_up_to_date(
    connection: sqlite3.Connection,
    path: FilePath,
    schema: Callable[[], Schema],
    turnstile: WriteQueue,
    cancellation: Cancellation,
) -> None:
    known = get_latest_version()
    if _is_current(connection, path, known):
        return
    with turnstile.hold_lock(cancellation):
        # Another process may have done it during the wait.
        if _is_current(connection, path, known):
            return
        cancellation.start()
        connection.set_progress_handler(lambda: cancellation.is_over, STEPS_BETWEEN_CHECKS)
        try:
            migrate(connection, schema(), cancellation=cancellation)
        finally:
            connection.set_progress_handler(None, 0)


def _is_current(connection: sqlite3.Connection, path: FilePath, known: int) -> bool:
    if is_foreign(connection):
        raise Unavailable(
            f"{str(path)!r} is a database of another program; name another file with --db",
            code="store_not_groundplan",
        )
    version = read_version(connection)
    if version > known:
        from groundplan.kernel.store.migrations import NewerSchema  # not at import, as in `migrate`

        raise NewerSchema(version, known)
    return version == known and has_log(connection)


def migrate(
    connection: sqlite3.Connection,
    schema: Schema,
    steps: Sequence[Migration] | None = None,
    *,
    cancellation: Cancellation | None = None,
) -> None:
    """Apply every pending step, then generate the triggers again. If it is cancelled, the next opening continues it."""
    # Not at import: most files that are opened have the current schema.
    from groundplan.kernel.operations.progress import count_progress
    from groundplan.kernel.store.migrations import Dialect, load_migrations

    limit = Cancellation() if cancellation is None else cancellation
    steps = load_migrations(Dialect.SQLITE) if steps is None else steps
    connection.execute("PRAGMA journal_mode = WAL")
    pending = _find_pending(connection, steps)
    for step in count_progress(pending, len(pending)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have applied this step during the wait for the lock.
            if step in _find_pending(connection, steps):
                _apply_step(connection, step, schema, limit, is_last=step is steps[-1])
            connection.execute("COMMIT")
        except BaseException:
            connection.set_progress_handler(None, 0)  # a rollback must not be interrupted
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def read_applied_migrations(connection: sqlite3.Connection) -> list[AppliedMigration]:
    """Return the steps that this file has recorded."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").fetchone():
        return []
    from groundplan.kernel.store.migrations import AppliedMigration  # not at import, as in `migrate`

    rows = connection.execute("SELECT number, name, checksum FROM schema_migrations ORDER BY number")
    return [AppliedMigration(*row) for row in rows]


def _find_pending(connection: sqlite3.Connection, steps: Sequence[Migration]) -> Sequence[Migration]:
    from groundplan.kernel.store.migrations import find_pending  # not at import, as in `migrate`

    return find_pending(steps, read_applied_migrations(connection))


def _apply_step(
    connection: sqlite3.Connection, step: Migration, schema: Schema, cancellation: Cancellation, *, is_last: bool
) -> None:
    for statement in split_statements(step.text):
        cancellation.check()
        connection.execute(statement)
    connection.execute(
        "INSERT INTO schema_migrations (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
        (step.number, step.name, step.checksum, format_timestamp(system_clock())),
    )
    if is_last:
        from groundplan.kernel.store.schema import generate_sqlite_guards  # not at import, as in `migrate`

        guards = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'guard_*'")
        for (name,) in guards.fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        for statement in generate_sqlite_guards(schema):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {step.number}")


def split_statements(script: str) -> Iterator[str]:
    """Yield the statements of a script; a trigger is one statement."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip() and not all(line.startswith("--") or not line.strip() for line in statement.splitlines()):
        raise ValueError(f"a statement does not end: {statement.strip()[:60]}")


def _ensure_file(path: FilePath, schema: Callable[[], Schema], turnstile: WriteQueue) -> None:
    try:
        if not _check_file(path):
            # The folder is checked first: without it, the error would be about the files of the queue.
            folder = os.path.dirname(path)
            if not stat.S_ISDIR(os.stat(folder).st_mode):
                raise NotADirectoryError
            with turnstile.hold_lock():
                if not _check_file(path):
                    _make_file(path, schema())
    except (FileNotFoundError, NotADirectoryError):
        raise _cannot_open(
            f"there is no folder {os.path.dirname(path)!r}; create it, or name another file with --db"
        ) from None
    except OSError as error:
        raise _cannot_open(f"cannot open {str(path)!r}: {error.strerror}; check its owner and mode") from None


def _check_file(path: FilePath) -> bool:
    """Return False if the file does not exist; raise if it cannot be opened. Opening it here could block on a FIFO."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        status = None
    log = f"{path}-wal"
    if (status is None or (stat.S_ISREG(status.st_mode) and not status.st_size)) and _has_content(log):
        raise LogWithoutFile(path)
    if status is None:
        return False
    if stat.S_ISDIR(status.st_mode):
        raise _cannot_open(f"{str(path)!r} is a folder; name a file, for example {os.path.join(path, 'plan.db')!r}")
    if not stat.S_ISREG(status.st_mode):
        raise _cannot_open(f"{str(path)!r} is {_describe_type(status.st_mode)}, not a file; name a file with --db")
    if not os.access(path, os.R_OK | os.W_OK):
        raise _cannot_open(f"you may not read and write {str(path)!r}; check its owner and mode")
    return True


def _describe_type(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def _has_content(log: str) -> bool:
    try:
        return os.stat(log).st_size > 0
    except FileNotFoundError:
        return False


def _ensure_log(path: FilePath, turnstile: WriteQueue) -> None:
    """Check that the log belongs to the file, before SQLite applies it."""
    if not (os.path.lexists(f"{path}-wal") or os.path.lexists(f"{path}-shm")):
        return
    check_log_exists(path)
    # Without the lock first: most logs belong to their file, and opening should not wait for a long write.
    if find_relation(path) is not LogRelation.BELONGS:
        with turnstile.hold_lock():
            check_log(path)


def _make_file(path: FilePath, schema: Schema) -> None:
    """Create a database that only its owner can open. Its companion files get the same permissions.

    It is complete before it gets its name, so nobody sees a part of it. An existing database is never opened here:
    closing a file drops all locks of this process on it.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{new_short_id()}")
    os.close(os.open(temporary, NEW_FILE, 0o600))
    try:
        with contextlib.closing(connect(temporary)) as connection:
            migrate(connection, schema)
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass  # another program created it; what it is, is checked when it is opened
        except OSError:  # the file system has no links
            os.rename(temporary, path)
            return
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{temporary}{suffix}")
    sync_folder(folder)


def _cannot_open(sentence: str) -> Unavailable:
    return Unavailable(sentence, code="store_cannot_open")
