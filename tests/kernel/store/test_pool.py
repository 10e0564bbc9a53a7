"""The pool of connections to PostgreSQL: limited, clean, and back as soon as the server is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import pairwise
from threading import Barrier

import psycopg
import pytest
from psycopg import errors

from groundplan.kernel.store.postgres.pool import IDLE_S_MAX, LIFETIME_S_MAX, POLL_S, ConnectionPool
from groundplan.kernel.store.postgres.store import PostgresStore
from tests.engines import PostgresEngine, person
from tests.kernel.store.outage import Gate, make_gate

WAIT_S = 5.0
OUTAGE_S = 75.0
IDENTITY = "SELECT current_setting('groundplan.actor', true)"


class Timeline:
    """A clock that only pauses move forward, and what to do after some pauses."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.pauses = 0
        self.after: dict[int, Callable[[], None]] = {}

    def clock(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds
        self.pauses += 1
        self.after.get(self.pauses, lambda: None)()


@pytest.fixture
def gate(team: PostgresEngine) -> Iterator[Gate]:
    with make_gate(team.app_url) as made:
        yield made


@pytest.fixture
def timeline() -> Timeline:
    return Timeline()


@pytest.fixture
def pool(gate: Gate, timeline: Timeline) -> Iterator[ConnectionPool]:
    made = make_pool(gate, timeline)
    yield made
    made.close()


def make_pool(gate: Gate, timeline: Timeline, *, connections_max: int = 4) -> ConnectionPool:
    settings = {"autocommit": True, "application_name": "pool under test"}
    return ConnectionPool(
        gate.url,
        settings,
        connections_max=connections_max,
        wait_s=WAIT_S,
        clock=timeline.clock,
        pause=timeline.pause,
    )


def ask(pool: ConnectionPool) -> int:
    """Return the process of the server that answers."""
    with pool.connection() as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
    assert row
    return int(row[0])


def test_the_first_call_after_a_long_outage_succeeds_at_once(
    pool: ConnectionPool, gate: Gate, timeline: Timeline
) -> None:
    gate.close()
    ends_at = timeline.now + OUTAGE_S
    while timeline.now < ends_at:
        with pytest.raises(psycopg.OperationalError):
            ask(pool)

    gate.open()
    pauses = timeline.pauses
    ask(pool)

    assert timeline.pauses == pauses


@pytest.mark.parametrize("pauses", [1, 20])
def test_a_caller_that_waits_is_served_by_the_next_attempt_after_the_server_is_back(
    pool: ConnectionPool, gate: Gate, timeline: Timeline, pauses: int
) -> None:
    gate.close()
    timeline.after[pauses] = gate.open

    ask(pool)

    assert timeline.pauses == pauses
    assert timeline.now - 1000.0 == pytest.approx(pauses * POLL_S)


def test_attempts_follow_each_other_without_a_growing_pause(
    pool: ConnectionPool, gate: Gate, timeline: Timeline
) -> None:
    gate.close()
    moments = []
    for number in range(1, 100):
        timeline.after[number] = lambda: moments.append(timeline.now)

    for _ in range(3):
        with pytest.raises(psycopg.OperationalError):
            ask(pool)

    steps = {round(later - earlier, 6) for earlier, later in pairwise(moments)}
    assert steps == {POLL_S}


def test_while_the_server_is_down_a_caller_gives_up_within_its_limit(
    pool: ConnectionPool, gate: Gate, timeline: Timeline
) -> None:
    gate.close()
    began = timeline.now

    with pytest.raises(psycopg.OperationalError):
        ask(pool)

    assert timeline.now - began <= WAIT_S


def test_a_refused_login_is_not_tried_again(gate: Gate, timeline: Timeline) -> None:
    gate.url += " dbname=missing"

    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        ask(make_pool(gate, timeline))

    assert timeline.pauses == 0


def test_a_caller_can_end_its_wait(pool: ConnectionPool, gate: Gate, timeline: Timeline) -> None:
    def cancel() -> None:
        raise InterruptedError

    gate.close()

    with pytest.raises(InterruptedError), pool.connection(cancel):
        pass

    assert timeline.pauses == 0


def test_connections_that_the_server_closed_are_replaced_in_the_first_call(team: PostgresEngine, gate: Gate) -> None:
    team.session("ada").call("project.create", name="atlas")
    store = PostgresStore(gate.url)
    gather = Barrier(3)

    def meet(_: object) -> None:
        store.read(person("ada"), lambda tx: gather.wait())

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(meet, range(3)))  # three connections, all unused now
    gate.close()
    gate.open()

    assert store.read(person("ada"), lambda tx: tx.actor.id) == "ada"
    store.close()


