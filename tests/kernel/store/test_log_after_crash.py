"""Whenever a crash happens, the log is still known to belong to its file."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundplan.kernel.store.sqlite.log_identity import LogContent, LogRelation, find_relation, read_log
from tests.kernel.store.test_changed_files import create, find_damage, list_names
from tests.kernel.store.writing_process import FOREVER, SERVER, WritingProcess, crash_after
from tests.proof import scaled
from tests.standby import Standby

pytestmark = pytest.mark.slow

NAMES = ("two", "three", "four")
EVERY = scaled(9, 1)  # which oldest readers
KILLS = scaled(4, 300)
STARTS = scaled(3, 200)
AT_ONCE = 4
CHECKPOINTS = (1, 5, 50, 1000, SERVER)  # after so many pages, or beside each write


class CrashedDatabase:
    """A file as its log began, and the log; pages of the log can be written to the file, as a checkpoint does."""

    def __init__(self, db: Path) -> None:
        self.db = db
        self._log = Path(f"{db}-wal").read_bytes()
        self._before = db.read_bytes()
        content = read_log(Path(f"{db}-wal"))
        assert isinstance(content, LogContent)
        assert content.marks
        self.content = content

    def restart(self) -> None:
        """Make the file what it was when the log began, in its place."""
        os.truncate(self.db, len(self._before))
        self._write(0, self._before)

    def write_page(self, frame: int) -> None:
        """Write the page of a frame to the file."""
        number, offset = self.content.frames[frame]
        size = self.content.page_bytes
        self._write((number - 1) * size, self._log[offset : offset + size])

    def checkpoints(self) -> Iterator[list[int]]:
        """Yield the frames that a checkpoint writes, in order, for every oldest reader that may limit it."""
        latest = {number: frame for frame, (number, _) in enumerate(self.content.frames)}
        for safe in range(1, len(self.content.frames) + 1, EVERY):
            yield [frame for _, frame in sorted(latest.items()) if frame < safe]

    def _write(self, offset: int, content: bytes) -> None:
        # Not opened with Python's buffers: a page is one write, as for SQLite.
        file = os.open(self.db, os.O_WRONLY)
        try:
            os.pwrite(file, content, offset)
        finally:
            os.close(file)


@pytest.fixture
def crashed(tmp_path: Path, program: Standby) -> CrashedDatabase:
    db = tmp_path / "plan.db"
    create(db, "one")
    crash_after(program, db, NAMES[0])
    crash_after(program, db, *NAMES[1:])  # another process, so the log has a second mark
    return CrashedDatabase(db)


def test_a_log_belongs_to_its_file_after_every_page_of_every_checkpoint(crashed: CrashedDatabase) -> None:
    assert len(crashed.content.marks) > 1
    seen: set[tuple[int, ...]] = set()
    for frames in crashed.checkpoints():
        if tuple(frames) in seen:
            continue
        seen.add(tuple(frames))
        crashed.restart()
        for frame in frames:
            crashed.write_page(frame)
            assert find_relation(crashed.db) is LogRelation.BELONGS, frames

    assert list_names(crashed.db) == sorted(["one", *NAMES])
    assert find_damage(crashed.db) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(choice=st.randoms(use_true_random=False))
def test_a_power_failure_that_keeps_any_pages_never_makes_a_log_unrelated(
    crashed: CrashedDatabase, choice: random.Random
) -> None:
    frames = range(len(crashed.content.frames))
    crashed.restart()
    for frame in sorted(choice.sample(frames, choice.randrange(len(frames)))):
        crashed.write_page(frame)

    assert find_relation(crashed.db) is not LogRelation.UNRELATED


@pytest.mark.proof
def test_no_kill_makes_a_log_unrelated_or_loses_what_was_acknowledged(tmp_path: Path, program: Standby) -> None:
    db = tmp_path / "plan.db"
    chosen = random.Random(1)  # noqa: S311 - the same kills in every run
    acknowledged: set[str] = set()
    for kill in range(KILLS):
        writers = [
            WritingProcess(program, db, FOREVER, f"{kill}-{n}", str(chosen.choice(CHECKPOINTS))) for n in range(2)
        ]
        for writer in writers:
            acknowledged.update(writer.kill_after(chosen.randrange(1, 6)))

        assert find_relation(db) is LogRelation.BELONGS
        if kill % 3:
            continue  # the next crash is on top of this one
        assert acknowledged <= set(list_names(db))

    assert acknowledged <= set(list_names(db))
    assert find_damage(db) == []
    assert not list(tmp_path.glob("*unrelated*"))


@pytest.mark.proof
def test_servers_that_start_at_once_on_a_new_file_all_begin(tmp_path: Path, program: Standby) -> None:
    for number in range(STARTS):
        db = tmp_path / str(number) / "plan.db"
        db.parent.mkdir()

        starting = [WritingProcess(program, db, f"p{n}") for n in range(AT_ONCE)]
        created = [name for process in starting for name in process.read_until_end()]

        assert sorted(created) == list_names(db) == [f"p{n}" for n in range(AT_ONCE)]
        assert {path.name for path in db.parent.iterdir()} <= {f"plan.db{suffix}" for suffix in ("", "-gate", "-lock")}
