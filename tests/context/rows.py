"""Rows of the context tables for raw SQL: one function for each table."""

from __future__ import annotations

from groundplan.context.tables import RUN_CHILD_TABLES
from tests.engines import Engine
from tests.kernel.store.attacks import Family, Row, TargetRow, Value, sql_insert, sql_set

STAMP = "2026-03-01T09:00:00.000Z"
LATER = "2026-03-02T09:00:00.000Z"
UNSET: Row = {
    "value_string": None,
    "value_number": None,
    "value_boolean": None,
    "value_enum": None,
    "value_json": None,
}
COLUMNS = {kind: f"value_{kind}" for kind in ("string", "number", "boolean", "enum", "json")}


def run_row(project: str, id_: str, **changes: Value) -> Row:
    """Return a draft of Ada's."""
    return {
        "tenant_id": "local",
        "project_id": project,
        "id": id_,
        "user_id": "ada",
        "status": "draft",
        "allow_partial": False,
        "committed_at": None,
        "created_at": STAMP,
        "created_by": "ada",
        "updated_at": STAMP,
        "rev": 1,
        "committed_by": None,
        "committer_kind": None,
        "replaced_run_id": None,
        "base_run_id": None,
        "starts_empty": False,
        **changes,
    }


def commit_columns(status: str = "committed", rev: int = 2, base: Value = None) -> Row:
    """Return the columns that committing a draft sets; `base` is the run in force."""
    partial = status == "partial_committed"
    return {
        **{"status": status, "allow_partial": partial, "committed_at": LATER, "updated_at": LATER, "rev": rev},
        **{"committed_by": "ada", "committer_kind": "user", "base_run_id": base},
    }


def source_row(run: Row, id_: str, **changes: Value) -> Row:
    return {
        **columns_below(run),
        "id": id_,
        "kind": "file",
        "title": "The land register",
        "uri": "register.pdf",
        "file_id": None,
        "mime_type": None,
        "size_bytes": None,
        "parse_status": "pending",
        "excerpt": None,
        "raw_meta": "{}",
        "created_at": STAMP,
        **changes,
    }


def input_row(run: Row, id_: str, **changes: Value) -> Row:
    """Return an input set by a person; its pointer is its id, so inputs do not collide."""
    return {
        **columns_below(run),
        "id": id_,
        "pointer": f"/{id_}",
        "label": "Length of the coast",
        "domain": "site",
        "required": True,
        "field_type": "text",
        "options": None,
        "value_kind": "string",
        **UNSET,
        "value_string": "12 km",
        "provenance": "user-entered",
        "updated_by": "user",
        "updated_at": STAMP,
        "evidence_snippet": None,
        **changes,
    }


def link_row(run: Row, input_id: str, source_id: str) -> Row:
    return {**columns_below(run), "input_id": input_id, "source_id": source_id}


def constraint_row(run: Row, id_: str, **changes: Value) -> Row:
    """A constraint that a person has set; its key is its id, so no two constraints are in each other's way."""
    return {
        **columns_below(run),
        "id": id_,
        "key": id_,
        "domain": "site",
        "label": "No higher than",
        "value_kind": "number",
        **UNSET,
        "value_number": 12.5,
        "provenance": "user-entered",
        "source_id": None,
        "snippet": None,
        "updated_by": "user",
        "created_at": STAMP,
        "updated_at": STAMP,
        **changes,
    }


def artifact_row(run: Row, id_: str, **changes: Value) -> Row:
    return {
        **columns_below(run),
        "id": id_,
        "type": "map",
        "title": "The coast",
        "payload": "{}",
        "created_at": STAMP,
        **changes,
    }


def suggestion_row(run: Row, id_: str, **changes: Value) -> Row:
    """Return a value that a model suggests; the caller says for what."""
    return {
        **columns_below(run),
        "id": id_,
        "input_id": None,
        "constraint_id": None,
        "value_kind": "string",
        **UNSET,
        "value_string": "13 km",
        "provenance": "model-inferred",
        "source_ids": "[]",
        "snippet": None,
        "rationale": None,
        "created_at": STAMP,
        "created_by": "robin",
        "author_kind": "model",
        "status": "pending",
        "decided_at": None,
        "decided_by": None,
        **changes,
    }


