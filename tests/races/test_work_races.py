"""Many agents at one work graph at once: nothing is done twice, and every rule holds."""

from __future__ import annotations

import multiprocessing
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from graphlib import TopologicalSorter
from itertools import pairwise
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.session import Session
from tests.engines import Engine
from tests.manual_clock import ManualClock
from tests.proof import scaled
from tests.races.concurrent_calls import run_at_once
from tests.races.work_processes import (
    BATCH,
    EDGES_OF_A_BATCH,
    START_S_MAX,
    WORK_S_MAX,
    Shift,
    plan_in_a_process,
    work_in_a_process,
    work_until_done,
)
from tests.work.client import WorkClient
from tests.work.derived_columns import read_derived, recompute_derived

pytestmark = [pytest.mark.proof, pytest.mark.slow]

# Forks of a process with loaded modules.
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(["tests.races.work_processes", "groundplan.catalog", "psycopg", "sqlite3"])
PROCESSES = 4
THREADS = 6
ROUNDS = scaled(4, 50)

# Ten phases, each waiting for the last but one, so that two or three are always open.
PHASES = "\n".join(
    f"""phase {number}{f": phase {number - 2}" if number > 1 else ""}
  draw {number}
  build {number}: draw {number}
  test {number}"""
    for number in range(10)
)
NODES = 40


@pytest.fixture
def clock() -> ManualClock:
    """The clock of all stores."""
    return ManualClock()


@pytest.fixture
def clients(engine: Engine, clock: ManualClock) -> list[WorkClient]:
    """Agents at one project, each with its own connection."""
    first = WorkClient(Session(engine.another_store(clock=clock), local_actor("ada")))
    first.open()
    others = [
        WorkClient(
            Session(engine.another_store(clock=clock), local_actor(f"agent {n}", kind=ActorKind.AGENT)), ids=first.ids
        )
        for n in range(1, THREADS)
    ]
    return [first, *others]


def outcome_codes(answers: list[Any]) -> list[str]:
    """Return the code of each error, or `ok`; other exceptions are raised."""
    for one in answers:
        if isinstance(one, Exception) and not isinstance(one, GroundplanError):
            raise one
    return [one.code if isinstance(one, GroundplanError) else "ok" for one in answers]


def run_together(calls: list[Callable[[], Any]]) -> list[Any]:
    return run_at_once(calls)


def assert_derived_columns_match(engine: Engine) -> None:
    """Assert that the derived columns match the facts and that there is no cycle."""
    waits: dict[int, list[int]] = {}
    for source, target in engine.as_owner("SELECT from_n, to_n FROM work_edges WHERE type = 'depends_on'"):
        waits.setdefault(source, []).append(target)
    tuple(TopologicalSorter(waits).static_order())  # raises on a cycle
    assert read_derived(engine) == recompute_derived(engine)


def find_edges_to_ancestors(engine: Engine) -> list[tuple[int, int]]:
    parents: dict[int, int | None] = dict(engine.as_owner("SELECT n, parent_n FROM work_nodes"))
    found = []
    for source, target in engine.as_owner("SELECT from_n, to_n FROM work_edges WHERE type = 'depends_on'"):
        above = parents[source]
        while above is not None:
            if above == target:
                found.append((source, target))
            above = parents[above]
    return found


# --- Claims ---


def assert_each_taken_once(engine: Engine, shifts: list[Shift]) -> None:
    assert [error for shift in shifts for error in shift.errors] == []
    taken = Counter(node_id for shift in shifts for node_id in shift.taken)
    assert len(taken) == NODES
    assert set(taken.values()) == {1}
    events = engine.as_owner(
        "SELECT subject, op, actor_id FROM events WHERE op IN ('work.claimed', 'work.resolved') ORDER BY rev, n"
    )
    by = {node_id: shift.name for shift in shifts for node_id in shift.taken}
    assert sorted(events) == sorted((one, op, by[one]) for one in taken for op in ("work.claimed", "work.resolved"))
    assert_derived_columns_match(engine)


