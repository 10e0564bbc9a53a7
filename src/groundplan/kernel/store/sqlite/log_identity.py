"""Check that a write-ahead log belongs to the database file beside it.

SQLite applies whatever log lies beside a file. It does not notice that the file was replaced by a backup, and mixes the
pages of two databases. So the database has one row, its mark, and the log gets a new one with its first transaction and
after every change of the file:

    nonce     a random number, new in each mark
    previous  the nonce before; in the first mark of a log, the one in the file when the log began
    …         the inode and time of the file, the inode of the log, and the schema cookie, as they were then

The row is on page 2 and has a fixed length, so that it can be read from the raw pages of a log. What it says decides:

    the file's nonce is not in the log, nor the one the log began with     unrelated: applying the log would damage it
    the schema cookie is another one: a copy by the backup API or VACUUM   unrelated
    the file is as the last mark says, or a checkpoint changed it          belongs
    the log is another file than the last mark says                        belongs: both were copied together
    the content fits, but the file was replaced or overwritten             doubtful: a person decides

A log is never taken for unrelated after a crash, whenever it happens. The file then has the pages of the time when the
log began, except for those that a checkpoint has written; and both have a nonce that the log knows.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from shlex import quote

from groundplan.kernel.clock import system_clock
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.sqlite.connection import FilePath, build_uri, quote_name

# --- The mark -------------------------------------------------------------------------------------------------------

MARK_TABLE = "file_mark"
MARK_PAGE = 2  # the first table that is created
_PART_CHARS = (16, 16, 20, 20, 20, 10)  # of a mark: two hexadecimal numbers, then decimal ones
_MARK_CHARS = sum(_PART_CHARS) + len(_PART_CHARS) - 1
_BLANK = ord(" ")
_CELL_POINTER_OFFSET = 8  # after the header of a leaf page


class FileMark:
    """The content of the row that marks a file."""

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
    """The mark and the schema cookie in the file without its log. Without a mark, the nonce is empty."""

    __slots__ = ("mark", "schema_cookie")

    def __init__(self, mark: FileMark | None, schema_cookie: int) -> None:
        self.mark, self.schema_cookie = mark, schema_cookie

    @property
    def nonce(self) -> str | None:
        return self.mark.nonce if self.mark else None


def read_mark(connection: sqlite3.Connection) -> FileMark | None:
    """Return the mark of the database in the snapshot of a transaction."""
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
    """Return the mark and the schema cookie in the file, without its log."""
    with open_without_log(path) as connection:
        (cookie,) = connection.execute("PRAGMA schema_version").fetchone()
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (MARK_TABLE,)).fetchone():
            return FileContent(None, cookie)
        return FileContent(read_mark(connection), cookie)


class open_without_log:  # noqa: N801 - used like a function; contextlib takes long to import
    """Open the file for the block, without its log and without locks.

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


# --- The log --------------------------------------------------------------------------------------------------------

# Read from its bytes, because SQLite would apply it to the file. The format is documented
# (https://sqlite.org/fileformat2.html#walformat): a header with two salts, then frames of a page each. A frame belongs
# to the log if it repeats the salts; the last frame of a transaction has a size. Checksums are not verified: what a
# crash left half written at the end can only add a mark.

_HEADER = struct.Struct(">8I")  # magic, version, page size, sequence, two salts, two checksums
_FRAME = struct.Struct(">6I")  # page number, size of the database after a commit or 0, two salts, two checksums
_MAGIC = (0x377F0682, 0x377F0683)
_PAGE_BYTES_MIN = 512
_COOKIE = slice(40, 44)  # of page 1: the schema cookie


class LogContent:
    """The identity of the database file by the committed transactions of a log."""

    def __init__(self, inode: int, modified_ns: int) -> None:
        self.inode = inode
        self.modified_ns = modified_ns
        self.page_bytes = 0
        self.frames: list[tuple[int, int]] = []  # each page's number, and its offset in the log
        self.marks: list[FileMark] = []
        self.cookies: set[int] = set()  # in the versions of page 1
        self.begins_without_mark = False  # another program wrote page 1 before our first mark

    @property
    def base_nonce(self) -> str:
        """The nonce that the database file had when the log began."""
        return self.marks[0].previous

    @property
    def schema_cookies(self) -> set[int]:
        """The possible schema cookies of the file."""
        return self.cookies | {mark.schema_cookie for mark in self.marks}

    def is_marked_for(self, status: os.stat_result) -> bool:
        """Return True if the last mark names this log and the file with this status, unchanged."""
        last = self.marks[-1]
        return (status.st_ino, status.st_mtime_ns, self.inode) == (last.inode, last.modified_ns, last.log_inode)


