"""Decide whether a write-ahead log belongs to the file that it lies beside.

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
import sys
from contextlib import suppress
from enum import StrEnum

from groundplan.kernel.clock import system_clock
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.sqlite.file_mark import FileContent, read_content
from groundplan.kernel.store.sqlite.file_paths import FilePath, quote_name
from groundplan.kernel.store.sqlite.log_file import LogContent, is_partly_in_file, read_log

SET_ASIDE = ".unrelated-"  # then the time
_COARSE_NS = 10_000_000  # times on FAT are multiples of 10 ms or more, and are rounded when the inode is read again
_ROUNDED_NS_MAX = 2_000_000_000
_kept_open: dict[tuple[int, int], int] = {}  # by device and inode; closing one would drop the locks of this process


class LogRelation(StrEnum):
    """How a log and a file are related."""

    BELONGS = "belongs"
    UNRELATED = "unrelated"
    DOUBTFUL = "doubtful"


class LogInDoubt(Unavailable):
    """The file was changed by another program after its log was written, and the log might still belong to it."""

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
    from shlex import quote  # only an error needs it

    return quote(text)


def find_relation(path: FilePath) -> LogRelation:
    """Return how the log beside a file is related to it."""
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
    """Set the log aside if it is unrelated to the file. Call it under the write lock.

    Raises:
        LogInDoubt: the content fits, but the file was replaced or overwritten.
    """
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
    """Check that nobody removed only the log.

    SQLite creates the log before its index and removes it after, so an index without a log is never its own work.

    Raises:
        LogRemoved: there is an index without a log.
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
    """Make the names in a folder durable."""
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
    """Return whether a checkpoint of this log wrote pages to the file."""
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
