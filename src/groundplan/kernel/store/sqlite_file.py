"""The file itself: made with tight modes, opened with the safe settings, brought to today's schema."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from groundplan.kernel.clock import stamp, system_clock
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.attempts import TryAgain
from groundplan.kernel.store.guards import sqlite_guards
from groundplan.kernel.store.migrations import Applied, Dialect, Migration, NewerSchema, migrations, pending
from groundplan.kernel.store.sqlite_errors import translated
from groundplan.kernel.store.tables import Schema
from groundplan.kernel.store.turnstile import Turnstile

APPLICATION_ID = 0x47504C4E  # "GPLN" in the header: how `file` and we know a Groundplan database
SQLITE_VERSION_MIN = (3, 40, 0)
BUSY_TIMEOUT_S = 30.0  # only a process that does not know the turnstile, such as a shell, can make us wait


def connect(path: Path) -> sqlite3.Connection:
    """A connection with every setting that keeps data safe.

    synchronous=FULL, because NORMAL loses acknowledged writes when the power goes; recursive_triggers, because
    REPLACE deletes rows behind the triggers' back without it.
    """
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, cached_statements=512
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA recursive_triggers = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def ready_file(path: Path, schema: Callable[[], Schema], turnstile: Turnstile) -> sqlite3.Connection:
    """A connection to a file that is there, is ours and has today's schema."""
    if sqlite3.sqlite_version_info < SQLITE_VERSION_MIN:
        raise Unavailable(
            f"SQLite {sqlite3.sqlite_version} is too old; Groundplan needs 3.40 or newer",
            code="store_engine_too_old",
        )
    _touch(path)
    try:
        with translated():
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
    connection: sqlite3.Connection, path: Path, schema: Callable[[], Schema], turnstile: Turnstile
) -> None:
    if _is_foreign(connection):
        raise Unavailable(
            f"{str(path)!r} is a database of another program; name another file with --db",
            code="store_not_groundplan",
        )
    known = len(migrations(Dialect.SQLITE))
    version = _number(connection, "PRAGMA user_version")
    if version > known:
        raise NewerSchema(version, known)
    if version < known:
        with turnstile.turn():
            migrate(connection, schema())


def migrate(connection: sqlite3.Connection, schema: Schema, steps: Sequence[Migration] | None = None) -> None:
    """Take every step that is still to take, then put the generated guards up anew."""
    steps = migrations(Dialect.SQLITE) if steps is None else steps
    connection.execute("PRAGMA journal_mode = WAL")
    for step in _pending(connection, steps):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Somebody may have taken this step while we waited for the lock.
            if step in _pending(connection, steps):
                _take(connection, step, schema, is_last=step is steps[-1])
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def applied(connection: sqlite3.Connection) -> list[Applied]:
    """The steps that this file has taken."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").fetchone():
        return []
    rows = connection.execute("SELECT number, name, checksum FROM schema_migrations ORDER BY number")
    return [Applied(*row) for row in rows]


def _pending(connection: sqlite3.Connection, steps: Sequence[Migration]) -> Sequence[Migration]:
    return pending(steps, applied(connection))


def _take(connection: sqlite3.Connection, step: Migration, schema: Schema, *, is_last: bool) -> None:
    for statement in statements(step.text):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO schema_migrations (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
        (step.number, step.name, step.checksum, stamp(system_clock())),
    )
    if is_last:
        guards = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'guard_*'")
        for (name,) in guards.fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        for statement in sqlite_guards(schema):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {step.number}")


def statements(script: str) -> Iterator[str]:
    """The statements of a script, each whole, triggers included."""
    gathered = ""
    for line in script.splitlines(keepends=True):
        gathered += line
        if sqlite3.complete_statement(gathered):
            yield gathered
            gathered = ""
    if gathered.strip() and not all(line.startswith("--") or not line.strip() for line in gathered.splitlines()):
        raise ValueError(f"a statement does not end: {gathered.strip()[:60]}")


def _touch(path: Path) -> None:
    # Made by us before SQLite can make it, so that it never exists with a wider mode; WAL and shared memory files
    # take their mode from it.
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except FileNotFoundError:
        raise Unavailable(
            f"there is no folder {str(path.parent)!r}; make it, or name another file with --db",
            code="store_cannot_open",
        ) from None
    except IsADirectoryError:
        raise Unavailable(
            f"{str(path)!r} is a folder; name a file, for example {str(path / 'plan.db')!r}",
            code="store_cannot_open",
        ) from None
    except ValueError:
        raise Unavailable(
            f"{str(path)!r} cannot be the name of a file; name another one with --db", code="store_cannot_open"
        ) from None
    except OSError as error:
        raise Unavailable(
            f"cannot open {str(path)!r}: {error.strerror}; check its owner and mode", code="store_cannot_open"
        ) from None


def _is_foreign(connection: sqlite3.Connection) -> bool:
    # In this order: somebody who makes the file right now could finish between the two questions, and had the mark been
    # looked for first, their tables would be seen without it.
    if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None:
        return False
    return _number(connection, "PRAGMA application_id") != APPLICATION_ID


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    number: int = connection.execute(pragma).fetchone()[0]
    return number
