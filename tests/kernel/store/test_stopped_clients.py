"""A client that stops inside a write frees its project (PostgreSQL)."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from groundplan.kernel.audit import changed
from groundplan.kernel.cancellation import WRITE_LIMIT_S
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.postgres.session import IDLE_IN_WRITE_S_MAX
from groundplan.kernel.store.postgres.store import PostgresStore
from groundplan.kernel.store.transaction import Transaction
from tests.engines import PostgresEngine, person
from tests.proof import scaled

LOCK_FREE_WITHIN_S = 15.0
HOURS_S = 3600.0

CLIENT = """
import sys
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.postgres.store import PostgresStore
from groundplan.kernel.store.queries import Query
from tests.engines import person

url, limit_s, idle_s, statement = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4]

def run(tx):
    tx.record("test.happened", "stopped", changed("a", 1, 2))
    print("holds", flush=True)
    if statement:
        tx.all(Query("given", statement))
    sys.stdin.readline()
    tx.all(Query("quick", "SELECT 1"))

store = PostgresStore(url, idle_s=idle_s, idle_in_write_s=idle_s)
try:
    store.write(person("ada"), "atlas", run, limit_s=limit_s)
    print("wrote", flush=True)
except GroundplanError as error:
    print(error.code, flush=True)
"""

pytestmark = pytest.mark.slow


@pytest.fixture
def atlas(team: PostgresEngine) -> PostgresEngine:
    team.session("ada").call("project.create", name="atlas")
    team.session("ada").call("member.add", scopeId="atlas", userId="ada", role="owner")
    return team


@contextmanager
def stopped_client(
    team: PostgresEngine, *, limit_s: float, idle_s: float, statement: str = ""
) -> Iterator[subprocess.Popen[str]]:
    """A process that was stopped while it holds the lock of the project."""
    command = [sys.executable, "-c", CLIENT, team.app_url, str(limit_s), str(idle_s), statement]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
        try:
            assert client.stdout is not None
            assert client.stdout.readline() == "holds\n"
            client.send_signal(signal.SIGSTOP)
            yield client
        finally:
            client.kill()


def write(tx: Transaction) -> None:
    tx.record("test.happened", "other", changed("a", 1, 2))


def subjects(team: PostgresEngine) -> list[str]:
    return [subject for (subject,) in team.as_owner("SELECT subject FROM events WHERE op = 'test.happened'")]


@pytest.mark.parametrize("statement", ["", "SELECT pg_sleep(3600)::text"], ids=["between statements", "in a statement"])
def test_a_client_that_stops_inside_a_write_frees_its_project_and_has_written_nothing(
    atlas: PostgresEngine, statement: str
) -> None:
    with stopped_client(atlas, limit_s=0.5, idle_s=0.5, statement=statement) as client:
        atlas.store.write(person("ada"), "atlas", write)
        client.send_signal(signal.SIGCONT)
        said, _ = client.communicate("\n")

    assert said.strip() in {"time_limit", "store_disconnected", "store_down"}
    assert subjects(atlas) == ["other"]


@pytest.mark.teeth
def test_without_the_idle_limit_the_project_stays_locked(atlas: PostgresEngine) -> None:
    impatient = PostgresStore(atlas.app_url, lock_wait_s=1.0)
    with stopped_client(atlas, limit_s=HOURS_S, idle_s=HOURS_S), pytest.raises(Unavailable) as refused:
        impatient.write(person("ada"), "atlas", write)
    impatient.close()

    assert refused.value.code == "store_busy"


@pytest.mark.proof
@pytest.mark.parametrize("is_in_statement", [False, True], ids=["between statements", "in a statement"])
def test_with_the_default_limits_the_lock_is_free_in_time(atlas: PostgresEngine, is_in_statement: bool) -> None:
    limit_s, idle_s = scaled(1, int(WRITE_LIMIT_S)), scaled(1, int(IDLE_IN_WRITE_S_MAX))
    statement = f"SELECT pg_sleep({limit_s - 0.5})::text" if is_in_statement else ""
    with stopped_client(atlas, limit_s=limit_s, idle_s=idle_s, statement=statement):
        stopped_at = time.monotonic()
        atlas.store.write(person("ada"), "atlas", write)

        assert time.monotonic() - stopped_at < LOCK_FREE_WITHIN_S