def test_a_connection_is_used_again_and_the_latest_first(pool: ConnectionPool) -> None:
    first = ask(pool)
    with pool.connection(), pool.connection():
        pass

    assert ask(pool) == first


def test_there_are_never_more_connections_than_allowed(gate: Gate) -> None:
    pool = ConnectionPool(gate.url, {"autocommit": True}, connections_max=3, wait_s=WAIT_S)
    count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pool under test'"

    def use(_: int) -> int:
        with pool.connection() as connection:
            connection.execute("SET application_name = 'pool under test'")
            row = connection.execute(count).fetchone()
            assert row
            return int(row[0])

    with ThreadPoolExecutor(8) as threads:
        counts = list(threads.map(use, range(200)))
    pool.close()

    assert max(counts) <= 3


def test_a_caller_gives_up_when_no_connection_becomes_free(gate: Gate) -> None:
    ticks = iter(range(1_000))
    pool = ConnectionPool(gate.url, {}, connections_max=1, wait_s=4, clock=lambda: next(ticks))

    with pool.connection(), pytest.raises(errors.ConnectionTimeout), pool.connection():
        pass
    pool.close()


def test_what_a_caller_leaves_open_is_rolled_back(pool: ConnectionPool) -> None:
    first = ask(pool)
    with pool.connection() as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT set_config('groundplan.actor', 'ada', true)")
    with suppress(errors.DivisionByZero), pool.connection() as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT set_config('groundplan.actor', 'ada', true), 1 / 0")
    with pool.connection() as connection:
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        row = connection.execute(IDENTITY).fetchone()

    assert ask(pool) == first
    assert row
    assert not row[0]


def test_a_connection_that_a_caller_closed_is_not_used_again(pool: ConnectionPool) -> None:
    first = ask(pool)
    with pool.connection() as connection:
        connection.close()

    assert ask(pool) != first


def test_a_store_uses_the_connection_on_which_it_was_checked(gate: Gate) -> None:
    with closing(PostgresStore(gate.url)) as store:
        store.read(person("ada"), lambda tx: None)

    assert gate.connections == 1


@pytest.mark.parametrize("age_s", [IDLE_S_MAX, LIFETIME_S_MAX])
def test_an_old_connection_is_replaced(pool: ConnectionPool, timeline: Timeline, age_s: float) -> None:
    first = ask(pool)
    step_s = age_s if age_s == IDLE_S_MAX else IDLE_S_MAX / 2
    for _ in range(int(age_s // step_s) + 2):
        timeline.now += step_s
        last = ask(pool)

    assert last != first


def test_the_server_ends_what_a_stopped_process_does_not_use(pool: ConnectionPool) -> None:
    with pool.connection() as connection:
        row = connection.execute("SELECT current_setting('idle_session_timeout')").fetchone()

    assert row == ("10min",)


def test_a_closed_pool_leaves_no_connection(pool: ConnectionPool) -> None:
    with pool.connection() as connection:
        pool.close()
        connection.execute("SELECT 1")

    assert connection.closed
    with pytest.raises(psycopg.OperationalError):
        ask(pool)
