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
import sqlite3
from collections.abc import Sequence

from groundplan.kernel.store.sqlite.file_paths import FilePath, build_uri

MARK_TABLE = "file_mark"
MARK_PAGE = 2  # the first table that is created
_PART_CHARS = (16, 16, 20, 20, 20, 10)  # of a mark: two hexadecimal numbers, then decimal ones
_MARK_CHARS = sum(_PART_CHARS) + len(_PART_CHARS) - 1
_BLANK = ord(" ")
_CELL_POINTER_OFFSET = 8  # after the header of a leaf page


class FileMark:
    """The content of the row."""

    __slots__ = ("inode", "log_inode", "modified_ns", "nonce", "previous", "schema_cookie")

    def __init__(
        self, nonce: str, previous: str, inode: int, modified_ns: int, log_inode: int, schema_cookie: int
    ) -> None:
        self.nonce, self.previous = nonce, previous
        self.inode, self.modified_ns, self.log_inode, self.schema_cookie = inode, modified_ns, log_inode, schema_cookie

    def encode(self) -> str:
        """Return the text of the row."""
        return (
            f"{self.nonce} {self.previous} {self.inode:020d} {self.modified_ns:020d} {self.log_inode:020d} "
            f"{self.schema_cookie:010d}"
        )


class FileContent:
    """The mark and the schema cookie of the file itself, without its log. A file without a mark has no nonce."""

    __slots__ = ("mark", "schema_cookie")

    def __init__(self, mark: FileMark | None, schema_cookie: int) -> None:
        self.mark, self.schema_cookie = mark, schema_cookie

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


class open_without_log:  # noqa: N801 - used like a function; contextlib takes long to import
    """A context manager that opens the file alone, without its log and without locks.

    SQLite opens it: closing a descriptor of our own would drop the locks of this process on the file.
    """

    def __init__(self, path: FilePath) -> None:
        self._path = path

    def __enter__(self) -> sqlite3.Connection:
        self._connection = sqlite3.connect(build_uri(self._path, "mode=ro&immutable=1"), uri=True)
        try:
            # An interrupted checkpoint leaves a file that is shorter than its first page says; only so SQLite reads it.
            self._connection.execute("PRAGMA writable_schema = ON")
        except BaseException:
            self._connection.close()
            raise
        return self._connection

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def _decode(text: bytes) -> FileMark | None:
    for start in range(len(text) - _MARK_CHARS + 1):
        if text[start + _PART_CHARS[0]] == _BLANK:
            parts = text[start : start + _MARK_CHARS].split(b" ")
            if tuple(map(len, parts)) == _PART_CHARS and _are_numbers(parts):
                return _build_mark([part.decode() for part in parts])
    return None


def _are_numbers(parts: Sequence[bytes]) -> bool:
    nonce, previous, *numbers = parts
    return not (nonce + previous).strip(b"0123456789abcdef") and all(number.isdigit() for number in numbers)


def _build_mark(parts: Sequence[str]) -> FileMark:
    nonce, previous, *numbers = parts
    return FileMark(nonce, previous, *map(int, numbers))
