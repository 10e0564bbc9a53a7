"""Translate errors of SQLite to errors of Groundplan."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from types import TracebackType

from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import GroundplanError, Unavailable
from groundplan.kernel.store.store import TryAgain


class translate_errors:  # noqa: N801 - used like a function: `with translate_errors():`
    """Within the block, translate errors of SQLite. `cancellation` has the reason why a statement was interrupted."""

    def __init__(self, cancellation: Cancellation | None = None) -> None:
        self._cancellation = cancellation

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, sqlite3.Error):
            raise translate_interrupted(error, self._cancellation) from error


def translate_interrupted(error: sqlite3.Error, cancellation: Cancellation | None) -> BaseException:
    """Return the error of the cancellation if a statement was interrupted; else the translated error."""
    if cancellation is not None and is_interrupt(error):
        # Else a signal handler has raised in the progress handler, where SQLite drops the exception.
        return cancellation.build_error() if cancellation.is_over else KeyboardInterrupt()
    return translate_error(error)


def is_interrupt(error: sqlite3.Error) -> bool:
    """Return True if the progress handler ended the statement."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_INTERRUPT


def translate_error(error: sqlite3.Error) -> Exception:
    """Return the error of a trigger, TryAgain, Unavailable, or the given error if it is unknown."""
    if isinstance(error, sqlite3.IntegrityError):
        from groundplan.kernel.store.schema import find_refusal  # few statements are refused

        if refused := find_refusal(str(error)):
            return refused
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the primary code
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return TryAgain()
    if unavailable := _UNAVAILABLE.get(code):
        return unavailable()
    return error


_UNAVAILABLE: Mapping[int, Callable[[], GroundplanError]] = {
    sqlite3.SQLITE_FULL: lambda: Unavailable(
        "the disk is full; nothing was written. Free some space, then try again", code="store_disk_full"
    ),
    sqlite3.SQLITE_IOERR: lambda: Unavailable(
        "the disk reported an error; nothing was written. Run groundplan doctor", code="store_io_error"
    ),
    sqlite3.SQLITE_READONLY: lambda: Unavailable(
        "the database file is read-only here; check its owner and mode", code="store_read_only"
    ),
    sqlite3.SQLITE_CORRUPT: lambda: Unavailable(
        "the database file is damaged; run groundplan doctor and restore a backup", code="store_damaged"
    ),
    sqlite3.SQLITE_NOTADB: lambda: Unavailable(
        "this file is not an SQLite database; check the path", code="store_not_groundplan"
    ),
    sqlite3.SQLITE_CANTOPEN: lambda: Unavailable(
        "the database file cannot be opened; check that its folder exists and is yours",
        code="store_cannot_open",
    ),
}
