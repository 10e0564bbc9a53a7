"""Reads notice every file that was removed or replaced, whatever the time of its folder says."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import groundplan
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


def test_a_folder_that_was_moved_is_noticed(plan: groundplan.Session, db: Path) -> None:
    set_time_of_folder(db, time.time_ns() - LONG_AGO_NS)
    plan.call("project.list")

    db.parent.rename(db.parent.with_name("elsewhere"))

    with pytest.raises(FileReplaced):
        plan.call("project.list")
