"""Many writers at once: nothing is lost, nothing happens twice, and the history has no gap."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from groundplan.kernel.store.idempotency import OpIdReused
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from tests.engines import Engine, SqliteEngine, person
from tests.races.concurrent_calls import run_at_once

pytestmark = [pytest.mark.proof, pytest.mark.slow]


def note(tx: Transaction) -> int:
    tx.record("test.happened", "x")
    return tx.project.rev


def test_every_writer_gets_a_revision_of_its_own_and_none_is_skipped(engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    stores = [engine.another_store() for _ in range(6)]

    def write_ten(place: int) -> list[int]:
        return [stores[place].write(person("ada"), "atlas", note) for _ in range(10)]

    answers = run_at_once([partial(write_ten, place) for place in range(6)])

    given = sorted(rev for answer in answers if isinstance(answer, list) for rev in answer)
    assert given == list(range(2, 62))
    recorded = engine.as_owner("SELECT rev, at FROM events WHERE op = 'test.happened' ORDER BY rev")
    assert [rev for rev, _ in recorded] == given
    # Timestamps follow the revisions, although the writers came in another order.
    assert [at for _, at in recorded] == sorted(at for _, at in recorded)


def test_the_same_op_id_sent_many_times_at_once_has_one_effect(engine: Engine) -> None:
    people = [Session(engine.another_store(), engine.session("ada").actor) for _ in range(6)]
    for number in range(5):
        name = f"atlas {number}"

        answers = run_at_once([partial(one.call, "project.create", name=name, op_id=name) for one in people])

        assert len({answer.project.id for answer in answers}) == 1  # type: ignore[union-attr]  # an error has no project
    assert len(engine.session("ada").call("project.list").projects) == 5


def test_one_op_id_for_two_projects_at_once_goes_to_one_of_them(engine: Engine) -> None:
    ada = engine.session("ada")
    stores = [Session(engine.another_store(), ada.actor) for _ in range(2)]
    ada.call("project.create", name="left")
    ada.call("project.create", name="right")
    for number in range(5):
        answers = run_at_once(
            [
                partial(
                    one.call, "member.add", scopeId=project, userId=f"user {number}", role="viewer", op_id=f"{number}"
                )
                for one, project in zip(stores, ("left", "right"), strict=True)
            ]
        )
        assert [type(answer) for answer in answers if isinstance(answer, Exception)] == [OpIdReused]


WRITER = """
import sys
from pathlib import Path
from groundplan.catalog import build_schema
from groundplan.kernel.actors import local_actor
from groundplan.kernel.store.sqlite.store import SqliteStore

store = SqliteStore(Path(sys.argv[1]), build_schema)
ada = local_actor("ada")

def note(tx):
    tx.record("test.happened", "x")
    return tx.project.rev

while True:
    print(store.write(ada, "atlas", note), flush=True)
"""


@pytest.mark.parametrize("acknowledged", [1, 7, 40])
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, acknowledged: int) -> None:
    engine = SqliteEngine(tmp_path / "plan.db")
    engine.session("ada").call("project.create", name="atlas")
    child = subprocess.Popen([sys.executable, "-c", WRITER, str(engine.path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    lines = [child.stdout.readline() for _ in range(acknowledged)]
    os.kill(child.pid, signal.SIGKILL)
    lines += child.stdout.readlines()
    child.wait()

    # Only completely printed lines count as acknowledged.
    last = max(int(line) for line in lines if line.endswith("\n"))
    (rev,) = engine.as_owner("SELECT rev FROM projects")[0]
    assert rev >= last
    recorded = engine.as_owner("SELECT rev FROM events WHERE op = 'test.happened' ORDER BY rev")
    assert [one for (one,) in recorded] == list(range(2, rev + 1))
    assert engine.as_owner("PRAGMA integrity_check") == [("ok",)]
    assert engine.store.write(person("ada"), "atlas", note) == rev + 1
    engine.close()
