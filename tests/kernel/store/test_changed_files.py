"""Files that are removed, replaced or overwritten, under a server or between two: no acknowledged write is lost
silently, and no database is damaged by a log that is not its own.
"""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

import pytest

import groundplan
from groundplan.catalog import build_schema
from groundplan.kernel.clock import system_clock
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.checkup import CheckStatus, check_store
from groundplan.kernel.store.sqlite import log_identity
from groundplan.kernel.store.sqlite.file_watch import FileReplaced, FileWatch, WriteUncertain
from groundplan.kernel.store.sqlite.log_identity import (
    MARK_PAGE,
    MARK_TABLE,
    LogInDoubt,
    LogRelation,
    LogRemoved,
    LogWithoutFile,
    read_log,
)
from groundplan.kernel.store.sqlite.store import SqliteStore
from groundplan.surfaces.cli.setup.mcp import is_ready
from tests.kernel.store.writing_process import LIST, WritingProcess, crash_after
from tests.standby import Standby

Copy = Callable[[Path, Path], None]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "plan.db"


def create(db: Path, *names: str) -> None:
    """Create projects and close the database."""
    with groundplan.open(str(db), actor="ada") as plan:
        for name in names:
            plan.call("project.create", name=name)


def list_names(db: Path) -> list[str]:
    with groundplan.open(str(db), actor="ada") as plan:
        return sorted(project.name for project in plan.call("project.list").projects)


def find_damage(db: Path) -> list[str]:
    with closing(sqlite3.connect(db)) as connection:
        try:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        except sqlite3.DatabaseError as error:
            found = [str(error)]
    return [one for one in found if one != "ok"]


def beside(db: Path, suffix: str) -> Path:
    return Path(f"{db}{suffix}")


def copy_file(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)


def copy_by_backup(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy)


def copy_by_vacuum(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as original:
        original.execute("VACUUM INTO ?", (str(target),))


def overwrite(backup: Path, db: Path) -> None:
    shutil.copyfile(backup, db)


def replace(backup: Path, db: Path) -> None:
    backup.rename(db)


RESTORES = pytest.mark.parametrize("restore", [overwrite, replace])


# --- Between two servers --------------------------------------------------------------------------------------------


def test_everything_acknowledged_before_a_crash_is_there_after_it(db: Path, program: Standby) -> None:
    create(db, "one")
    crash_after(program, db, "two", "three")
    crash_after(program, db, "four")

    assert list_names(db) == ["four", "one", "three", "two"]


@RESTORES
@pytest.mark.parametrize("copy", [copy_file, copy_by_backup, copy_by_vacuum])
def test_the_log_of_another_state_is_set_aside_and_never_applied(
    db: Path, program: Standby, capsys: pytest.CaptureFixture[str], copy: Copy, restore: Copy
) -> None:
    backup = db.with_name("backup.db")
    create(db, "one")
    copy(db, backup)
    create(db, "two")
    crash_after(program, db, "three")
    log = beside(db, "-wal").read_bytes()

    restore(backup, db)

    assert list_names(db) == ["one"]
    assert find_damage(db) == []
    (kept,) = db.parent.glob("plan.db-wal.unrelated-*")
    assert kept.read_bytes() == log
    assert kept.name in capsys.readouterr().err


@RESTORES
@pytest.mark.parametrize("copy", [copy_by_backup, copy_by_vacuum])
def test_a_backup_that_was_made_while_the_log_was_in_use_is_restored_too(
    db: Path, program: Standby, copy: Copy, restore: Copy
) -> None:
    backup = db.with_name("backup.db")
    create(db, "one")
    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name="two")
        copy(db, backup)
        crash_after(program, db, "three")
        saved = {suffix: beside(db, suffix).read_bytes() for suffix in ("", "-wal")}
    for suffix, content in saved.items():  # as if this process had been killed, too
        beside(db, suffix).write_bytes(content)
    restore(backup, db)

    assert list_names(db) == ["one", "two"]
    assert find_damage(db) == []


@RESTORES
def test_a_file_that_is_exactly_as_its_log_began_is_left_to_a_person(db: Path, program: Standby, restore: Copy) -> None:
    backup = db.with_name("backup.db")
    create(db, "one")
    copy_file(db, backup)
    crash_after(program, db, "two")
    restore(backup, db)
    before = {path.name: path.read_bytes() for path in db.parent.iterdir()}

    with pytest.raises(LogInDoubt):
        list_names(db)

    assert {path.name: path.read_bytes() for path in db.parent.iterdir()} == before
    beside(db, "-wal").rename(beside(db, "-wal.unrelated-1"))  # as the message says
    beside(db, "-shm").unlink()
    assert list_names(db) == ["one"]


