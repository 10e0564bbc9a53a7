"""Measure calls on PostgreSQL as the app role, for a member with a stored role: over stdio, and of a server over HTTP.

The floor is bare psycopg in a child process, on a table of the same size under a policy that only compares settings: a
read by key; BEGIN, UPDATE, INSERT, COMMIT; and a hundred rows for tasks with as many for their events. Set
GROUNDPLAN_TEST_PG to a server with `fsync` and `synchronous_commit`; the one that starts by itself is made for tests,
and keeps nothing.

The superuser copies the graphs from SQLite row by row. Events are not copied, because nothing here reads them.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count, cycle
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import psycopg

from bench import graphs
from bench.large_purpose import fill_draft, generate_theory
from bench.options import Options
from bench.peers import HERE, Peer, start_groundplan
from bench.postgres_floor import TASKS_AT_ONCE
from bench.report import Result
from bench.rest import Connection, run_program
from bench.rounds import Step, Times, compute_medians_ms, pin_to_one_core, run_interleaved
from bench.transports import Transport, connect_stdio
from bench.work import make_claim_and_resolve
from groundplan.kernel.store.schema import SCHEMA_NAME
from groundplan.session import Session
from tests.engines import PostgresEngine
from tests.postgres import start_server

SIZES = (300, 100_000)
ROUNDS = 400
WARM_UP = 20
CLIENTS = 16
CLIENT_SECONDS = 5.0
PLANS = 10  # each adds a hundred tasks
MEMBER, ROLE = "ben", "editor"
FLAT_RATIO_MAX = 1.5
P99_RATIO_MAX = 10.0
RATIO_MAX = {"next": 5.0, "open": 5.0, "context": 10.0, "query": 10.0, "claim": 5.0, "resolve": 5.0, "plan of 100": 5.0}
# Each is shown beside the floor without a limit.
UNLIMITED = ("briefing", "REST: next", "page: home", "toc_edit of 10", "facts: draft, edit of 10, commit")
OWN_PROJECTS_RATIO_MIN, ONE_PROJECT_RATIO_MIN = 2.5, 0.9
FLOOR_OF = dict.fromkeys(("claim", "resolve", *UNLIMITED[-2:]), "commit") | {"plan of 100": "insert"}
THEORY = (60, 90, 30)  # nodes, edges and indicators
FACTS = 100
BRIEFING_TOKENS = 1_500
BATCH = 10
NO_LIMIT = ("--requests-per-s", "1000000")

NODE = (
    "id, parent_n, kind, rev, summary, resolved, outcome, state, properties, context_links, created_at, created_by, "
    "updated_at, changed_rev, priority, depth, open_children, open_deps, blocked_above, claimed_by, claimed_at, "
    "claimed_until, claim_number"
)


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    sizes = sorted({min(options.sizes[-1], size) for size in SIZES})
    server = start_server()
    results: list[Result] = []
    try:
        with PostgresEngine.on(server, "bench") as engine:
            for place, size in enumerate(sizes):
                load_graph(engine, _name_project(size), graphs.ensure_graph(options, size), mark=ascii_lowercase[place])
                _fill(engine.session("ada"), _name_project(size))
                _make_floor(engine, size)
            for number in range(CLIENTS):
                _make_small_project(engine, f"small-{number}")
            engine.as_owner("ANALYZE")  # autovacuum may be off on this server
            medians = {}
            for size in sizes:
                times = _measure_size(options, engine, size)
                medians[size] = compute_medians_ms([times])
                results += _build_results(size, times, medians[size])
            results += _compare_sizes(medians)
            results += _measure_clients(options, engine)
    finally:
        server.stop()
    return results


def _name_project(size: int) -> str:
    return f"atlas-{size}"


def _fill(owner: Session, project: str) -> None:
    """Add a theory in a draft, and facts in force."""
    fill_draft(owner, project, generate_theory(*THEORY, seed=7))
    draft = owner.call("context.create_draft", scopeId=project).run.id
    owner.call("context.edit", runId=draft, inputs=[_make_fact(number, "as planned") for number in range(FACTS)])
    owner.call("context.commit", runId=draft)


def _make_fact(number: int, value: str) -> dict[str, Any]:
    return {"pointer": f"/site/field{number}", "label": f"Field {number}", "valueKind": "string", "value": value}


def _make_small_project(engine: PostgresEngine, project: str) -> None:
    owner = engine.session("ada")
    owner.call("work.open", project=project, goal="A project of one of many clients")
    owner.call("member.add", scopeId=project, userId=MEMBER, role=ROLE)
    for first in range(0, 3_000, 1_000):
        nodes = [{"ref": f"n{number}", "summary": f"Task {first + number}"} for number in range(1_000)]
        owner.call("work.plan", project=project, nodes=nodes)


def _make_floor(engine: PostgresEngine, size: int) -> None:
    table = f"floor_{size}"
    policy = (
        "tenant_id = current_setting('groundplan.tenant') "
        "AND project_id = ANY (current_setting('bench.projects')::text[])"
    )
    engine.as_owner(
        f"CREATE TABLE {table} (tenant_id text, project_id text, n integer, rev integer, summary text, "
        "PRIMARY KEY (tenant_id, project_id, n))",
        f"INSERT INTO {table} SELECT 'local', 'p', g, 1, 'A summary of the usual length' "
        f"FROM generate_series(1, {size}) AS g",
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"CREATE POLICY bench ON {table} USING ({policy}) WITH CHECK ({policy})",
        f"GRANT SELECT, INSERT, UPDATE ON {table} TO PUBLIC",
    )


def _start_floor(engine: PostgresEngine, size: int) -> Peer:
    return Peer([sys.executable, str(HERE / "postgres_floor.py"), engine.db, f"{SCHEMA_NAME}.floor_{size}"])


def _start_member(engine: PostgresEngine) -> Peer:
    return start_groundplan(engine.db, "--agent", MEMBER, "--access", "members")


@contextlib.contextmanager
def _start_server(engine: PostgresEngine) -> Iterator[Connection]:
    """Start the server, and yield a connection of the owner to it."""
    token = engine.session("ada").call("token.create", kind="person", name="ada", trusted=True).secret
    arguments = ("serve", "--port", "0", "--db", engine.db, *NO_LIMIT)
    with run_program("-m", "groundplan", *arguments) as port, Connection(port, token) as connection:
        yield connection


def _measure_size(options: Options, engine: PostgresEngine, size: int) -> Times:
    project = _name_project(size)
    with (
        pin_to_one_core(spread=True),
        _start_floor(engine, size) as floor,
        _start_member(engine) as member,
        _start_server(engine) as server,
    ):
        floor.begin()
        client = connect_stdio(member.begin())
        node_ids = [node["id"] for node in _call(client, "graph_query", {"project": project, "limit": 20})["nodes"]]
        reads = [
            _make_floor_step(floor, "read"),
            _make_step(client, "next", [("graph_next", {"project": project})]),
            _make_step(client, "open", [("graph_open", {"project": project})]),
            _make_step(client, "context", [("graph_context", {"node_id": node_id}) for node_id in node_ids]),
            _make_step(client, "query", [("graph_query", {"project": project})]),
            _make_step(
                client,
                "briefing",
                [("graph_context", {"node_id": node_id, "budget": BRIEFING_TOKENS}) for node_id in node_ids],
            ),
            Step("REST: next", lambda: server.get(f"/v1/projects/{project}/work/next")),
            Step("page: home", lambda: server.get(f"/p/{project}/home")),
        ]
        writes = [
            _make_floor_step(floor, "commit"),
            *make_claim_and_resolve(client, project),
            _make_step(client, "toc_edit of 10", _list_theory_edits(project)),
            Step("facts: draft, edit of 10, commit", partial(_commit_facts, client, project, count())),
        ]
        plans = [_make_floor_step(floor, "insert"), _make_step(client, "plan of 100", _list_plans(project))]
        times: Times = {}
        for steps, rounds in ((reads, ROUNDS), (writes, min(ROUNDS, size // 6)), (plans, PLANS * 4)):
            run_interleaved(WARM_UP, steps) if steps is not plans else None
            times |= run_interleaved(options.count_rounds(rounds), steps)
        return times


def _call(client: Transport, tool: str, arguments: dict[str, Any]) -> Any:
    return client.read(client.send(client.prepare(tool, arguments)))


def _make_floor_step(floor: Peer, name: str) -> Step:
    line = floor.format_request(name)
    return Step(name, lambda: floor.send(line))


def _make_step(client: Transport, name: str, calls: Iterable[tuple[str, dict[str, Any]]]) -> Step:
    turns = cycle([client.prepare(tool, arguments) for tool, arguments in calls])
    return Step(name, lambda: client.send(next(turns)), check=client.read)


def _list_plans(project: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in range(PLANS):
        nodes = [{"ref": f"n{k}", "summary": f"Step {k} of addition {number}"} for k in range(TASKS_AT_ONCE)]
        yield "graph_plan", {"project": project, "nodes": nodes}


def _list_theory_edits(project: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in range(PLANS):
        operations = [
            {"op": "update_node", "node": f"AC{place}", "description": f"Described in round {number}"}
            for place in range(1, BATCH + 1)
        ]
        yield "toc_edit", {"project": project, "operations": operations}


def _commit_facts(client: Transport, project: str, rounds: Iterator[int]) -> None:
    """Commit ten changed facts, as an agent does: it takes three calls."""
    draft = _call(client, "context_run", {"operation": "create_draft", "scopeId": project})["run"]["id"]
    inputs = [_make_fact(number, f"as measured in round {next(rounds)}") for number in range(BATCH)]
    _call(client, "context_edit", {"runId": draft, "inputs": inputs})
    _call(client, "context_run", {"operation": "commit", "runId": draft})


def _build_results(size: int, times: Times, medians: dict[str, float]) -> Iterator[Result]:
    for floor in ("read", "commit", "insert"):
        yield Result("postgres", f"floor: {floor}, {size:,}", medians[floor], "ms")
    for name, ratio_max in RATIO_MAX.items():
        floor = FLOOR_OF.get(name, "read")
        yield Result("postgres", f"{name}, {size:,}", medians[name], "ms", medians[floor], floor, ratio_max)
    for name in UNLIMITED:
        floor = FLOOR_OF.get(name, "read")
        yield Result("postgres", f"{name}, {size:,}", medians[name], "ms", medians[floor], floor)
    for name in RATIO_MAX:
        p99_ms = sorted(times[name])[len(times[name]) * 99 // 100] * 1000
        yield Result("postgres", f"{name}, {size:,}, p99", p99_ms, "ms", medians[name], "median", P99_RATIO_MAX)


def _compare_sizes(medians: dict[int, dict[str, float]]) -> Iterator[Result]:
    least, most = min(medians), max(medians)
    for name in RATIO_MAX if least < most else ():
        what = f"{name}, {most:,} ÷ {least:,}"
        yield Result("postgres", what, medians[most][name], "ms", medians[least][name], f"{least:,}", FLAT_RATIO_MAX)


def _measure_clients(options: Options, engine: PostgresEngine) -> Iterator[Result]:
    """Measure claims per second of one client, of many in projects of their own, and of many in one project."""
    one, _ = _count_claims(options, engine, ["small-0"])
    own, busy = _count_claims(options, engine, [f"small-{number}" for number in range(CLIENTS)])
    shared, _ = _count_claims(options, engine, ["small-1"] * CLIENTS)
    yield Result("postgres", "claims and resolves, 1 client", one, "/s")
    what = f"claims and resolves, {CLIENTS} clients in"
    against = "1 client"
    yield Result("postgres", f"{what} {CLIENTS} projects", own, "/s", one, against, OWN_PROJECTS_RATIO_MIN, True)
    yield Result("postgres", f"… of {os.cpu_count()} processors busy meanwhile", 100 * busy, "%")
    yield Result("postgres", f"{what} one project", shared, "/s", one, against, ONE_PROJECT_RATIO_MIN, True)


def _read_processor_times() -> tuple[int, int]:
    """Return the busy time and the whole time of all processors so far, as Linux counts them."""
    user, nice, system, idle, waiting, *others = map(int, Path("/proc/stat").read_text().split()[1:9])
    busy = user + nice + system + sum(others)
    return busy, busy + idle + waiting


def _count_claims(options: Options, engine: PostgresEngine, projects: Sequence[str]) -> tuple[float, float]:
    """Return how many tasks per second a client for each entry claims and resolves, and the busy part of processors."""
    seconds = CLIENT_SECONDS / 5 if options.quick else CLIENT_SECONDS
    finished = count()
    with ExitStack() as stack:
        members = [stack.enter_context(_start_member(engine)).begin() for _ in projects]
        begin = threading.Barrier(len(projects) + 1)

        def work(member: Peer, project: str) -> None:
            steps = make_claim_and_resolve(connect_stdio(member), project)
            run_interleaved(1, steps)
            begin.wait()
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                run_interleaved(1, steps)
                next(finished)

        threads = [
            threading.Thread(target=work, args=pair, daemon=True) for pair in zip(members, projects, strict=True)
        ]
        for thread in threads:
            thread.start()
        busy_before, all_before = _read_processor_times()
        begin.wait()
        for thread in threads:
            thread.join()
        busy, all_ = _read_processor_times()
    return next(finished) / seconds, (busy - busy_before) / max(all_ - all_before, 1)


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
