"""The purpose of a project, rebuilt from its events alone.

Some things follow from the kind of an event: a draft begins after all former revisions, every later write adds one and
has the time of its events, and an observation has its index in its write. A draft names its id and its source version;
the id of each copied row follows from these and the id of the original. Rows created with a draft were imported and may
bring keys. Gate results are not events: they are computed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from uuid import UUID, uuid5

from tests.machines.purpose_oracle import REVS
from tests.machines.purpose_rows import BELOW, COLUMNS, OBSERVED, Row, sort_rows
from tests.machines.work_rows import EventRow

OBSERVATIONS = dict(zip(("measured", "reviewed", "waived", "decided", "requested"), OBSERVED, strict=True))
REFERENCES = ("source_node_id", "target_node_id", "node_id", "edge_id")
PUBLISHED = {"status": "status", "label": "label", "content_hash": "content_hash", "context_run": "context_run_id"}

Changes = dict[str, tuple[Any, Any]]


class Replay:
    """Every row after all events so far."""

    def __init__(self, project_id: str, events: Iterable[EventRow]) -> None:
        self.project_id = project_id
        self.versions: dict[str, Row] = {}  # by version name: v1, v2
        self.below: dict[str, dict[str, Row]] = {name: {} for name in BELOW}
        self.observed: dict[str, list[Row]] = {name: [] for name in OBSERVED}
        self.keys: dict[str, int] = {}
        self._touched: set[int] = set()  # the writes of a draft, including the first
        self._begun: set[int] = set()
        for event in events:
            slice_, _, action = event.op.partition(".")
            if slice_ == "purpose":
                self._apply(action, event)

    def rows(self, name: str) -> list[Row]:
        """Return a table as it should be; versions without their gate results."""
        if name == "toc_versions":
            return sort_rows(name, list(self.versions.values()))
        if name == "toc_keys":
            rows = [
                {"project_id": self.project_id, "prefix": prefix, "last_number": number}
                for prefix, number in self.keys.items()
            ]
            return sort_rows(name, rows)
        return sort_rows(name, self.observed[name] if name in OBSERVED else list(self.below[name].values()))

    def _apply(self, action: str, event: EventRow) -> None:
        changes: Changes = {change["field"]: (change["before"], change["after"]) for change in event.changes}
        thing, _, verb = action.partition("_")
        match action:
            case "draft_created":
                self._begin(event, changes)
            case "published":
                self._publish(event, changes)
            case "discarded":
                gone = self.versions.pop(event.subject)
                assert (changes["status"], changes["id"]) == (("DRAFT", None), (gone["id"], None))
                self.keys[REVS] = gone["rev"]
                for name, rows in self.below.items():
                    kept = {id_: row for id_, row in rows.items() if row["toc_version_id"] != gone["id"]}
                    self.below[name] = kept
            case _ if action in OBSERVATIONS:
                self._observe(OBSERVATIONS[action], event, changes)
            case _:
                getattr(self, f"_{verb}")(thing, event, changes)
                self._touch(event)

    @property
    def _draft(self) -> Row:
        (draft,) = (row for row in self.versions.values() if row["status"] == "DRAFT")
        return draft

    def _begin(self, event: EventRow, changes: Changes) -> None:
        self._begun.add(event.rev)
        self._touched.add(event.rev)
        version_id = changes["id"][1]
        source = changes.get("source", (None, None))[1]
        self.versions[event.subject] = {
            **dict.fromkeys(name for name in COLUMNS["toc_versions"] if name != "gates"),
            **{"id": version_id, "project_id": self.project_id, "version_number": int(event.subject[1:])},
            **{
                "status": "DRAFT",
                "label": "draft",
                "source_number": source,
                "profile": changes["profile"][1],
                "rev": 1 + max((self.keys.get(REVS, 0), *(row["rev"] for row in self.versions.values()))),
            },
            **{"created_at": event.at, "created_by": event.actor, "updated_at": event.at},
        }
        if source is None:
            return
        origin = self.versions[f"v{source}"]["id"]
        for rows in self.below.values():
            for row in [row for row in rows.values() if row["toc_version_id"] == origin]:
                twin = {**row, "toc_version_id": version_id}
                for name in ("id", *(name for name in REFERENCES if name in row)):
                    twin[name] = str(uuid5(UUID(version_id), row[name]))
                rows[twin["id"]] = twin

    def _publish(self, event: EventRow, changes: Changes) -> None:
        row = self.versions[event.subject]
        for name, column in PUBLISHED.items():
            before, row_before = changes[name][0], row[column]
            assert before == row_before
            row[column] = changes[name][1]
        row |= {"published_at": event.at, "published_by": event.actor, "published_rev": event.rev}
        row |= {"rev": row["rev"] + 1, "updated_at": event.at}

    def _observe(self, table: str, event: EventRow, changes: Changes) -> None:
        place = sum(row["rev"] == event.rev for rows in self.observed.values() for row in rows)
        row = {"project_id": self.project_id, "rev": event.rev, "n": place, "recorded_at": event.at}
        row |= {"recorded_by": event.actor, **{name: after for name, (_, after) in changes.items()}}
        self.observed[table].append({**dict.fromkeys(COLUMNS[table]), **row})

    def _touch(self, event: EventRow) -> None:
        """Add one to the draft's revision, once for each write."""
        if event.rev not in self._touched:
            self._touched.add(event.rev)
            self._draft["rev"] += 1
            self._draft["updated_at"] = event.at

    def _table(self, thing: str, changes: Changes) -> str:
        if thing == "assumption":
            return "toc_edge_assumptions" if "->" in changes["on"][1] else "toc_assumptions"
        return f"toc_{thing}s"

    def _added(self, thing: str, event: EventRow, changes: Changes) -> None:
        table = self._table(thing, changes)
        row = {**dict.fromkeys(COLUMNS[table]), "toc_version_id": self._draft["id"]}
        for name, (before, after) in changes.items():
            assert before is None
            if name == "on_id":
                row["edge_id" if table == "toc_edge_assumptions" else "node_id"] = after
            elif name != "on":
                row[name] = after
        self.below[table][row["id"]] = row
        if thing != "edge":
            assert row["key"] == event.subject
            prefix = event.subject.rstrip("0123456789")
            number = int(event.subject.removeprefix(prefix))
            last = self.keys.get(prefix, 0)
            assert event.rev in self._begun or number == last + 1, "a key was given twice or left out"
            self.keys[prefix] = max(last, number)

    def _find(self, thing: str, subject: str) -> tuple[str, Row]:
        """Return the row of the draft that an event names by key or edge name."""
        tables = ("toc_assumptions", "toc_edge_assumptions") if thing == "assumption" else (f"toc_{thing}s",)
        for table in tables:
            for row in self.below[table].values():
                if row["toc_version_id"] == self._draft["id"] and self._name_of(thing, row) == subject:
                    return table, row
        raise AssertionError(f"there is no {thing} {subject}")

    def _name_of(self, thing: str, row: Row) -> str:
        if thing != "edge":
            return str(row["key"])
        source, target = (self.below["toc_nodes"][row[name]]["key"] for name in REFERENCES[:2])
        return f"{source}->{target}" + ("" if row["edge_type"] == "CONTRIBUTES_TO" else f"/{row['edge_type']}")

    def _changed(self, thing: str, event: EventRow, changes: Changes) -> None:
        _, row = self._find(thing, event.subject)
        for name, (before, after) in changes.items():
            assert row[name] == before, f"{name} was {row[name]!r}, the event says {before!r}"
            row[name] = after

    def _removed(self, thing: str, event: EventRow, changes: Changes) -> None:
        """Remove a row. Its event lists every column."""
        table, row = self._find(thing, event.subject)
        said = {name: before for name, (before, after) in changes.items() if name != "on" and after is None}
        if "on_id" in said:
            said["edge_id" if table == "toc_edge_assumptions" else "node_id"] = said.pop("on_id")
        assert said == {name: value for name, value in row.items() if value is not None and name != "toc_version_id"}
        del self.below[table][row["id"]]


def compact(value: Any) -> str:
    """Return JSON as stored."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