def columns_below(run: Row) -> Row:
    """Return the columns that place a row below the run."""
    return {"tenant_id": run["tenant_id"], "project_id": run["project_id"], "run_id": run["id"]}


def make_family(project: str, name: str, status: str = "draft", base: Value = None) -> Family:
    """Return a run with a row in every table below it and the rows they refer to; ids begin with its name."""
    final = {} if status == "draft" else commit_columns(status, base=base)
    run = run_row(project, name, **final)
    rev = 3 if final else 2
    key = ("tenant_id", "id")
    sources = [TargetRow("pciv_sources", key, source_row(run, f"{name}-s{n}")) for n in (1, 2)]
    backed = {"provenance": "source-backed", "updated_by": "model"}
    inputs = [TargetRow("pciv_inputs", key, input_row(run, f"{name}-i1", **backed))]
    inputs.append(TargetRow("pciv_inputs", key, input_row(run, f"{name}-i2")))
    children = (
        TargetRow(
            "pciv_suggestions",
            key,
            suggestion_row(run, f"{name}-g", input_id=f"{name}-i1"),
            change={"rationale": "changed"},
            fresh={"id": f"{name}-g-fresh", "input_id": f"{name}-i2"},
            anchors=("input_id",),
        ),
        TargetRow(
            "pciv_input_sources",
            ("tenant_id", "run_id", "input_id", "source_id"),
            link_row(run, f"{name}-i1", f"{name}-s1"),
            change={"source_id": f"{name}-s2"},
            fresh={"source_id": f"{name}-s2"},
            anchors=("input_id", "source_id"),
        ),
        TargetRow(
            "pciv_constraints",
            key,
            constraint_row(run, f"{name}-c", source_id=f"{name}-s1"),
            change={"value_number": 13.5},
            fresh={"id": f"{name}-c-fresh", "key": f"{name}-c-fresh"},
            anchors=("source_id",),
        ),
        TargetRow(
            "pciv_inputs",
            key,
            input_row(run, f"{name}-i3"),
            change={"value_string": "changed"},
            fresh={"id": f"{name}-i-fresh", "pointer": f"/{name}/fresh"},
        ),
        TargetRow(
            "pciv_sources",
            key,
            source_row(run, f"{name}-s3"),
            change={"title": "changed"},
            fresh={"id": f"{name}-s-fresh"},
        ),
        TargetRow(
            "pciv_artifacts",
            key,
            artifact_row(run, f"{name}-a"),
            change={"title": "changed"},
            fresh={"id": f"{name}-a-fresh"},
        ),
    )
    assert tuple(child.table for child in children) == RUN_CHILD_TABLES
    return Family(
        TargetRow(
            "pciv_runs", key, run, change={"updated_at": STAMP, "user_id": None, "rev": rev}, fresh={"id": "fresh"}
        ),
        children,
        reopened={
            **{"status": "draft", "allow_partial": False, "committed_at": None, "rev": rev},
            **{"committed_by": None, "committer_kind": None},
        },
        beside=(*sources, *inputs),
    )


def insert_families(engine: Engine, *families: Family) -> None:
    """Insert runs as drafts, then commit some of them."""
    statements = []
    for family in families:
        run = family.parent.row
        draft = run_row(str(run["project_id"]), str(run["id"]))
        rows = (*family.beside, *family.children)
        statements += [sql_insert("pciv_runs", draft), *(sql_insert(prey.table, prey.row) for prey in rows)]
        if run["status"] != "draft":
            final = commit_columns(str(run["status"]), base=run["base_run_id"])
            statements.append(f"UPDATE pciv_runs SET {sql_set(final)} WHERE {family.parent.where}")
    engine.as_owner(*statements)
