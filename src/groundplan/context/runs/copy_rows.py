"""Copy all rows of a run into another run under new ids."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, structs

from groundplan.context import resolve
from groundplan.context.editing import edit
from groundplan.context.editing.rows import generate_ascending_ids
from groundplan.context.editing.suggestions import SuggestionRow
from groundplan.context.schemas import PcivArtifactV1, PcivConstraintV1, PcivInputV1, PcivSourceV1
from groundplan.context.values import encode_json
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)
reading = resolve.sql
writing = edit.sql


def copy_rows(tx: Transaction, origin_id: str, run_id: str) -> dict[str, str]:
    """Copy sources, inputs, links, constraints, artifacts and pending suggestions. Return new ids by old id."""
    ids: dict[str, str] = {}

    def copy_columns(query: Query, shape: type[Struct]) -> list[dict[str, Any]]:
        """Return the columns of the copies, with JSON left as text."""
        rows = [structs.asdict(row) for row in tx.all(query, shape, run_id=origin_id)]
        # Ascending ids keep the order of rows that are sorted by id.
        for row, id_ in zip(rows, generate_ascending_ids(len(rows)), strict=True):
            # Rows of two tables may share an id that their writer chose; then their copies share one too.
            row |= {"id": ids.setdefault(row["id"], id_), "run_id": run_id, "project_id": tx.project.id}
        return rows

    tx.run_many(writing.add_source, copy_columns(reading.sources_of_run, PcivSourceV1))
    tx.run_many(writing.add_input, copy_columns(reading.inputs_of_run, PcivInputV1))
    links = [
        {"project_id": tx.project.id, "run_id": run_id, "input_id": ids[input_id], "source_id": ids[source_id]}
        for input_id, source_id in tx.all(reading.links_of_run, run_id=origin_id)
    ]
    tx.run_many(writing.add_link, links)
    constraints = copy_columns(reading.constraints_of_run, PcivConstraintV1)
    for row in constraints:
        row["source_id"] = ids[row["source_id"]] if row["source_id"] else None
    tx.run_many(writing.add_constraint, constraints)
    tx.run_many(writing.add_artifact, copy_columns(reading.artifacts_of_run, PcivArtifactV1))
    suggestions = copy_columns(sql.pending_suggestions, SuggestionRow)
    for row in suggestions:
        row["input_id"] = ids[row["input_id"]] if row["input_id"] else None
        row["constraint_id"] = ids[row["constraint_id"]] if row["constraint_id"] else None
        row["source_ids"] = encode_json([ids[one] for one in msgspec.json.decode(row["source_ids"], type=list[str])])
    tx.run_many(writing.add_suggestion, suggestions)
    return ids
