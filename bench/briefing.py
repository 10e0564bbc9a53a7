"""Measure the briefing of a task, compared with the plain reads that it needs, and on small and large projects.

The calls are made in-process, on SQLite: `work.context` with a budget, for tasks chosen at random. The plain reads are
the statements that the call runs, sent again on a bare connection.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import groundplan
from bench.graphs import PROJECT, ensure_graph
from bench.large_purpose import fill_draft, generate_theory
from bench.options import Options
from bench.report import Result
from bench.rounds import Step, compute_medians_ms, run_interleaved
from groundplan.kernel.answers import CHARS_PER_TOKEN, encode
from groundplan.kernel.links import LinkSource, LinkType, add_link
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.sqlite.store import SqliteTransaction
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from groundplan.work.events import WorkOp

SIZES = (1_000, 100_000)
THEORY = (300, 450, 180)  # nodes, edges and indicators
ATOMS, INPUTS, CONSTRAINTS = 5_000, 500, 50
TASKS = 100
BUDGET = 1_500  # tokens
ROUNDS, WARM_UP = 200, 10
SEED = 22

BRIEFING_MS_MAX = 15.0
RATIO_MAX = 3.0
GROWTH_MAX = 1.5
USED_MIN = 0.9

Statement = tuple[str, dict[str, Any]]


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    took: dict[int, dict[str, float]] = {}
    used: list[float] = []
    atoms = ATOMS // 10 if options.quick else ATOMS
    sizes = SIZES[:1] if options.quick else SIZES
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
            db = Path(folder) / "plan.db"
            shutil.copy(ensure_graph(options, size), db)
            with groundplan.open(str(db), actor="ada") as session:
                tasks = _fill(session, db, atoms)
                used = [_count_used(session, task) for task in tasks]
                took[size] = _measure(options, session, db, tasks)
    size = sizes[-1]
    briefing, raw, bare = took[size]["briefing"], took[size]["reads"], took[size]["context"]
    what = f"{size:,} work nodes, {THEORY[0]} purpose nodes, {atoms:,} atoms, {INPUTS} inputs"
    return [
        Result("briefing", f"context with a budget of {BUDGET}, {what}", briefing, "ms", bar=BRIEFING_MS_MAX),
        Result("briefing", "the same compared with its plain reads", briefing, "ms", raw, "fetchall", RATIO_MAX),
        Result("briefing", "context without a budget", bare, "ms"),
        Result(
            "briefing",
            f"{size:,} work nodes compared with {sizes[0]:,}",
            briefing,
            "ms",
            took[sizes[0]]["briefing"],
            "small",
            GROWTH_MAX,
        ),
        Result("briefing", f"least part of the budget used, {TASKS} tasks", min(used), "", bar=USED_MIN, at_least=True),
        Result("briefing", f"largest part of the budget used, {TASKS} tasks", max(used), "", bar=1.0),
    ]


def _count_used(session: Session, task: str) -> float:
    answer = session.call("work.context", node_id=task, budget=BUDGET)
    return len(encode(answer).decode()) / (BUDGET * CHARS_PER_TOKEN)


def _measure(options: Options, session: Session, db: Path, tasks: list[str]) -> dict[str, float]:
    chance = Random(SEED)  # noqa: S311 - the same tasks in every run
    task = tasks[0]

    def choose() -> None:
        nonlocal task
        task = chance.choice(tasks)

    def brief() -> Any:
        return session.call("work.context", node_id=task, budget=BUDGET)

    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as bare:
        statements: list[Statement] = []

        def record() -> None:
            statements[:] = _record_statements(brief)

        def read() -> int:
            return sum(len(bare.execute(text, values).fetchall()) for text, values in statements)

        steps = [
            Step("briefing", brief, before=choose),
            Step("reads", read, before=record),
            Step("context", lambda: session.call("work.context", node_id=task)),
        ]
        run_interleaved(WARM_UP, steps)
        return compute_medians_ms([run_interleaved(options.count_rounds(ROUNDS), steps)])


def _record_statements(call: Callable[[], Any]) -> list[Statement]:
    """Return the statements that a call runs, with their values."""
    found: list[Statement] = []
    fetch = SqliteTransaction._fetch

    def record(self: SqliteTransaction, named: Query, shape: type | None, values: dict[str, Any]) -> list[Any]:
        found.append((named.sqlite, values | self._ambient))
        return fetch(self, named, shape, values)

    with patch.object(SqliteTransaction, "_fetch", record):
        call()
    return found


def _fill(session: Session, db: Path, atoms: int) -> list[str]:
    """Add a purpose, facts, knowledge and links to a project, and return the tasks to brief on."""
    chance = Random(SEED)  # noqa: S311 - the same links in every run
    fill_draft(session, PROJECT, generate_theory(*THEORY, seed=SEED))
    run_id = session.call("context.create_draft", scopeId=PROJECT).run.id
    session.call(
        "context.edit", runId=run_id, inputs=list(_generate_inputs()), constraints=list(_generate_constraints())
    )
    session.call("context.commit", runId=run_id, allowPartial=True)
    with contextlib.closing(sqlite3.connect(db)) as bare:
        rows = bare.execute(
            "SELECT id, n FROM work_nodes WHERE context_links <> '[]' AND project_id ="
            " (SELECT id FROM projects WHERE name = ?) ORDER BY n",
            (PROJECT,),
        ).fetchall()
    chosen = chance.sample(rows, min(TASKS, len(rows)))

    def link(tx: Transaction) -> None:
        for node_id, n in chosen:
            for _ in range(chance.randint(1, 4)):
                add_link(tx, LinkSource(node_id, n), LinkType.SERVES, f"AC{chance.randint(1, THEORY[0] // 3)}")
            add_link(tx, LinkSource(node_id, n), LinkType.RESTS_ON, f"/facts/{chance.randrange(INPUTS)}")
        tx.record(WorkOp.UPDATED, chosen[0][0])

    session.store.write(session.actor, PROJECT, link)
    common = {"projectId": PROJECT, "createdByTaskId": chosen[0][0], "entityType": "atom"}
    for number in range(atoms):
        # One of a hundred is about everything, the others about one file.
        paths = ["src/**"] if number % 100 == 0 else [f"src/lanes/{number}.ts", f"lib/part{number}/**"]
        text = f"What to know about area {number}: the order of its lanes matters. " * 6
        session.call("knowledge.create", **common, name=f"Area {number}", paths=paths, knowledge=text)
    return [node_id for node_id, _ in chosen]


def _generate_inputs() -> Iterator[dict[str, Any]]:
    for number in range(INPUTS):
        value = {"valueKind": "string"} if number % 50 == 0 else {"value": f"measured at station {number}"}
        yield {"pointer": f"/facts/{number}", "label": f"Fact {number}", "required": number % 10 == 0, **value}


def _generate_constraints() -> Iterator[dict[str, Any]]:
    for number in range(CONSTRAINTS):
        yield {"key": f"limit-{number}", "label": f"Limit {number}", "value": number}