@pytest.mark.parametrize("copy", [shutil.copyfile, shutil.copy2])
def test_a_database_that_was_copied_with_its_log_keeps_everything(db: Path, program: Standby, copy: Copy) -> None:
    create(db, "one")
    crash_after(program, db, "two")
    copied = db.parent / "copy" / db.name
    copied.parent.mkdir()
    for suffix in ("-wal", ""):
        copy(beside(db, suffix), beside(copied, suffix))

    assert list_names(copied) == ["one", "two"]


def test_a_file_and_a_log_that_are_restored_together_in_their_places_keep_everything(
    db: Path, program: Standby
) -> None:
    create(db, "one")
    crash_after(program, db, "two")
    saved = {suffix: beside(db, suffix).read_bytes() for suffix in ("", "-wal")}
    create(db, "three")

    for suffix, content in saved.items():
        beside(db, suffix).write_bytes(content)

    assert list_names(db) == ["one", "two"]


def test_a_log_without_its_file_is_not_the_beginning_of_a_new_plan(db: Path, program: Standby) -> None:
    crash_after(program, db, "one")
    elsewhere = db.with_name("elsewhere.db")
    db.rename(elsewhere)

    for emptied in (False, True):
        if emptied:
            db.touch()
        with pytest.raises(LogWithoutFile):
            list_names(db)
    elsewhere.rename(db)

    assert list_names(db) == ["one"]


def test_an_index_without_its_log_is_a_removed_log(db: Path, program: Standby) -> None:
    create(db, "one")
    crash_after(program, db, "two")
    beside(db, "-wal").unlink()

    with pytest.raises(LogRemoved):
        list_names(db)
    beside(db, "-shm").unlink()  # as the message says

    assert list_names(db) == ["one"]


def test_the_database_of_another_program_is_not_changed_by_our_log(db: Path, program: Standby) -> None:
    crash_after(program, db, "one")
    other = db.with_name("other.db")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE accounts (id)")
    content = other.read_bytes()
    overwrite(other, db)

    with pytest.raises(GroundplanError) as refused:
        list_names(db)

    assert refused.value.code == "store_not_groundplan"
    assert db.read_bytes() == content


@pytest.mark.parametrize(("older", "problem"), [(True, "not the log of this file"), (False, "replaced or overwritten")])
def test_doctor_reports_a_log_that_may_not_belong_to_its_file_and_does_not_apply_it(
    db: Path, program: Standby, older: bool, problem: str
) -> None:
    backup = db.with_name("backup.db")
    create(db, "one")
    copy_file(db, backup)
    if older:
        create(db, "two")
    crash_after(program, db, "three")
    overwrite(backup, db)
    before = {path.name: path.read_bytes() for path in db.parent.iterdir()}

    (finding,) = [one for one in check_store(str(db), build_schema()) if one.status is CheckStatus.FAIL]

    assert finding.name == "log"
    assert problem in finding.message
    assert finding.fix
    assert {path.name: path.read_bytes() for path in db.parent.iterdir()} == before


def test_doctor_mentions_a_log_that_was_set_aside(db: Path) -> None:
    create(db, "one")
    beside(db, "-wal.unrelated-1").touch()

    (finding,) = [one for one in check_store(str(db), build_schema()) if one.name == "log"]

    assert finding.status is CheckStatus.WARN
    assert "plan.db-wal.unrelated-1" in finding.message


# --- Under a server -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("removed", [("-wal",), ("-shm",), ("-wal", "-shm"), ("",), ("", "-wal", "-shm")], ids="+".join)
def test_nothing_is_acknowledged_after_a_file_was_removed(db: Path, removed: tuple[str, ...]) -> None:
    create(db, "one")
    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name="two")
        for suffix in removed:
            beside(db, suffix).unlink()

        for _ in range(2):
            with pytest.raises(FileReplaced, match=f"{db.name}{removed[0]}' was removed"):
                plan.call("project.create", name="three")
        with pytest.raises(FileReplaced):
            plan.call("project.list")


@pytest.mark.parametrize("removed", [("-wal",), ("-wal", "-shm")], ids="+".join)
def test_a_server_that_ends_in_order_saves_what_its_removed_log_held(db: Path, removed: tuple[str, ...]) -> None:
    create(db, "one")
    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name="two")
        for suffix in removed:
            beside(db, suffix).unlink()

    assert list_names(db) == ["one", "two"]
    assert find_damage(db) == []


def test_a_second_server_does_not_begin_beside_a_removed_log(db: Path) -> None:
    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name="one")
        beside(db, "-wal").unlink()

        with pytest.raises(LogRemoved):
            list_names(db)

    assert list_names(db) == ["one"]