def test_processes_that_share_the_work_take_every_node_exactly_once(engine: Engine) -> None:
    work = WorkClient(engine.session("ada"))
    work.open()
    work.plan(PHASES)
    barrier, queue = FORKING.Barrier(PROCESSES), FORKING.Queue()
    processes = [
        FORKING.Process(target=work_in_a_process, args=(engine.db, f"agent {n}", barrier, queue))
        for n in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    shifts = [queue.get(timeout=START_S_MAX + WORK_S_MAX) for _ in processes]
    for process in processes:
        process.join(START_S_MAX)

    assert_each_taken_once(engine, shifts)
    assert sum(bool(shift.taken) for shift in shifts) > 1, "they hardly met, so this says nothing"


def test_connections_that_share_the_work_take_every_node_exactly_once(
    engine: Engine, clients: list[WorkClient]
) -> None:
    clients[0].plan(PHASES)

    shifts = run_together([partial(work_until_done, one.session, one.session.actor.id) for one in clients])  # type: ignore[union-attr]  # they are somebody

    assert_each_taken_once(engine, shifts)


def test_agents_that_take_several_nodes_at_once_never_get_the_same(engine: Engine, clients: list[WorkClient]) -> None:
    for number in range(4):
        names = [f"{number} {place}" for place in range(4 * THREADS - 2)]
        clients[0].plan("\n".join(names))

        taken = run_together([partial(one.claim, count=4) for one in clients])

        assert sorted(name for one in taken for name in one) == sorted(names)
        clients[0].resolve(*names)
    assert_derived_columns_match(engine)


def test_a_late_agent_and_the_one_who_took_over_never_both_succeed(
    engine: Engine, clients: list[WorkClient], clock: ManualClock
) -> None:
    ada, ben, cleo = clients[:3]
    ended = Counter[str]()
    for number in range(ROUNDS):
        ada.plan(f"n{number}")
        (offer,) = ben.offers(claim=True)
        clock.move(hours=1)

        late, taken = run_together(
            [partial(ben.update, f"n{number}", resolved=True, claim=offer.claim), partial(cleo.claim)]
        )

        (how,) = outcome_codes([late])
        ended[how] += 1
        assert taken == ([f"n{number}"] if how == "stale_claim" else [])
        assert ada.node(f"n{number}").resolved == (how == "ok")
        ada.resolve(f"n{number}")
    assert ended.keys() <= {"ok", "stale_claim"}
    assert_derived_columns_match(engine)


def test_an_agent_whose_claim_was_taken_over_is_refused_whatever_it_sends(
    clients: list[WorkClient], clock: ManualClock
) -> None:
    ada, ben, cleo = clients[:3]
    ada.plan("a")
    (first,) = ben.offers(claim=True)
    clock.move(hours=1)
    (second,) = cleo.offers(claim=True)

    sent: list[dict[str, Any]] = [{"resolved": True}, {"state": "late"}, {"renew": True}, {"release": True}]
    answers = run_together([partial(ben.update, "a", claim=first.claim, **one) for one in sent])

    assert outcome_codes(answers) == ["stale_claim"] * len(sent)
    assert second.claim > first.claim
    cleo.update("a", resolved=True, claim=second.claim)


# --- Cycles ---


@pytest.mark.parametrize("size", [2, 4])
def test_edges_that_would_close_a_ring_together_leave_it_open(
    engine: Engine, clients: list[WorkClient], size: int
) -> None:
    rings = [[f"{number}.{place}" for place in range(size)] for number in range(ROUNDS)]
    clients[0].plan("\n".join(name for ring in rings for name in ring))
    for ring in rings:
        edges = [f"{one}: {after}" for one, after in pairwise([*ring, ring[0]])]

        answers = run_together([partial(desk.connect, edge) for desk, edge in zip(clients, edges, strict=False)])

        assert set(outcome_codes(answers)) == {"ok"}
        refused = [one for answer in answers for one in answer.rejected or ()]
        assert [one.reason for one in refused] == ["cycle_detected"]
        assert len(refused[0].path) == size + 1
        assert sum(answer.applied for answer in answers) == size - 1
    assert_derived_columns_match(engine)


def test_edges_that_would_close_a_ring_through_the_tree_leave_it_open(
    engine: Engine, clients: list[WorkClient]
) -> None:
    clients[0].open(policies={"inherit_dependencies": True})
    for number in range(ROUNDS):
        clients[0].plan(f"p{number}\n  child of p{number}\nq{number}\n  child of q{number}")

        answers = run_together(
            [
                partial(clients[1].connect, f"p{number}: q{number}"),
                partial(clients[2].connect, f"child of q{number}: child of p{number}"),
            ]
        )

        assert sum(answer.applied for answer in answers) == 1
    assert_derived_columns_match(engine)


@pytest.mark.parametrize("size", [2, 4])
def test_children_that_wait_for_the_next_parent_in_a_ring_leave_it_open(
    engine: Engine, clients: list[WorkClient], size: int
) -> None:
    for number in range(ROUNDS):
        parents = [f"{number}.{place}" for place in range(size)]
        clients[0].plan("\n".join(f"{parent}\n  child of {parent}" for parent in parents))
        edges = [f"child of {one}: {after}" for one, after in pairwise([*parents, parents[0]])]

        answers = run_together([partial(client.connect, edge) for client, edge in zip(clients, edges, strict=False)])

        assert set(outcome_codes(answers)) == {"ok"}
        assert [one.reason for answer in answers for one in answer.rejected or ()] == ["cycle_detected"]
        assert sum(answer.applied for answer in answers) == size - 1
    assert_derived_columns_match(engine)


def test_of_a_new_child_and_a_dependency_that_close_a_ring_together_one_is_refused(
    engine: Engine, clients: list[WorkClient]
) -> None:
    for number in range(ROUNDS):
        clients[0].plan(f"p{number}\nq{number}\n  d{number}")

        answers = run_together(
            [
                partial(clients[1].plan, f"c{number}: q{number}", under=f"p{number}"),
                partial(clients[2].connect, f"d{number}: p{number}"),
            ]
        )

        refused = [one.reason for one in answers[1].rejected or ()]
        assert sorted([*outcome_codes(answers), *refused]) == ["cycle_detected", "ok"] or refused == ["cycle_detected"]
    assert_derived_columns_match(engine)


def test_of_two_opposite_moves_one_is_refused(engine: Engine, clients: list[WorkClient]) -> None:
    for number in range(ROUNDS):
        clients[0].plan(f"a{number}\n  below a{number}\nb{number}\n  below b{number}")

        answers = run_together(
            [
                partial(clients[1].move, f"a{number}", f"below b{number}"),
                partial(clients[2].move, f"b{number}", f"below a{number}"),
            ]
        )

        assert sorted(outcome_codes(answers)) == ["cycle_detected", "ok"]
    assert_derived_columns_match(engine)


def test_a_node_that_is_moved_below_another_cannot_come_to_depend_on_it(
    engine: Engine, clients: list[WorkClient]
) -> None:
    for number in range(ROUNDS):
        clients[0].plan(f"a{number}\nb{number}")

        moved, connected = run_together(
            [
                partial(clients[1].move, f"a{number}", f"b{number}"),
                partial(clients[2].connect, f"a{number}: b{number}"),
            ]
        )

        assert (outcome_codes([moved])[0] == "ok") != (connected.applied == 1)
    assert find_edges_to_ancestors(engine) == []
    assert_derived_columns_match(engine)


def test_of_two_opposite_merges_one_finds_the_nodes_merged(engine: Engine, clients: list[WorkClient]) -> None:
    for number in range(ROUNDS):
        clients[0].plan(f"a{number}\n  below a{number}\nb{number}\n  below b{number}\nc{number}: a{number}, b{number}")

        answers = run_together(
            [
                partial(clients[1].merge, f"a{number}", f"b{number}"),
                partial(clients[2].merge, f"b{number}", f"a{number}"),
            ]
        )

        assert sorted(outcome_codes(answers)) == ["cannot_merge", "ok"]
    assert_derived_columns_match(engine)


# --- Counters ---


def test_the_last_children_and_a_new_one_at_once_leave_every_counter_exact(
    engine: Engine, clients: list[WorkClient]
) -> None:
    for number in range(ROUNDS):
        clients[0].plan(f"parent {number}\n  one {number}\n  two {number}\nafter {number}: parent {number}")

        *answers, parent = run_together(
            [
                partial(clients[1].resolve, f"one {number}"),
                partial(clients[2].resolve, f"two {number}"),
                partial(clients[3].plan, f"three {number}", under=f"parent {number}"),
                partial(clients[4].resolve, f"parent {number}"),
            ]
        )

        assert outcome_codes(answers) == ["ok"] * 3
        assert outcome_codes([parent])[0] in ("ok", "unresolved_children")
        assert clients[0].filter_open([f"parent {number}", f"three {number}"]) == [
            f"parent {number}",
            f"three {number}",
        ]
    assert_derived_columns_match(engine)


def test_the_last_children_finished_at_once_resolve_their_parent_once(
    engine: Engine, clients: list[WorkClient]
) -> None:
    clients[0].open(policies={"auto_resolve_parents": True})
    for number in range(ROUNDS):
        clients[0].plan(f"parent {number}\n  one {number}\n  two {number}\nafter {number}: parent {number}")

        answers = run_together(
            [partial(clients[1].resolve, f"one {number}"), partial(clients[2].drop, f"two {number}")]
        )

        assert outcome_codes(answers) == ["ok", "ok"]
        assert sum(answer.auto_resolved == [clients[0][f"parent {number}"]] for answer in answers) == 1
        freed = [name for answer in answers for name in clients[0].names(answer.newly_actionable)]
        assert freed == [f"after {number}"]
    assert_derived_columns_match(engine)


def test_one_revision_is_won_by_one_writer(engine: Engine, clients: list[WorkClient]) -> None:
    clients[0].plan("a")
    for rev in range(1, ROUNDS + 1):
        answers = run_together(
            [partial(one.update, "a", state=[rev, place], expected_rev=rev) for place, one in enumerate(clients)]
        )

        assert sorted(outcome_codes(answers)) == ["ok", *["stale_rev"] * (len(clients) - 1)]
    assert clients[0].node("a").rev == ROUNDS + 1
    assert_derived_columns_match(engine)


# --- Idempotency ---


def test_the_same_plan_sent_many_times_at_once_is_made_once(engine: Engine, clients: list[WorkClient]) -> None:
    actor = clients[0].session.actor
    senders = [WorkClient(Session(one.session.store, actor)) for one in clients]
    for number in range(5):
        outline = f"phase {number}\n  a {number}\n  b {number}: a {number}"

        answers = run_together([partial(one.plan, outline, op_id=f"plan {number}") for one in senders])

        assert outcome_codes(answers) == ["ok"] * len(senders)
        assert all(answer == answers[0] for answer in answers)
        assert clients[0].counts()[0] == 1 + 3 * (number + 1)
    assert_derived_columns_match(engine)


def test_a_project_that_many_open_at_once_is_made_once(engine: Engine, clients: list[WorkClient]) -> None:
    for number in range(5):
        answers = run_together([partial(one.call, "work.open", project=f"new {number}", goal="x") for one in clients])

        assert outcome_codes(answers) == ["ok"] * len(clients)
        assert len({answer.root.id for answer in answers}) == 1
    assert_derived_columns_match(engine)


# --- Kills ---


@contextmanager
def run_planner(db: str) -> Iterator[tuple[BaseProcess, Connection]]:
    """Run a process that plans until it is killed."""
    ours, theirs = FORKING.Pipe(duplex=False)
    process = FORKING.Process(target=plan_in_a_process, args=(db, theirs))
    process.start()
    theirs.close()
    try:
        yield process, ours
    finally:
        process.kill()
        process.join(START_S_MAX)
        ours.close()


def receive_all(told: Connection) -> tuple[str, int, float]:
    assert told.poll(START_S_MAX), "the planner says nothing"
    message: tuple[str, int, float] = told.recv()
    return message


@pytest.mark.parametrize("part", [0.1, 0.35, 0.6, 0.85])
def test_a_plan_that_is_killed_midway_is_there_whole_or_not_at_all(engine: Engine, part: float) -> None:
    work = WorkClient(engine.session("ada"))
    work.open()
    with run_planner(engine.db) as (process, told):
        (_, _, begun), (_, _, done) = [receive_all(told) for _ in range(4)][2:]  # the first batch warms up
        receive_all(told)
        process.join((done - begun) * part)
        process.kill()
        process.join(START_S_MAX)
        acknowledged = 2
        with suppress(EOFError):
            while told.poll():
                acknowledged += told.recv()[0] == "done"

    work.plan("afterwards")  # waits for what the server still does for killed processes

    summaries = [one for (one,) in engine.as_owner("SELECT summary FROM work_nodes WHERE n > 1 ORDER BY n")]
    found = Counter(int(match[1]) for one in summaries if (match := re.match(r"batch (\d+) ", one)))
    assert set(found.values()) == {BATCH}
    assert found.keys() in (set(range(acknowledged)), set(range(acknowledged + 1)))
    assert engine.as_owner("SELECT count(*) FROM work_edges") == [(EDGES_OF_A_BATCH * len(found),)]
    assert work.call("work.query", project="atlas", filter={"text": f"atch {len(found) - 1} nod"}).total == BATCH
    if engine.dialect == "sqlite":
        assert engine.as_owner("PRAGMA integrity_check") == [("ok",)]
        assert engine.as_owner("PRAGMA foreign_key_check") == []
    assert_derived_columns_match(engine)


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_of_actors_that_claim_nodes_with_one_file_at_once_exactly_one_wins(
    clients: list[WorkClient], _round: int
) -> None:
    names = [f"n{n}" for n in range(THREADS)]
    clients[0].open(policies={"overlap": "avoid"})
    clients[0].plan("\n".join(names), each={name: {"context_links": ["src/a.py"]} for name in names})

    named = run_together(
        [partial(client.call, "work.claim", node_id=client[name]) for client, name in zip(clients, names, strict=True)]
    )

    assert sorted(outcome_codes(named)) == ["ok"] + ["overlaps_in_progress"] * (THREADS - 1)


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_of_actors_that_claim_the_best_node_at_once_one_gets_each_file(clients: list[WorkClient], _round: int) -> None:
    names = [f"n{n}" for n in range(2 * THREADS)]
    clients[0].open(policies={"overlap": "avoid"})
    clients[0].plan("\n".join(names), each={name: {"context_links": [f"{name[-1]}.py"]} for name in names})
    files = Counter(name[-1] for name in names)

    calls: list[Callable[[], Any]] = [client.claim for client in clients]
    taken = run_together(calls * 2)

    assert {name[-1] for claimed in taken for name in claimed} <= set(files)
    owners: dict[str, set[str]] = {}
    for name in names:
        if (owner := clients[0].node(name).properties.get("_claimed_by")) is not None:
            owners.setdefault(name[-1], set()).add(owner)
    assert all(len(some) == 1 for some in owners.values())
