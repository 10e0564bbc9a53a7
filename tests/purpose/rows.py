"""Rows of the purpose tables for raw SQL: one function for each table."""

from __future__ import annotations

import json

from groundplan.kernel.store.migrations import Dialect
from groundplan.purpose.tables import VERSION_CHILD_TABLES
from tests.engines import Engine
from tests.kernel.store.attacks import Family, Row, TargetRow, Value, sql_insert, sql_set

STAMP = "2026-03-01T09:00:00.000Z"
LATER = "2026-03-02T09:00:00.000Z"
HASH = "0123456789abcdef" * 4
KEY = ("tenant_id", "id")
# Reserved columns ask who acts, even for the owner of the schema.
_AS_ADA = ", ".join(
    f"set_config('groundplan.{name}', '{value}', false)"
    for name, value in {"tenant": "local", "actor": "ada", "access": "open"}.items()
)


def version_row(project: str, id_: str, number: int = 1, **changes: Value) -> Row:
    """Return a draft of Ada's."""
    return {
        "tenant_id": "local",
        "project_id": project,
        "id": id_,
        "version_number": number,
        "status": "DRAFT",
        "label": "draft",
        "source_number": None,
        "profile": "standard",
        "rev": 1,
        "created_at": STAMP,
        "created_by": "ada",
        "updated_at": STAMP,
        "content_hash": None,
        "context_run_id": None,
        "gates": None,
        "outside": None,
        "published_at": None,
        "published_by": None,
        "published_rev": None,
        **changes,
    }


def gate_result(*, gate: str = "A", is_passed: object = True, content_hash: str = HASH) -> str:
    """Return the gate result that a version stores."""
    return json.dumps([{"gate": gate, "passed": is_passed, "content_hash": content_hash}])


def publish_columns(**changes: Value) -> Row:
    """Return the columns that publishing a draft sets."""
    return {
        "status": "PUBLISHED",
        "label": "v1",
        "content_hash": HASH,
        "context_run_id": None,
        "gates": gate_result(),
        "outside": "{}",
        "published_at": LATER,
        "published_by": "ada",
        "published_rev": 9,
        "updated_at": LATER,
        "rev": 2,
        **changes,
    }


def reopen_columns(rev: int) -> Row:
    """Return the columns that would make a published version a draft."""
    draft = version_row("", "")
    return {column: draft[column] for column in publish_columns()} | {"rev": rev}


def node_row(version: Row, id_: str, key: str, **changes: Value) -> Row:
    return {
        **columns_below(version),
        "id": id_,
        "key": key,
        "node_type": "OUTCOME",
        "title": "Fewer boats are lost",
        "description": None,
        "narrative": None,
        "owner": None,
        "metadata": "{}",
        **changes,
    }


def edge_row(version: Row, id_: str, source: str, target: str, **changes: Value) -> Row:
    return {
        **columns_below(version),
        "id": id_,
        "source_node_id": source,
        "target_node_id": target,
        "edge_type": "CONTRIBUTES_TO",
        "mechanism": None,
        "confidence": None,
        **changes,
    }


def assumption_row(version: Row, id_: str, key: str, node: str, **changes: Value) -> Row:
    return {**_assumption_columns(version, id_, key), "node_id": node, **changes}


def edge_assumption_row(version: Row, id_: str, key: str, edge: str, **changes: Value) -> Row:
    return {**_assumption_columns(version, id_, key), "edge_id": edge, **changes}


def _assumption_columns(version: Row, id_: str, key: str) -> Row:
    return {
        **columns_below(version),
        "id": id_,
        "key": key,
        "assumption_text": "Skippers look at the forecast",
        "risk_level": None,
        "owner": None,
        "review_by": None,
    }


def indicator_row(version: Row, id_: str, key: str, node: str, **changes: Value) -> Row:
    return {
        **columns_below(version),
        "id": id_,
        "key": key,
        "node_id": node,
        "name": "Boats lost in a year",
        "unit": None,
        "direction": None,
        "baseline": None,
        "baseline_verified": None,
        "target": None,
        "method": None,
        "frequency": None,
        "owner": None,
        **changes,
    }


def columns_below(version: Row) -> Row:
    """Return the columns that place a row below the version."""
    return {
        "tenant_id": version["tenant_id"],
        "project_id": version["project_id"],
        "toc_version_id": version["id"],
    }


def measurement_row(project: str, rev: int, n: int = 0, **changes: Value) -> Row:
    about: Row = {
        "indicator_key": "IN1",
        "value": 12.5,
        "as_of": "2026-02-28",
        "as_of_until": "2026-02-28T23:59:59.999Z",
        "source": None,
        "note": None,
    }
    return {**_observation_columns(project, rev, n), **about, **changes}


def review_row(project: str, rev: int, n: int = 0, **changes: Value) -> Row:
    about: Row = {"assumption_key": "AS1", "status": "holding", "reason": "Asked in the harbour", "evidence": None}
    return {**_observation_columns(project, rev, n), **about, **changes}


