"""A fair queue for the writers of one SQLite file, across threads and processes.

SQLite polls for its lock, which is not fair: with eight busy processes one wrote 6,705 times as often as another. Here
a writer first locks the gate file, and holds it only while it waits for the lock file. So one writer waits for the
lock, all others wait at the gate, and the operating system wakes them in order of arrival. It releases both files when
a process dies.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundplan.kernel.errors import Unavailable

WAIT_S_MAX = 30.0  # a turn takes milliseconds; after this time a writer hangs


class QueueStuck(Unavailable):
    """Another process holds the write lock for too long."""

    code = "store_busy"

    def __init__(self, waited_s: float) -> None:
        super().__init__(
            f"another process has held the write lock for {waited_s:g} s; stop it if it hangs, then try again",
            waited_s=waited_s,
        )


class WriteQueue:
    """The queue of writers; each thread has one place in it at a time."""

    def __init__(self, database: Path, *, wait_s: float = WAIT_S_MAX) -> None:
        self._gate = Path(f"{database}-gate")
        self._lock = Path(f"{database}-lock")
        self._wait_s = wait_s
        self._thread_local = threading.local()

    @contextmanager
    def hold_lock(self) -> Iterator[None]:
        """Hold the write lock."""
        with self._unlock_at_exit(self._lock_behind_gate(time.monotonic() + self._wait_s)):
            yield

    def _lock_behind_gate(self, give_up_at: float) -> _LockFile:
        with self._unlock_at_exit(self._lock_file(self._gate, give_up_at)):
            return self._lock_file(self._lock, give_up_at)

    @staticmethod
    @contextmanager
    def _unlock_at_exit(file: _LockFile) -> Iterator[None]:
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def _lock_file(self, path: Path, give_up_at: float) -> _LockFile:
        file = self._open(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._wait_in_queue(path, file, give_up_at)
        except OSError as error:
            raise _unusable(path, error) from None
        return file

    def _wait_in_queue(self, path: Path, file: _LockFile, give_up_at: float) -> None:
        # Only a blocking flock queues in the operating system, and it has no timeout; so another thread blocks while
        # this one waits with a timeout (measured fairness: 0.98, with polling 0.69).
        failed: list[OSError] = []
        waiter = threading.Thread(target=_block_until_locked, args=(file, failed), daemon=True)
        waiter.start()
        try:
            waiter.join(max(0.0, give_up_at - time.monotonic()))
            if waiter.is_alive():
                raise QueueStuck(self._wait_s)
            if failed:
                raise _unusable(path, failed[0])
        except BaseException:
            # The waiter may still get the lock, on a file that is not used again; closing the file releases it.
            del self._thread_local.files[path]
            threading.Thread(target=_close_after, args=(waiter, file), daemon=True).start()
            raise

    def _open(self, path: Path) -> _LockFile:
        # A flock belongs to the open file, so every thread needs its own files to exclude other threads.
        if not hasattr(self._thread_local, "files"):
            self._thread_local.files = {}
        files: dict[Path, _LockFile] = self._thread_local.files
        if path not in files:
            files[path] = _LockFile(path)
        return files[path]


class _LockFile:
    """A file to lock. It is closed with its thread or its queue, whichever ends first."""

    def __init__(self, path: Path) -> None:
        self._fd = -1
        # Never follow a symbolic link: another user may have placed it to attack root.
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            try:
                self._fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
                self._share_owner(path)
            except FileExistsError:
                self._fd = os.open(path, flags)
        except OSError as error:
            raise _unusable(path, error) from None

    def _share_owner(self, path: Path) -> None:
        # As SQLite does with its own files: a file created by root must not lock out the owner of the database.
        database = Path(str(path).rpartition("-")[0])
        if os.geteuid() == 0 and database.exists():
            owner = database.stat()
            os.fchown(self._fd, owner.st_uid, owner.st_gid)

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    __del__ = close


def _block_until_locked(file: _LockFile, failed: list[OSError]) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        failed.append(error)


def _unusable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(
        f"cannot use {path.name!r}, which writers of the database share: {error.strerror}; "
        "give it the owner of the database",
        code="store_cannot_open",
    )


def _close_after(waiter: threading.Thread, file: _LockFile) -> None:
    waiter.join()
    file.close()
