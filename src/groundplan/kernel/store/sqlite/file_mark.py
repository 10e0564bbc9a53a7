"""The mark that ties a write-ahead log to its database file.

SQLite applies whatever log lies beside a file. It does not notice that the file was replaced by a backup, and mixes the
pages of two databases. So the database has one row, its mark, and the log gets a new one with its first transaction and
after every change of the file:

    nonce     a random number, new in each mark
    previous  the nonce before; in the first mark of a log, the one in the file when the log began
    …         the inode and time of the file, the inode of the log, and the schema cookie, as they were then

The row is on page 2 and has a fixed length, so that it can be read from the raw pages of a log.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import msgspec

from groundplan.kernel.store.sqlite.file_paths import FilePath, build_uri

MARK_TABLE = "file_mark"
MARK_PAGE = 2  # the first table that is created
_MARK = rb"([0-9a-f]{16}) ([0-9a-f]{16}) (\d{20}) (\d{20}) (\d{20}) (\d{10})"
_CELL_POINTER_OFFSET = 8  # after the header of a leaf page


class FileMark(msgspec.Struct, frozen=True):
    """The content of the row."""

    nonce: str
    previous: str
    inode: int
    modified_ns: int
    log_inode: int
    schema_cookie: int

    def encode(self) -> str:
        """Return the text of the row."""
        return (
            f"{self.nonce} {self.previous} {self.inode:020d} {self.modified_ns:020d} {self.log_inode:020d} "
            f"{self.schema_cookie:010d}"
        )


class FileContent(msgspec.Struct, frozen=True):
    """What the file itself says, without its log."""

    mark: FileMark | None
    schema_cookie: int

    @property
    def nonce(self) -> str | None:
        return self.mark.nonce if self.mark else None


def read_mark(connection: sqlite3.Connection) -> FileMark | None:
    """Return the mark of the database, as a transaction sees it."""
    row = connection.execute("SELECT mark FROM file_mark WHERE id = 1").fetchone()
    return _build_mark(row[0].split(" ")) if row else None


def write_mark(connection: sqlite3.Connection, *, inode: int, modified_ns: int, log_inode: int) -> str:
    """Write a new mark within a transaction and return its nonce."""
    before = read_mark(connection)
    (cookie,) = connection.execute("PRAGMA schema_version").fetchone()
    nonce = os.urandom(8).hex()
    mark = FileMark(nonce, before.nonce if before else "0" * 16, inode, modified_ns, log_inode, cookie)
    connection.execute("UPDATE file_mark SET mark = ? WHERE id = 1", (mark.encode(),))
    return nonce


def find_mark(page: bytes) -> FileMark | None:
    """Return the mark on a raw page."""
    # Only the cell counts: free space may hold older marks.
    cell = int.from_bytes(page[_CELL_POINTER_OFFSET : _CELL_POINTER_OFFSET + 2], "big")
    return _decode(page[cell:])


def read_content(path: FilePath) -> FileContent:
    """Return what the file says without its log.

    Raises:
        DatabaseError: the file alone is not a readable database.
    """
    with open_without_log(path) as connection:
        (cookie,) = connection.execute("PRAGMA schema_version").fetchone()
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (MARK_TABLE,)).fetchone():
            return FileContent(None, cookie)
        return FileContent(read_mark(connection), cookie)


@contextmanager
def open_without_log(path: FilePath) -> Iterator[sqlite3.Connection]:
    """Open the file alone, without its log and without locks.

    SQLite opens it: closing a descriptor of our own would drop the locks of this process on the file.
    """
    with closing(sqlite3.connect(build_uri(path, "mode=ro&immutable=1"), uri=True)) as connection:
        # An interrupted checkpoint leaves a file that is shorter than its first page says; only so SQLite reads it.
        connection.execute("PRAGMA writable_schema = ON")
        yield connection


def _decode(text: bytes) -> FileMark | None:
    found = re.search(_MARK, text)
    if found is None:
        return None
    return _build_mark([part.decode() for part in found.groups()])


def _build_mark(parts: Sequence[str]) -> FileMark:
    nonce, previous, *numbers = parts
    return FileMark(nonce, previous, *map(int, numbers))
