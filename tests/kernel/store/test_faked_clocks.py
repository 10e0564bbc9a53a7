"""Real programs whose clocks are wrong, on one file: libfaketime shows each of them another time."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.answers import encode
from tests.engines import SqliteEngine

LIBRARY = "vendor/libfaketime/src/libfaketime.so.1"
PROGRAM = """
import json, sys
import groundplan
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.answers import encode

db, agent, calls = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
with groundplan.open(db, actor=agent, kind="agent") as session:
    answers = []
    for operation, arguments in calls:
        try:
            answers.append(json.loads(encode(session.call(operation, **arguments))))
        except GroundplanError as error:
            answers.append({"error": error.code})
print(json.dumps(answers))
"""
HOUR = timedelta(hours=1)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() != "x86_64", reason="the library is built for Linux on x86-64"
    ),
    pytest.mark.parametrize("engine", ["sqlite"], indirect=True),  # PostgreSQL has one clock
]


def find_library() -> Path:
    """Return the library of the package libfaketime, which `make setup` installs."""
    found = find_spec("libfaketime")
    assert found is not None, "run make setup"
    assert found.origin is not None
    return Path(found.origin).parent / LIBRARY


def call_ahead(engine: SqliteEngine, agent: str, ahead: str, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Run calls in a program of their own, whose clock is ahead by `+61m`, and return the answers."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, engine.db, agent, json.dumps(calls)],
        env=os.environ | {"LD_PRELOAD": str(find_library()), "FAKETIME": ahead},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    answers: list[Any] = json.loads(done.stdout)
    return answers


def call(engine: SqliteEngine, agent: str, operation: str, arguments: dict[str, Any]) -> Any:
    """Call an operation in this program, whose clock is right."""
    actor = local_actor(agent, kind=ActorKind.AGENT)  # the claims of persons do not end by themselves
    return json.loads(encode(engine.session(actor).call(operation, **arguments)))


CLAIM = ("work.claim", {"project": "atlas"})


def plan(name: str, **given: Any) -> tuple[str, dict[str, Any]]:
    return "work.plan", {"project": "atlas", "nodes": [{"ref": name, "summary": name}], **given}


def begin(engine: SqliteEngine) -> None:
    call(engine, "ada", "work.open", {"project": "atlas", "goal": "a map"})
    call(engine, "ada", *plan("a"))


def read_leases(engine: SqliteEngine) -> list[tuple[str, timedelta]]:
    """Return who holds each claim, and for how long from the last write on."""
    rows = engine.as_owner(
        "SELECT c.claimed_by, c.claimed_until, p.updated_at FROM work_nodes AS c JOIN projects AS p "
        "ON p.id = c.project_id WHERE c.claimed_by IS NOT NULL ORDER BY c.n"
    )
    return [(who, datetime.fromisoformat(until) - datetime.fromisoformat(at)) for who, until, at in rows]


@pytest.mark.parametrize("ahead", ["+61m", "+20y"])
def test_a_program_with_a_clock_that_is_ahead_frees_no_live_claim(engine: SqliteEngine, ahead: str) -> None:
    begin(engine)
    call(engine, "ben", *CLAIM)

    offered, claimed = call_ahead(engine, "dave", ahead, ("work.next", {"project": "atlas"}), CLAIM)
    again = call(engine, "cleo", *CLAIM)

    assert [offered["nodes"], claimed["nodes"], again["nodes"]] == [[], [], []]
    ((who, left),) = read_leases(engine)
    assert who == "ben"
    assert timedelta() < left <= HOUR


def test_a_claim_of_a_program_that_is_20_years_ahead_ends_within_the_hour(engine: SqliteEngine) -> None:
    begin(engine)
    call_ahead(engine, "dave", "+20y", CLAIM)
    ((_, stored),) = read_leases(engine)
    assert stored == HOUR

    refused = call(engine, "ben", *CLAIM)

    assert refused["nodes"] == []
    assert "check the clocks" in refused["warnings"][0]
    ((who, left),) = read_leases(engine)
    assert who == "dave"
    assert timedelta() < left <= HOUR
    assert max(engine.as_owner("SELECT updated_at FROM projects")[0]) < "2045"


def test_a_program_that_is_8_days_ahead_forgets_no_answer(engine: SqliteEngine) -> None:
    begin(engine)
    first = call(engine, "ben", *plan("b", op_id="once"))

    again, _ = call_ahead(engine, "ben", "+8d", plan("b", op_id="once"), plan("c", op_id="other"))
    later = call(engine, "ben", *plan("b", op_id="once"))

    assert first == again == later
    assert engine.as_owner("SELECT count(*) FROM work_nodes WHERE summary = 'b'") == [(1,)]


def test_a_program_that_is_an_hour_behind_frees_nothing_and_is_told(engine: SqliteEngine) -> None:
    begin(engine)
    call(engine, "ben", *CLAIM)

    claimed, _ = call_ahead(engine, "dave", "-1h", CLAIM, plan("b"))

    assert claimed["nodes"] == []
    assert "ahead of this clock" in claimed["warnings"][0]
    revs = [rev for (rev,) in engine.as_owner("SELECT DISTINCT rev FROM events ORDER BY rev")]
    assert revs == list(range(1, len(revs) + 1))
    assert [who for who, _ in read_leases(engine)] == ["ben"]
