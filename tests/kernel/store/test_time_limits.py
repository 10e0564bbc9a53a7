"""Time limits and cancellation: a request ends when it must, leaves nothing behind, and never lies about a commit."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from groundplan.catalog import build_schema
from groundplan.kernel.actors import local_actor
from groundplan.kernel.audit import changed
from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store import store as store_module
from groundplan.kernel.store.postgres.setup import set_up
from groundplan.kernel.store.postgres.store import PostgresStore, PostgresTransaction
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.sqlite import store as sqlite_store
from groundplan.kernel.store.sqlite.store import SqliteStore
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.transaction import Transaction
from tests.engines import Engine, PostgresEngine, SqliteEngine, person
from tests.proof import scaled

SHORT_S = 0.05
REASON = "somebody cancelled it"
PATIENCE_S = 20.0  # only a failing test waits this long

ENDLESS = Query(
    "endless",
    "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) SELECT count(*) FROM numbers",
    lambda: "SELECT pg_sleep(3600)::text",
)
# Longer than the limit, so that without a guard it succeeds late.
SLOW = Query(
    "slow",
    "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 1000000) "
    "SELECT count(*) FROM numbers",
    lambda: "SELECT pg_sleep(0.5)::text",
)
QUICK = Query("quick", "SELECT 1")
BACKEND = Query("backend", "SELECT 0", lambda: "SELECT pg_backend_pid()")


@pytest.fixture
def atlas(engine: Engine) -> str:
    project_id: str = engine.session("ada").call("project.create", name="atlas").project.id
    engine.session("ada").call("member.add", scopeId="atlas", userId="ada", role="owner")
    return project_id


def revision(engine: Engine) -> int:
    rev: int = engine.as_owner("SELECT rev FROM projects")[0][0]
    return rev


def happen(tx: Transaction) -> None:
    tx.record("test.happened", "x", changed("a", 1, 2))


def happen_then(query: Query, *, forever: bool = False) -> Callable[[Transaction], None]:
    def run(tx: Transaction) -> None:
        happen(tx)
        tx.all(query)
        while forever:
            tx.all(query)

    return run


def write(store: Store, run: Callable[[Transaction], Any], **options: Any) -> str | None:
    """Run a write on the project; return the code of its error, or None."""
    try:
        store.write(person("ada"), "atlas", run, **options)
    except Unavailable as error:
        return error.code
    return None


@pytest.mark.parametrize("run", [happen_then(ENDLESS), happen_then(QUICK, forever=True)], ids=["one", "many"])
def test_a_write_that_reaches_its_limit_is_rolled_back_and_the_error_says_what_to_do(
    engine: Engine, atlas: str, run: Callable[[Transaction], None]
) -> None:
    before = revision(engine)

    with pytest.raises(Unavailable) as refused:
        engine.store.write(person("ada"), "atlas", run, limit_s=SHORT_S)

    assert (refused.value.code, refused.value.details) == ("time_limit", {"limit_s": SHORT_S})
    assert "smaller calls" in refused.value.message
    assert "write_timeout_s" in refused.value.message
    assert revision(engine) == before
    assert write(engine.store, happen) is None
    assert revision(engine) == before + 1


def test_a_read_that_reaches_its_limit_ends(engine: Engine, atlas: str) -> None:
    with pytest.raises(Unavailable) as refused:
        engine.store.read(person("ada"), lambda tx: tx.all(ENDLESS), cancellation=Cancellation(SHORT_S))

    assert refused.value.code == "time_limit"
    assert engine.store.read(person("ada"), lambda tx: tx.scalar(QUICK)) == 1


def test_a_caller_may_lift_the_limit(engine: Engine, atlas: str) -> None:
    assert write(engine.store, happen_then(SLOW), limit_s=SHORT_S, cancellation=Cancellation(NO_LIMIT_S)) is None


@pytest.mark.parametrize("query", [ENDLESS, QUICK], ids=["one", "many"])
def test_another_thread_ends_a_write_and_it_is_rolled_back(engine: Engine, atlas: str, query: Query) -> None:
    before = revision(engine)
    cancellation = Cancellation(NO_LIMIT_S)

    def run(tx: Transaction) -> None:
        happen(tx)
        threading.Thread(target=cancellation.cancel, args=(REASON,)).start()
        while True:
            tx.all(query)

    with pytest.raises(Unavailable) as refused:
        engine.store.write(person("ada"), "atlas", run, cancellation=cancellation)

    assert (refused.value.code, refused.value.details) == ("cancelled", {"reason": REASON})
    assert revision(engine) == before
    assert write(engine.store, happen) is None


def test_a_request_that_is_cancelled_before_it_begins_does_nothing(engine: Engine, atlas: str) -> None:
    cancellation = Cancellation()
    cancellation.cancel(REASON)

    assert write(engine.store, happen, cancellation=cancellation) == "cancelled"
    with pytest.raises(Unavailable) as refused:
        engine.store.read(person("ada"), lambda tx: tx.scalar(QUICK), cancellation=cancellation)
    assert refused.value.code == "cancelled"


def test_an_error_that_a_use_case_ignores_is_raised_in_the_end(engine: Engine, atlas: str) -> None:
    before = revision(engine)

    assert write(engine.store, ignore_errors, limit_s=SHORT_S) == "time_limit"
    assert revision(engine) == before


def ignore_errors(tx: Transaction) -> None:
    happen(tx)
    for _ in range(3):
        try:
            tx.all(ENDLESS)
        except Exception:  # noqa: S112 - as a careless use case would
            continue


class Holder:
    """Another thread that holds the lock of the project."""

    def __init__(self, engine: Engine) -> None:
        self.has_lock, self.may_end = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=write, args=(engine.another_store(), self._hold))
        self._thread.start()
        assert self.has_lock.wait(PATIENCE_S)

    def _hold(self, _tx: Transaction) -> None:
        self.has_lock.set()
        self.may_end.wait(PATIENCE_S)

    def end(self) -> None:
        self.may_end.set()
        self._thread.join()


@pytest.fixture
def holder(engine: Engine, atlas: str) -> Iterator[Holder]:
    made = Holder(engine)
    yield made
    made.end()


def test_a_writer_that_waits_for_the_lock_can_be_cancelled(engine: Engine, holder: Holder) -> None:
    cancellation = Cancellation()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(write, engine.store, happen, cancellation=cancellation)
        while not waiting.running():
            os.sched_yield()
        cancellation.cancel(REASON)

        assert waiting.result(PATIENCE_S) == "cancelled"
        holder.end()
        assert write(engine.store, happen) is None


def test_the_limit_does_not_include_the_wait_for_the_lock(engine: Engine, holder: Holder) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(write, engine.store, happen, limit_s=SHORT_S)
        threading.Timer(4 * SHORT_S, holder.end).start()

        assert waiting.result(PATIENCE_S) is None


def test_a_writer_of_another_project_waits_at_most_until_the_limit_of_a_slow_one(engine: Engine, atlas: str) -> None:
    engine.session("ada").call("project.create", name="beacon")
    has_lock = threading.Event()

    def run(tx: Transaction) -> None:
        has_lock.set()
        tx.all(ENDLESS)

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(write, engine.store, run, limit_s=4 * SHORT_S)
        assert has_lock.wait(PATIENCE_S)
        engine.store.write(local_actor("ada"), "beacon", happen)

        assert slow.result(PATIENCE_S) == "time_limit"


@pytest.mark.proof
def test_what_is_reported_as_cancelled_was_not_written_and_disturbs_no_later_request(
    engine: Engine, atlas: str
) -> None:
    outcomes = set()
    dice = random.Random(7)  # noqa: S311 - not a secret
    with ThreadPoolExecutor(1) as pool:
        for _ in range(scaled(20, 1_000)):
            cancellation, before = Cancellation(), revision(engine)
            going = threading.Event()

            def run(tx: Transaction, going: threading.Event = going) -> None:
                going.set()
                happen(tx)
                tx.all(QUICK)

            steps = dice.randrange(30)
            writing = pool.submit(write, engine.store, run, cancellation=cancellation)
            going.wait(PATIENCE_S)
            for _ in range(steps):
                os.sched_yield()
            cancellation.cancel(REASON)
            code = writing.result(PATIENCE_S)
            outcomes.add(code)

            assert revision(engine) == before + (code is None)
            assert pool.submit(engine.store.read, person("ada"), lambda tx: tx.scalar(QUICK)).result(PATIENCE_S) == 1

    assert outcomes <= {None, "cancelled"}


def count_threads_and_files() -> tuple[int, int]:
    return threading.active_count(), len(list(Path("/dev/fd").iterdir()))


def test_a_cancellation_during_the_commit_comes_too_late_and_is_not_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_store, "STEPS_BETWEEN_CHECKS", 1)
    engine = SqliteEngine(tmp_path / "plan.db")
    engine.session("ada").call("project.create", name="atlas")
    before, cancellation = revision(engine), Cancellation()
    commit = sqlite_store.LockedFile.commit

    def cancel_then_commit(file: sqlite_store.LockedFile) -> None:
        cancellation.cancel(REASON)
        commit(file)

    monkeypatch.setattr(sqlite_store.LockedFile, "commit", cancel_then_commit)
    engine.store.write(local_actor("ada"), "atlas", happen, cancellation=cancellation)

    assert revision(engine) == before + 1


def test_limits_and_cancellations_leave_no_thread_and_no_open_file(engine: Engine, atlas: str) -> None:
    def round_of_both() -> None:
        assert write(engine.store, happen_then(ENDLESS), limit_s=SHORT_S / 5) == "time_limit"
        cancellation = Cancellation()

        def run(tx: Transaction) -> None:
            thread = threading.Thread(target=cancellation.cancel, args=(REASON,))
            thread.start()
            try:
                tx.all(ENDLESS)
            finally:
                thread.join()

        assert write(engine.store, run, cancellation=cancellation) == "cancelled"

    round_of_both()
    before = wait_until_still(count_threads_and_files)
    for _ in range(10):
        round_of_both()

    threads, files = wait_until_still(count_threads_and_files)
    assert (threads <= before[0], files <= before[1]) == (True, True)


def wait_until_still(count: Callable[[], tuple[int, int]]) -> tuple[int, int]:
    """Return a count that has stayed the same for a while: the pool of PostgreSQL replaces closed connections."""
    same, last = 0, count()
    while same < 20:
        threading.Event().wait(0.01)
        same, last = (same + 1, last) if count() == last else (0, count())
    return last


# --- Guards ---------------------------------------------------------------------------------------------------------


@pytest.mark.teeth
def test_without_the_clock_nothing_ends(engine: Engine, atlas: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert write(engine.store, happen_then(SLOW), limit_s=SHORT_S) == "time_limit"

    monkeypatch.setattr(Cancellation, "prepare", lambda _self, _default_s, *, is_write: None)

    assert write(engine.store, happen_then(SLOW), limit_s=SHORT_S) is None


@pytest.mark.teeth
def test_without_the_last_check_an_ignored_error_is_committed(
    engine: Engine, atlas: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(tx: Transaction) -> None:
        happen(tx)
        tx.cancellation.cancel(REASON)

    assert write(engine.store, run) == "cancelled"

    class Unchecked(Cancellation):
        def check(self) -> None:
            """Check nothing."""

        def build_error(self) -> Unavailable:
            raise AssertionError("nothing should be checked")

    monkeypatch.setattr(Transaction, "write_events", lambda _tx: None)  # it runs statements, which are checked
    monkeypatch.setattr(store_module, "Cancellation", Unchecked)
    assert write(engine.store, run) is None


@pytest.mark.teeth
def test_without_the_limit_of_the_server_a_statement_of_postgres_runs_to_its_end(
    team: PostgresEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.session("ada").call("project.create", name="atlas")
    ended = []

    def run(tx: Transaction) -> None:
        tx.all(SLOW)
        ended.append(1)

    def write_as_owner() -> None:
        with pytest.raises(Unavailable):
            team.store.write(local_actor("ada"), "atlas", run, limit_s=SHORT_S)

    write_as_owner()
    assert ended == []
    monkeypatch.setattr(PostgresTransaction, "statement_timeout", "0")
    write_as_owner()
    assert ended == [1]


def test_a_connection_on_which_a_statement_was_interrupted_is_not_used_again(team: PostgresEngine) -> None:
    team.session("ada").call("project.create", name="atlas")
    store = PostgresStore(team.app_url, connections_max=1)
    backends = []

    def run(tx: Transaction) -> None:
        backends.append(tx.scalar(BACKEND))
        tx.cancellation.cancel(REASON)

    with pytest.raises(Unavailable):
        store.write(local_actor("ada"), "atlas", run)
    backends.append(store.read(local_actor("ada"), lambda tx: tx.scalar(BACKEND)))
    store.close()

    assert len(set(backends)) == 2


def test_opening_a_file_that_must_be_migrated_has_no_limit_but_can_have_one(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    path.touch()
    with pytest.raises(Unavailable) as refused:
        SqliteStore(path, build_schema, cancellation=Cancellation(0.0))

    assert refused.value.code == "time_limit"
    SqliteStore(path, build_schema).close()


def test_setting_up_a_database_can_be_cancelled_and_repeated(team: PostgresEngine) -> None:
    cancellation = Cancellation()
    cancellation.cancel(REASON)

    for given, code in ((Cancellation(0.0), "time_limit"), (cancellation, "cancelled")):
        with pytest.raises(Unavailable) as refused:
            set_up(team.owner_url, build_schema(), cancellation=given)
        assert refused.value.code == code
    assert set_up(team.owner_url, build_schema()).steps_taken == 0


@pytest.mark.teeth
def test_without_the_progress_handler_a_statement_of_sqlite_runs_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SqliteEngine(tmp_path / "plan.db")
    engine.session("ada").call("project.create", name="atlas")
    ended = []

    def run(tx: Transaction) -> None:
        tx.all(SLOW)
        ended.append(1)

    assert write(engine.store, run, limit_s=SHORT_S) == "time_limit"
    assert ended == []
    monkeypatch.setattr(sqlite_store._StatementWatch, "must_stop", lambda _self: False)
    write(engine.another_store(), run, limit_s=SHORT_S)
    assert ended == [1]
    engine.close()
