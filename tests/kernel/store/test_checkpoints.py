"""In a server the log is written to the file beside the writes, and never to a file of somebody else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from groundplan.catalog import build_schema
from groundplan.kernel.actors import local_actor
from groundplan.kernel.store.sqlite import group_commit
from groundplan.kernel.store.sqlite.file_watch import FileWatch
from groundplan.kernel.store.sqlite.group_commit import Checkpoints, GroupCommitStore
from groundplan.kernel.store.sqlite.log_identity import open_without_log
from groundplan.session import Session
from tests.kernel.store.test_changed_files import create, find_damage, list_names

PATIENCE_S = 20.0  # only a failing test waits this long
SQLITES_OWN_BYTES = 1_000 * 4_096  # so long is the log when SQLite writes it to the file within a commit
WRITERS, WRITES = 4, 12


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "plan.db"


@pytest.fixture
def store(db: Path) -> Iterator[GroupCommitStore]:
    with closing(GroupCommitStore(db, build_schema)) as made:
        yield made


def call(store: GroupCommitStore, operation: str, **arguments: object) -> None:
    """Call an operation in a thread of its own: the first connection of a store is set up as by any program."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(Session(store, local_actor("ada")).call, operation, **arguments).result(PATIENCE_S)


def count_projects(db: Path) -> int:
    """Return how many projects the file itself has, without its log."""
    with open_without_log(db) as connection:
        (found,) = connection.execute("SELECT count(*) FROM projects").fetchone()
        return int(found)


def test_a_commit_does_not_write_a_long_log_to_the_file(
    store: GroupCommitStore, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "WRITES", 1_000_000)
    call(store, "project.create", name="atlas")
    nodes = [{"ref": f"n{n}", "summary": f"Walk {n} " + "x" * 2000} for n in range(500)]
    while Path(f"{db}-wal").stat().st_size < 2 * SQLITES_OWN_BYTES:
        call(store, "work.plan", project="atlas", nodes=nodes)
    assert count_projects(db) == 0

    store._checkpoints.write_log()

    assert count_projects(db) == 1


def test_after_some_writes_the_thread_writes_the_log_to_the_file(
    store: GroupCommitStore, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = threading.Event()
    write_log = Checkpoints.write_log

    def write_and_tell(thread: Checkpoints) -> None:
        write_log(thread)
        written.set()

    monkeypatch.setattr(group_commit, "WRITES", 3)
    monkeypatch.setattr(Checkpoints, "write_log", write_and_tell)
    for name in ("one", "two", "three"):
        call(store, "project.create", name=name)

    assert written.wait(PATIENCE_S)
    assert count_projects(db) == 3


def test_writes_beside_checkpoints_are_all_there_and_their_log_belongs_to_the_file(
    store: GroupCommitStore, db: Path
) -> None:
    ended = threading.Event()

    def write(writer: int) -> None:
        for number in range(WRITES):
            Session(store, local_actor("ada")).call("project.create", name=f"{writer}-{number}")

    def run_checkpoints() -> None:
        while not ended.is_set():
            store._checkpoints.write_log()

    with ThreadPoolExecutor(WRITERS + 1) as threads:
        running = threads.submit(run_checkpoints)
        for one in [threads.submit(write, writer) for writer in range(WRITERS)]:
            one.result(PATIENCE_S)
        ended.set()
        running.result(PATIENCE_S)
    store.close()

    assert len(list_names(db)) == WRITERS * WRITES
    assert find_damage(db) == []
    assert not list(db.parent.glob("*unrelated*"))


def overwrite_while_open(db: Path) -> bool:
    """Put a backup in the place of an open file with a log; return whether a checkpoint leaves it as it is."""
    create(db, "one")
    backup = db.read_bytes()
    with closing(GroupCommitStore(db, build_schema)) as store:
        call(store, "project.create", name="two")
        store._checkpoints.write_log()
        call(store, "project.create", name="three")
        with db.open("r+b") as file:
            file.write(backup)
            file.truncate()
        store._checkpoints.write_log()
        return db.read_bytes() == backup


def test_the_log_is_not_written_to_a_backup_that_was_put_in_the_place_of_the_file(db: Path) -> None:
    assert overwrite_while_open(db)
    assert list_names(db) == ["one"]
    assert find_damage(db) == []


@pytest.mark.teeth
def test_without_the_check_a_checkpoint_would_change_the_backup(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FileWatch, "must_not_checkpoint", lambda _watch: False)

    assert not overwrite_while_open(db)
