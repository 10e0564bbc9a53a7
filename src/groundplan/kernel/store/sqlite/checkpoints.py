"""Write the log of a server's file to the file in a thread of its own, so that no commit waits for it.

SQLite does this within the commit that makes the log 1,000 pages long. On a slow disk that commit takes ten times as
long as others, and every write behind it waits. Here the thread does it beside the writes; only if the log grows to
`LOG_PAGES_MAX`, SQLite does it within a commit again. That commit finds little to do, and after it the log begins anew.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.sqlite.file_watch import FileWatch

if TYPE_CHECKING:
    from groundplan.kernel.store.sqlite.store import HeldConnection

WRITES = 100  # between two checkpoints: most writes change about ten pages
LOG_PAGES_MAX = 8_000  # 32 MB; without the thread it is 1,000
STOP_S = 2.0

log = logging.getLogger(__name__)


def limit_checkpoints(connection: sqlite3.Connection) -> None:
    """Let commits of a connection write the log to the file only if it is very long."""
    connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES_MAX}")


class Checkpoints:
    """The thread. `connect` opens its connection, and `check_files` raises if a file was replaced."""

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
        """End the thread after what it does just now."""
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
        """Write what the log holds to the file, as far as no reader needs the older state."""
        self._check_files()
        if self._watch.must_not_checkpoint():
            return
        self._held = self._held or self._connect()
        with self._held.in_use, self._watch.changing_file():
            # PASSIVE: neither readers nor writers wait for it.
            self._held.require_open().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
