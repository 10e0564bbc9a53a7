"""After every step of any run, on either store, the purpose equals the oracle's.

An ordinary run is short and always the same. GROUNDPLAN_PROOF_STEPS gives a longer one, new each time.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from hypothesis.stateful import invariant

from groundplan.kernel.errors import NotFound
from tests.engines import Engine
from tests.machines.budget import BoundedRun, answer_invariant
from tests.machines.purpose_driver import PurposeDriver, run_machine
from tests.machines.purpose_oracle import (
    ASSUMPTION_FIELDS,
    INDICATOR_FIELDS,
    EdgeKey,
    Purpose,
    Refusal,
    Theory,
    Thing,
    Version,
    content_hash,
    edge_name,
    edge_order,
    sorted_keys,
)
from tests.machines.purpose_replay import Replay, compact
from tests.machines.purpose_rows import COLUMNS, Row, sort_rows

pytestmark = [pytest.mark.proof, pytest.mark.slow]

STEPS = 120
NODE_FIELDS = ("node_type", "title", "description", "narrative", "owner", "metadata")  # in the order of a comparison


class PurposeMachine(PurposeDriver):
    """Compares all stored rows and answers with the oracle after each step."""

    @invariant()
    def the_rows_are_those_of_the_oracle(self) -> None:
        expected: dict[str, list[Row]] = {name: [] for name in COLUMNS}
        for project_id, purpose in zip(self.project_ids, self.purposes, strict=True):
            for name, rows in expected_rows(project_id, purpose).items():
                expected[name] += rows
        for name, rows in expected.items():
            columns = [column for column in COLUMNS[name] if column != "gates"]
            found = [{column: row[column] for column in columns} for row in self.stored.tables[name]]
            assert found == sort_rows(name, rows), name

    @invariant()
    def numbers_run_from_one_and_only_the_last_version_is_a_draft(self) -> None:
        for id_ in self.project_ids:
            rows = [row for row in self.stored.tables["toc_versions"] if row["project_id"] == id_]
            rows.sort(key=lambda row: row["version_number"])
            assert [row["version_number"] for row in rows] == list(range(1, len(rows) + 1))
            assert all(row["status"] == "PUBLISHED" for row in rows[:-1])

    @invariant()
    def what_is_published_never_changes(self) -> None:
        for version_id, below in self.frozen.items():
            assert self.stored.whole(version_id) == below
        for purpose in self.purposes:
            for version in purpose.published:
                assert version.content_hash == content_hash(version.theory)

    @invariant()
    def a_draft_that_is_ordered_has_no_fault_that_it_did_not_begin_with(self) -> None:
        for purpose in self.purposes:
            if purpose.draft and purpose.draft.is_ordered:
                assert {edge[:2] for edge in purpose.draft.theory.downward} <= purpose.draft.inherited_down
                assert purpose.draft.theory.cyclic <= purpose.draft.inherited_cyclic

    @answer_invariant()
    def a_version_is_shown_as_it_is(self) -> None:
        purpose = self.purposes[self.project]
        asked = (None, "draft", "published", 1 + self.question_number % 5)[self.question_number % 4]
        try:
            version = purpose.meant(asked)
        except Refusal:
            version = None
            with pytest.raises(NotFound):
                self.open(version=asked)
        if version is not None:
            assert self.open(version=asked) == self.opened(self.project, version)

    def open(self, **asked: Any) -> Thing:
        given = {name: value for name, value in asked.items() if value is not None}
        answer = self.call(self.reader, "purpose.open", project=self.names[self.project], **given)
        del answer["health"]
        return answer

    @answer_invariant()
    def gates_say_what_their_definitions_say_and_of_what_is_published_what_they_said(self) -> None:
        purpose, name = self.purposes[self.project], self.names[self.project]
        if not purpose.versions:
            return
        draft = purpose.versions[-1]
        gate, profile = "AAB"[self.question_number % 3], self.some_profile()
        told = self.call(self.reader, "purpose.check", project=name, gate=gate, profile=profile)
        self.check_gate(told, gate, purpose.gate(gate, draft, today=self.today, profile=profile), draft)
        for version in (
            purpose.published[self.question_number % len(purpose.published) :][:1] if purpose.published else ()
        ):
            (row,) = (row for row in self.stored.tables["toc_versions"] if row["id"] == version.id)
            for kept in json.loads(row["gates"]):
                again = self.call(self.reader, "purpose.check", project=name, gate=kept["gate"], version=version.number)
                assert again == kept
                self.check_gate(kept, kept["gate"], purpose.gate(kept["gate"], version, today="never"), version)

    @answer_invariant()
    def two_versions_are_told_apart_by_what_is_different(self) -> None:
        purpose = self.purposes[self.project]
        if not purpose.versions:
            return
        old, new = purpose.versions[self.question_number % len(purpose.versions)], purpose.versions[-1]
        told = self.call(
            self.reader,
            "purpose.diff",
            **{"project": self.names[self.project], "from": old.number, "to": new.number},
        )
        edges, renamed = compare_edges(old.theory, new.theory)
        for part, expected in {
            "nodes": compare(old.theory.nodes, new.theory.nodes, NODE_FIELDS),
            "indicators": compare(old.theory.indicators, new.theory.indicators, ("node", *INDICATOR_FIELDS)),
            "assumptions": compare(
                with_subject_names(old, renamed), with_subject_names(new, {}), ("on", *ASSUMPTION_FIELDS)
            ),
            "edges": edges,
        }.items():
            found = told[part]
            keys = {verb: [one["key"] for one in found[verb]] for verb in ("added", "removed")}
            assert keys | {"changed": changes_of(found["changed"])} == expected, part

    @invariant()
    def the_events_rebuild_the_state(self) -> None:
        replays = [Replay(id_, events) for id_, events in self.stored.events.items()]
        for name, rows in self.stored.tables.items():
            rebuilt = [row for replay in replays for row in replay.rows(name)]
            kept = [{column: value for column, value in row.items() if column != "gates"} for row in rows]
            assert sort_rows(name, rebuilt) == kept, name


def expected_rows(project_id: str, purpose: Purpose) -> dict[str, list[Row]]:
    """Return the rows that a purpose should have, without gate results."""
    versions = [version_row(project_id, one) for one in purpose.versions]
    keys = [{"project_id": project_id, "prefix": prefix, "last_number": n} for prefix, n in purpose.last.items()]
    rows: dict[str, list[Row]] = {"toc_versions": versions, "toc_keys": keys}
    for version in purpose.versions:
        for name, below in rows_below(version).items():
            rows.setdefault(name, []).extend({"toc_version_id": version.id, **row} for row in below)
    for name, observed, renamed in (
        ("toc_measurements", purpose.measurements, {"indicator": "indicator_key"}),
        ("toc_assumption_reviews", purpose.reviews, {"assumption": "assumption_key"}),
        ("toc_waivers", purpose.waivers, {}),
        ("toc_decisions", purpose.decisions, {}),
        ("toc_requests", purpose.requests, {"to": "asked_of"}),
    ):
        names = {"at": "recorded_at", "by": "recorded_by", **renamed}
        rows[name] = [
            {"project_id": project_id, **{names.get(field, field): as_list(value) for field, value in one.items()}}
            for one in observed
        ]
    return rows


def as_list(value: Any) -> Any:
    return compact(value) if isinstance(value, list) else value


def version_row(project_id: str, one: Version) -> Row:
    at, by, rev = (one.published.at, one.published.name, one.published.rev) if one.published else (None, None, None)
    return {
        "id": one.id,
        "project_id": project_id,
        "version_number": one.number,
        "status": "DRAFT" if one.is_draft else "PUBLISHED",
        "label": one.label,
        "source_number": one.source,
        "profile": one.profile,
        "rev": one.rev,
        "created_at": one.created_at,
        "created_by": one.by,
        "updated_at": one.updated_at,
        "content_hash": one.content_hash,
        "context_run_id": one.context_run,
        "published_at": at,
        "published_by": by,
        "published_rev": rev,
    }


def rows_below(version: Version) -> dict[str, list[Row]]:
    theory = version.theory
    ids = {key: node["id"] for key, node in theory.nodes.items()}
    on_nodes = {key: one for key, one in theory.assumptions.items() if isinstance(one["on"], str)}
    on_edges = {key: one for key, one in theory.assumptions.items() if key not in on_nodes}
    return {
        "toc_nodes": [{**one, "key": key, "metadata": compact(one["metadata"])} for key, one in theory.nodes.items()],
        "toc_edges": [
            {"source_node_id": ids[edge[0]], "target_node_id": ids[edge[1]], "edge_type": edge[2], **one}
            for edge, one in theory.edges.items()
        ],
        "toc_assumptions": [{"key": key, "node_id": ids[one["on"]], **off(one)} for key, one in on_nodes.items()],
        "toc_edge_assumptions": [
            {"key": key, "edge_id": theory.edges[one["on"]]["id"], **off(one)} for key, one in on_edges.items()
        ],
        "toc_indicators": [
            {"key": key, "node_id": ids[one["node"]], **{name: one[name] for name in one if name != "node"}}
            for key, one in theory.indicators.items()
        ],
    }


def off(one: Thing) -> Thing:
    return {name: value for name, value in one.items() if name != "on"}


# --- The difference of two theories ---


def changes_of(changed: list[Thing]) -> dict[str, dict[str, tuple[Any, Any]]]:
    return {
        one["key"]: {field["field"]: (field["before"], field["after"]) for field in one["fields"]} for one in changed
    }


def fields_of(old: Thing, new: Thing, fields: tuple[str, ...]) -> dict[str, tuple[Any, Any]]:
    return {name: (old[name], new[name]) for name in fields if old[name] != new[name]}


def compare(old: dict[str, Thing], new: dict[str, Thing], fields: tuple[str, ...]) -> Thing:
    both = {key: fields_of(old[key], new[key], fields) for key in sorted_keys(old.keys() & new.keys())}
    return {
        "added": sorted_keys(new.keys() - old.keys()),
        "removed": sorted_keys(old.keys() - new.keys()),
        "changed": {key: found for key, found in both.items() if found},
    }


def compare_edges(old: Theory, new: Theory) -> tuple[Thing, dict[EdgeKey, EdgeKey]]:
    """Match edges by ends and type, or by ends if exactly one was removed and one added between them."""
    gone, come = old.edges.keys() - new.edges.keys(), new.edges.keys() - old.edges.keys()
    renamed: dict[EdgeKey, EdgeKey] = {}
    for edge in gone:
        others = [one for one in gone if one[:2] == edge[:2]], [one for one in come if one[:2] == edge[:2]]
        if len(others[0]) == len(others[1]) == 1:
            renamed[edge] = others[1][0]
    changed = {}
    for before, after in {**{edge: edge for edge in old.edges.keys() & new.edges.keys()}, **renamed}.items():
        rows = ({**theory.edges[edge], "edge_type": edge[2]} for theory, edge in ((old, before), (new, after)))
        if found := fields_of(next(rows), next(rows), ("edge_type", "mechanism", "confidence")):
            changed[edge_name(after)] = found
    told = {
        "added": [edge_name(edge) for edge in sorted(come - set(renamed.values()), key=edge_order)],
        "removed": [edge_name(edge) for edge in sorted(gone - renamed.keys(), key=edge_order)],
        "changed": changed,
    }
    return told, renamed


def with_subject_names(version: Version, renamed: dict[EdgeKey, EdgeKey]) -> dict[str, Thing]:
    """Return assumptions with the later name of their subject."""

    def name(on: Any) -> str:
        return on if isinstance(on, str) else edge_name(renamed.get(on, on))

    return {key: {**one, "on": name(one["on"])} for key, one in version.theory.assumptions.items()}


def test_after_any_calls_the_purpose_is_what_its_definitions_say(engine: Engine, run_to_bound: BoundedRun) -> None:
    run_to_bound("purpose", partial(run_machine, PurposeMachine, engine), STEPS)
