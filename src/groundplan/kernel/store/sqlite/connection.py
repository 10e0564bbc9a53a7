"""Connections to an SQLite file, its path as a URI, and a read that needs nothing but a connection."""

from __future__ import annotations

import os
import sqlite3
import stat
from typing import TYPE_CHECKING

from groundplan.kernel.clock import find_system_uptime, find_time_of_read, read_timestamp, system_clock
from groundplan.kernel.store.queries import load_queries
from groundplan.migrations import count_migrations

if TYPE_CHECKING:
    from typing import Any

    from groundplan.kernel.store.queries import Query


APPLICATION_ID = 0x47504C4E  # "GPLN" in the header marks a Groundplan database
SQLITE_VERSION_MIN = (3, 40, 0)
BUSY_TIMEOUT_S = 30.0  # only a program that does not use the write queue, such as a shell, causes a wait

sql = load_queries(os.path.dirname(__file__))  # those of the store

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
    """Return the name of a file in quotation marks, without its folder."""
    return repr(os.path.basename(path))


def connect(path: FilePath, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """Return a connection with all settings that keep data safe.

    synchronous=FULL, because NORMAL loses committed writes in a power failure; recursive_triggers, because without it
    REPLACE deletes rows without running delete triggers.
    """
    # mode=rw: only `file._make_file` creates files, with the right mode.
    connection = sqlite3.connect(
        build_uri(path, "mode=rw"),
        uri=True,
        timeout=busy_timeout_s,
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
    """Return whether a file is a database of another program. An empty one is not."""
    # In this order: another process may create the database between the two reads. If the id was read first, its tables
    # would be seen without the id.
    if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None:
        return False
    return _read_number(connection, "PRAGMA application_id") != APPLICATION_ID


def read_version(connection: sqlite3.Connection) -> int:
    """Return the number of the last migration of a file."""
    return _read_number(connection, "PRAGMA user_version")


def has_log(connection: sqlite3.Connection) -> bool:
    """Return whether changes of a file go to a log first. Those of a restored backup may not."""
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    return bool(mode == "wal")


def _read_number(connection: sqlite3.Connection, pragma: str) -> int:
    number: int = connection.execute(pragma).fetchone()[0]
    return number


class Unusual(Exception):
    """A file, a project or a row needs more than a quick read knows, or there is an error to report."""


class NamedRow:
    """A row of a query, with its columns as attributes. Booleans are numbers, as SQLite stores them."""

    def __init__(self, names: list[str], values: tuple[Any, ...]) -> None:
        self.__dict__.update(zip(names, values, strict=True))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class QuickRead:
    """A read of one project on one snapshot, by a person whom the store trusts with all projects.

    It stands for `SqliteStore.read` and `authorize_project` where these have nothing to decide: the file is there, has
    the current schema and is not locked, and its log belongs to it. Whatever else it finds is Unusual; then the caller
    opens the store, which does or reports what is needed. It never waits and changes no row; the last connection to a
    file writes the log to it, as always.
    """

    def __init__(self, path: str, *, organization: str, actor_id: str) -> None:
        self._path = os.path.realpath(path)
        self._given: dict[str, Any] = {"tenant_id": organization, "actor_id": actor_id}
        self.project = NamedRow([], ())

    def __enter__(self) -> QuickRead:
        _require_usual_files(self._path)
        self._connection = connect(self._path, busy_timeout_s=0)
        self._opened = _identify_files(self._path)
        try:
            self._begin()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _begin(self) -> None:
        if is_foreign(self._connection) or read_version(self._connection) != count_migrations():
            raise Unusual("another schema")
        if not has_log(self._connection):
            raise Unusual("no log")
        self._opened = _identify_files(self._path)  # SQLite has created the log
        self._connection.execute("PRAGMA query_only = ON")
        self._connection.execute("BEGIN")
        self._given["now"] = read_timestamp(system_clock)

    def _close(self) -> None:
        if _identify_files(self._path) == self._opened:
            self._connection.close()
            return
        # The last connection writes the log to the file. A file that was replaced or changed meanwhile is left alone.
        from groundplan.kernel.store.sqlite.file import hold_without_checkpoint

        with hold_without_checkpoint(self._path, needed=True):
            self._connection.close()

    @property
    def now(self) -> str:
        """The time of the read."""
        now: str = self._given["now"]
        return now

    def choose_project(self, ref: str) -> None:
        """Set the project with this id or name, and the time of the read, which depends on its last write.

        Raises:
            Unusual: there is none, or there are two.
        """
        found = self.all(sql.projects_by_ref, ref=ref)
        if len(found) != 1:
            raise Unusual("no project, or two")
        self.project = project = found[0]
        self._given["project_id"] = project.id
        self._given["now"], _ = find_time_of_read(self.now, project, find_system_uptime())

    def find_only_project(self) -> str:
        """Return the name of the only project. Raises Unusual if there are several, or none."""
        from groundplan.kernel import projects  # most often it is configured

        found = self.all(load_queries(str(projects.__file__)).projects, with_archived=False)
        if len(found) != 1:
            raise Unusual("no project, or several")
        name: str = found[0].name
        return name

    def all(self, query: Query, **parameters: Any) -> list[NamedRow]:
        """Return every row of a statement."""
        cursor = self._connection.execute(query.sqlite, {**parameters, **self._given})
        names = [column[0] for column in cursor.description]
        return [NamedRow(names, values) for values in cursor.fetchall()]

    def check_files(self) -> None:
        """Raise Unusual if a file is missing, or was replaced or changed since it was opened."""
        if None in self._opened or _identify_files(self._path) != self._opened:
            raise Unusual("a file was replaced")


def _require_usual_files(path: str) -> None:
    """Raise Unusual or OSError unless the file can be opened, and a log beside it belongs to it."""
    if sqlite3.sqlite_version_info < SQLITE_VERSION_MIN:
        raise Unusual("an old SQLite")
    status = os.stat(path)
    if not (stat.S_ISREG(status.st_mode) and status.st_size and os.access(path, os.R_OK | os.W_OK)):
        raise Unusual("not a file that can be read and written")
    if os.path.lexists(f"{path}-wal"):
        from groundplan.kernel.store.sqlite.log_identity import read_log  # most often there is no log

        log = read_log(f"{path}-wal")
        if log is not None and log.marks and not log.is_marked_for(os.stat(path)):
            raise Unusual("a log of another state")
    elif os.path.lexists(f"{path}-shm"):
        raise Unusual("the log was removed")


def _identify_files(path: str) -> list[tuple[int, ...] | None]:
    """Return which files the database, its log and the index of the log are, and when the database was changed."""
    return [_identify(path, with_time=True), _identify(f"{path}-wal"), _identify(f"{path}-shm")]


def _identify(path: str, *, with_time: bool = False) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns if with_time else 0
