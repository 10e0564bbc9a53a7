"""Writes that share a commit: each has its own effect, and none has its answer before the commit."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from groundplan.catalog import build_schema
from groundplan.kernel.actors import local_actor
from groundplan.kernel.audit import changed
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import Invalid, Unavailable
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.sqlite import group_commit
from groundplan.kernel.store.sqlite.group_commit import GroupCommitStore
from groundplan.kernel.store.sqlite.write_queue import WriteQueue
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from tests.proof import scaled

ADA = local_actor("ada")
PATIENCE_S = 20.0  # only a failing test waits this long
ENDLESS = Query(
    "endless",
    "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) "
    "UPDATE projects SET name = name WHERE (SELECT count(*) FROM numbers) = 0",
)
NOTES = Query("notes", "SELECT subject FROM events WHERE tenant_id = :tenant_id AND op = 'test.noted' ORDER BY rev, n")
REVISION = Query("revision", "SELECT rev FROM projects WHERE tenant_id = :tenant_id")


class CountedConnection(sqlite3.Connection):
    """A connection that counts commits, and can refuse the next one."""

    commits = 0
    on_commit: Callable[[], None] | None = None

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        if sql == "COMMIT":
            CountedConnection.commits += 1
            if CountedConnection.on_commit is not None:
                CountedConnection.on_commit()
        return super().execute(sql, *arguments)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GroupCommitStore]:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **named: connect(*given, factory=CountedConnection, **named))
    monkeypatch.setattr(CountedConnection, "on_commit", None)
    # A group takes writes for a short time only, and a busy machine could end it before the test has added them.
    monkeypatch.setattr(group_commit, "GROUP_S_MAX", PATIENCE_S)
    store = GroupCommitStore(tmp_path / "plan.db", build_schema)
    Session(store, ADA).call("project.create", name="atlas")
    CountedConnection.commits = 0
    yield store
    store.close()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as pool:
        yield pool


def note(subject: str) -> Callable[[Transaction], str]:
    def run(tx: Transaction) -> str:
        tx.record("test.noted", subject, changed("a", 1, 2))
        return subject

    return run


def noted(store: GroupCommitStore) -> list[str]:
    return store.read(ADA, lambda tx: tx.scalars(NOTES))


def revision(store: GroupCommitStore) -> int:
    rev: int = store.read(ADA, lambda tx: tx.scalar(REVISION))
    return rev


class Gathering:
    """Writes that wait while a first one runs, so that they all are in its group."""

    def __init__(self, store: GroupCommitStore, threads: ThreadPoolExecutor) -> None:
        self._store = store
        self._threads = threads
        self._may_end = threading.Event()
        self._has_begun = threading.Event()
        self.first = threads.submit(store.write, ADA, "atlas", self._hold)
        assert self._has_begun.wait(PATIENCE_S)

    def _hold(self, tx: Transaction) -> str:
        self._has_begun.set()
        assert self._may_end.wait(PATIENCE_S)
        return note("first")(tx)

    def add(self, run: Callable[[Transaction], Any], **options: Any) -> Future[Any]:
        """Add a write, and return when it waits in the queue."""
        waiting = self._store._group_commit._waiting
        count = len(waiting)
        future = self._threads.submit(lambda: self._store.write(ADA, "atlas", run, **options))
        while len(waiting) == count and not future.done():
            pass
        return future

    def run(self) -> None:
        self._may_end.set()


def fail(_tx: Transaction) -> None:
    raise Invalid("not this one")


def test_writes_that_wait_share_one_commit_and_keep_their_own_revisions(
    store: GroupCommitStore, threads: ThreadPoolExecutor
) -> None:
    before = revision(store)
    gathering = Gathering(store, threads)
    others = [gathering.add(note(str(number))) for number in range(7)]
    gathering.run()

    assert [one.result(PATIENCE_S) for one in (gathering.first, *others)] == ["first", *map(str, range(7))]
    assert (CountedConnection.commits, revision(store) - before) == (1, 8)
    assert noted(store) == ["first", *map(str, range(7))]


def test_every_thread_says_so_once_before_it_waits_for_a_commit(
    store: GroupCommitStore, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[int] = []
    at_commit: list[int] = []
    monkeypatch.setattr(group_commit, "QUICK_COMMIT_S", -1.0)
    store.on_wait = lambda: waiting.append(threading.get_ident())
    gathering = Gathering(store, threads)
    others = [gathering.add(note(str(number))) for number in range(3)]
    monkeypatch.setattr(CountedConnection, "on_commit", lambda: at_commit.append(len(waiting)))
    gathering.run()

    assert [one.result(PATIENCE_S) for one in others] == ["0", "1", "2"]
    assert (at_commit, len(waiting), len(set(waiting))) == ([4], 4, 4)


def test_a_server_that_cannot_let_another_thread_work_stops_no_write(
    store: GroupCommitStore, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_to_start() -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(group_commit, "QUICK_COMMIT_S", -1.0)
    store.on_wait = fail_to_start
    gathering = Gathering(store, threads)
    others = [gathering.add(note(str(number))) for number in range(3)]
    gathering.run()

    assert [one.result(PATIENCE_S) for one in (gathering.first, *others)] == ["first", "0", "1", "2"]
    assert store.write(ADA, "atlas", note("later")) == "later"


def test_a_thread_keeps_working_while_commits_are_quick(
    store: GroupCommitStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[str] = []
    store.on_wait = lambda: waiting.append("commit")
    monkeypatch.setattr(group_commit, "QUICK_COMMIT_S", 60.0)
    store.write(ADA, "atlas", note("quick"))
    assert not waiting

    monkeypatch.setattr(group_commit, "QUICK_COMMIT_S", 0.0)  # less than the one before took
    store.write(ADA, "atlas", note("slow"))
    assert waiting == ["commit"]


def test_one_quick_commit_among_slow_ones_is_not_usual_for_long(
    store: GroupCommitStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0
    usual: list[float] = []

    def take_time() -> None:
        nonlocal now_s
        now_s += 0.0001 if len(usual) == 50 else 0.005

    monkeypatch.setattr(group_commit, "monotonic", lambda: now_s)
    monkeypatch.setattr(CountedConnection, "on_commit", take_time)
    for number in range(100):
        store.write(ADA, "atlas", note(str(number)))
        usual.append(store._group_commit._usual_commit_s)

    assert usual[0] < group_commit.QUICK_COMMIT_S < usual[49]
    assert usual[50] == pytest.approx(0.0001)
    assert usual[99] > group_commit.QUICK_COMMIT_S


def test_no_write_has_its_answer_before_the_commit(
    store: GroupCommitStore, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered_early: list[bool] = []
    gathering = Gathering(store, threads)
    others = [gathering.add(note("a")), gathering.add(fail), gathering.add(lambda _tx: "read")]
    monkeypatch.setattr(
        CountedConnection, "on_commit", lambda: answered_early.extend(one.done() for one in (gathering.first, *others))
    )
    gathering.run()

    assert others[0].result(PATIENCE_S) == "a"
    assert answered_early == [False] * 4


def test_a_refused_write_leaves_the_others_of_its_group_alone(
    store: GroupCommitStore, threads: ThreadPoolExecutor
) -> None:
    def note_then_fail(tx: Transaction) -> None:
        note("never")(tx)
        tx.write_events()
        raise Invalid("not this one")

    gathering = Gathering(store, threads)
    refused, kept = gathering.add(note_then_fail), gathering.add(note("kept"))
    gathering.run()

    assert kept.result(PATIENCE_S) == "kept"
    with pytest.raises(Invalid):
        refused.result(PATIENCE_S)
    assert (noted(store), CountedConnection.commits) == (["first", "kept"], 1)


def test_an_interrupted_statement_rolls_back_its_own_write_only(
    store: GroupCommitStore, threads: ThreadPoolExecutor
) -> None:
    cancellation, is_running = Cancellation(), threading.Event()

    def run_endless(tx: Transaction) -> None:
        note("never")(tx)
        is_running.set()
        tx.run(ENDLESS)

    gathering = Gathering(store, threads)
    before = gathering.add(note("before"))
    endless = gathering.add(run_endless, cancellation=cancellation)
    after = gathering.add(note("after"))
    gathering.run()
    assert is_running.wait(PATIENCE_S)
    cancellation.cancel("the client is gone")

    with pytest.raises(Unavailable) as error:
        endless.result(PATIENCE_S)
    assert error.value.code == "cancelled"
    assert [one.result(PATIENCE_S) for one in (gathering.first, before, after)] == ["first", "before", "after"]
    assert sorted(noted(store)) == ["after", "before", "first"]


def test_a_write_that_is_cancelled_while_it_waits_never_runs(
    store: GroupCommitStore, threads: ThreadPoolExecutor
) -> None:
    cancellation = Cancellation()
    gathering = Gathering(store, threads)
    cancelled = gathering.add(note("never"), cancellation=cancellation)
    cancellation.cancel("the client is gone")

    with pytest.raises(Unavailable):
        cancelled.result(PATIENCE_S)  # while the first still runs
    gathering.run()
    assert gathering.first.result(PATIENCE_S) == "first"
    assert noted(store) == ["first"]


def test_a_group_that_cannot_be_committed_runs_again_one_by_one(
    store: GroupCommitStore, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_group() -> None:
        if CountedConnection.commits in (1, 3):  # the whole group, then the second of its writes
            raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(CountedConnection, "on_commit", refuse_group)
    gathering = Gathering(store, threads)
    second, third = gathering.add(note("second")), gathering.add(note("third"))
    gathering.run()

    assert (gathering.first.result(PATIENCE_S), third.result(PATIENCE_S)) == ("first", "third")
    with pytest.raises((Unavailable, sqlite3.OperationalError)):
        second.result(PATIENCE_S)
    assert noted(store) == ["first", "third"]


def test_a_leader_that_does_not_get_the_file_passes_the_lead_on(
    store: GroupCommitStore, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathering = Gathering(store, threads)
    monkeypatch.setattr(group_commit, "GROUP_WRITES_MAX", 1)
    held = store._hold_file
    refusals = [Unavailable("the file is locked", code="store_busy")]

    def hold_file(cancellation: Cancellation, wait_s: float) -> Any:
        if refusals:
            raise refusals.pop()
        return held(cancellation, wait_s)

    second, third = gathering.add(note("second")), gathering.add(note("third"))
    monkeypatch.setattr(store._group_commit, "_hold_file", hold_file)
    gathering.run()

    with pytest.raises(Unavailable):
        second.result(PATIENCE_S)
    assert third.result(PATIENCE_S) == "third"
    assert noted(store) == ["first", "third"]


def test_a_refusal_that_rests_on_a_write_that_was_rolled_back_is_reconsidered(
    store: GroupCommitStore, threads: ThreadPoolExecutor
) -> None:
    cancellation, is_running = Cancellation(), threading.Event()

    def take_name(tx: Transaction) -> str:
        if "name" in tx.scalars(NOTES):
            raise Invalid("the name is taken")
        tx.record("test.noted", "name", changed("a", 1, 2))
        tx.write_events()
        return "name"

    def run_endless(tx: Transaction) -> None:
        is_running.set()
        tx.run(ENDLESS)

    gathering = Gathering(store, threads)
    of_taker = Cancellation()
    taker = gathering.add(take_name, cancellation=of_taker)
    refused = gathering.add(take_name)
    endless = gathering.add(run_endless, cancellation=cancellation)
    gathering.run()
    assert is_running.wait(PATIENCE_S)
    of_taker.cancel("the client is gone")
    cancellation.cancel("the client is gone")

    for cancelled in (taker, endless):
        with pytest.raises(Unavailable):
            cancelled.result(PATIENCE_S)
    assert refused.result(PATIENCE_S) == "name"


def test_writers_behind_a_stuck_process_give_up_together_and_not_one_after_the_other(
    store: GroupCommitStore, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store._write_queue, "wait_s", 0.3)
    monkeypatch.setattr(store._group_commit, "_wait_s", 0.3)
    waits: list[float] = []
    held = store._hold_file

    def hold_file(cancellation: Cancellation, wait_s: float) -> Any:
        waits.append(wait_s)
        return held(cancellation, wait_s)

    monkeypatch.setattr(store._group_commit, "_hold_file", hold_file)
    with WriteQueue(store.path).hold_lock():
        stuck = [threads.submit(store.write, ADA, "atlas", note(str(number))) for number in range(4)]
        for one in stuck:
            with pytest.raises(Unavailable):
                one.result(PATIENCE_S)

    assert sum(waits) < 2 * 0.3


def test_many_threads_lose_and_repeat_nothing(store: GroupCommitStore, threads: ThreadPoolExecutor) -> None:
    session, per_thread = Session(store, ADA), scaled(25, 400)
    before = revision(store)

    def work(thread: int) -> int:
        for number in range(per_thread):
            session.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": f"{thread}.{number}"}])
            if number % 5 == 0:
                with pytest.raises(Invalid):
                    store.write(ADA, "atlas", fail)
        return per_thread

    done = sum(threads.map(work, range(8)))

    assert revision(store) - before == done
    found = session.call("work.query", project="atlas", filter={"resolved": False}, limit=1).total
    assert found == done + 1  # and the root


def sabotage_answer_before_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    run = group_commit._run_in_savepoint

    def answer_at_once(connection: sqlite3.Connection, write: group_commit.GroupedWrite) -> bool:
        has_changes = run(connection, write)
        write.has_ended = True
        write.wake()
        return has_changes

    monkeypatch.setattr(group_commit, "_run_in_savepoint", answer_at_once)


@pytest.mark.teeth
def test_an_answer_before_the_commit_would_be_noticed(
    store: GroupCommitStore, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage_answer_before_commit(monkeypatch)
    gathering = Gathering(store, threads)
    other = gathering.add(note("a"))
    answered: list[bool] = []

    def look() -> None:
        other.result(PATIENCE_S)  # without the sabotage it would wait for the commit that waits for it
        answered.append(other.done())

    monkeypatch.setattr(CountedConnection, "on_commit", look)
    gathering.run()
    assert gathering.first.result(PATIENCE_S) == "first"
    assert answered == [True]


@pytest.mark.teeth
def test_a_group_without_savepoints_would_be_noticed(
    store: GroupCommitStore, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_without_savepoint(connection: sqlite3.Connection, write: group_commit.GroupedWrite) -> bool:
        try:
            return write.run(connection)
        except Exception as error:
            write.error = error
            return False

    monkeypatch.setattr(group_commit, "_run_in_savepoint", run_without_savepoint)
    with pytest.raises(AssertionError):
        test_a_refused_write_leaves_the_others_of_its_group_alone(store, threads)
