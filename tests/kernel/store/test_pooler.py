"""A store behind pgbouncer in transaction mode: sessions of the server are shared, and nothing is left in them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from groundplan.kernel.actors import local_actor
from groundplan.kernel.errors import NotFound
from groundplan.kernel.store.postgres import session
from groundplan.kernel.store.postgres.store import PostgresStore
from groundplan.kernel.store.store import Store, WatchedProject
from groundplan.session import Session
from tests.engines import PostgresEngine, person
from tests.pgbouncer import POOL, run_pgbouncer
from tests.proof import scaled

pytestmark = pytest.mark.slow  # they start a program
CALLERS = 8


@pytest.fixture
def pooled_url(team: PostgresEngine) -> Iterator[str]:
    with run_pgbouncer(team.app_url) as url:
        yield url


@pytest.fixture
def pooled(pooled_url: str) -> Iterator[Store]:
    with closing(PostgresStore(pooled_url)) as store:
        yield store


def test_a_pooler_is_noticed_and_a_direct_connection_is_not_taken_for_one(
    pooled_url: str, team: PostgresEngine
) -> None:
    with psycopg.connect(pooled_url) as through, psycopg.connect(team.app_url) as direct:
        assert [session.is_behind_pooler(one) for one in (through, direct)] == [True, False]


@pytest.mark.proof
def test_callers_who_share_sessions_see_only_their_own(pooled: Store) -> None:
    people = [person(f"caller-{number}") for number in range(CALLERS)]
    for one in people:
        Session(pooled, local_actor(one.id)).call("project.create", name=f"of {one.id}")

    def work(number: int) -> list[str]:
        """Return what went wrong."""
        mine, other = people[number], people[(number + 1) % CALLERS]
        session, wrong = Session(pooled, mine), []
        for place in range(scaled(10, proof=1_000)):
            nodes = [{"ref": "a", "summary": f"Step {place}"}]
            session.call("work.plan", project=f"of {mine.id}", nodes=nodes)
            seen = [project.name for project in session.call("project.list").projects]
            if seen != [f"of {mine.id}"]:
                wrong.append(f"{mine.id} sees {seen}")
            try:
                session.call("work.plan", project=f"of {other.id}", nodes=nodes)
                wrong.append(f"{mine.id} wrote to {other.id}")
            except NotFound:
                pass
        return wrong

    with ThreadPoolExecutor(CALLERS) as threads:
        assert [wrong for found in threads.map(work, range(CALLERS)) for wrong in found] == []


def test_nothing_is_left_in_the_sessions_of_the_server(pooled: Store, pooled_url: str) -> None:
    session = Session(pooled, local_actor("ada"))
    session.call("project.create", name="atlas")
    for _ in range(20):  # more often than a statement that is going to be prepared
        session.call("work.next", project="atlas")

    with closing(psycopg.connect(pooled_url, prepare_threshold=None)) as connection:
        for _ in range(POOL * 2):
            with connection.transaction():
                (left,) = connection.execute(
                    "SELECT ARRAY[current_setting('groundplan.tenant', true),"
                    " current_setting('groundplan.actor', true),"
                    " current_setting('search_path'), current_setting('lock_timeout'),"
                    " current_setting('statement_timeout'), (SELECT count(*)::text FROM pg_prepared_statements),"
                    " (SELECT count(*)::text FROM pg_listening_channels())]"
                ).fetchall()
                assert [one or "" for one in left[0]] == ["", "", '"$user", public', "0", "0", "0", "0"]


def test_each_transaction_has_the_limits_of_a_connection_of_our_own(pooled: Store) -> None:
    with pooled._transaction(  # type: ignore[attr-defined] # no operation shows its limits
        local_actor("ada"), "BEGIN ISOLATION LEVEL READ COMMITTED", *_limits()
    ) as tx:
        shown = tx.connection.execute(
            "SELECT current_setting('lock_timeout'), current_setting('search_path')"
        ).fetchone()

    assert shown == ("20020ms", "groundplan, pg_temp")


def _limits() -> tuple[object, object]:
    from groundplan.kernel.cancellation import Cancellation
    from groundplan.kernel.store.postgres.session import ServerLimits

    return Cancellation(), ServerLimits(10.0, 10.0)


def test_a_commit_wakes_those_who_watch_although_nobody_can_listen(pooled: Store) -> None:
    made = Session(pooled, local_actor("ada")).call("project.create", name="atlas").project
    watched = WatchedProject("local", made.id)
    with closing(pooled.watch_commits()) as watch:
        assert watch.wait({watched}).projects == {watched}  # as every first wait
        assert watch.wait({watched}).projects == {watched}  # whether or not there was a commit


@pytest.mark.teeth
def test_without_the_settings_of_each_transaction_nothing_would_be_found(
    pooled_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groundplan.kernel.store.postgres.store.is_behind_pooler", lambda _connection: False)

    with pytest.raises(Exception, match="no Groundplan in this database"):
        PostgresStore(pooled_url)