def read_log(path: FilePath) -> LogContent | None:
    """Return the content of a log; None if there is no log."""
    file = _open(path)
    if file is None:
        return None
    try:
        return _read(file)
    finally:
        os.close(file)  # SQLite has no locks on the log


def is_partly_in_file(path: FilePath, log: LogContent, database: int) -> bool:
    """Return True if a page in the file equals its version in the log, because a checkpoint has written it."""
    file = _open(path)
    if file is None:
        return False
    try:
        return any(
            os.pread(file, log.page_bytes, offset) == os.pread(database, log.page_bytes, (number - 1) * log.page_bytes)
            for number, offset in log.frames
        )
    finally:
        os.close(file)  # as above


def _open(path: FilePath) -> int | None:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None


def _read(file: int) -> LogContent:
    status = os.fstat(file)
    content = LogContent(status.st_ino, status.st_mtime_ns)
    header = os.pread(file, _HEADER.size, 0)
    if len(header) < _HEADER.size:
        return content
    magic, _, page_bytes, _, *salts, _, _ = _HEADER.unpack(header)
    if magic not in _MAGIC or page_bytes < _PAGE_BYTES_MIN:
        return content
    content.page_bytes = page_bytes
    frames: list[tuple[int, int]] = []  # of the transaction that is being read
    for offset in range(_HEADER.size, status.st_size, _FRAME.size + page_bytes):
        head = os.pread(file, _FRAME.size, offset)
        if len(head) < _FRAME.size:
            break
        number, size_after_commit, *of_frame, _, _ = _FRAME.unpack(head)
        if of_frame != salts:
            break
        frames.append((number, offset + _FRAME.size))
        if size_after_commit:
            _add_transaction(content, file, frames)
            frames = []
    return content


def _add_transaction(content: LogContent, file: int, frames: list[tuple[int, int]]) -> None:
    pages = [(number, os.pread(file, content.page_bytes, at)) for number, at in frames if number in (1, MARK_PAGE)]
    cookies = {int.from_bytes(page[_COOKIE], "big") for number, page in pages if number == 1}
    marks = [mark for number, page in pages if number == MARK_PAGE and (mark := find_mark(page))]
    if cookies and not marks and not content.marks:
        content.begins_without_mark = True
    content.frames += frames
    content.cookies |= cookies
    content.marks += marks


# --- The relation ---------------------------------------------------------------------------------------------------

SET_ASIDE = ".unrelated-"  # then the time
_COARSE_NS = 10_000_000  # times on FAT are multiples of 10 ms or more, and are rounded when the inode is read again
_ROUNDED_NS_MAX = 2_000_000_000
_kept_open: dict[tuple[int, int], int] = {}  # by device and inode; closing one would drop the locks of this process


class LogRelation(StrEnum):
    """The relations that a log and a database file can have."""

    BELONGS = "belongs"
    UNRELATED = "unrelated"
    DOUBTFUL = "doubtful"


class LogInDoubt(Unavailable):
    """Another program changed the file after its log was written, and the log might still belong to it."""

    code = "store_log_in_doubt"

    def __init__(self, path: FilePath) -> None:
        keep = f"sqlite3 {_quote(str(path))} 'PRAGMA wal_checkpoint(TRUNCATE)'"
        super().__init__(
            f"{quote_name(path)} was replaced or overwritten after its log {quote_name(_log_of(path))} was written; "
            f"stop every program that uses it. If you restored a backup, run: {_format_move(path)}; "
            f"if you did not, save what the log holds: {keep}"
        )


class LogRemoved(Unavailable):
    """The write-ahead log was removed, but its index is still there."""

    code = "store_log_removed"

    def __init__(self, path: FilePath) -> None:
        super().__init__(
            f"the log {quote_name(_log_of(path))} was removed; if a server still uses the file, stop it with SIGTERM, "
            f"and it saves what the log held. If none does, this is lost; put the log back, or go on without it: "
            f"rm {_quote(f'{path}-shm')}"
        )


class LogWithoutFile(Unavailable):
    """The database was removed or emptied, but its log is still there."""

    code = "store_log_without_file"

    def __init__(self, path: FilePath) -> None:
        super().__init__(
            f"{quote_name(path)} is missing or empty, and its log {quote_name(_log_of(path))} is still there; put the "
            f"file back, or restore a backup. To begin a new plan, run: {_format_move(path)}"
        )


