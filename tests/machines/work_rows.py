"""Stored rows of the work graph, read directly on a connection that stays open."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import psycopg

from groundplan.kernel.actors import LOCAL_ORGANIZATION
from groundplan.kernel.store.schema import SCHEMA_NAME
from tests.engines import Engine, PostgresEngine, SqliteEngine

# Every index begins with it: without it, a step would read the rows of all steps before.
IN_ORGANIZATION = f"tenant_id = '{LOCAL_ORGANIZATION}'"
NODE_COLUMNS = (
    "n, id, parent_n, kind, rev, summary, resolved, outcome, state, properties, context_links, created_at, created_by, "
    "updated_at, priority, depth, open_children, open_deps, blocked_above, claimed_by, claimed_at, claimed_until, "
    "claim_number, is_ready, is_blocked"
)


class NodeRow(NamedTuple):
    """One row of work_nodes with decoded JSON and booleans."""

    n: int
    id: str
    parent_n: int | None
    kind: str | None
    rev: int
    summary: str
    resolved: bool
    outcome: str | None
    state: Any
    properties: dict[str, Any]
    context_links: list[str]
    created_at: str
    created_by: str
    updated_at: str
    priority: float
    depth: int
    open_children: int
    open_deps: int
    blocked_above: int
    claimed_by: str | None
    claimed_at: str | None
    claimed_until: str | None
    claim_number: int
    is_ready: bool
    is_blocked: bool


class EventRow(NamedTuple):
    """One row of events with decoded changes."""

    rev: int
    n: int
    at: str
    actor: str
    op: str
    subject: str
    changes: list[dict[str, Any]]
    decision: str | None


@dataclass(frozen=True)
class Stored:
    """All stored rows of one project's work."""

    rev: int
    policies: dict[str, Any]
    counts: tuple[int, ...]  # last_n, total, resolved, blocked, actionable, dropped
    nodes: dict[int, NodeRow]
    edges: frozenset[tuple[int, str, int]]
    evidence: dict[int, list[tuple[str, str, str, str]]]  # type, ref, agent, at, in order
    merged: dict[str, str]
    merged_texts: dict[int, list[tuple[str, str, str | None]]]  # id, summary and description of merged nodes, by id
    events: list[EventRow]
    order_keys: dict[int, str]  # of the nodes of an ordered project


class WorkRows:
    """A reader of the rows of one database."""

    def __init__(self, engine: Engine) -> None:
        self._connection: sqlite3.Connection | psycopg.Connection
        if isinstance(engine, SqliteEngine):
            self._connection = sqlite3.connect(engine.path, isolation_level=None)
        else:
            assert isinstance(engine, PostgresEngine)
            options = f"-c search_path={SCHEMA_NAME}"
            self._connection = psycopg.connect(engine.superuser_url, autocommit=True, options=options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def project_id(self, name: str) -> str:
        """Return the id of a project by name."""
        ((found,),) = self._all(f"SELECT id FROM projects WHERE {IN_ORGANIZATION} AND name = '{name}'")
        return str(found)

    def of(self, project_id: str) -> Stored:
        """Return the rows of one project, which nobody else changes."""
        (rev, policies), *_ = self._all(
            f"SELECT rev, policies FROM projects WHERE {IN_ORGANIZATION} AND id = '{project_id}'"
        )
        where = f"WHERE {IN_ORGANIZATION} AND project_id = '{project_id}'"
        counts, *_ = self._all(
            f"SELECT last_n, total, resolved, blocked, actionable, dropped FROM work_projects {where}"
        )
        evidence: dict[int, list[tuple[str, str, str, str]]] = {}
        for place, (n, k, *shown) in enumerate(
            self._all(f"SELECT node_n, k, type, ref, agent, at FROM work_evidence {where} ORDER BY node_n, k")
        ):
            evidence.setdefault(n, []).append((shown[0], shown[1], shown[2], shown[3]))
            assert k == len(evidence[n]), f"evidence {place} of node {n} leaves a gap"
        merged_texts: dict[int, list[tuple[str, str, str | None]]] = {}
        for n, *text in self._all(
            f"SELECT node_n, id, summary, description FROM work_merged_texts {where} ORDER BY id"
        ):
            merged_texts.setdefault(n, []).append((text[0], text[1], text[2]))
        return Stored(
            rev=rev,
            policies=json.loads(policies),
            counts=counts,
            nodes={
                row[0]: _node(row) for row in self._all(f"SELECT {NODE_COLUMNS} FROM work_nodes {where} ORDER BY n")
            },
            edges=frozenset(self._all(f"SELECT from_n, type, to_n FROM work_edges {where}")),
            evidence=evidence,
            order_keys=dict(
                self._all(
                    f"SELECT n, order_key FROM work_nodes {where} AND EXISTS "
                    f"(SELECT 1 FROM work_projects {where} AND is_ordered)"
                )
            ),
            merged=dict(self._all(f"SELECT id, into_id FROM work_merged {where}")),
            merged_texts=merged_texts,
            events=[
                EventRow(*row)._replace(changes=json.loads(row[6]))
                for row in self._all(
                    f"SELECT rev, n, at, actor_id, op, subject, changes, decision FROM events {where} ORDER BY rev, n"
                )
            ],
        )

    def _all(self, statement: str) -> list[Any]:
        return self._connection.execute(statement).fetchall()


def _node(row: tuple[Any, ...]) -> NodeRow:
    node = NodeRow(*row)
    return node._replace(
        resolved=bool(node.resolved),
        is_ready=bool(node.is_ready),
        is_blocked=bool(node.is_blocked),
        state=None if node.state is None else json.loads(node.state),
        properties=json.loads(node.properties),  # type: ignore[arg-type]  # text in the row
        context_links=json.loads(node.context_links),  # type: ignore[arg-type]  # text in the row
    )
