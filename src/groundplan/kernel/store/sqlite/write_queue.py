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
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue

import msgspec

from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.sqlite.connection import FilePath, quote_name

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
    """The queue of writers. Each thread has one place in it at a time."""

    def __init__(self, database: FilePath, *, wait_s: float = WAIT_S_MAX) -> None:
        self._gate = f"{database}-gate"
        self._lock = f"{database}-lock"
        self.wait_s = wait_s
        self._thread_local = threading.local()

    @contextmanager
    def hold_lock(self, cancellation: Cancellation | None = None, wait_s: float | None = None) -> Iterator[None]:
        """Hold the write lock within the block."""
        lock = self.acquire(cancellation, wait_s)
        try:
            yield
        finally:
            lock.release()

    def acquire(self, cancellation: Cancellation | None = None, wait_s: float | None = None) -> LockFile:
        """Return the write lock after acquiring it. The wait has a time limit, and a cancellation ends it.

        `wait_s` is what is left of the limit for a writer that has waited before.
        """
        remaining_s = self.wait_s if wait_s is None else wait_s
        wait = _Wait(time.monotonic() + remaining_s, self.wait_s, cancellation or Cancellation())
        gate, lock = self._get_files()
        self._lock_file(gate, wait)
        try:
            self._lock_file(lock, wait)
        finally:
            gate.release()
        return lock

    def _lock_file(self, file: LockFile, wait: _Wait) -> None:
        waiter = file.waiter
        if waiter is None or not waiter.resume():
            try:
                fcntl.flock(file.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                file.waiter = waiter = _Waiter(file)
            except OSError as error:
                raise _unusable(file.path, error) from None
        with wait.cancellation.interruptible(waiter.wake):
            failed = waiter.wait(file, wait)
        if failed is not None:
            raise _unusable(file.path, failed)
        file.waiter = None

    def _get_files(self) -> tuple[LockFile, LockFile]:
        """Return the gate and the lock file of this thread."""
        # A flock belongs to the open file, so every thread needs its own files to exclude other threads.
        files: tuple[LockFile, LockFile] | None = getattr(self._thread_local, "files", None)
        if files is None:
            files = self._thread_local.files = LockFile(self._gate), LockFile(self._lock)
        return files


class _Wait(msgspec.Struct, frozen=True):
    """The time that one writer may wait for both locks together."""

    give_up_at: float
    wait_s: float
    cancellation: Cancellation


class _Waiter:
    """A thread that blocks on the lock of a file, for another thread that waits with a timeout.

    Only a blocking flock queues in the operating system, and it has no timeout (measured fairness: 0.98, with polling
    0.69). It cannot be stopped either: a waiter that was given up stays in the queue, releases the lock as soon as it
    gets it, and is used again if its thread comes back before that. So a thread never has more than one.
    """

    def __init__(self, file: LockFile) -> None:
        self._failed: OSError | None = None
        self._is_wanted = True
        self._has_ended = False
        self._lock = threading.Lock()  # guards the hand-over; held for a moment only

        self._events: SimpleQueue[None] = SimpleQueue()  # not an Event: a signal handler may wake its own thread
        # Only the thread has the file, because a reference here would keep it open after the thread that uses it.
        threading.Thread(target=self._block, args=(file,), daemon=True).start()

    def resume(self) -> bool:
        """Wait for the lock again. Return False if the waiter has ended without it."""
        with self._lock:
            self._is_wanted = not self._has_ended
            return self._is_wanted

    def wake(self) -> None:
        """Wake the other thread, so that it checks the end of its wait."""
        self._events.put(None)

    def wait(self, file: LockFile, wait: _Wait) -> OSError | None:
        """Wait until the lock is held and return None, or return the error of the operating system."""
        try:
            while not self._has_ended:
                if wait.cancellation.is_cancelled:
                    raise wait.cancellation.build_error()
                remaining_s = wait.give_up_at - time.monotonic()
                if remaining_s <= 0:
                    raise QueueStuck(wait.wait_s)
                with suppress(Empty):
                    self._events.get(timeout=remaining_s)
        except BaseException:
            self._give_up(file)
            raise
        return self._failed

    def _give_up(self, file: LockFile) -> None:
        with self._lock:
            self._is_wanted = False
            if self._has_ended and self._failed is None:
                file.release()

    def _block(self, file: LockFile) -> None:
        try:
            fcntl.flock(file.fd, fcntl.LOCK_EX)
        except OSError as error:
            self._failed = error
        with self._lock:
            self._has_ended = True
            if not self._is_wanted and self._failed is None:
                file.release()
        self.wake()


class LockFile:
    """A file to lock. It is closed with its thread or with its queue, whichever comes first."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.waiter: _Waiter | None = None  # waits for this file, or was given up
        self.fd = -1
        # Never follow a symbolic link: another user may have placed it to attack root.
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            try:
                self.fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
                self._share_owner(path)
            except FileExistsError:
                self.fd = os.open(path, flags)
        except OSError as error:
            raise _unusable(path, error) from None

    def _share_owner(self, path: str) -> None:
        # As SQLite does with its own files: a file created by root must not lock out the owner of the database.
        database = path.rpartition("-")[0]
        if os.geteuid() == 0 and os.path.exists(database):
            owner = os.stat(database)
            os.fchown(self.fd, owner.st_uid, owner.st_gid)

    def release(self) -> None:
        """Release the lock for the next writer."""
        fcntl.flock(self.fd, fcntl.LOCK_UN)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    __del__ = close


def _unusable(path: str, error: OSError) -> Unavailable:
    if not os.path.lexists(path):
        return Unavailable(
            f"no file can be created beside {quote_name(path.rpartition('-')[0])}: {error.strerror}; "
            "the database needs a folder where you may write",
            code="store_cannot_open",
        )
    return Unavailable(
        f"cannot use {quote_name(path)}, which writers of the database share: {error.strerror}; "
        "give it the owner of the database",
        code="store_cannot_open",
    )
