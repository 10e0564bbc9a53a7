"""Worker processes for the races of the work graph: they claim and resolve nodes, or plan until killed."""

from __future__ import annotations

import time
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from typing import Any, NamedTuple

import groundplan

PROJECT = "atlas"
START_S_MAX = 60.0
WORK_S_MAX = 60.0
BATCH = 100
EDGES_OF_A_BATCH = 60


class Shift(NamedTuple):
    """The result of one agent."""

    name: str
    taken: list[str]  # one id for each claim
    errors: list[str]


def work_in_a_process(db: str, name: str, barrier: Barrier, shifts: Queue[Shift]) -> None:
    """Open the database, wait for the others, work, and put the result into the queue."""
    with groundplan.open(db, actor=name, kind="agent") as plan:
        plan.call("work.next", project=PROJECT)  # open the file and load the code before the race
        barrier.wait(START_S_MAX)
        shifts.put(work_until_done(plan, name))


def work_until_done(plan: groundplan.Session, name: str) -> Shift:
    """Claim and resolve nodes until all are resolved."""
    taken: list[str] = []
    errors: list[str] = []
    until = time.monotonic() + WORK_S_MAX
    while time.monotonic() < until:
        try:
            offers = plan.call("work.claim", project=PROJECT).nodes
            taken += [offer.node.id for offer in offers]
            for offer in offers:
                done = {"node_id": offer.node.id, "claim": offer.claim, "resolved": True}
                plan.call("work.update", updates=[done])
            if not offers and plan.call("work.open", project=PROJECT).summary.unresolved == 1:
                break
        except Exception as error:  # every kind of failure counts
            errors.append(f"{type(error).__name__}: {error}")
    else:
        errors.append("never came to an end")
    return Shift(name, taken, errors)


def plan_in_a_process(db: str, reports: Connection) -> None:
    """Plan batches until killed, reporting the start and the end of each."""
    with groundplan.open(db, actor="ada") as plan:
        for number in count():
            nodes = batch(number)
            reports.send(("begun", number, time.monotonic()))
            plan.call("work.plan", project=PROJECT, nodes=nodes)
            reports.send(("done", number, time.monotonic()))


def batch(number: int) -> list[dict[str, Any]]:
    """Return ten trees of ten nodes with some dependencies."""
    nodes = []
    for place in range(BATCH):
        node: dict[str, Any] = {
            "ref": str(place),
            "summary": f"batch {number} node {place}",
            "properties": {"b": number},
        }
        if place % 10:
            node["parent_ref"] = str(place - place % 10)
        if place % 10 in (1, 2, 3, 4, 5, 6):
            node["depends_on"] = [str((place + 3) % BATCH)]
        nodes.append(node)
    return nodes