def waiver_row(project: str, rev: int, n: int = 0, **changes: Value) -> Row:
    about: Row = {"code": "GA_LEAP", "refs": "[]", "reason": "For the pilot", "owner": "ada", "due": "2026-06-30"}
    return {**_observation_columns(project, rev, n), **about, **changes}


def decision_row(project: str, rev: int, n: int = 0, **changes: Value) -> Row:
    about: Row = {"text": "Go on", "rationale": "It holds elsewhere", "about": '["AS1"]', "outcome": None}
    return {**_observation_columns(project, rev, n), **about, **changes}


def request_row(project: str, rev: int, n: int = 0, **changes: Value) -> Row:
    about: Row = {"question": "Go on?", "about": '["AS1"]', "asked_of": "ben"}
    return {**_observation_columns(project, rev, n), **about, **changes}


def _observation_columns(project: str, rev: int, n: int) -> Row:
    return {
        "tenant_id": "local",
        "project_id": project,
        "rev": rev,
        "n": n,
        "recorded_at": STAMP,
        "recorded_by": "ada",
    }


def make_family(
    project: str, name: str, number: int = 1, *, keys_from: int = 1, publishing: Row | None = None
) -> Family:
    """Return a version with a row in every table below it and the rows they refer to.

    Ids begin with its name and keys with `keys_from`, so that the rows of two families do not collide when moved.
    """
    version = version_row(project, name, number, **(publishing or {}))
    rev = int(version["rev"] or 0) + 1
    first, second, third = (f"{name}-n{n}" for n in (1, 2, 3))
    nodes = [
        TargetRow("toc_nodes", KEY, node_row(version, id_, f"OC{keys_from + n}"))
        for n, id_ in enumerate((first, second, third))
    ]
    edge = TargetRow("toc_edges", KEY, edge_row(version, f"{name}-e1", first, second))
    children = (
        TargetRow(
            "toc_indicators",
            KEY,
            indicator_row(version, f"{name}-i", f"IN{keys_from}", first),
            change={"target": 3.5},
            fresh={"id": f"{name}-i-fresh", "key": f"IN{keys_from + 1}"},
            anchors=("project_id", "node_id"),
        ),
        TargetRow(
            "toc_edge_assumptions",
            KEY,
            edge_assumption_row(version, f"{name}-x", f"AS{keys_from}", f"{name}-e1"),
            change={"risk_level": "HIGH"},
            fresh={"id": f"{name}-x-fresh", "key": f"AS{keys_from + 1}"},
            anchors=("project_id", "edge_id"),
        ),
        TargetRow(
            "toc_assumptions",
            KEY,
            assumption_row(version, f"{name}-a", f"AS{keys_from + 2}", first),
            change={"assumption_text": "changed"},
            fresh={"id": f"{name}-a-fresh", "key": f"AS{keys_from + 3}"},
            anchors=("project_id", "node_id"),
        ),
        TargetRow(
            "toc_edges",
            KEY,
            edge_row(version, f"{name}-e2", second, third),
            change={"mechanism": "changed"},
            fresh={"id": f"{name}-e-fresh", "source_node_id": first},
            anchors=("project_id", "source_node_id", "target_node_id"),
        ),
        TargetRow(
            "toc_nodes",
            KEY,
            node_row(version, f"{name}-n4", f"OC{keys_from + 3}"),
            change={"title": "changed"},
            fresh={"id": f"{name}-n-fresh", "key": f"OC{keys_from + 4}"},
            anchors=("project_id",),
        ),
    )
    assert tuple(child.table for child in children) == VERSION_CHILD_TABLES
    return Family(
        TargetRow("toc_versions", KEY, version, change={"updated_at": STAMP, "rev": rev}),
        children,
        reopened=reopen_columns(rev),
        beside=(*nodes, edge),
    )


def insert_families(engine: Engine, *families: Family) -> None:
    """Insert versions as drafts, then publish some of them."""
    statements = []
    for family in families:
        version = family.parent.row
        rows = (*family.beside, *family.children)
        statements.append(sql_insert("toc_versions", {**version, **reopen_columns(rev=1), "updated_at": STAMP}))
        statements += [sql_insert(prey.table, prey.row) for prey in rows]
        if version["status"] == "PUBLISHED":
            final = {column: version[column] for column in publish_columns()}
            statements.append(f"UPDATE toc_versions SET {sql_set(final)} WHERE {family.parent.where}")
    engine.as_owner(*sql_act_as_ada(engine), *statements)


def sql_act_as_ada(engine: Engine) -> tuple[str, ...]:
    """Return SQL with which the owner of the schema acts as Ada for the guards."""
    return () if engine.dialect is Dialect.SQLITE else (f"SELECT {_AS_ADA}",)
