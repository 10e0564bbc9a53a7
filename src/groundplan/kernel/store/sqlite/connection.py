"""Connections to an SQLite file, and its path as a URI."""

from __future__ import annotations

import os
import sqlite3

APPLICATION_ID = 0x47504C4E  # "GPLN" in the header marks a Groundplan database
SQLITE_VERSION_MIN = (3, 40, 0)
BUSY_TIMEOUT_S = 30.0  # only a program that does not use the write queue, such as a shell, causes a wait

FilePath = str | os.PathLike[str]

# What a URI has as it is.
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def build_uri(path: FilePath, options: str) -> str:
    """Return the URI by which SQLite opens a file: `file:///srv/plan.db?mode=rw`."""
    # The current folder is looked up only if it is needed: it may have been removed.
    absolute = path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
    text = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in os.fsencode(absolute))
    return f"file://{text}?{options}"


def quote_name(path: FilePath) -> str:
    """Return the quoted name of a file without its folder."""
    return repr(os.path.basename(path))


def connect(path: FilePath) -> sqlite3.Connection:
    """Return a connection with all settings for safe storage.

    synchronous=FULL, because NORMAL loses committed writes in a power failure; recursive_triggers, because without it
    REPLACE deletes rows without running delete triggers.
    """
    # mode=rw: only `file._make_file` creates files, with the right mode.
    connection = sqlite3.connect(
        build_uri(path, "mode=rw"),
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
        # Triggers update the text index, and SQLite allows FTS5 in triggers only with a trusted schema. This is safe:
        # no extensions are loaded and no functions of our own are registered.
        connection.execute("PRAGMA trusted_schema = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def is_foreign(connection: sqlite3.Connection) -> bool:
    """Return True if a file is a database of another program. An empty file is not."""
    # In this order: another process may create the database between the two reads. If the id was read first, its tables
    # would be seen without the id.
    if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None:
        return False
    return _read_number(connection, "PRAGMA application_id") != APPLICATION_ID


def read_version(connection: sqlite3.Connection) -> int:
    """Return the number of the last migration of a file."""
    return _read_number(connection, "PRAGMA user_version")


def has_log(connection: sqlite3.Connection) -> bool:
    """Return True if the file uses a write-ahead log. A restored backup may not."""
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    return bool(mode == "wal")


def _read_number(connection: sqlite3.Connection, pragma: str) -> int:
    number: int = connection.execute(pragma).fetchone()[0]
    return number
