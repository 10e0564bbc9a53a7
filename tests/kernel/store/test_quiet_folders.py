"""Reads look at the folder of a database first, and still notice every file that was removed or replaced."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import groundplan
from groundplan.kernel.store.sqlite import file_watch
from groundplan.kernel.store.sqlite.file_watch import FileReplaced

LONG_AGO_NS = 60_000_000_000


def remove(path: Path) -> None:
    path.unlink()


def move_away(path: Path) -> None:
    path.rename(path.with_name(f"{path.name}.old"))


def replace(path: Path) -> None:
    copy = path.with_name("copy")
    shutil.copyfile(path, copy)
    copy.rename(path)


CHANGES = pytest.mark.parametrize("change", [remove, move_away, replace])
FILES = pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])


@pytest.fixture
def db(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder / "plan.db"


@pytest.fixture
def plan(db: Path) -> Iterator[groundplan.Session]:
    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name="one")
        yield plan


def set_time_of_folder(db: Path, modified_ns: int) -> None:
    os.utime(db.parent, ns=(modified_ns, modified_ns))


@CHANGES
@FILES
def test_a_change_in_a_folder_that_was_quiet_is_noticed_by_the_next_read(
    plan: groundplan.Session, db: Path, suffix: str, change: Callable[[Path], None]
) -> None:
    set_time_of_folder(db, time.time_ns() - LONG_AGO_NS)
    for _ in range(2):
        plan.call("project.list")

    change(Path(f"{db}{suffix}"))

    for _ in range(2):
        with pytest.raises(FileReplaced):
            plan.call("project.list")


@CHANGES
def test_a_change_at_the_same_time_as_the_last_one_is_noticed(
    plan: groundplan.Session, db: Path, change: Callable[[Path], None]
) -> None:
    now_ns = time.time_ns()  # of a file system that counts in long steps
    set_time_of_folder(db, now_ns)
    plan.call("project.list")

    change(Path(f"{db}-wal"))
    set_time_of_folder(db, now_ns)

    with pytest.raises(FileReplaced):
        plan.call("project.list")


def test_a_time_in_whole_seconds_is_trusted_later_than_one_with_fractions(
    plan: groundplan.Session, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second_ns = 1_000_000_000
    changed_ns = time.time_ns() // second_ns * second_ns
    monkeypatch.setattr(time, "time_ns", lambda: changed_ns + second_ns)  # later than a fine step

    for modified_ns, is_noticed in ((changed_ns, True), (changed_ns + 1, False)):
        set_time_of_folder(db, modified_ns)
        plan.call("project.list")
        move_away(Path(f"{db}-wal"))
        set_time_of_folder(db, modified_ns)
        if is_noticed:
            with pytest.raises(FileReplaced):
                plan.call("project.list")
        else:
            plan.call("project.list")  # no file system with such a time gives it to a change that comes so much later
        Path(f"{db}-wal.old").rename(f"{db}-wal")


def test_a_folder_that_was_moved_is_noticed(plan: groundplan.Session, db: Path) -> None:
    set_time_of_folder(db, time.time_ns() - LONG_AGO_NS)
    plan.call("project.list")

    db.parent.rename(db.parent.with_name("elsewhere"))

    with pytest.raises(FileReplaced):
        plan.call("project.list")


def test_a_read_in_a_quiet_folder_looks_at_nothing_but_the_folder(
    plan: groundplan.Session, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_time_of_folder(db, time.time_ns() - LONG_AGO_NS)
    plan.call("project.list")
    looked_at: list[str] = []

    def stat(path: str) -> os.stat_result:
        looked_at.append(path)
        return Path(path).stat()

    monkeypatch.setattr(file_watch, "_stat", stat)
    plan.call("project.list")

    assert looked_at == [str(db.parent.resolve())]
