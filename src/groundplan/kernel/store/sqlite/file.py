"""The file itself: made with tight modes, opened with the safe settings, brought to today's schema."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from groundplan.kernel.clock import format_timestamp, system_clock
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.ids import new_short_id
from groundplan.kernel.store.guards import generate_sqlite_guards
from groundplan.kernel.store.migrations import (
    AppliedMigration,
    Dialect,
    Migration,
    NewerSchema,
    find_pending,
    load_migrations,
)
from groundplan.kernel.store.retry import TryAgain
from groundplan.kernel.store.sqlite.errors import translate_errors
from groundplan.kernel.store.sqlite.write_queue import WriteQueue
from groundplan.kernel.store.tables import Schema

APPLICATION_ID = 0x47504C4E  # "GPLN" in the header: how `file` and we know a Groundplan database
SQLITE_VERSION_MIN = (3, 40, 0)
NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
BUSY_TIMEOUT_S = 30.0  # only a process that does not know the turnstile, such as a shell, can make us wait


def connect(path: Path) -> sqlite3.Connection:
    """A connection with every setting that keeps data safe.

    synchronous=FULL, because NORMAL loses acknowledged writes when the power goes; recursive_triggers, because
    REPLACE deletes rows behind the triggers' back without it.
    """
    # mode=rw: only `_make_file` makes files, with the mode they should have.
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA recursive_triggers = ON")
        # Triggers keep the text index, and to SQLite its own FTS5 is nothing that a schema may be trusted with. What
        # the setting is there against cannot be had here: extensions are never loaded, and no function of ours exists.
        connection.execute("PRAGMA trusted_schema = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def resolve_path(path: Path) -> Path:
    """The file itself, whatever name it is called by and wherever the process goes later."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        raise _cannot_open(f"{str(path)!r} cannot be the name of a file; name another one with --db") from None


def open_database(path: Path, schema: Callable[[], Schema], turnstile: WriteQueue) -> sqlite3.Connection:
    """A connection to a file that is there, is ours and has today's schema."""
    if sqlite3.sqlite_version_info < SQLITE_VERSION_MIN:
        raise Unavailable(
            f"SQLite {sqlite3.sqlite_version} is too old; Groundplan needs 3.40 or newer",
            code="store_engine_too_old",
        )
    _ensure_file(path)
    try:
        with translate_errors():
            connection = connect(path)
            try:
                _bring_up_to_date(connection, path, schema, turnstile)
            except BaseException:
                connection.close()
                raise
            return connection
    except TryAgain:
        raise Unavailable("the database is locked by another program; try again", code="store_busy") from None


def _bring_up_to_date(
    connection: sqlite3.Connection, path: Path, schema: Callable[[], Schema], turnstile: WriteQueue
) -> None:
    if _is_foreign(connection):
        raise Unavailable(
            f"{str(path)!r} is a database of another program; name another file with --db",
            code="store_not_groundplan",
        )
    known = len(load_migrations(Dialect.SQLITE))
    version = _read_number(connection, "PRAGMA user_version")
    if version > known:
        raise NewerSchema(version, known)
    if version < known:
        with turnstile.turn():
            migrate(connection, schema())


def migrate(connection: sqlite3.Connection, schema: Schema, steps: Sequence[Migration] | None = None) -> None:
    """Take every step that is still to take, then put the generated guards up anew."""
    steps = load_migrations(Dialect.SQLITE) if steps is None else steps
    connection.execute("PRAGMA journal_mode = WAL")
    for step in _find_pending(connection, steps):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Somebody may have taken this step while we waited for the lock.
            if step in _find_pending(connection, steps):
                _apply_step(connection, step, schema, is_last=step is steps[-1])
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def read_applied_migrations(connection: sqlite3.Connection) -> list[AppliedMigration]:
    """The steps that this file has taken."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").fetchone():
        return []
    rows = connection.execute("SELECT number, name, checksum FROM schema_migrations ORDER BY number")
    return [AppliedMigration(*row) for row in rows]


def _find_pending(connection: sqlite3.Connection, steps: Sequence[Migration]) -> Sequence[Migration]:
    return find_pending(steps, read_applied_migrations(connection))


def _apply_step(connection: sqlite3.Connection, step: Migration, schema: Schema, *, is_last: bool) -> None:
    for statement in split_statements(step.text):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO schema_migrations (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
        (step.number, step.name, step.checksum, format_timestamp(system_clock())),
    )
    if is_last:
        guards = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'guard_*'")
        for (name,) in guards.fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        there = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        # Between two steps, what a later one adds is declared but not there yet.
        for statement in generate_sqlite_guards(schema.restrict_to_tables([name for (name,) in there])):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {step.number}")


def split_statements(script: str) -> Iterator[str]:
    """The statements of a script, each whole, triggers included."""
    gathered = ""
    for line in script.splitlines(keepends=True):
        gathered += line
        if sqlite3.complete_statement(gathered):
            yield gathered
            gathered = ""
    if gathered.strip() and not all(line.startswith("--") or not line.strip() for line in gathered.splitlines()):
        raise ValueError(f"a statement does not end: {gathered.strip()[:60]}")


def _ensure_file(path: Path) -> None:
    try:
        if path.is_dir():
            raise _cannot_open(f"{str(path)!r} is a folder; name a file, for example {str(path / 'plan.db')!r}")
        if not path.exists():
            _make_file(path)
        elif not os.access(path, os.R_OK | os.W_OK):
            raise _cannot_open(f"{str(path)!r} may not be read and written by you; check its owner and mode")
    except (FileNotFoundError, NotADirectoryError):
        raise _cannot_open(
            f"there is no folder {str(path.parent)!r}; make it, or name another file with --db"
        ) from None
    except OSError as error:
        raise _cannot_open(f"cannot open {str(path)!r}: {error.strerror}; check its owner and mode") from None


def _make_file(path: Path) -> None:
    """Make an empty file that its owner alone can open; WAL and shared memory files take their mode from it.

    It is made under another name and linked into place: closing a file drops every lock that this process has on it,
    and another thread's SQLite may already hold some. For the same reason an existing database is never opened here.
    """
    made = path.with_name(f".{path.name}.{new_short_id()}")
    os.close(os.open(made, NEW_FILE, 0o600))
    try:
        os.link(made, path)
    except FileExistsError:
        pass  # somebody else was first, and made it the same way
    except OSError:  # a file system without links
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, NEW_FILE, 0o600))
    finally:
        made.unlink()


def _cannot_open(sentence: str) -> Unavailable:
    return Unavailable(sentence, code="store_cannot_open")


def _is_foreign(connection: sqlite3.Connection) -> bool:
    # In this order: somebody who makes the file right now could finish between the two questions, and had the mark been
    # looked for first, their tables would be seen without it.
    if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None:
        return False
    return _read_number(connection, "PRAGMA application_id") != APPLICATION_ID


def _read_number(connection: sqlite3.Connection, pragma: str) -> int:
    number: int = connection.execute(pragma).fetchone()[0]
    return number
