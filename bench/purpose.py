"""Measure opening, editing, publishing and comparing a theory of 300 nodes, compared with raw SQL on the same rows.

The calls are made in-process, on SQLite. The floors use plain tables with the same rows, in WAL mode with
`synchronous = FULL` and without checks, references, triggers or permissions. The gates are measured as functions, also
on a theory of 100,000 edges. Tokens are counted over stdio.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import groundplan
from bench.large_purpose import Ops, fill_draft, generate_theory
from bench.options import Options
from bench.peers import start_groundplan
from bench.report import Result
from bench.rounds import Step, compute_medians_ms, run_interleaved
from groundplan import demo
from groundplan.kernel.answers import count_tokens
from groundplan.kernel.store.queries import Query
from groundplan.purpose.content import sql
from groundplan.purpose.gates.gates import SEVERITY_TABLES as TABLES_OF_CHECKS
from groundplan.purpose.gates.gates import ContextFacts, ExternalFacts, Gate
from groundplan.purpose.gates.run import run_gate
from groundplan.purpose.model import (
    Assumption,
    Confidence,
    Content,
    EdgeName,
    EdgeType,
    Indicator,
    IndicatorDirection,
    NodeType,
    Profile,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
    build_content,
)
from groundplan.purpose.observing.read import sql as observation_sql
from groundplan.purpose.observing.records import Observations
from groundplan.session import Session

PROJECT = "atlas"
NODES, EDGES, INDICATORS = 300, 450, 180
SMALL = (30, 45, 18)
LARGE = (40_000, 100_000, 1_000)
SEED = 7
BATCH = 10
ROUNDS, PUBLISHINGS = 100, 30
WARM_UP = 3
LARGE_ROUNDS = 3
TODAY = "2026-11-15"

OPEN_MS_MAX, EDIT_MS_MAX, PUBLISH_MS_MAX, COMPARE_MS_MAX = 30.0, 15.0, 150.0, 50.0
OPEN_TOKENS_MAX = 2_500
LISTING_TOKENS_MAX = 1_800

# The queries for the content of a version, and those for versions and observations.
CONTENT = (
    sql.nodes_of_version,
    sql.edges_of_version,
    sql.assumptions_of_version,
    sql.edge_assumptions_of_version,
    sql.indicators_of_version,
)
BESIDE = (
    sql.versions,
    observation_sql.measurements,
    observation_sql.reviews,
    observation_sql.waivers,
    observation_sql.decisions,
)  # there are no observations here
TABLES = (
    "toc_versions",
    "toc_nodes",
    "toc_edges",
    "toc_assumptions",
    "toc_edge_assumptions",
    "toc_indicators",
    "events",
)


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        return [*_measure_operations(options, Path(folder)), *_measure_gates(options), *_measure_tokens(Path(folder))]


# --- Operations -------------------------------------------------------------------------------------------------------


def _measure_operations(options: Options, folder: Path) -> Iterator[Result]:
    db = folder / "plan.db"
    with groundplan.open(str(db), actor="ada") as session:
        session.call("project.create", name=PROJECT)
        fill_draft(session, PROJECT, generate_theory(NODES, EDGES, INDICATORS, SEED))
        session.call("purpose.publish", project=PROJECT)
        session.call("purpose.draft", project=PROJECT)
        with _RawTheory(db, folder / "raw.db") as raw:
            took: dict[str, float] = {}
            # Publishing comes last, because an answer would list the versions that it creates.
            for steps, rounds in (
                ((*_make_writes(session, raw), *_make_reads(session, raw)), ROUNDS),
                (_make_publishing_steps(session, raw), PUBLISHINGS),
            ):
                run_interleaved(WARM_UP, steps)
                took |= compute_medians_ms([run_interleaved(options.count_rounds(rounds), steps)])
    size = f"{NODES} nodes, {EDGES} edges, {INDICATORS} indicators"
    for name, what, bar in (
        ("open", f"open {size}", OPEN_MS_MAX),
        ("edit", f"edit, a batch of {BATCH}", EDIT_MS_MAX),
        ("publish", "publish", PUBLISH_MS_MAX),
        ("compare", "compare two versions", COMPARE_MS_MAX),
        ("draft", "draft, a clone of the version", None),
    ):
        yield Result("purpose", what, took[name], "ms", bar=bar)
        yield Result("purpose", f"… compared with raw SQL: {name}", took[name], "ms", took[f"raw {name}"], "same rows")


def _make_reads(session: Session, raw: _RawTheory) -> Sequence[Step]:
    def check_opened(answer: Any) -> None:
        assert len(answer.nodes) >= NODES, "some nodes are missing"

    def check_compared(answer: Any) -> None:
        assert answer.nodes.changed, "there is nothing to compare"

    published, draft = raw.list_version_ids()
    return (
        Step("open", lambda: session.call("purpose.open", project=PROJECT), check=check_opened),
        Step("raw open", lambda: raw.read(BESIDE) + raw.read(CONTENT, draft)),
        Step(
            "compare",
            lambda: session.call("purpose.diff", project=PROJECT, **{"from": 1, "to": "draft"}),
            check=check_compared,
        ),
        Step("raw compare", lambda: raw.read(CONTENT, published) + raw.read(CONTENT, draft)),
    )


def _make_writes(session: Session, raw: _RawTheory) -> Sequence[Step]:
    batch = _EditBatch()

    def edit() -> Any:
        return session.call("purpose.edit", project=PROJECT, operations=batch.operations)

    return (
        Step("edit", edit, before=batch.prepare, check=batch.keep),
        Step("raw edit", raw.edit),
    )


class _EditBatch:
    """Ten operations of different kinds. Each round removes the last node, so the size stays the same."""

    def __init__(self) -> None:
        self._round = 0
        self._node: str | None = None
        self.operations: Ops = []

    def prepare(self) -> None:
        self._round += 1
        last = [{"op": "remove_node", "node": self._node}] if self._node else []
        number = self._round % 50 + 1
        self.operations = [
            *last,
            {"op": "add_node", "ref": "new", "node_type": "OUTPUT", "title": f"A new output, {self._round}"},
            {"op": "add_edge", "source": f"AC{number}", "target": "new", "mechanism": "By doing it"},
            {"op": "add_edge", "source": "new", "target": f"OC{number}", "confidence": "low"},
            {"op": "add_assumption", "node": "new", "assumption_text": "It is wanted", "risk_level": "LOW"},
            {"op": "add_indicator", "node": "new", "name": "How many there are", "unit": "pieces"},
            *(
                {"op": "update_node", "node": f"OP{number + place}", "title": f"Renamed in round {self._round}.{place}"}
                for place in range(2)
            ),
            {"op": "update_indicator", "indicator": f"IN{number}", "target": self._round},
            {"op": "update_node", "node": f"AC{number}", "description": f"Described in round {self._round}"},
        ]

    def keep(self, answer: Any) -> None:
        self._node = answer.created[0].key
        assert answer.applied in (BATCH, BATCH - 1)


def _make_publishing_steps(session: Session, raw: _RawTheory) -> Sequence[Step]:
    def check(answer: Any) -> None:
        assert answer.gates[0].passed

    publish = Step("publish", lambda: session.call("purpose.publish", project=PROJECT), check=check)
    draft = Step("draft", lambda: session.call("purpose.draft", project=PROJECT))
    return publish, Step("raw publish", raw.publish), draft, Step("raw draft", raw.clone)


class _RawTheory:
    """The rows of a theory in plain tables, and the smallest writes that each operation needs."""

    def __init__(self, db: Path, raw: Path) -> None:
        self._connection = sqlite3.connect(raw, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("ATTACH ? AS plan", (str(db),))
        for table in TABLES:
            self._connection.execute(f"CREATE TABLE main.{table} AS SELECT * FROM plan.{table}")
            by_id = "project_id, rev, n" if table == "events" else "id"
            self._connection.execute(f"CREATE UNIQUE INDEX main.{table}_by_id ON {table} (tenant_id, {by_id})")
            if table not in ("events", "toc_versions"):
                self._connection.execute(f"CREATE INDEX main.{table}_by_version ON {table} (tenant_id, toc_version_id)")
        for table in ("toc_measurements", "toc_assumption_reviews", "toc_waivers", "toc_decisions"):
            self._connection.execute(f"CREATE TABLE main.{table} AS SELECT * FROM plan.{table}")
        self._connection.execute("DETACH plan")
        self._events = self._connection.execute("SELECT * FROM events ORDER BY rev DESC, n DESC LIMIT 10").fetchall()
        self._project, self._draft = self._connection.execute(
            "SELECT project_id, id FROM toc_versions WHERE status = 'DRAFT'"
        ).fetchone()
        self._rows = {
            table: self._connection.execute(
                f"SELECT * FROM {table} WHERE toc_version_id = ?",
                (self._draft,),
            ).fetchall()
            for table in TABLES[1:-1]
        }
        self._made = 0

    def __enter__(self) -> _RawTheory:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def list_version_ids(self) -> list[str]:
        """Return the ids of the versions by number: the published version, then the draft."""
        return [id_ for (id_,) in self._connection.execute("SELECT id FROM toc_versions ORDER BY version_number")]

    def read(self, queries: Sequence[Query], version_id: str = "") -> int:
        """Run the queries and return the number of rows."""
        values = {
            "tenant_id": "local",
            "project_id": self._project,
            "version_id": version_id,
            "before_rev": 2**53,
            "at_latest": "9999",
            "after_rev": 0,
            "after_n": 0,
            "at_most": 2**53,
        }
        return sum(
            len(self._connection.execute(query.sqlite, {name: values[name] for name in query.parameters}).fetchall())
            for query in queries
        )

    def edit(self) -> None:
        """Replace a node, two edges, an assumption and an indicator, update four rows and insert ten events."""
        with self._transaction():
            for table, count in (("toc_nodes", 1), ("toc_edges", 2), ("toc_assumptions", 1), ("toc_indicators", 1)):
                rows = self._rows[table][:count]
                for row in rows:
                    self._connection.execute(f"DELETE FROM {table} WHERE tenant_id = ? AND id = ?", (row[0], row[3]))
                self._insert(table, rows)
            for place in range(1, 4):
                self._connection.execute(
                    "UPDATE toc_nodes SET title = ? WHERE tenant_id = ? AND id = ?",
                    (f"Renamed {self._made}", "local", self._rows["toc_nodes"][place][3]),
                )
            self._connection.execute(
                "UPDATE toc_indicators SET target = ? WHERE tenant_id = ? AND id = ?",
                (self._made, "local", self._rows["toc_indicators"][1][3]),
            )
            self._record(BATCH)

    def publish(self) -> None:
        """Read the draft, write gate results into its row, and insert an event."""
        self.read(CONTENT, self._draft)
        with self._transaction():
            self._connection.execute(
                "UPDATE toc_versions SET status = ?, gates = ?, rev = rev + 1 WHERE tenant_id = ? AND id = ?",
                ("PUBLISHED", "g" * 4_000, "local", self._draft),
            )
            self._record(1)

    def clone(self) -> None:
        """Insert every row of a version again, under a new version."""
        with self._transaction():
            version_id = f"version-{self._made}"
            for table, rows in self._rows.items():
                self._insert(table, [(*row[:2], version_id, f"{row[3]}-{self._made}", *row[4:]) for row in rows])
            self._record(1)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._made += 1
        self._connection.execute("BEGIN IMMEDIATE")
        yield
        self._connection.execute("COMMIT")

    def _insert(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        marks = ", ".join("?" * len(rows[0]))
        self._connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

    def _record(self, count: int) -> None:
        names = [column[0] for column in self._connection.execute("SELECT * FROM events LIMIT 0").description]
        rev = names.index("rev")
        number = names.index("n")
        rows = []
        for place, row in enumerate(self._events[:count]):
            written = list(row)
            written[rev], written[number] = 10**6 + self._made, place
            rows.append(tuple(written))
        self._insert("events", rows)


# --- Gates ------------------------------------------------------------------------------------------------------------


def _measure_gates(options: Options) -> Iterator[Result]:
    for size, rounds, unit in (
        ((NODES, EDGES, INDICATORS), options.count_rounds(ROUNDS), "ms"),
        (LARGE, 1 if options.quick else LARGE_ROUNDS, "s"),
    ):
        content = build_content_from(generate_theory(*size, SEED))
        for gate in TABLES_OF_CHECKS:
            took = min(_time(partial(_run_gate, gate, content)) for _ in range(rounds))
            what = f"gate {gate}, {size[0]:,} nodes, {size[1]:,} edges"
            yield Result("purpose", what, took * (1000 if unit == "ms" else 1), unit)


def _run_gate(gate: Gate, content: Content) -> None:
    served = {node.key: 1 for node in content.list_nodes_of_type(NodeType.ACTIVITY)}
    outside = ExternalFacts(ContextFacts("run"), served, [])
    found = run_gate(
        gate, content, Observations([], [], [], []), profile=Profile.STANDARD, external_facts=outside, today=TODAY
    )
    assert found.result.passed, "the generated theory does not pass the gate"


def _time(act: Callable[[], object]) -> float:
    begin = time.perf_counter()
    act()
    return time.perf_counter() - begin


def build_content_from(batches: Sequence[Ops]) -> Content:
    """Return the theory that batches of operations create, without a store."""
    nodes: list[PurposeNode] = []
    edges: list[PurposeEdge] = []
    assumptions: list[Assumption] = []
    indicators: list[Indicator] = []
    for op in (op for batch in batches for op in batch):
        fields = {name: value for name, value in op.items() if name not in ("op", "ref")}
        match op["op"]:
            case "add_node":
                fields["node_type"] = NodeType(fields["node_type"])
                nodes.append(PurposeNode(id=op["ref"], key=op["ref"], **fields))
            case "add_edge":
                fields["confidence"] = Confidence(fields["confidence"])
                edges.append(PurposeEdge(id=str(len(edges)), **fields))
            case "add_assumption":
                risk = fields.pop("risk_level", None)
                ends = fields.pop("source", None), fields.pop("target", None)
                place = EdgeName(*ends, EdgeType.CONTRIBUTES_TO) if ends[0] else None
                key = f"AS{len(assumptions) + 1}"
                fields = {"node": None, **fields, "risk_level": RiskLevel(risk) if risk else None}
                assumptions.append(Assumption(id=key, key=key, edge=place, **fields))
            case "add_indicator":
                key = f"IN{len(indicators) + 1}"
                fields["direction"] = IndicatorDirection(fields["direction"])
                indicators.append(Indicator(id=key, key=key, **fields))
    return build_content(nodes, edges, assumptions, indicators)


# --- Tokens -----------------------------------------------------------------------------------------------------------


def _measure_tokens(folder: Path) -> Iterator[Result]:
    db = folder / "small.db"
    example = demo.PROJECT
    with groundplan.open(str(db), actor="ada") as session:
        demo.fill(session)
        session.call("project.create", name=PROJECT)
        fill_draft(session, PROJECT, generate_theory(*SMALL, SEED))
    with start_groundplan(db, "--tools", "purpose") as server:
        listing = server.begin().ask("tools/list")["tools"]
        answers = {name: server.call("toc_open", {"project": name}) for name in (example, PROJECT)}
    sizes = {example: "the example, about 30 nodes", PROJECT: "{} nodes, {} edges, {} indicators".format(*SMALL)}
    for name, answer in answers.items():
        yield Result("purpose", f"toc_open of {sizes[name]}", count_tokens(answer), "tokens", bar=OPEN_TOKENS_MAX)
    compact = json.dumps({"tools": listing}, separators=(",", ":"), ensure_ascii=False)
    what = f"tools/list, purpose; tools: {len(listing)}"
    yield Result("purpose", what, count_tokens(compact), "tokens", bar=LISTING_TOKENS_MAX)
