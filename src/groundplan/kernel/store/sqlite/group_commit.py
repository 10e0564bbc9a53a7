"""The store of a server on one file: writes of its threads share a commit, and so one sync of the disk.

    thread A   run A ── run B ── run C ── COMMIT ──▶ answer
    thread B   wait ·······························▶ answer
    thread C   wait ·······························▶ answer

A thread that finds no leader leads: it runs the writes that wait, each in its own savepoint, and commits them at once.
No thread gets an answer before the commit, so an acknowledged write is durable. A thread that writes alone leads at
once. After the commit the first thread that still waits leads the next group.

If a group cannot be committed as a whole, each of its writes runs again alone, so one write cannot spoil another.

Another thread writes the log to the file, so that no commit waits for it. SQLite does this within the commit that makes
the log 1,000 pages long: on a slow disk that commit takes ten times as long as others, and every write behind it waits.
Here SQLite does it within a commit only if the log grows to `LOG_PAGES_MAX`; that commit finds little to do, and after
it the log begins anew.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TypeVar

from groundplan.kernel.actors import Actor
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.clock import Clock, UptimeCounter, system_clock
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.schema import Schema
from groundplan.kernel.store.sqlite.connection import FilePath, connect
from groundplan.kernel.store.sqlite.errors import translate_errors
from groundplan.kernel.store.sqlite.file_watch import FileWatch
from groundplan.kernel.store.sqlite.store import HeldConnection, LockedFile, SqliteStore
from groundplan.kernel.store.sqlite.write_queue import WAIT_S_MAX, QueueStuck
from groundplan.kernel.store.transaction import Transaction

GROUP_WRITES_MAX = 64
GROUP_S_MAX = 0.05  # after this time a group takes no further write, because other processes wait for the file

QUICK_COMMIT_S = 0.001  # to let another thread work costs more than to wait for such a commit
COMMIT_GROWTH, COMMIT_STEP_S = 1.1, 0.00002  # what is usual grows by this after a commit that took longer

RunWrite = Callable[[sqlite3.Connection], bool]  # returns whether there is something to commit
HoldFile = Callable[[Cancellation, float], AbstractContextManager[LockedFile]]  # with the seconds to wait for it


class GroupedWrite:
    """A write that waits for its group, and its outcome."""

    def __init__(self, run: RunWrite, cancellation: Cancellation, give_up_at: float) -> None:
        self.run = run
        self.cancellation = cancellation
        self.give_up_at = give_up_at  # on the clock of `monotonic`, if it still waits then
        self.error: BaseException | None = None
        self.is_settled = False  # it is committed, had nothing to commit, or failed for good
        self.must_lead = False
        self.has_ended = False
        self._wake_ups: SimpleQueue[None] = SimpleQueue()  # not an Event: a signal handler may wake its own thread

    def wake(self) -> None:
        """Wake the thread of the write, so that it reads its state."""
        self._wake_ups.put(None)

    @property
    def remaining_s(self) -> float:
        """The remaining seconds of its waiting time."""
        return max(0.0, self.give_up_at - monotonic())

    def wait(self) -> None:
        """Wait until `wake` is called, or until the waiting time of the write is over."""
        with suppress(Empty):
            self._wake_ups.get(timeout=self.remaining_s)

    def set_outcome(self, error: BaseException | None = None) -> None:
        """Set the outcome of the write."""
        self.error, self.is_settled = error, True


class _GroupLost(Exception):
    """SQLite rolled back the whole transaction, not only the failed statement."""


class GroupCommit:
    """The groups of one file in one process.

    `hold_file` gives the calling thread the write lock of the file. `on_lost` is called when writes that ran are rolled
    back, because a cache may hold what they wrote. `on_wait` is called by a thread that is about to wait for a commit.
    """

    def __init__(
        self,
        hold_file: HoldFile,
        on_lost: Callable[[], None],
        *,
        on_wait: Callable[[], None] = lambda: None,
        wait_s: float = WAIT_S_MAX,
    ) -> None:
        self._hold_file = hold_file
        self._on_wait = on_wait
        self._wait_s = wait_s
        self._on_lost = on_lost
        self._waiting: deque[GroupedWrite] = deque()
        self._is_led = False
        self._lock = threading.Lock()  # guards the two fields above
        self._usual_commit_s = 0.0  # only the leader changes it

    def write(self, run: RunWrite, cancellation: Cancellation) -> None:
        """Run a write in a group. When this returns, the write is committed, or it had nothing to commit."""
        write = GroupedWrite(run, cancellation, monotonic() + self._wait_s)
        with self._lock:
            self._waiting.append(write)
            write.must_lead = not self._is_led
            self._is_led = True
        with cancellation.interruptible(write.wake):
            while not (write.has_ended or write.must_lead):
                if cancellation.is_cancelled and self._withdraw(write):
                    raise cancellation.build_error()
                if not write.remaining_s and self._withdraw(write):
                    raise QueueStuck(self._wait_s)
                self._on_wait()
                write.wait()
        if write.must_lead:
            self._lead(write)
        if write.error is not None:
            raise write.error

    def _withdraw(self, write: GroupedWrite) -> bool:
        """Remove a waiting write from the queue. Return False if it runs, has ended, or must lead a group."""
        with self._lock:
            if write.must_lead or write not in self._waiting:
                return False
            self._waiting.remove(write)
            return True

    def _lead(self, first: GroupedWrite) -> None:
        group: list[GroupedWrite] = []
        try:
            with self._hold_file(first.cancellation, first.remaining_s) as file:
                self._run_group(file, group)
        except Exception as error:
            # The file could not be locked. The others try it themselves.
            if not group:
                self._take_next(group)
                first.set_outcome(error)
        finally:
            self._end(group)

    def _end(self, group: list[GroupedWrite]) -> None:
        """Wake the threads of a group, and make the first waiting write the leader of the next group."""
        with self._lock:
            successor = self._waiting[0] if self._waiting else None
            self._is_led = successor is not None
            if successor is not None:
                successor.must_lead = True
        for write in group:
            if not write.is_settled:  # only after an error that nothing here expects
                write.set_outcome(Unavailable("this write was not committed; try again", code="store_busy"))
            write.has_ended = True
            write.wake()
        if successor is not None:
            successor.wake()

    def _take_next(self, group: list[GroupedWrite]) -> GroupedWrite | None:
        """Move the first waiting write into the group."""
        with self._lock:
            if not self._waiting or len(group) >= GROUP_WRITES_MAX:
                return None
            group.append(self._waiting.popleft())
            return group[-1]

    def _run_group(self, file: LockedFile, group: list[GroupedWrite]) -> None:
        ends_at = monotonic() + GROUP_S_MAX
        file.begin()
        try:
            has_changes = False
            while (not group or monotonic() < ends_at) and (write := self._take_next(group)) is not None:
                has_changes = _run_in_savepoint(file.connection, write) or has_changes
            if has_changes:
                self._commit(file)
            for write in group:
                write.set_outcome(write.error)
        except (sqlite3.Error, _GroupLost) as error:
            _roll_back(file)
            self._on_lost()
            if len(group) == 1:
                group[0].set_outcome(group[0].error or error)
            for write in group:
                # Also those that were refused: perhaps because of a write that is now rolled back.
                if not write.is_settled:
                    self._run_alone(file, write)
        except Unavailable as error:
            # The commit is uncertain.
            for write in group:
                write.set_outcome(write.error or error)
        finally:
            _roll_back(file)

    def _commit(self, file: LockedFile) -> None:
        if self._usual_commit_s > QUICK_COMMIT_S:
            self._on_wait()
        began_at = monotonic()
        file.commit()
        # About the shortest of the last ones: the others also waited for the interpreter.
        self._usual_commit_s = min(monotonic() - began_at, self._usual_commit_s * COMMIT_GROWTH + COMMIT_STEP_S)

    def _run_alone(self, file: LockedFile, write: GroupedWrite) -> None:
        try:
            file.begin()
            if write.run(file.connection):
                file.commit()
            write.set_outcome()
        except Exception as error:
            write.set_outcome(error)
            self._on_lost()
        _roll_back(file)


def _roll_back(file: LockedFile) -> None:
    with suppress(sqlite3.Error):  # then the next transaction cannot begin, and says so
        file.roll_back()


def _run_in_savepoint(connection: sqlite3.Connection, write: GroupedWrite) -> bool:
    """Run one write of a group. Return True if it has changes to commit."""
    connection.execute("SAVEPOINT grouped_write")
    has_changes = False
    try:
        has_changes = write.run(connection)
    except Exception as error:
        write.error = error
        if not connection.in_transaction:
            # A statement that is interrupted, a full disk and an I/O error end the transaction of all.
            write.set_outcome(error)
            raise _GroupLost from error
    if not has_changes:
        connection.execute("ROLLBACK TO grouped_write")
    connection.execute("RELEASE grouped_write")
    return has_changes


WRITES = 100  # between two checkpoints: most writes change about ten pages
LOG_PAGES_MAX = 8_000  # 32 MB; without the thread it is 1,000
STOP_S = 2.0

log = logging.getLogger(__name__)


def limit_checkpoints(connection: sqlite3.Connection) -> None:
    """Set that commits of a connection write the log to the file only if the log is very long."""
    connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES_MAX}")


class Checkpoints:
    """The thread that writes the log to the file. `connect` opens its connection; `check_files` may raise."""

    def __init__(
        self, watch: FileWatch, connect: Callable[[], HeldConnection], check_files: Callable[[], object]
    ) -> None:
        self._watch = watch
        self._connect = connect
        self._check_files = check_files
        self._held: HeldConnection | None = None
        self._writes = 0  # since the last checkpoint; a lost count does no harm
        self._is_due = threading.Event()
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, name="checkpoint", daemon=True)
        self._thread.start()

    def count_write(self) -> None:
        """Count a committed write, and wake the thread after some of them."""
        self._writes += 1
        if self._writes >= WRITES:
            self._writes = 0
            self._is_due.set()

    def stop(self) -> None:
        """End the thread after its current checkpoint."""
        self._is_stopped = True
        self._is_due.set()
        self._thread.join(STOP_S)

    def _run(self) -> None:
        while self._is_due.wait() and not self._is_stopped:
            self._is_due.clear()
            try:
                self.write_log()
            except (sqlite3.Error, OSError, Unavailable) as error:
                # A full disk, or a file that was replaced: writes tell it to their callers.
                log.warning("the log was not written to the file: %s", type(error).__name__)

    def write_log(self) -> None:
        """Write the log to the file, up to the oldest state that a reader still needs."""
        self._check_files()
        if self._watch.must_not_checkpoint():
            return
        self._held = self._held or self._connect()
        with self._held.in_use, self._watch.changing_file():
            # PASSIVE: neither readers nor writers wait for it.
            self._held.require_open().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()


T = TypeVar("T")


class GroupCommitStore(SqliteStore):
    """A store whose writes share commits. Reads and other processes see no difference."""

    def __init__(
        self,
        path: FilePath,
        schema: Callable[[], Schema],
        *,
        clock: Clock = system_clock,
        uptime: UptimeCounter | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        super().__init__(path, schema, clock=clock, uptime=uptime, cancellation=cancellation)
        self._group_commit = GroupCommit(
            self._hold_file, self.cache.clear, on_wait=self._announce_wait, wait_s=self._write_queue.wait_s
        )
        self._checkpoints = Checkpoints(self._files, self._connect_for_checkpoints, self._check_files)

    def _write_once(self, actor: Actor, run: Callable[[Transaction], T], cancellation: Cancellation) -> T:
        answers: list[T] = []  # the last one counts: a write may run again

        def run_grouped(connection: sqlite3.Connection) -> bool:
            held = self._get_connection()  # of the thread that leads the group
            answer, has_changes = self._run_limited(held, connection, actor, run, cancellation)
            answers.append(answer)
            return has_changes

        with translate_errors(cancellation):
            self._group_commit.write(run_grouped, cancellation)
        self._checkpoints.count_write()
        return answers[-1]

    def _announce_wait(self) -> None:
        # A group must not lose its leader, or a commit its end, because a server cannot let another thread work.
        with suppress(Exception):
            self.on_wait()  # of this moment: a server sets it after the store is open

    def _connect(self) -> sqlite3.Connection:
        connection = super()._connect()
        limit_checkpoints(connection)
        return connection

    def _connect_for_checkpoints(self) -> HeldConnection:
        """Return a connection that may make checkpoints, because it has no authorizer. It is closed with the store."""
        held = HeldConnection(connect(self.path))
        with self._connections_lock:
            self._open_connections.add(held)
            if self._is_closed:
                held.close()
        return held

    def close(self) -> None:
        self._checkpoints.stop()
        super().close()
