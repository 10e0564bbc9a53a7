"""The facts of a project, rebuilt from its events alone.

Some things follow from the kind of an event: a new run is at revision 1, every write adds one and has the time of its
events, and a decision on a suggestion has the time of its event. A copy names its original and the new id of every row,
so it is rebuilt from the original.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.machines.context_rows import COLUMNS, Row
from tests.machines.work_rows import EventRow

TABLES = {
    "source": "pciv_sources",
    "input": "pciv_inputs",
    "constraint": "pciv_constraints",
    "artifact": "pciv_artifacts",
    "suggestion": "pciv_suggestions",
}
BELOW = ("pciv_sources", "pciv_inputs", "pciv_constraints", "pciv_artifacts", "pciv_suggestions")


class Replay:
    """Every row by id, and every link, after all events so far."""

    def __init__(self, project_id: str, events: Iterable[EventRow], writers: Mapping[str, str]) -> None:
        self.project_id = project_id
        self.writers = writers  # what kind of writer each actor is
        self.tables: dict[str, dict[str, Row]] = {name: {} for name in ("pciv_runs", *BELOW, "pciv_deleted_runs")}
        self.links: set[tuple[str, str, str]] = set()
        self._touched: set[tuple[str, int]] = set()
        for event in events:
            slice_, _, action = event.op.partition(".")
            if slice_ == "context":
                self._apply(action, event)

    def rows(self, name: str) -> list[Row]:
        """Return a table as it should be."""
        if name == "pciv_input_sources":
            return [dict(zip(COLUMNS[name], link, strict=True)) for link in sorted(self.links)]
        return [row for _, row in sorted(self.tables[name].items())]

    def _apply(self, action: str, event: EventRow) -> None:
        changes = {change["field"]: (change["before"], change["after"]) for change in event.changes}
        thing, _, verb = action.partition("_")
        match action:
            case "draft_created":
                self._create(event, changes)
            case "draft_updated" | "committed":
                run = self.tables["pciv_runs"][event.subject]
                self._change(run, changes)
                run["committed_by"] = event.actor if action == "committed" else None
                self._touch(event.subject, event)
            case "discarded" | "deleted":
                self._end(event, was_draft=changes["status"][0] == "draft")
            case "linked" | "unlinked":
                self._link(event)
            case "suggested":
                row: Row = {**dict.fromkeys(COLUMNS["pciv_suggestions"]), "id": event.subject, "status": "pending"}
                self._change(row, changes)
                self.tables["pciv_suggestions"][event.subject] = row
                self._touch(row["run_id"], event)
            case "accepted" | "rejected":
                row = self.tables["pciv_suggestions"][event.subject]
                self._change(row, changes)
                row |= {"decided_at": event.at, "decided_by": event.actor}
                self._touch(row["run_id"], event)
            case _:
                rows = self.tables[TABLES[thing]]
                if verb == "added":
                    assert event.subject not in rows
                    rows[event.subject] = {**dict.fromkeys(COLUMNS[TABLES[thing]]), "id": event.subject}
                run_id = rows[event.subject]["run_id"] or changes["run_id"][1]
                self._change(rows[event.subject], changes)
                self._touch(run_id, event)
                if verb == "removed":
                    self._remove(rows, event.subject)

    def _create(self, event: EventRow, changes: dict[str, tuple[Any, Any]]) -> None:
        self.tables["pciv_runs"][event.subject] = {
            **dict.fromkeys(COLUMNS["pciv_runs"]),
            **{"id": event.subject, "project_id": self.project_id, "user_id": changes["user_id"][1]},
            **{"status": "draft", "allow_partial": False, "rev": 1, "starts_empty": "starts_empty" in changes},
            **{"base_run_id": changes.get("base_run_id", (None, None))[1]},
            **{"created_at": event.at, "created_by": event.actor, "updated_at": event.at},
        }
        self._touched.add((event.subject, event.rev))
        if "copied" not in changes:
            return
        origin, ids = changes["copied"][1]["from"], changes["copied"][1]["ids"]
        for name in BELOW:
            of_origin = [row for row in self.tables[name].values() if row["run_id"] == origin]
            for row in of_origin:
                if row.get("status", "pending") != "pending":
                    continue
                twin = {**row, "id": ids[row["id"]], "run_id": event.subject}
                if "origin_id" in twin:
                    twin["origin_id"] = row["origin_id"] or row["id"]
                for reference in ("source_id", "input_id", "constraint_id"):
                    if twin.get(reference) is not None:
                        twin[reference] = ids[twin[reference]]
                if "source_ids" in twin:
                    twin["source_ids"] = _compact([ids[one] for one in json.loads(twin["source_ids"])])
                self.tables[name][twin["id"]] = twin
        self.links |= {(ids[one], event.subject, ids[source]) for one, run, source in self.links if run == origin}

    def _end(self, event: EventRow, *, was_draft: bool) -> None:
        self.tables["pciv_deleted_runs"][event.subject] = {
            "run_id": event.subject,
            "project_id": self.project_id,
            "deleted_at": event.at,
            "deleted_by": event.actor,
            "deleter_kind": self.writers[event.actor],
        }
        if not was_draft:
            return  # it is hidden and unchanged
        del self.tables["pciv_runs"][event.subject]
        for name in BELOW:
            rows = self.tables[name]
            self.tables[name] = {id_: row for id_, row in rows.items() if row["run_id"] != event.subject}
        self.links = {link for link in self.links if link[1] != event.subject}

    def _link(self, event: EventRow) -> None:
        run_id = self.tables["pciv_inputs"][event.subject]["run_id"]
        for change in event.changes:
            if change["after"] is None:
                self.links.remove((event.subject, run_id, change["before"]))
            else:
                assert (event.subject, run_id, change["after"]) not in self.links
                self.links.add((event.subject, run_id, change["after"]))
        self._touch(run_id, event)

    @staticmethod
    def _remove(rows: dict[str, Row], id_: str) -> None:
        """Remove a row. Its event lists every column except who decided and when, which an earlier event said."""
        gone = rows.pop(id_)
        assert not any(value for name, value in gone.items() if name not in ("id", "decided_at", "decided_by"))

    def _touch(self, run_id: str, event: EventRow) -> None:
        """Add one to the run's revision, once for each write."""
        run = self.tables["pciv_runs"][run_id]
        run["allow_partial"] = run["status"] == "partial_committed"
        if (run_id, event.rev) not in self._touched:
            self._touched.add((run_id, event.rev))
            run["rev"] += 1
            run["updated_at"] = event.at

    @staticmethod
    def _change(row: Row, changes: dict[str, tuple[Any, Any]]) -> None:
        for name, (before, after) in changes.items():
            assert name in row, f"{name} is no column"
            assert row[name] == before, f"{name} was {row[name]!r}, the event says {before!r}"
            row[name] = after


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