def test_a_write_during_which_the_log_is_removed_is_not_acknowledged(db: Path) -> None:
    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name="one")
        assert isinstance(plan.store, SqliteStore)
        plan.store._clock = RemovingClock(beside(db, "-wal"))

        with pytest.raises(WriteUncertain):
            plan.call("project.create", name="two")


class RemovingClock:
    """A clock that removes a file: it is asked for the time within every transaction."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self) -> datetime:
        self._path.unlink(missing_ok=True)
        return system_clock()


def test_a_backup_copied_over_an_open_file_is_noticed_and_is_not_damaged(db: Path) -> None:
    backup = db.with_name("backup.db")
    create(db, "one")
    copy_file(db, backup)
    create(db, "two")
    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name="three")
        overwrite(backup, db)

        with pytest.raises(FileReplaced, match="was overwritten"):
            plan.call("project.create", name="four")

    assert db.read_bytes() == backup.read_bytes()
    assert list_names(db) == ["one"]
    assert find_damage(db) == []


def test_a_backup_moved_over_an_open_file_is_opened_by_the_next_server_alone(db: Path) -> None:
    backup = db.with_name("backup.db")
    create(db, "one")
    copy_file(db, backup)
    create(db, "two")
    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name="three")
        backup.rename(db)

        with groundplan.open(str(db), actor="ada") as other:
            other.call("project.create", name="four")
            with pytest.raises(FileReplaced):
                plan.call("project.create", name="five")
            plan.close()
            other.call("project.create", name="six")

    assert list_names(db) == ["four", "one", "six"]
    assert find_damage(db) == []


def test_checkpoints_of_other_programs_and_of_other_servers_are_no_reason_to_refuse(db: Path) -> None:
    with groundplan.open(str(db), actor="ada") as plan, groundplan.open(str(db), actor="ben") as other:
        for number, mode in enumerate(["PASSIVE", "FULL", "RESTART", "TRUNCATE", "TRUNCATE"]):
            plan.call("project.create", name=f"ada-{number}")
            other.call("project.create", name=f"ben-{number}")
            with closing(sqlite3.connect(db)) as shell:
                shell.execute("UPDATE organizations SET name = name || '.'")
                shell.commit()
                assert shell.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()[0] == 0
            plan.call("project.create", name=f"ada-{number}-after")

    assert len(list_names(db)) == 15


def begin_log_and_roll_back(db: Path) -> None:
    """Write more than the cache holds to the beginning of the log, and do not commit it."""
    with closing(sqlite3.connect(db, isolation_level=None)) as shell:
        shell.execute("PRAGMA cache_size = 5")
        shell.execute("BEGIN IMMEDIATE")
        shell.execute("CREATE TABLE large (content)")
        shell.executemany("INSERT INTO large VALUES (zeroblob(4000))", [()] * 100)
        shell.execute("ROLLBACK")
    log = read_log(beside(db, "-wal"))
    assert log is not None
    assert log.frames == []


def empty_log(db: Path) -> None:
    with closing(sqlite3.connect(db)) as shell:
        assert shell.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def touch_later(db: Path) -> None:
    """Give the file a later time: two changes in the same tick of the system's clock are one."""
    before = db.stat().st_mtime_ns
    while db.stat().st_mtime_ns <= before:
        os.utime(db)


def write_log_to_file(db: Path) -> None:
    with closing(sqlite3.connect(db)) as shell:
        _, pages, written = shell.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    assert pages == written
    touch_later(db)


@pytest.mark.parametrize("end_log", [empty_log, begin_log_and_roll_back])
def test_a_log_without_writes_is_no_reason_to_refuse_what_others_wrote_before(
    db: Path, end_log: Callable[[Path], None]
) -> None:
    with groundplan.open(str(db), actor="ada") as plan, groundplan.open(str(db), actor="ben") as other:
        plan.call("project.create", name="one")
        write_log_to_file(db)
        other.call("project.create", name="two")  # with a mark that the first does not know
        write_log_to_file(db)
        end_log(db)

        plan.call("project.create", name="three")

    assert list_names(db) == ["one", "three", "two"]


@pytest.mark.parametrize("end_log", [empty_log, begin_log_and_roll_back])
@pytest.mark.parametrize("copy", [copy_file, copy_by_backup, copy_by_vacuum])
def test_a_backup_copied_over_an_open_file_whose_log_has_no_writes_is_noticed(
    db: Path, copy: Copy, end_log: Callable[[Path], None]
) -> None:
    backup = db.with_name("backup.db")
    with groundplan.open(str(db), actor="ada") as plan, groundplan.open(str(db), actor="ben") as other:
        plan.call("project.create", name="one")
        write_log_to_file(db)
        copy(db, backup)
        plan.call("project.create", name="two")
        write_log_to_file(db)
        other.call("project.create", name="three")
        write_log_to_file(db)
        end_log(db)
        overwrite(backup, db)
        touch_later(db)

        with pytest.raises(FileReplaced, match="was overwritten"):
            plan.call("project.create", name="four")


