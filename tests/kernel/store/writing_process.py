"""A process that creates projects and ends without closing its store, as if it were killed."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

import groundplan
from groundplan.catalog import build_schema
from groundplan.kernel.actors import local_actor
from groundplan.kernel.store.open_store import open_store
from groundplan.kernel.store.sqlite import file, group_commit, store
from groundplan.kernel.store.sqlite.connection import connect
from groundplan.session import Session
from tests.standby import Forked, Standby

FOREVER = "forever"
LIST = "list"
SERVER = "server"
STDERR = 2


def main(arguments: Sequence[str]) -> int:
    """Create projects with these names and print each when it is acknowledged, then die.

    `forever PREFIX PAGES` does not end; SQLite runs a checkpoint after so many pages, or with `server` a thread does it
    after each write. `list` prints existing names.
    """
    db, *names = arguments
    wanted: Iterable[str] = names
    if names == [LIST]:
        with groundplan.open(db, actor="ada") as plan:
            print(*(project.name for project in plan.call("project.list").projects), sep="\n")
        return 0
    is_server = names[2:] == [SERVER]
    if names[:1] == [FOREVER]:
        wanted = (f"{names[1]}-{number}" for number in count())
        if not is_server:
            checkpoint_after(int(names[2]))
    session = open_as_server(db) if is_server else groundplan.open(db, actor="ada")
    for name in wanted:
        session.call("project.create", name=name)
        os.write(1, f"{name}\n".encode())
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def open_as_server(db: str) -> Session:
    """Open the file as a server does, with a checkpoint beside each write."""
    vars(group_commit).update(WRITES=1)
    return Session(open_store(db, build_schema, for_server=True), local_actor("ada"))


def checkpoint_after(pages: int) -> None:
    """Let connections of this process run a checkpoint after so many pages."""

    def connect_with_checkpoints(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
        return connection

    vars(file).update(connect=connect_with_checkpoints)
    vars(store).update(connect=connect_with_checkpoints)


class WritingProcess:
    """A started process, and what it acknowledges."""

    def __init__(self, program: Standby, db: Path, *arguments: str) -> None:
        self._output, written = os.pipe()
        with Path(os.devnull).open("rb") as nothing:
            files = (nothing.fileno(), written, STDERR)
            self._process: Forked = program.start(str(db), *arguments, files=files, module=__name__)
        os.close(written)

    def read_until_end(self) -> list[str]:
        """Return all acknowledged names, after the process has ended."""
        with os.fdopen(self._output, encoding="utf-8") as output:
            names = output.read().split("\n")[:-1]  # the last line may be cut
        self._process.stop()
        return names

    def kill_after(self, names: int) -> list[str]:
        """Kill the process after it has acknowledged so many names, and return all that it acknowledged."""
        with os.fdopen(self._output, encoding="utf-8") as output:
            read = "".join(output.readline() for _ in range(names))
            os.kill(self._process.pid, signal.SIGKILL)
            read += output.read()
        self._process.stop()
        return read.split("\n")[:-1]


def crash_after(program: Standby, db: Path, *names: str) -> None:
    """Create projects in a process that does not close the database."""
    assert WritingProcess(program, db, *names).read_until_end() == list(names)
