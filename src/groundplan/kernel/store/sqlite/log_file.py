"""Read the marks in a write-ahead log from its bytes, because SQLite would apply the log to the file.

The format is documented (https://sqlite.org/fileformat2.html#walformat): a header with two salts, then frames of a page
each. A frame belongs to the log if it repeats the salts; the last frame of a transaction has a size. Checksums are not
verified: what a crash left half written at the end can only add a mark.
"""

from __future__ import annotations

import os
import struct

from groundplan.kernel.store.sqlite.file_mark import MARK_PAGE, FileMark, find_mark
from groundplan.kernel.store.sqlite.file_paths import FilePath

_HEADER = struct.Struct(">8I")  # magic, version, page size, sequence, two salts, two checksums
_FRAME = struct.Struct(">6I")  # page number, size of the database after a commit or 0, two salts, two checksums
_MAGIC = (0x377F0682, 0x377F0683)
_PAGE_BYTES_MIN = 512
_COOKIE = slice(40, 44)  # of page 1: the schema cookie


class LogContent:
    """What the committed transactions of a log say about the file that they belong to."""

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
        """The nonce in the file when the log began."""
        return self.marks[0].previous

    @property
    def schema_cookies(self) -> set[int]:
        """The schema cookies that the file can have."""
        return self.cookies | {mark.schema_cookie for mark in self.marks}

    def is_marked_for(self, status: os.stat_result) -> bool:
        """Return whether the last mark names the file with this status, as it is now, and this very log."""
        last = self.marks[-1]
        return (status.st_ino, status.st_mtime_ns, self.inode) == (last.inode, last.modified_ns, last.log_inode)


def read_log(path: FilePath) -> LogContent | None:
    """Return what a log says; None if there is no log."""
    file = _open(path)
    if file is None:
        return None
    try:
        return _read(file)
    finally:
        os.close(file)  # SQLite has no locks on the log


def is_partly_in_file(path: FilePath, log: LogContent, database: int) -> bool:
    """Return whether a page of the file is the same as in the log, because a checkpoint has written it."""
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
