"""One file used by many: opening, closing or leaving it never loses an acknowledged write."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import groundplan
from groundplan.catalog import build_schema
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.sqlite.file import _ensure_file
from groundplan.kernel.store.sqlite.file_watch import FileReplaced
from groundplan.kernel.store.sqlite.write_queue import WriteQueue

OTHER = """
import sys, groundplan
with groundplan.open(sys.argv[1], actor="ben") as plan:
    if len(sys.argv) > 2:
        plan.call("project.create", name=sys.argv[2])
    print(*sorted(one.name for one in plan.call("project.list").projects))
"""


def run_other_process(db: Path, *create: str) -> list[str]:
    """Open and close the file in another process, maybe create a project, and return what it sees."""
    ended = subprocess.run(
        [sys.executable, "-c", OTHER, str(db), *create], capture_output=True, text=True, check=True, timeout=60
    )
    return ended.stdout.split()


@pytest.mark.slow
def test_opening_a_second_time_does_not_drop_the_locks_of_the_first(tmp_path: Path) -> None:
    db = tmp_path / "plan.db"
    with groundplan.open(str(db), actor="ada") as first, groundplan.open(str(db), actor="ada"):
        first.call("project.create", name="one")
        # Without our locks, this process would take itself for the last one and remove the log.
        assert run_other_process(db) == ["one"]
        first.call("project.create", name="acknowledged")
        assert run_other_process(db, "other") == ["acknowledged", "one", "other"]
        assert len(first.call("project.list").projects) == 3


def test_an_existing_database_is_never_opened_and_closed_by_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "plan.db"
    groundplan.open(str(db), actor="ada").close()
    opened: list[object] = []
    monkeypatch.setattr(os, "open", lambda path, *_: opened.append(path))

    _ensure_file(db, build_schema, WriteQueue(db))

    assert opened == []


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_file_that_was_taken_away_is_not_written_any_more(tmp_path: Path, how: str) -> None:
    db, other = tmp_path / "plan.db", tmp_path / "other.db"
    groundplan.open(str(other), actor="ada").close()
    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name="one")
        if how == "removed":
            db.unlink()
        else:
            other.rename(db)

        with pytest.raises(FileReplaced):
            plan.call("project.create", name="two")
        with pytest.raises(FileReplaced):
            plan.call("project.list")


def test_a_file_has_one_queue_whatever_name_it_is_called_by(tmp_path: Path) -> None:
    db, link = tmp_path / "plan.db", tmp_path / "link.db"
    groundplan.open(str(db), actor="ada").close()
    link.symlink_to(db)

    with groundplan.open(str(link), actor="ada") as plan:
        plan.call("project.create", name="one")

    assert sorted(path.name for path in tmp_path.iterdir() if "link" in path.name) == ["link.db"]


def test_a_store_stays_with_its_file_when_the_process_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    seen: list[int] = []
    with groundplan.open("plan.db", actor="ada") as plan:
        plan.call("project.create", name="one")
        monkeypatch.chdir(tmp_path / "elsewhere")
        thread = threading.Thread(target=lambda: seen.append(len(plan.call("project.list").projects)))
        thread.start()
        thread.join()

    assert seen == [1]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_thread_takes_its_connection_with_it(tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        descriptors = Path("/dev/fd")
    with groundplan.open(str(tmp_path / "plan.db"), actor="ada") as plan:
        before = len(list(descriptors.iterdir()))
        for _ in range(20):
            thread = threading.Thread(target=lambda: plan.call("project.list"))
            thread.start()
            thread.join()
        assert len(list(descriptors.iterdir())) <= before + 3


def test_lock_files_that_cannot_be_opened_are_a_clear_refusal(tmp_path: Path) -> None:
    db = tmp_path / "plan.db"
    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name="one")
    Path(f"{db}-gate").unlink()
    Path(f"{db}-gate").mkdir()

    with groundplan.open(str(db), actor="ada") as plan, pytest.raises(GroundplanError) as refused:
        plan.call("project.create", name="two")

    assert refused.value.code == "store_cannot_open"


def test_a_new_file_leaves_nothing_else_behind(tmp_path: Path) -> None:
    groundplan.open(str(tmp_path / "plan.db"), actor="ada").close()

    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("actor", ["", "a\nb", "a\0b", "\x1b[31m", "x" * 256])
def test_python_callers_pass_the_same_gate_with_their_name(tmp_path: Path, actor: str) -> None:
    with pytest.raises(GroundplanError) as refused:
        groundplan.open(str(tmp_path / "plan.db"), actor=actor)

    assert refused.value.status == 400
    assert list(tmp_path.iterdir()) == []


def test_python_callers_may_use_plain_words(tmp_path: Path) -> None:
    with groundplan.open(str(tmp_path / "plan.db"), actor="mallory", access="members") as plan:
        with pytest.raises(GroundplanError) as refused:
            plan.call("project.list")
        assert refused.value.code == "not_found"
    with pytest.raises(GroundplanError) as refused:
        groundplan.open(str(tmp_path / "plan.db"), actor="ada", access="everybody")
    assert refused.value.code == "invalid_argument"


def test_a_removed_file_is_not_made_anew_by_a_thread_that_comes_later(tmp_path: Path) -> None:
    db = tmp_path / "plan.db"
    refused: list[str] = []

    def write(plan: groundplan.Session) -> None:
        try:
            plan.call("project.create", name="two")
        except GroundplanError as error:
            refused.append(error.code)

    with groundplan.open(str(db), actor="ada") as plan:
        plan.call("project.create", name="one")
        db.rename(tmp_path / "elsewhere.db")
        thread = threading.Thread(target=write, args=(plan,))
        thread.start()
        thread.join()

    assert refused == ["store_replaced"]
    assert not db.exists()


def test_closing_waits_for_those_who_are_at_work_and_refuses_those_who_come_later(tmp_path: Path) -> None:
    plan = groundplan.open(str(tmp_path / "plan.db"), actor="ada")
    plan.call("project.create", name="one")
    at_work, outcomes = threading.Barrier(5), []

    def work() -> None:
        at_work.wait()
        try:
            while True:
                plan.call("project.list")
        except GroundplanError as error:
            outcomes.append(error.code)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    at_work.wait()
    plan.close()
    for thread in threads:
        thread.join()

    assert outcomes == ["store_closed"] * 4
    with pytest.raises(GroundplanError) as refused:
        plan.call("project.list")
    assert refused.value.code == "store_closed"


def test_root_gives_no_file_away_that_somebody_linked_to(tmp_path: Path) -> None:
    db, secret = tmp_path / "plan.db", tmp_path / "secret"
    groundplan.open(str(db), actor="ada").close()
    secret.touch(0o600)
    for suffix in ("-gate", "-lock"):
        Path(f"{db}{suffix}").unlink(missing_ok=True)
        Path(f"{db}{suffix}").symlink_to(secret)
    before = secret.stat()

    with groundplan.open(str(db), actor="ada") as plan, pytest.raises(GroundplanError) as refused:
        plan.call("project.create", name="one")

    assert refused.value.code == "store_cannot_open"
    assert (secret.stat().st_uid, secret.stat().st_mode) == (before.st_uid, before.st_mode)
