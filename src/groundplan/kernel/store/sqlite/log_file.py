"""Read the marks in a write-ahead log from its bytes, because SQLite would apply the log to the file.

The format is documented (https://sqlite.org/fileformat2.html#walformat): a header with two salts, then frames of a page
each. A frame belongs to the log if it repeats the salts; the last frame of a transaction has a size. Checksums are not
verified: what a crash left half written at the end can only add a mark.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field
from pathlib import Path

from groundplan.kernel.store.sqlite.file_mark import MARK_PAGE, FileMark, find_mark

_HEADER = struct.Struct(">8I")  # magic, version, page size, sequence, two salts, two checksums
_FRAME = struct.Struct(">6I")  # page number, size of the database after a commit or 0, two salts, two checksums
_MAGIC = (0x377F0682, 0x377F0683)
_COOKIE = slice(40, 44)  # of page 1: the schema cookie


@dataclass(slots=True)
class LogContent:
    """What the committed transactions of a log say about the file that they belong to."""

    inode: int
    modified_ns: int
    has_commits: bool = False
    marks: list[FileMark] = field(default_factory=list)
    first_pages: list[bytes] = field(default_factory=list)  # each version of page 1
    begins_without_mark: bool = False  # another program wrote page 1 before our first mark

    @property
    def base_nonce(self) -> str:
        """The nonce in the file when the log began."""
        return self.marks[0].previous

    @property
    def schema_cookies(self) -> set[int]:
        """The schema cookies that the file can have."""
        written = {int.from_bytes(page[_COOKIE], "big") for page in self.first_pages}
        return written | {mark.schema_cookie for mark in self.marks}


def read_log(path: Path) -> LogContent | None:
    """Return what a log says; None if there is no log."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        return _read(file)
    finally:
        os.close(file)  # SQLite has no locks on the log


def _read(file: int) -> LogContent:
    status = os.fstat(file)
    content = LogContent(status.st_ino, status.st_mtime_ns)
    header = os.pread(file, _HEADER.size, 0)
    if len(header) < _HEADER.size:
        return content
    magic, _, page_size, _, *salts, _, _ = _HEADER.unpack(header)
    if magic not in _MAGIC or page_size < 512:
        return content
    marks: list[FileMark] = []  # of the transaction that is being read
    first_pages: list[bytes] = []
    for offset in range(_HEADER.size, status.st_size, _FRAME.size + page_size):
        head = os.pread(file, _FRAME.size, offset)
        if len(head) < _FRAME.size:
            break
        number, size_after_commit, *of_frame, _, _ = _FRAME.unpack(head)
        if of_frame != salts:
            break
        if number in (1, MARK_PAGE):
            page = os.pread(file, page_size, offset + _FRAME.size)
            if len(page) < page_size:
                break
            if number == 1:
                first_pages.append(page)
            elif mark := find_mark(page):
                marks.append(mark)
        if size_after_commit:
            content.has_commits = True
            if first_pages and not marks and not content.marks:
                content.begins_without_mark = True
            content.marks += marks
            content.first_pages += first_pages
            marks, first_pages = [], []
    return content
