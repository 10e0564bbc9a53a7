"""Measure `graph_next` on PostgreSQL, as the app role under row level security, for a member with a stored role.

The superuser copies the graphs from SQLite row by row. Events are not copied, because nothing here reads them.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import psycopg

from bench import graphs
from bench.options import Options
from bench.report import Result
from bench.rounds import Step, compute_medians_ms, run_interleaved
from groundplan.kernel.store.schema import SCHEMA_NAME
from groundplan.session import Session
from tests.engines import PostgresEngine, person
from tests.postgres import start_server

SIZE_MIN = 1_000
ROUNDS = 400
WARM_UP = 50
MEMBER, ROLE = "ben", "editor"
FLAT_RATIO_MAX = 2.0

NODE = (
    "id, parent_n, kind, rev, summary, resolved, outcome, state, properties, context_links, created_at, created_by, "
    "updated_at, changed_rev, priority, depth, open_children, open_deps, blocked_above, claimed_by, claimed_at, "
    "claimed_until, claim_number"
)


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    sizes = [size for size in options.sizes if size >= SIZE_MIN]
    server = start_server()
    try:
        with PostgresEngine.on(server, "bench") as engine:
            for place, size in enumerate(sizes):
                load_graph(engine, _name_project(size), graphs.ensure_graph(options, size), mark=ascii_lowercase[place])
            engine.as_owner("ANALYZE")  # autovacuum is off on this server
            took = _measure(options, engine, sizes)
    finally:
        server.stop()
    return list(_build_results(sizes, took))


def _name_project(size: int) -> str:
    return f"atlas-{size}"


def _measure(options: Options, engine: PostgresEngine, sizes: list[int]) -> dict[str, float]:
    session = Session(engine.store, person(MEMBER))
    steps = [_make_next_step(session, _name_project(size)) for size in sizes]
    run_interleaved(WARM_UP, steps)
    return compute_medians_ms([run_interleaved(options.count_rounds(ROUNDS), steps)])


def _make_next_step(session: Session, project: str) -> Step:
    def check(answer: Any) -> None:
        assert answer.nodes, "no node is ready"

    return Step(project, lambda: session.call("work.next", project=project), check=check)


def _build_results(sizes: list[int], took: dict[str, float]) -> Iterator[Result]:
    for size in sizes:
        yield Result("postgres", f"next, in-process, app role, {size:,}", took[_name_project(size)], "ms")
    if len(sizes) > 1:
        least, most = sizes[0], sizes[-1]
        base = took[_name_project(least)]
        what = f"next, {most:,} ÷ {least:,}"
        yield Result("postgres", what, took[_name_project(most)], "ms", base, f"{least:,}", FLAT_RATIO_MAX)


def load_graph(engine: PostgresEngine, project: str, graph: Path, *, mark: str) -> None:
    """Create a project with the nodes and edges of a graph. The mark makes ids unique across graphs."""
    owner = engine.session("ada")
    owner.call("work.open", project=project, goal="A graph to measure on")
    owner.call("member.add", scopeId=project, userId=MEMBER, role=ROLE)
    with (
        contextlib.closing(sqlite3.connect(graph)) as source,
        psycopg.connect(engine.superuser_url, options=f"-c search_path={SCHEMA_NAME}") as target,
    ):
        target.execute("SET session_replication_role = replica")  # references were checked when the graph was built
        (project_id,) = _fetch_one(target.execute("SELECT id FROM projects WHERE name = %s", (project,)))
        (of_graph,) = _fetch_one(source.execute("SELECT id FROM projects WHERE name = ?", (graphs.PROJECT,)))
        with target.cursor() as cursor:
            with cursor.copy(f"COPY work_nodes (tenant_id, project_id, n, {NODE}) FROM STDIN") as copy:
                for n, node_id, *rest in _read_nodes(source, of_graph):
                    copy.write_row(("local", project_id, n, mark + node_id, *rest))
            with cursor.copy("COPY work_edges (tenant_id, project_id, from_n, type, to_n) FROM STDIN") as copy:
                edges = "SELECT from_n, type, to_n FROM work_edges WHERE tenant_id = 'local' AND project_id = ?"
                for edge in source.execute(edges, (of_graph,)):
                    copy.write_row(("local", project_id, *edge))
        counts = _fetch_one(
            source.execute(
                "SELECT last_n, total, resolved, blocked, actionable, tasks FROM work_projects WHERE project_id = ?",
                (of_graph,),
            )
        )
        target.execute(
            "UPDATE work_projects SET (last_n, total, resolved, blocked, actionable, tasks) = (%s, %s, %s, %s, %s, %s) "
            "WHERE tenant_id = 'local' AND project_id = %s",
            (*counts, project_id),
        )


def _read_nodes(source: sqlite3.Connection, project_id: str) -> Iterator[tuple[Any, ...]]:
    columns = NODE.replace("resolved", "CASE WHEN resolved THEN 'true' ELSE 'false' END", 1)
    yield from source.execute(
        f"SELECT n, {columns} FROM work_nodes WHERE tenant_id = 'local' AND project_id = ? AND n > 1", (project_id,)
    )


def _fetch_one(cursor: Any) -> tuple[Any, ...]:
    row: tuple[Any, ...] = cursor.fetchone()
    return row
