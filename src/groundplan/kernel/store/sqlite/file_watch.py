"""Detect that the files of an open database were removed, replaced or overwritten.

SQLite keeps its descriptors: it would go on writing to files that no path leads to, where nobody finds what was
acknowledged. While a connection is open, no program that uses SQLite removes or replaces one of the three files, and
only a checkpoint changes the database itself.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.sqlite.connection import FilePath, quote_name
from groundplan.kernel.store.sqlite.log_identity import (
    FileContent,
    LogRelation,
    find_relation,
    read_content,
    read_log,
    read_mark,
    write_mark,
)

CHECKPOINT_BYTES = 1000 * 512  # SQLite runs a checkpoint at 1,000 pages, of at least 512 bytes
_stat = os.stat  # not pathlib: it runs before every transaction, and is twice as fast
FilesInPlace = tuple[os.stat_result, os.stat_result]  # the database and its log


class FileReplaced(Unavailable):
    """The open file or one of its companion files was removed, replaced or overwritten."""

    code = "store_replaced"

    def __init__(self, path: FilePath, problem: str) -> None:
        super().__init__(
            f"{problem} while {quote_name(path)} was open, and nothing was written; restart Groundplan. "
            "To restore a backup, first stop every program that uses the file"
        )


class WriteUncertain(Unavailable):
    """A file was removed or replaced while a write was committed."""

    code = "store_write_uncertain"
    may_retry = False

    def __init__(self, path: FilePath, problem: str) -> None:
        super().__init__(
            f"{problem} during this write to {quote_name(path)}, which may be lost; restart Groundplan, and look "
            "whether the change is there"
        )


class FileWatch:
    """The identities of the database file, of its log and of the index of the log, from the opening of the database."""

    def __init__(self, path: FilePath, connection: sqlite3.Connection) -> None:
        self._path = path
        self._database, self._log, self._index = (f"{path}{suffix}" for suffix in ("", "-wal", "-shm"))
        self._expected = tuple(_read_identity(name) for name in (self._database, self._log, self._index))
        if None in self._expected:
            raise FileReplaced(path, self._describe())
        mark = read_mark(connection)
        self._nonce = mark.nonce if mark else None  # of the last mark that is known here
        self._nonce_ns = mark.modified_ns if mark else 0  # and the time of the file in that mark
        self._trusted_ns = _stat(self._database).st_mtime_ns
        self._marked_ns: int | None = None  # the time of the file in the last mark of the log, if known
        self._pending: tuple[int, str] | None = None  # the mark of a transaction that is not committed yet
        self._is_changing = False  # a checkpoint of this process writes to the file

    def check(self) -> FilesInPlace:
        """Return the status of the files."""
        try:
            database, log, index = _stat(self._database), _stat(self._log), _stat(self._index)
        except OSError:
            raise FileReplaced(self._path, self._describe()) from None
        if self._expected != (
            (database.st_dev, database.st_ino),
            (log.st_dev, log.st_ino),
            (index.st_dev, index.st_ino),
        ):
            raise FileReplaced(self._path, self._describe())
        return database, log

    def mark_log(self, connection: sqlite3.Connection, files: FilesInPlace) -> None:
        """Write a mark of the current file into the log, within a transaction, if the log may have none."""
        self._pending = None
        database, log = files
        now_ns = database.st_mtime_ns
        if now_ns == self._marked_ns and log.st_size:
            return
        if now_ns != self._trusted_ns:
            mark = read_mark(connection)
            is_marked = mark is not None and (mark.inode, mark.modified_ns) == (database.st_ino, now_ns)
            if not is_marked and not self._is_changing and self._is_overwritten():
                raise FileReplaced(self._path, f"{quote_name(self._path)} was overwritten")
            self._trusted_ns = now_ns
            if mark and is_marked and log.st_size:
                self._marked_ns, self._nonce_ns, self._nonce = now_ns, now_ns, mark.nonce
                return
        nonce = write_mark(connection, inode=database.st_ino, modified_ns=now_ns, log_inode=log.st_ino)
        self._pending = (now_ns, nonce)

    def confirm_commit(self) -> None:
        """Check after a commit that the database files are still the same, so that the commit is in them."""
        try:
            database, log = self.check()
        except FileReplaced:
            raise WriteUncertain(self._path, self._describe()) from None
        if self._pending:
            self._marked_ns, self._nonce = self._pending
            self._nonce_ns = self._pending[0]
            self._pending = None
        # A commit to a long log changes the file by a checkpoint; no other writer has the lock. Any other change is
        # looked at before the next write.
        if log.st_size >= CHECKPOINT_BYTES:
            self._trusted_ns = database.st_mtime_ns

    @contextmanager
    def changing_file(self) -> Iterator[None]:
        """Within the block, expect changes of the file by a checkpoint of this process."""
        self._is_changing = True
        try:
            yield
            self._trusted_ns = _stat(self._database).st_mtime_ns
        finally:
            self._is_changing = False

    def must_not_checkpoint(self) -> bool:
        """Return True if the log must not be written to the file, for example when the last connection closes.

        If only the log was removed, its descriptors still have it, and a checkpoint saves what it holds.
        """
        database, log, _ = self._expected
        identity = _read_identity(self._log)
        if _read_identity(self._database) != database:
            return False  # SQLite notices this itself
        if identity not in (log, None):
            return True
        if _stat(self._database).st_mtime_ns == self._trusted_ns:
            return False
        return identity is None or self._is_overwritten()

    def _is_overwritten(self) -> bool:
        """Return True if the file changed other than by a checkpoint."""
        log = read_log(self._log)
        if log is not None and log.frames:
            return find_relation(self._path) is not LogRelation.BELONGS
        # Nothing is in the log: it was emptied, or a transaction that began it anew was rolled back or killed.
        try:
            content = read_content(self._path)
        except sqlite3.DatabaseError:
            return True
        return content.nonce != self._nonce and not self._is_of_later_write(content)

    def _is_of_later_write(self, content: FileContent) -> bool:
        """Return True if another program wrote the mark in the file, later than the last mark that is known here.

        It names this file and this log, and the file was not changed after the log. A checkpoint changes the file, and
        then the log is emptied or begun anew; a backup that is copied over the file comes later.
        """
        mark = content.mark
        if mark is None or mark.modified_ns < self._nonce_ns or mark.schema_cookie != content.schema_cookie:
            return False
        database, log = _stat(self._database), _stat(self._log)
        if database.st_ctime_ns > log.st_ctime_ns:  # no program can set this time
            return False
        return (mark.inode, mark.log_inode) == (database.st_ino, log.st_ino)

    def _describe(self) -> str:
        names = [self._database, self._log, self._index]
        for name, expected in zip(names, self._expected, strict=True):
            identity = _read_identity(name)
            if identity is None or identity != expected:
                return f"{quote_name(name)} was {'removed' if identity is None else 'replaced'}"
        return f"{quote_name(self._path)} was removed or replaced"


def _read_identity(path: str) -> tuple[int, int] | None:
    try:
        status = _stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