def _format_move(path: FilePath) -> str:
    return f"mv {_quote(f'{path}-wal')} {_quote(f'{path}-wal{SET_ASIDE}1')}"


def _quote(text: str) -> str:
    return quote(text)


def find_relation(path: FilePath) -> LogRelation:
    """Return the relation of a file and the log beside it."""
    log = read_log(_log_of(path))
    if log is None or not log.marks:
        return LogRelation.BELONGS  # nothing of ours to apply
    # Before its content: a checkpoint in between then only makes the content newer than the time says.
    status = os.stat(path)
    if log.is_marked_for(status):
        return LogRelation.BELONGS  # most often; reading the content takes longer: SQLite reads the whole schema
    last = log.marks[-1]
    try:
        content = read_content(path)
    except sqlite3.DatabaseError:
        # A checkpoint of a migration that was interrupted leaves a schema that is not readable without the log.
        is_migration = len(log.schema_cookies) > 1 or log.begins_without_mark
        is_same = status.st_ino == last.inode or log.inode != last.log_inode
        return LogRelation.BELONGS if is_migration and is_same else LogRelation.DOUBTFUL
    if not _content_fits(content, log):
        return LogRelation.UNRELATED
    if log.inode != last.log_inode:
        return LogRelation.BELONGS
    if _is_same_time(status.st_mtime_ns, last.modified_ns):
        return LogRelation.BELONGS
    if status.st_ino == last.inode and (
        _checkpoint_has_begun(path, status, content, log) or log.modified_ns >= status.st_mtime_ns > last.modified_ns
    ):
        return LogRelation.BELONGS
    return LogRelation.DOUBTFUL


def check_log(path: FilePath) -> None:
    """Rename the log if it is unrelated to the file. Call it under the write lock."""
    relation = find_relation(path)
    # Twice: a program that closes the file does not wait for our lock, and its checkpoint may be half read.
    if relation is LogRelation.BELONGS or (relation := find_relation(path)) is LogRelation.BELONGS:
        return
    if relation is LogRelation.DOUBTFUL:
        raise LogInDoubt(path)
    kept = set_aside(path)
    print(
        f"groundplan: {quote_name(path)} was replaced, and the log beside it is of another state; the log was not "
        f"applied and is kept as {quote_name(kept)}",
        file=sys.stderr,
        flush=True,
    )


def check_log_exists(path: FilePath) -> None:
    """Check that the log was not removed without its index.

    SQLite creates the log before its index and removes it after, so an index without a log is never its own work.
    """
    index = _read_inode(f"{path}-shm")
    if index is not None and _read_inode(_log_of(path)) is None and _read_inode(f"{path}-shm") == index:
        raise LogRemoved(path)


def set_aside(path: FilePath) -> str:
    """Rename the log, so that SQLite does not apply it, and return its new name."""
    log = _log_of(path)
    kept = f"{log}{SET_ASIDE}{system_clock():%Y%m%dT%H%M%S%f}"
    # The index first: if this stops in between, the next opening finds the log and goes on.
    with suppress(FileNotFoundError):
        os.unlink(f"{path}-shm")
    os.rename(log, kept)
    sync_folder(os.path.dirname(log))
    return kept


def sync_folder(folder: FilePath) -> None:
    """Sync a folder, so that the names in it are durable."""
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _content_fits(content: FileContent, log: LogContent) -> bool:
    if content.nonce not in {log.base_nonce, *(mark.nonce for mark in log.marks)}:
        return False
    # The backup API and VACUUM INTO copy the mark, but count the cookie on.
    return log.begins_without_mark or content.schema_cookie in log.schema_cookies


def _checkpoint_has_begun(path: FilePath, status: os.stat_result, content: FileContent, log: LogContent) -> bool:
    """Return True if a checkpoint of this log wrote pages to the file."""
    if content.nonce in {mark.nonce for mark in log.marks}:
        return True
    # It leaves out pages that have a newer version than the oldest reader, and may have been interrupted.
    identity = (status.st_dev, status.st_ino)
    if identity not in _kept_open:
        _kept_open[identity] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return is_partly_in_file(_log_of(path), log, _kept_open[identity])


def _is_same_time(now_ns: int, then_ns: int) -> bool:
    if now_ns == then_ns:
        return True
    return now_ns % _COARSE_NS == 0 and abs(now_ns - then_ns) <= _ROUNDED_NS_MAX


def _log_of(path: FilePath) -> str:
    return f"{path}-wal"


def _read_inode(path: FilePath) -> int | None:
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return None
