"""Copy everything below a run into another one: the same in every field, with rows and ids of its own."""

from __future__ import annotations

from typing import Any

import msgspec

from groundplan.context import resolve
from groundplan.context.editing import edit
from groundplan.context.editing.rows import ARTIFACT, CONSTRAINT, INPUT, SOURCE, VALUE, Row, as_row, ascending_ids
from groundplan.context.values import stored_json
from groundplan.kernel.store.transaction import Transaction

reading = resolve.sql
writing = edit.sql

# What a view asks about what waits, in its order.
WAITING = (
    "id",
    "pointer",
    "key",
    "constraint_id",
    *VALUE,
    "source_ids",
    "snippet",
    "rationale",
    "created_at",
    "created_by",
    "author_kind",
    "input_id",
)


def copy_rows(tx: Transaction, origin_id: str, run_id: str) -> dict[str, str]:
    """Copy sources, inputs, links, constraints, artifacts and what waits for a person. Gives new ids by old."""
    ids: dict[str, str] = {}

    def copied(columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[Row]:
        found = []
        # Ids that ascend keep the order of rows that have nothing else to be ordered by.
        for one, id_ in zip(rows, ascending_ids(len(rows)), strict=True):
            row = as_row(columns, one)
            # Rows of two tables may have one id, by choice of their writer; so have their copies, then.
            row["id"] = ids.setdefault(row["id"], id_)
            found.append({**row, "run_id": run_id, "project_id": tx.project.id})
        return found

    tx.many(writing.add_source, copied(SOURCE, tx.all(reading.sources_of_run, run_id=origin_id)))
    tx.many(writing.add_input, copied(INPUT, tx.all(reading.inputs_of_run, run_id=origin_id)))
    links = [
        {"project_id": tx.project.id, "run_id": run_id, "input_id": ids[input_id], "source_id": ids[source_id]}
        for input_id, source_id in tx.all(reading.links_of_run, run_id=origin_id)
    ]
    tx.many(writing.add_link, links)
    constraints = copied(CONSTRAINT, tx.all(reading.constraints_of_run, run_id=origin_id))
    for row in constraints:
        row["source_id"] = ids[row["source_id"]] if row["source_id"] else None
    tx.many(writing.add_constraint, constraints)
    tx.many(writing.add_artifact, copied(ARTIFACT, tx.all(reading.artifacts_of_run, run_id=origin_id)))
    suggestions = copied(WAITING, tx.all(reading.suggestions_of_run, run_id=origin_id))
    for row in suggestions:
        row["input_id"] = ids[row["input_id"]] if row["input_id"] else None
        row["constraint_id"] = ids[row["constraint_id"]] if row["constraint_id"] else None
        row["source_ids"] = stored_json([ids[one] for one in msgspec.json.decode(row["source_ids"], type=list[str])])
    tx.many(writing.add_suggestion, suggestions)
    return ids
