"""Rows of context as the database has them: whole, one function for each table, to be written by raw SQL."""

from __future__ import annotations

from groundplan.context.tables import RUN_CHILD_TABLES
from tests.engines import Engine
from tests.kernel.store.attacks import Family, Prey, Row, Value, assigned, inserted

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


def a_run(project: str, id_: str, **changes: Value) -> Row:
    """A draft of Ada's."""
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
        **changes,
    }


def committed(status: str = "committed", rev: int = 2) -> Row:
    """What committing a draft makes of it."""
    partial = status == "partial_committed"
    return {
        **{"status": status, "allow_partial": partial, "committed_at": LATER, "updated_at": LATER, "rev": rev},
        **{"committed_by": "ada", "committer_kind": "user"},
    }


def a_source(run: Row, id_: str, **changes: Value) -> Row:
    return {
        **below(run),
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


def an_input(run: Row, id_: str, **changes: Value) -> Row:
    """An input that a person has set; its pointer is its id, so no two inputs are in each other's way."""
    return {
        **below(run),
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


def a_link(run: Row, input_id: str, source_id: str) -> Row:
    return {**below(run), "input_id": input_id, "source_id": source_id}


def a_constraint(run: Row, id_: str, **changes: Value) -> Row:
    """A constraint that a person has set; its key is its id, so no two constraints are in each other's way."""
    return {
        **below(run),
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
        "created_at": STAMP,
        "updated_at": STAMP,
        **changes,
    }


def an_artifact(run: Row, id_: str, **changes: Value) -> Row:
    return {
        **below(run),
        "id": id_,
        "type": "map",
        "title": "The coast",
        "payload": "{}",
        "created_at": STAMP,
        **changes,
    }


def a_suggestion(run: Row, id_: str, **changes: Value) -> Row:
    """A value that a model would have; about what, is for the caller to say."""
    return {
        **below(run),
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


def below(run: Row) -> Row:
    """Where a row of the run belongs."""
    return {"tenant_id": run["tenant_id"], "project_id": run["project_id"], "run_id": run["id"]}


def a_family(project: str, name: str, status: str = "draft") -> Family:
    """A run with a row in every table below it, and what these refer to; ids begin with its name."""
    final = {} if status == "draft" else committed(status)
    run = a_run(project, name, **final)
    rev = 3 if final else 2
    key = ("tenant_id", "id")
    sources = [Prey("pciv_sources", key, a_source(run, f"{name}-s{n}")) for n in (1, 2)]
    backed = {"provenance": "source-backed", "updated_by": "model"}
    inputs = [Prey("pciv_inputs", key, an_input(run, f"{name}-i1", **backed))]
    inputs.append(Prey("pciv_inputs", key, an_input(run, f"{name}-i2")))
    children = (
        Prey(
            "pciv_suggestions",
            key,
            a_suggestion(run, f"{name}-g", input_id=f"{name}-i1"),
            change={"rationale": "changed"},
            fresh={"id": f"{name}-g-fresh", "input_id": f"{name}-i2"},
            anchors=("input_id",),
        ),
        Prey(
            "pciv_input_sources",
            ("tenant_id", "run_id", "input_id", "source_id"),
            a_link(run, f"{name}-i1", f"{name}-s1"),
            change={"source_id": f"{name}-s2"},
            fresh={"source_id": f"{name}-s2"},
            anchors=("input_id", "source_id"),
        ),
        Prey(
            "pciv_constraints",
            key,
            a_constraint(run, f"{name}-c", source_id=f"{name}-s1"),
            change={"value_number": 13.5},
            fresh={"id": f"{name}-c-fresh", "key": f"{name}-c-fresh"},
            anchors=("source_id",),
        ),
        Prey(
            "pciv_inputs",
            key,
            an_input(run, f"{name}-i3"),
            change={"value_string": "changed"},
            fresh={"id": f"{name}-i-fresh", "pointer": f"/{name}/fresh"},
        ),
        Prey(
            "pciv_sources",
            key,
            a_source(run, f"{name}-s3"),
            change={"title": "changed"},
            fresh={"id": f"{name}-s-fresh"},
        ),
        Prey(
            "pciv_artifacts",
            key,
            an_artifact(run, f"{name}-a"),
            change={"title": "changed"},
            fresh={"id": f"{name}-a-fresh"},
        ),
    )
    assert tuple(child.table for child in children) == RUN_CHILD_TABLES
    return Family(
        Prey("pciv_runs", key, run, change={"updated_at": STAMP, "user_id": None, "rev": rev}, fresh={"id": "fresh"}),
        children,
        reopened={
            **{"status": "draft", "allow_partial": False, "committed_at": None, "rev": rev},
            **{"committed_by": None, "committer_kind": None},
        },
        beside=(*sources, *inputs),
    )


def place(engine: Engine, *families: Family) -> None:
    """Write runs the way they come about: as drafts, some of which are then committed."""
    statements = []
    for family in families:
        run = family.parent.row
        draft = a_run(str(run["project_id"]), str(run["id"]))
        rows = (*family.beside, *family.children)
        statements += [inserted("pciv_runs", draft), *(inserted(prey.table, prey.row) for prey in rows)]
        if run["status"] != "draft":
            final = committed(str(run["status"]))
            statements.append(f"UPDATE pciv_runs SET {assigned(final)} WHERE {family.parent.where}")
    engine.as_owner(*statements)
