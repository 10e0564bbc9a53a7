"""Migration of a SQLite file that is killed, meets an error, or runs concurrently."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import UTC, datetime
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest

from groundplan.catalog import build_schema
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.store.migrations import Dialect, Migration, load_migrations
from groundplan.kernel.store.sqlite.connection import connect
from groundplan.kernel.store.sqlite.file import _bring_up_to_date, migrate
from groundplan.kernel.store.sqlite.store import SqliteStore
from groundplan.kernel.store.sqlite.write_queue import WriteQueue
from tests.kernel.store.test_migrations import SECOND, TAKEN, steps_with
from tests.proof import scaled

pytestmark = pytest.mark.slow

AT_ONCE = 8
ROUNDS = scaled(4, 20)
EVERY = scaled(9, 1)  # which statements fail: another ninth of them each day, all in a proof
STATEMENTS_BEFORE_THE_LOCK = 5  # application id, version, journal, steps, BEGIN IMMEDIATE


class MigrationStopped(Exception):
    """The migration stopped before the next step."""


class WatchedConnection(sqlite3.Connection):
    """A connection that calls `before` ahead of each statement."""

    before: Callable[[str], None] = staticmethod(lambda _: None)

    def execute(self, statement: str, *arguments: Any) -> sqlite3.Cursor:
        self.before(statement)
        return super().execute(statement, *arguments)


def connect_watched(path: Path, before: Callable[[str], None] = WatchedConnection.before) -> WatchedConnection:
    connection = sqlite3.connect(path, isolation_level=None, factory=WatchedConnection)
    connection.execute("PRAGMA synchronous = OFF")  # the tests kill processes, not the machine
    connection.before = before
    return connection


def migrate_some(connection: WatchedConnection, steps: Sequence[Migration], *, most: int) -> None:
    """Apply at most `most` migrations."""
    begun = count(1)

    def before(statement: str) -> None:
        if statement.startswith("BEGIN") and next(begun) > most:
            raise MigrationStopped

    connection.before = before
    with suppress(MigrationStopped):
        migrate(connection, build_schema(), steps)


def version(path: Path) -> tuple[int, int]:
    """Return the schema version of a file, and the number of things in its schema."""
    with closing(sqlite3.connect(path)) as connection:
        return read_version(connection)


def read_version(connection: sqlite3.Connection) -> tuple[int, int]:
    (claimed,) = connection.execute("PRAGMA user_version").fetchone()
    (things,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return claimed, things


def make_versions(folder: Path, steps: Sequence[Migration]) -> list[Path]:
    """Return a file of each version, from none to all migrations applied."""
    made = [folder / f"version-{number}.db" for number in range(len(steps) + 1)]
    for number, path in enumerate(made):
        if number:
            shutil.copy(made[number - 1], path)
        with closing(connect_watched(path)) as connection:
            migrate_some(connection, steps, most=min(number, 1))
    assert [version(path)[0] for path in made] == [0, *(step.number for step in steps)]
    return made


def test_a_file_is_at_a_whole_version_after_being_killed_at_any_statement(tmp_path: Path) -> None:
    steps = steps_with(tmp_path / "steps", Dialect.SQLITE, *SECOND)
    whole = [version(path) for path in make_versions(tmp_path, steps)]
    path = tmp_path / "plan.db"
    images: list[tuple[bytes, bytes]] = []

    def keep_image(_: str) -> None:
        # The state that a kill at this moment leaves: the bytes of the file and of its log.
        log = Path(f"{path}-wal")
        images.append((path.read_bytes(), log.read_bytes() if log.exists() else b""))

    with closing(connect_watched(path, keep_image)) as connection:
        migrate(connection, build_schema(), steps)
    assert version(path) == whole[-1]
    assert len(images) > len(SECOND)

    found = set()
    for number, (content, log) in enumerate(set(images)):  # equal bytes continue equally
        image = tmp_path / f"image-{number}.db"
        image.write_bytes(content)
        Path(f"{image}-wal").write_bytes(log)
        there = version(image)
        found.add(there)
        with closing(connect_watched(image)) as connection:
            migrate_some(connection, steps, most=1)
        assert version(image) == whole[whole.index(there) + 1]

    # One shape for each version and none in between; the last one only after the last statement.
    assert sorted(found) == whole[:-1]


def today() -> int:
    return datetime.now(UTC).toordinal()


@pytest.mark.proof
def test_a_fault_at_any_statement_leaves_a_connection_that_can_go_on(tmp_path: Path) -> None:
    class Fault(Exception):
        pass

    def fault_at(place: int) -> Callable[[str], None]:
        done, begun = count(), count()

        def before(statement: str) -> None:
            # A step can be shorter than the distance between two faults: none goes past its own step.
            if next(done) == place or (statement.startswith("BEGIN") and next(begun)):
                raise Fault

        return before

    steps = steps_with(tmp_path / "steps", Dialect.SQLITE, *SECOND)
    files = make_versions(tmp_path, steps)
    path, faults = tmp_path / "plan.db", 0
    for file, (before, after) in zip(files, pairwise(map(version, files)), strict=False):
        shutil.copy(file, path)
        # One connection for all faults: each run continues and gets further than the one before.
        with closing(connect_watched(path)) as connection, closing(sqlite3.connect(path)) as onlooker:
            for place in count(today() % EVERY, EVERY):
                connection.before = fault_at(place)
                with suppress(Fault):
                    migrate(connection, build_schema(), steps)
                assert not connection.in_transaction
                if read_version(onlooker) != before:
                    break  # it reached the next step, which is tried from its start
                faults += 1
        assert version(path) == after
    assert faults > len(SECOND)


def test_somebody_else_may_finish_the_file_between_any_two_of_our_statements(tmp_path: Path) -> None:
    def finished_at(place: int, path: Path) -> Callable[[str], None]:
        done = count()

        def before(_: str) -> None:
            if next(done) == place:
                with closing(connect(path)) as other:
                    migrate(other, build_schema())

        return before

    for place in range(STATEMENTS_BEFORE_THE_LOCK):
        path = tmp_path / f"{place}.db"
        with closing(connect_watched(path, finished_at(place, path))) as connection:
            _bring_up_to_date(connection, path, build_schema, WriteQueue(path), Cancellation())
            assert len(connection.execute(TAKEN).fetchall()) == len(load_migrations(Dialect.SQLITE))


@pytest.mark.proof
def test_threads_that_open_a_new_file_at_the_same_moment_all_succeed(tmp_path: Path) -> None:
    for number in range(ROUNDS):
        path = tmp_path / f"{number}.db"
        start = threading.Barrier(AT_ONCE)

        def opened(path: Path = path, start: threading.Barrier = start) -> None:
            start.wait()
            SqliteStore(path, build_schema).close()

        with ThreadPoolExecutor(AT_ONCE) as pool:
            for one in [pool.submit(opened) for _ in range(AT_ONCE)]:
                one.result()
        with closing(sqlite3.connect(path)) as connection:
            assert len(connection.execute(TAKEN).fetchall()) == len(load_migrations(Dialect.SQLITE))


# Forks of a process with loaded modules; all start when the pipe they wait at is closed.
OPENERS = """
import os, sys
from pathlib import Path
from groundplan.catalog import build_schema
from groundplan.kernel.store.sqlite.store import SqliteStore

wait, start = os.pipe()
openers = []
for _ in range(int(sys.argv[2])):
    openers.append(os.fork())
    if not openers[-1]:
        os.close(start)
        os.read(wait, 1)
        SqliteStore(Path(sys.argv[1]), build_schema).close()
        sys.exit()
os.close(start)
print([os.waitpid(opener, 0)[1] for opener in openers])
"""


def test_processes_that_open_a_new_file_at_the_same_moment_all_succeed(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"

    command = [sys.executable, "-c", OPENERS, str(path), str(AT_ONCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.stderr, done.stdout) == ("", f"{[0] * AT_ONCE}\n")
    with closing(sqlite3.connect(path)) as connection:
        assert len(connection.execute(TAKEN).fetchall()) == len(load_migrations(Dialect.SQLITE))
