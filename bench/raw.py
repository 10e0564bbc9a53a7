"""The SQLite baseline: the same rows in plain tables, with the same durability and nothing else.

There are no checks, references, triggers or permissions, and only two indexes: by id, and by the order of offers.
"""

from __future__ import annotations

import contextlib
import sqlite3
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Self
from zlib import crc32

NODE = (
    "tenant_id, project_id, n, id, parent_n, kind, rev, summary, resolved, outcome, state, properties, context_links, "
    "created_at, created_by, updated_at, priority, depth, open_children, open_deps, blocked_above, claimed_by, "
    "claimed_at, claimed_until, claim_number, is_ready"
)
EDGE = "tenant_id, project_id, from_n, type, to_n"
EVENT = "tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes, decision"

TABLES = f"""
CREATE TABLE projects (tenant_id TEXT, id TEXT, rev INTEGER, PRIMARY KEY (tenant_id, id)) WITHOUT ROWID;
CREATE TABLE nodes ({NODE}, PRIMARY KEY (tenant_id, project_id, n));
CREATE TABLE edges ({EDGE}, PRIMARY KEY (tenant_id, project_id, from_n, type, to_n)) WITHOUT ROWID;
CREATE TABLE events ({EVENT}, PRIMARY KEY (tenant_id, project_id, rev, n)) WITHOUT ROWID;
CREATE VIRTUAL TABLE texts USING fts5 (summary, content = '', columnsize = 0, detail = none, tokenize = 'trigram');
"""
INDEXES = """
CREATE UNIQUE INDEX nodes_by_id ON nodes (tenant_id, id);
CREATE INDEX nodes_ready ON nodes (tenant_id, project_id, priority DESC, depth DESC, updated_at, n) WHERE is_ready;
"""
FILL = f"""
INSERT INTO projects SELECT tenant_id, id, rev FROM graph.projects WHERE name = :project;
INSERT INTO nodes SELECT {NODE} FROM graph.work_nodes WHERE project_id = (SELECT id FROM projects);
INSERT INTO edges SELECT {EDGE} FROM graph.work_edges WHERE project_id = (SELECT id FROM projects);
INSERT INTO events SELECT {EVENT} FROM graph.events WHERE project_id = (SELECT id FROM projects);
INSERT INTO texts (rowid, summary) SELECT n, summary FROM nodes;
"""
TOP = f"""
SELECT {NODE} FROM nodes WHERE tenant_id = 'local' AND project_id = :project_id AND is_ready
 ORDER BY priority DESC, depth DESC, updated_at, n LIMIT 1
"""


OWN_EVENTS_REV = 2**40  # the revision of events that `commit` inserts; no copied event has it

# A checksum of the tables, for the file name.
EDITION = f"{crc32((TABLES + INDEXES + FILL).encode()):08x}"


class GraphRows(NamedTuple):
    """The rows that one call wrote to the graph."""

    nodes: list[tuple[Any, ...]]
    edges: list[tuple[Any, ...]]
    events: list[tuple[Any, ...]]
    texts: list[tuple[int, str]]


def fill(path: Path, graph: Path, project: str) -> None:
    """Copy the rows of a project into plain tables."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(unfinished, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA cache_size = -200000")
        connection.execute("ATTACH ? AS graph", (str(graph),))
        connection.execute("BEGIN")
        for statement in TABLES.split(";")[:-1]:
            connection.execute(statement)
        for statement in FILL.split(";")[:-1]:
            connection.execute(statement, {"project": project} if ":project" in statement else {})
        for statement in INDEXES.split(";")[:-1]:
            connection.execute(statement)
        connection.execute("COMMIT")
    unfinished.rename(path)


def read_rows_after(graph: Path, project: str, *, after_n: int) -> GraphRows:
    """Return the rows of nodes after `after_n`, and the events of the latest revision."""
    with contextlib.closing(sqlite3.connect(graph)) as connection:
        (project_id,) = connection.execute("SELECT id FROM projects WHERE name = ?", (project,)).fetchone()
        which = {"project_id": project_id, "after_n": after_n}

        def select_all(select: str) -> list[tuple[Any, ...]]:
            return connection.execute(f"{select} AND project_id = :project_id", which).fetchall()

        nodes = select_all(f"SELECT {NODE} FROM work_nodes WHERE tenant_id = 'local' AND n > :after_n")
        return GraphRows(
            nodes=nodes,
            edges=select_all(f"SELECT {EDGE} FROM work_edges WHERE tenant_id = 'local' AND from_n > :after_n"),
            events=select_all(
                f"SELECT {EVENT} FROM events WHERE tenant_id = 'local' "
                "AND rev = (SELECT rev FROM projects WHERE tenant_id = 'local' AND id = :project_id)"
            ),
            texts=[(row[2], row[7]) for row in nodes],
        )


class RawTables:
    """Plain tables, opened like the file of Groundplan."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA synchronous = FULL")
        (self._project_id,) = self._connection.execute("SELECT id FROM projects").fetchone()
        (last,) = self._connection.execute("SELECT max(n) FROM events WHERE rev = ?", (OWN_EVENTS_REV,)).fetchone()
        self._n = count((last or 0) + 1)

    def read_top(self) -> list[tuple[Any, ...]]:
        """Return the next node: the first entry of the index."""
        return self._connection.execute(TOP, {"project_id": self._project_id}).fetchall()

    def commit(self) -> None:
        """Insert one event, raise the revision, and commit durably."""
        execute = self._connection.execute
        event = (
            "local",
            self._project_id,
            OWN_EVENTS_REV,
            next(self._n),
            1,
            "now",
            "ada",
            "work.claimed",
            "abcdef",
            "[]",
            None,
        )
        execute("BEGIN IMMEDIATE")
        execute(f"INSERT INTO events VALUES ({_format_placeholders(EVENT)})", event)
        execute("UPDATE projects SET rev = rev + 1 WHERE tenant_id = 'local' AND id = ?", (self._project_id,))
        execute("COMMIT")

    def insert(self, rows: GraphRows) -> None:
        """Insert many rows in one durable commit."""
        execute, many = self._connection.execute, self._connection.executemany
        execute("BEGIN IMMEDIATE")
        many(f"INSERT INTO nodes VALUES ({_format_placeholders(NODE)})", rows.nodes)
        many(f"INSERT INTO edges VALUES ({_format_placeholders(EDGE)})", rows.edges)
        many(f"INSERT INTO events VALUES ({_format_placeholders(EVENT)})", rows.events)
        many("INSERT INTO texts (rowid, summary) VALUES (?, ?)", rows.texts)
        execute("UPDATE projects SET rev = rev + 1 WHERE tenant_id = 'local' AND id = ?", (self._project_id,))
        execute("COMMIT")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def _format_placeholders(columns: str) -> str:
    return ", ".join("?" * (columns.count(",") + 1))