@pytest.mark.parametrize("copy", [copy_file, copy_by_backup, copy_by_vacuum])
@pytest.mark.parametrize("end_log", [empty_log, begin_log_and_roll_back])
def test_a_backup_with_a_mark_that_this_process_does_not_know_is_noticed_too(
    db: Path, copy: Copy, end_log: Callable[[Path], None]
) -> None:
    backup = db.with_name("backup.db")
    with groundplan.open(str(db), actor="ada") as plan, groundplan.open(str(db), actor="ben") as other:
        plan.call("project.create", name="one")
        write_log_to_file(db)
        other.call("project.create", name="two")
        write_log_to_file(db)
        copy(db, backup)
        for number in range(60):  # more than a page
            other.call("project.create", name=f"more {number}")
        write_log_to_file(db)
        end_log(db)
        plan.call("project.list")  # so that its cache has pages which the backup does not have
        overwrite(backup, db)
        while db.stat().st_ctime_ns <= beside(db, "-wal").stat().st_ctime_ns:
            os.utime(db)

        with pytest.raises(FileReplaced, match="was overwritten"):
            plan.call("project.create", name="three")

    with closing(sqlite3.connect(db)) as shell:
        assert shell.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


# --- What is not a file ---------------------------------------------------------------------------------------------


@pytest.fixture
def special(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    path = tmp_path / "special"
    with socket.socket(socket.AF_UNIX) as listening:
        if request.param == "fifo":
            os.mkfifo(path)
        elif request.param == "socket":
            listening.bind(str(path))
        elif request.param == "folder":
            path.mkdir()
        yield Path("/dev/null") if request.param == "device" else path


@pytest.mark.parametrize("special", ["fifo", "socket", "folder", "device"], indirect=True)
def test_what_is_not_a_file_is_refused_without_opening_it(special: Path) -> None:
    with pytest.raises(GroundplanError) as refused:
        list_names(special)

    assert refused.value.code == "store_cannot_open"
    assert not is_ready(str(special))
    assert not beside(special, "-lock").exists()


# --- Sabotage -------------------------------------------------------------------------------------------------------


def test_the_mark_is_where_the_log_is_searched_for_it(db: Path) -> None:
    create(db)

    with closing(sqlite3.connect(db)) as connection:
        place = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (MARK_TABLE,)).fetchone()

    assert place == (MARK_PAGE,)


def test_without_the_check_of_the_log_a_restored_backup_is_damaged(
    db: Path, program: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = db.with_name("backup.db")
    create(db, "one")
    copy_file(db, backup)
    create(db, *(f"two-{number}" for number in range(30)))
    crash_after(program, db, "three")
    overwrite(backup, db)
    monkeypatch.setattr(log_identity, "find_relation", lambda _: LogRelation.BELONGS)

    with suppress(GroundplanError):
        assert list_names(db) != ["one"]

    assert find_damage(db) != []


def test_without_the_watch_an_acknowledged_write_is_lost(
    db: Path, program: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(db, "one")
    monkeypatch.setattr(FileWatch, "check", lambda _: (db.stat(), db.stat()))
    plan = groundplan.open(str(db), actor="ada")
    beside(db, "-wal").unlink()
    beside(db, "-shm").unlink()
    plan.call("project.create", name="acknowledged")

    assert WritingProcess(program, db, LIST).read_until_end() == ["one"]


def test_without_care_at_the_end_a_server_damages_the_backup_that_was_copied_over_its_file(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = db.with_name("backup.db")
    create(db, "one")
    copy_file(db, backup)
    create(db, *(f"two-{number}" for number in range(30)))
    monkeypatch.setattr(FileWatch, "must_not_checkpoint", lambda _: False)
    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name="three")
        overwrite(backup, db)

    assert find_damage(db) != []


def test_the_chain_of_marks_is_kept_by_the_database(db: Path) -> None:
    create(db, "one")
    with closing(sqlite3.connect(db)) as connection:
        (mark,) = connection.execute("SELECT mark FROM file_mark").fetchone()
        for statement in (
            f"UPDATE file_mark SET mark = '{'0' * 16} {'1' * 16}{mark[33:]}'",
            "UPDATE file_mark SET mark = ''",
            "DELETE FROM file_mark",
            f"INSERT INTO file_mark VALUES (2, '{mark}')",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(statement)
        connection.execute(f"UPDATE file_mark SET mark = '{'0' * 16} {mark[:16]}{mark[33:]}'")
