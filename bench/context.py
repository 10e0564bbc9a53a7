"""Measure a whole view of the facts, compared with the plain reads that it needs.

The view is read in-process and complete, on SQLite and on PostgreSQL. On PostgreSQL a member with a stored role reads
it as the app role under row level security, and the superuser, to whom no policy applies, does the plain reads.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg

import groundplan
from bench.options import Options
from bench.peers import start_groundplan
from bench.report import Result
from bench.rounds import Step, compute_medians_ms, run_interleaved
from groundplan.context.resolve import sql
from groundplan.kernel.answers import count_tokens
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.schema import SCHEMA_NAME
from groundplan.session import Session
from tests.engines import PostgresEngine, person
from tests.postgres import start_server

SCOPE = "atlas"
INPUTS, SOURCES, CONSTRAINTS, ARTIFACTS = 500, 100, 200, 5
SOURCES_OF_AN_INPUT = 2
ROUNDS = 200
WARM_UP = 20
MEMBER, ROLE = "ben", "viewer"

SQLITE, POSTGRES = "SQLite", "PostgreSQL"
VIEW_MS_MAX = {SQLITE: 15.0, POSTGRES: 30.0}
RATIO_MAX = 3.0
LISTING_TOKENS_MAX = 1_200

# The queries of a view, in order. The first one finds the run, the others read its rows.
READS = (
    sql.latest_committed,
    sql.sources_of_run,
    sql.links_of_run,
    sql.inputs_of_run,
    sql.constraints_of_run,
    sql.artifacts_of_run,
    sql.suggestions_of_run,
)

Fetch = Callable[[Query, dict[str, Any]], list[tuple[Any, ...]]]


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        took = {SQLITE: _measure_sqlite(options, Path(folder) / "plan.db"), POSTGRES: _measure_postgres(options)}
        listing = _list_tools(Path(folder) / "listed.db")
    size = f"{INPUTS} inputs, {SOURCES} sources, {CONSTRAINTS} constraints"
    results = []
    for engine, times in took.items():
        view, raw = times["view"], times["raw"]
        results += [
            Result("context", f"view of {size}, in-process, {engine}", view, "ms", bar=VIEW_MS_MAX[engine]),
            Result("context", f"view compared with its plain reads, {engine}", view, "ms", raw, "fetchall", RATIO_MAX),
        ]
    what = f"tools/list, context; tools: {len(listing)}"
    return [*results, Result("context", what, _count_tokens({"tools": listing}), "tokens", bar=LISTING_TOKENS_MAX)]


def _measure_sqlite(options: Options, db: Path) -> dict[str, float]:
    with groundplan.open(str(db), actor="ada") as session:
        _fill(session)
        with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as bare:
            return _measure(options, session, lambda query, values: bare.execute(query.sqlite, values).fetchall())


def _measure_postgres(options: Options) -> dict[str, float]:
    server = start_server()
    try:
        with PostgresEngine.on(server, "bench") as engine:
            owner = engine.session("ada")
            _fill(owner)
            owner.call("member.add", scopeId=SCOPE, userId=MEMBER, role=ROLE)
            engine.as_owner("ANALYZE")  # autovacuum is off on this server
            in_schema = f"-c search_path={SCHEMA_NAME}"
            with psycopg.connect(engine.superuser_url, autocommit=True, options=in_schema) as bare:
                return _measure(
                    options,
                    Session(engine.store, person(MEMBER)),
                    lambda query, values: bare.execute(query.postgres.encode(), values).fetchall(),
                )
    finally:
        server.stop()


def _measure(options: Options, session: Session, fetch: Fetch) -> dict[str, float]:
    view = session.context.resolve_context_view(SCOPE)
    projects = session.call("project.list").projects
    values = {"tenant_id": "local", "project_id": projects[0].id, "run_id": view.run.id}
    rows = SOURCES + INPUTS * (1 + SOURCES_OF_AN_INPUT) + CONSTRAINTS + ARTIFACTS + 1

    def read() -> int:
        return sum(len(fetch(query, {name: values[name] for name in query.parameters})) for query in READS)

    def check_view(answer: Any) -> None:
        counts = (len(answer.inputs_by_pointer), len(answer.sources_by_id), len(answer.constraints))
        assert counts == (INPUTS, SOURCES, CONSTRAINTS), "some facts are missing"

    def check_rows(count: int) -> None:
        assert count == rows, "these are not the rows of the view"

    steps = (
        Step("view", lambda: session.call("context.view", scopeId=SCOPE), check=check_view),
        Step("raw", read, check=check_rows),
    )
    run_interleaved(WARM_UP, steps)
    return compute_medians_ms([run_interleaved(options.count_rounds(ROUNDS), steps)])


def _fill(session: Session) -> None:
    """Commit a run of the measured size, in which every input has links, with values of all kinds and some UNSET."""
    run_id = session.context.create_draft_run(SCOPE).id
    sources = [
        {
            "id": _make_source_id(number),
            "kind": "url",
            "title": f"Survey {number} of the western valley",
            "uri": f"https://example.org/surveys/{number}",
            "mimeType": "application/pdf",
            "excerpt": "The slope was measured in spring, after the snow had gone.",
        }
        for number in range(SOURCES)
    ]
    artifacts = [
        {"type": "map", "title": f"Map {number}", "payload": {"layers": ["slope", "water"], "scale": 5_000}}
        for number in range(ARTIFACTS)
    ]
    session.call(
        "context.edit",
        runId=run_id,
        sources=sources,
        inputs=list(_generate_inputs()),
        constraints=list(_generate_constraints()),
        artifacts=artifacts,
    )
    session.context.commit_run(run_id, allow_partial=True)


def _generate_inputs() -> Iterator[dict[str, Any]]:
    for number in range(INPUTS):
        yield {
            "pointer": f"/area{number % 20}/group{number % 7}/field{number}",
            "label": f"Field {number} of the site",
            "domain": "site",
            "required": number % 3 == 0,
            "fieldType": "text",
            **_choose_value(number),
            "provenance": "source-backed",
            "evidenceSnippet": "as measured on the ground, within two metres",
            "sourceIds": [_make_source_id((number + step) % SOURCES) for step in range(SOURCES_OF_AN_INPUT)],
        }


def _generate_constraints() -> Iterator[dict[str, Any]]:
    for number in range(CONSTRAINTS):
        yield {
            "key": f"limit.{number}",
            "label": f"Limit {number}",
            "domain": "regulatory",
            **_choose_value(number),
            "provenance": "source-backed",
            "sourceId": _make_source_id(number % SOURCES),
            "snippet": "no closer than this to the water",
        }


def _choose_value(number: int) -> dict[str, Any]:
    kinds: tuple[tuple[str, Any], ...] = (
        ("string", f"between the old road and mark {number}"),
        ("number", number + 0.5),
        ("boolean", number % 2 == 0),
        ("enum", "unknown"),
        ("json", {"type": "Point", "coordinates": [number, 47.25]}),
        ("string", None),
    )
    kind, value = kinds[number % len(kinds)]
    return {"valueKind": kind, "value": value}


def _make_source_id(number: int) -> str:
    return str(UUID(int=number + 1))


def _list_tools(db: Path) -> list[Any]:
    with start_groundplan(db, "--tools", "context") as server:
        listing: list[Any] = server.begin().ask("tools/list")["tools"]
        return listing


def _count_tokens(value: Any) -> int:
    return count_tokens(json.dumps(value, separators=(",", ":"), ensure_ascii=False))
