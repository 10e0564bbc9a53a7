"""Stored rows of the purpose, read directly on a connection that stays open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.machines.row_reader import RowReader, quote_ids
from tests.machines.work_rows import IN_ORGANIZATION, EventRow

_ASSUMED = ("assumption_text", "risk_level", "owner", "review_by")
_OBSERVED = ("project_id", "rev", "n")
_RECORDED = ("recorded_at", "recorded_by")
COLUMNS = {
    "toc_versions": (
        *("id", "project_id", "version_number", "status", "label", "source_number", "profile", "rev", "created_at"),
        *("created_by", "updated_at", "content_hash", "context_run_id", "published_at", "published_by"),
        *("published_rev", "gates"),
    ),
    "toc_keys": ("project_id", "prefix", "last_number"),
    "toc_nodes": (
        *("id", "toc_version_id", "key", "node_type", "title", "description", "narrative", "owner", "metadata"),
    ),
    "toc_edges": (
        *("id", "toc_version_id", "source_node_id", "target_node_id", "edge_type", "mechanism", "confidence"),
    ),
    "toc_assumptions": ("id", "toc_version_id", "key", "node_id", *_ASSUMED),
    "toc_edge_assumptions": ("id", "toc_version_id", "key", "edge_id", *_ASSUMED),
    "toc_indicators": (
        *("id", "toc_version_id", "key", "node_id", "name", "unit", "direction", "baseline", "baseline_verified"),
        *("target", "method", "frequency", "owner"),
    ),
    "toc_measurements": (*_OBSERVED, "indicator_key", "value", "as_of", "as_of_until", "source", "note", *_RECORDED),
    "toc_assumption_reviews": (*_OBSERVED, "assumption_key", "status", "reason", "evidence", *_RECORDED),
    "toc_waivers": (*_OBSERVED, "code", "refs", "reason", "owner", "due", *_RECORDED),
    "toc_decisions": (
        *(*_OBSERVED, "text", "rationale", "about", "outcome"),
        *("supersedes_rev", "supersedes_n", "answers_rev", "answers_n", *_RECORDED),
    ),
    "toc_requests": (*_OBSERVED, "question", "about", "asked_of", *_RECORDED),
}
BELOW = ("toc_nodes", "toc_edges", "toc_assumptions", "toc_edge_assumptions", "toc_indicators")
OBSERVED = ("toc_measurements", "toc_assumption_reviews", "toc_waivers", "toc_decisions", "toc_requests")

Row = dict[str, Any]


class Stored(NamedTuple):
    """All stored rows of some projects' purpose."""

    revs: dict[str, int]  # of the projects
    tables: dict[str, list[Row]]  # each in the order of `sort_rows`
    events: dict[str, list[EventRow]]

    def whole(self, version_id: str) -> dict[str, list[Row]]:
        """Return a version and all rows below it."""
        found = {name: [row for row in self.tables[name] if row["toc_version_id"] == version_id] for name in BELOW}
        return found | {"toc_versions": [row for row in self.tables["toc_versions"] if row["id"] == version_id]}


def sort_rows(name: str, rows: list[Row]) -> list[Row]:
    """Return the rows of a table by id, or by project and the next two columns."""
    by = COLUMNS[name][:3]
    return sorted(rows, key=lambda row: tuple(row[column] for column in (by[:1] if by[0] == "id" else by)))


class PurposeRows(RowReader):
    """A reader of the rows of one database."""

    def of(self, project_ids: Sequence[str]) -> Stored:
        """Return the rows of some projects, which nobody else changes."""
        where = f"WHERE {IN_ORGANIZATION} AND project_id IN ({quote_ids(project_ids)})"
        tables = {}
        for name, columns in COLUMNS.items():
            found = self.all(f"SELECT {', '.join(columns)} FROM {name} {where}")
            tables[name] = sort_rows(name, [dict(zip(columns, row, strict=True)) for row in found])
        return Stored(self.revs(project_ids), tables, self.events(project_ids))
