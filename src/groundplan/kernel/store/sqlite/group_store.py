"""The store on one file for a server: the writes of its threads are committed in groups."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from groundplan.kernel.actors import Actor
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.clock import Clock, UptimeCounter, system_clock
from groundplan.kernel.store.sqlite.checkpoints import Checkpoints, limit_checkpoints
from groundplan.kernel.store.sqlite.connection import connect
from groundplan.kernel.store.sqlite.errors import translate_errors
from groundplan.kernel.store.sqlite.file_paths import FilePath
from groundplan.kernel.store.sqlite.group_commit import GroupCommit
from groundplan.kernel.store.sqlite.store import HeldConnection, SqliteStore
from groundplan.kernel.store.tables import Schema
from groundplan.kernel.store.transaction import Transaction

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
        """Return a connection without the authorizer, which allows no checkpoint; it is closed with the store."""
        held = HeldConnection(connect(self.path))
        with self._connections_lock:
            self._open_connections.add(held)
            if self._is_closed:
                held.close()
        return held

    def close(self) -> None:
        self._checkpoints.stop()
        super().close()
