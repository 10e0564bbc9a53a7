"""Measure the operations that change the most rows in one write, and batches that change the same rows again and again.

Each operation gets a project of its own, because it changes most of its nodes. The graphs are trees with fan-out 8, and
a chain, built with `work.plan` on both stores.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from bench.options import Options
from bench.report import Result
from groundplan.session import Session
from tests.engines import Engine, PostgresEngine, SqliteEngine
from tests.postgres import start_server

BATCH = 1_000
FAN_OUT = 8
QUICK_DIVISOR = 10
DROP_S_MAX = {"sqlite": 3.0, "postgres": 8.0}


class LargeOperation(NamedTuple):
    """An operation to measure: the number of nodes, and a function that prepares it and returns the call."""

    name: str
    nodes: int
    prepare: Callable[[Session, str, int], Callable[[], Any]]


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    divisor = QUICK_DIVISOR if options.quick else 1
    server = start_server()
    try:
        engine: Engine
        results = []
        with contextlib.closing(SqliteEngine(options.scratch / "large.db")) as engine:
            results += list(_measure("sqlite", engine, divisor))
        with PostgresEngine.on(server, "bench") as engine:
            results += list(_measure("postgres", engine, divisor))
    finally:
        server.stop()
    return results


def _measure(store: str, engine: Engine, divisor: int) -> Iterator[Result]:
    session = engine.session("ada")
    for operation in OPERATIONS:
        size = operation.nodes // divisor
        act = operation.prepare(session, operation.name, size)
        if store == "postgres":
            engine.as_owner("ANALYZE")  # autovacuum is off on this server
        begin = time.perf_counter()
        act()
        seconds = time.perf_counter() - begin
        bar = DROP_S_MAX[store] if operation.name == "drop" and divisor == 1 else None
        yield Result("large", f"{operation.name}, {store}, {size:,}", seconds, "s", bar=bar)


def prepare_drop(session: Session, project: str, size: int) -> Callable[[], Any]:
    """Prepare dropping a subtree."""
    top = _grow_tree(session, project, size)
    return lambda: _restructure(session, {"op": "drop", "node_id": top, "reason": "not needed"})


def prepare_move(session: Session, project: str, size: int) -> Callable[[], Any]:
    """Prepare moving a subtree to another depth."""
    top = _grow_tree(session, project, size)
    near, _ = _add_homes(session, project)
    return lambda: _restructure(session, {"op": "move", "node_id": top, "new_parent": near})


def prepare_many_moves(session: Session, project: str, size: int) -> Callable[[], Any]:
    """Prepare moving a subtree a hundred times in one call, between two depths."""
    top = _grow_tree(session, project, size)
    homes = _add_homes(session, project)
    moves = [{"op": "move", "node_id": top, "new_parent": homes[turn % 2]} for turn in range(100)]
    return lambda: _restructure(session, *moves)


def prepare_merge(session: Session, project: str, size: int) -> Callable[[], Any]:
    """Prepare merging the top of a subtree into a node at another depth."""
    top = _grow_tree(session, project, size)
    _, far = _add_homes(session, project)
    return lambda: _restructure(session, {"op": "merge", "source": top, "target": far})


def prepare_policy(session: Session, project: str, size: int) -> Callable[[], Any]:
    """Prepare switching on the inheritance of dependencies for a subtree that waits."""
    _block(session, project, _grow_tree(session, project, size))
    return lambda: session.call("work.open", project=project, policies={"inherit_dependencies": True})


def prepare_toggles(session: Session, project: str, size: int) -> Callable[[], Any]:
    """Prepare resolving and reopening the only blocker of a subtree five hundred times in one call."""
    blocker = _block(session, project, _grow_tree(session, project, size))
    session.call("work.open", project=project, policies={"inherit_dependencies": True})
    updates = [{"node_id": blocker, "resolved": turn % 2 == 0} for turn in range(1_000)]
    return lambda: session.call("work.update", updates=updates)


def prepare_cycles(session: Session, project: str, size: int) -> Callable[[], Any]:
    """Prepare two hundred dependencies that would each close a loop through a chain."""
    session.call("work.open", project=project, goal="A chain")
    ids: list[str] = []
    for first in range(0, size, BATCH):
        nodes = [
            {"ref": f"c{n}", "summary": f"Link {n}", "depends_on": [f"c{n - 1}" if n > first else ids[-1]] if n else []}
            for n in range(first, min(first + BATCH, size))
        ]
        ids += [one.id for one in session.call("work.plan", project=project, nodes=nodes).created]
    count = min(200, size // 2)
    edges = [{"from": ids[n], "to": ids[-1 - n], "type": "depends_on"} for n in range(count)]

    def connect() -> None:
        answer = session.call("work.connect", edges=edges)
        assert answer.applied == 0, "an edge that closes a loop was accepted"

    return connect


def _grow_tree(session: Session, project: str, size: int) -> str:
    """Plan a tree of so many nodes below one node, and return the id of that node."""
    session.call("work.open", project=project, goal=f"A tree of {size} nodes")
    ids: list[str] = []
    for first in range(0, size, BATCH):
        nodes = []
        for n in range(first, min(first + BATCH, size)):
            parent = (n - 1) // FAN_OUT
            above = {"parent_ref": f"t{parent}" if parent >= first else ids[parent]} if n else {}
            nodes.append({"ref": f"t{n}", "summary": f"Step {n} of the tree", **above})
        ids += [one.id for one in session.call("work.plan", project=project, nodes=nodes).created]
    return ids[0]


def _add_homes(session: Session, project: str) -> tuple[str, str]:
    """Plan a node below the root and one three levels deeper."""
    names = ("home", "b", "c", "far")
    nodes = [
        {"ref": name, "summary": name, **({"parent_ref": names[index - 1]} if index else {})}
        for index, name in enumerate(names)
    ]
    created = session.call("work.plan", project=project, nodes=nodes).created
    return created[0].id, created[-1].id


def _block(session: Session, project: str, node_id: str) -> str:
    """Make a node wait for a new node, and return the new one."""
    nodes = [{"ref": "blocker", "summary": "Must be done first"}]
    blocker: str = session.call("work.plan", project=project, nodes=nodes).created[0].id
    session.call("work.connect", edges=[{"from": node_id, "to": blocker, "type": "depends_on"}])
    return blocker


def _restructure(session: Session, *operations: dict[str, Any]) -> Any:
    return session.call("work.restructure", operations=list(operations))


OPERATIONS = (
    LargeOperation("drop", 100_000, prepare_drop),
    LargeOperation("move", 50_000, prepare_move),
    LargeOperation("100 moves", 50_000, prepare_many_moves),
    LargeOperation("merge", 50_000, prepare_merge),
    LargeOperation("inherit on", 50_000, prepare_policy),
    LargeOperation("1,000 toggles", 50_000, prepare_toggles),
    LargeOperation("200 refused loops", 20_000, prepare_cycles),
)
