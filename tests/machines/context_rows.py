"""Stored rows of the facts, read directly on a connection that stays open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.machines.row_reader import RowReader, quote_ids
from tests.machines.work_rows import IN_ORGANIZATION, EventRow

_VALUE = ("value_kind", "value_string", "value_number", "value_boolean", "value_enum", "value_json", "provenance")
COLUMNS = {
    "pciv_runs": (
        *("id", "project_id", "user_id", "status", "allow_partial", "committed_at", "created_at", "created_by"),
        *("updated_at", "rev", "committed_by", "committer_kind", "replaced_run_id", "base_run_id", "starts_empty"),
    ),
    "pciv_sources": (
        *("id", "run_id", "kind", "title", "uri", "file_id", "mime_type", "size_bytes", "parse_status", "excerpt"),
        *("raw_meta", "created_at", "origin_id"),
    ),
    "pciv_inputs": (
        *("id", "run_id", "pointer", "label", "domain", "required", "field_type", "options", *_VALUE),
        *("updated_by", "updated_at", "evidence_snippet"),
    ),
    "pciv_input_sources": ("input_id", "run_id", "source_id"),
    "pciv_constraints": (
        *("id", "run_id", "key", "domain", "label", *_VALUE, "source_id", "snippet", "updated_by", "created_at"),
        "updated_at",
    ),
    "pciv_artifacts": ("id", "run_id", "type", "title", "payload", "created_at", "origin_id"),
    "pciv_suggestions": (
        *("id", "run_id", "input_id", "constraint_id", *_VALUE, "source_ids", "snippet", "rationale", "created_at"),
        *("created_by", "author_kind", "status", "decided_at", "decided_by"),
    ),
    "pciv_deleted_runs": ("run_id", "project_id", "deleted_at", "deleted_by", "deleter_kind"),
}
VALUE_COLUMNS = _VALUE[1:6]

Row = dict[str, Any]


class Stored(NamedTuple):
    """All stored rows of some projects' facts."""

    revs: dict[str, int]  # of the projects
    tables: dict[str, list[Row]]  # each in the order of its columns
    events: dict[str, list[EventRow]]

    def in_force(self, project_id: str) -> str | None:
        """The run in force: of the committed ones that were not deleted the latest, then the first by id."""
        gone = {row["run_id"] for row in self.tables["pciv_deleted_runs"] if row["project_id"] == project_id}
        found = [row for row in self.tables["pciv_runs"] if row["project_id"] == project_id and row["id"] not in gone]
        found = sorted((row for row in found if row["status"] != "draft"), key=lambda row: str(row["id"]))
        found.sort(key=lambda row: (row["committed_at"], row["updated_at"]), reverse=True)
        return found[0]["id"] if found else None

    def below(self, run_id: str) -> dict[str, list[Row]]:
        """Return a run and all rows below it."""
        return {
            name: [row for row in rows if run_id == row["id" if name == "pciv_runs" else "run_id"]]
            for name, rows in self.tables.items()
            if name != "pciv_deleted_runs"
        }


class ContextRows(RowReader):
    """A reader of the rows of one database."""

    def of(self, project_ids: Sequence[str]) -> Stored:
        """Return the rows of some projects, which nobody else changes."""
        where = f"WHERE {IN_ORGANIZATION} AND project_id IN ({quote_ids(project_ids)})"
        tables = {}
        for name, columns in COLUMNS.items():
            found = self.all(f"SELECT {', '.join(columns)} FROM {name} {where} ORDER BY {columns[0]}, {columns[-1]}")
            tables[name] = [dict(zip(columns, row, strict=True)) for row in found]
        return Stored(self.revs(project_ids), tables, self.events(project_ids))
