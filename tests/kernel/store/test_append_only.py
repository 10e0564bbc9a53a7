"""Append-only tables: neither the app nor the owner can change or remove a row by accident."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from groundplan.catalog import build_schema
from groundplan.kernel.errors import Forbidden
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.schema import Frozen
from tests.engines import Engine, Rows, Run, fill_once, person, run_and_undo
from tests.kernel.store.attacks import (
    Attack,
    Precondition,
    TargetRow,
    drop_guards,
    guard_attacks,
    query_state,
    row_attacks,
)

ADA = person("ada")
HISTORIES = tuple(table.name for table in build_schema().tables if table.append_only)
RECORD = ("v", "at", "actor_id", "op", "subject", "changes", "decision")
OBSERVED = ("tenant_id", "project_id", "rev", "n")
ENTRY = ("project_id", "parent_type", "parent_id", "rev", "task_id", "created_at", "created_by", "summary")


class Record(NamedTuple):
    """A row of history: its key and other columns, a forged change, and what makes a copy a new row."""

    key: tuple[str, ...]
    others: tuple[str, ...]
    change: Mapping[str, Any]
    fresh: Mapping[str, Any]


RECORDS = {
    "events": Record(("tenant_id", "project_id", "rev", "n"), RECORD, {"subject": "forged"}, {"n": 99}),
    "organization_events": Record(("tenant_id", "rev", "n"), RECORD, {"subject": "forged"}, {"n": 99}),
    "graph_changelog": Record(("tenant_id", "id"), ENTRY, {"summary": "forged"}, {"id": "another"}),
    "graph_deleted": Record(
        ("tenant_id", "id"), ("project_id", "entity_type", "rev"), {"entity_type": "molecule"}, {"id": "another"}
    ),
    "pciv_deleted_runs": Record(
        ("tenant_id", "project_id", "run_id"),
        ("deleted_at", "deleted_by", "deleter_kind"),
        {"deleted_by": "forged"},
        {"run_id": "another"},
    ),
    "work_deleted": Record(("tenant_id", "id"), ("project_id", "thing"), {"thing": "section"}, {"id": "another"}),
    "work_removed": Record(("tenant_id", "project_id", "id", "rev"), ("content",), {"content": "forged"}, {"rev": 99}),
    "write_undos": Record(
        ("tenant_id", "project_id", "origin_rev", "rev"), ("undone_rev", "is_redo"), {"is_redo": True}, {"rev": 99}
    ),
    "toc_measurements": Record(
        OBSERVED,
        ("indicator_key", "value", "as_of", "as_of_until", "recorded_at", "recorded_by"),
        {"value": 99.0},
        {"n": 99},
    ),
    "toc_assumption_reviews": Record(
        OBSERVED,
        ("assumption_key", "status", "reason", "recorded_at", "recorded_by"),
        {"status": "holding"},
        {"n": 99},
    ),
    "toc_waivers": Record(
        OBSERVED,
        ("code", "refs", "reason", "owner", "due", "recorded_at", "recorded_by"),
        {"due": "2999-01-01"},
        {"n": 99},
    ),
    "toc_decisions": Record(
        OBSERVED, ("text", "rationale", "about", "recorded_at", "recorded_by"), {"text": "forged"}, {"n": 99}
    ),
    "toc_requests": Record(
        OBSERVED, ("question", "about", "recorded_at", "recorded_by"), {"question": "forged"}, {"n": 99}
    ),
}

OBSERVATIONS: Mapping[str, Mapping[str, Any]] = {
    "toc_measurements": {
        "indicator_key": "IN1",
        "value": 1.5,
        "as_of": "2026-01-01",
        "as_of_until": "2026-01-01T23:59:59.999Z",
    },
    "toc_assumption_reviews": {"assumption_key": "AS1", "status": "refuted", "reason": "The coast is rock"},
    "toc_waivers": {"code": "GA_LEAP", "refs": "[]", "reason": "For now", "owner": "ada", "due": "2026-06-01"},
    "toc_decisions": {"text": "Walk on", "rationale": "It holds elsewhere", "about": '["AS1"]'},
    "toc_requests": {"question": "Walk on?", "about": '["AS1"]'},
}


class History:
    """One append-only table with an event, and the attacks on that event."""

    def __init__(self, engine: Engine, table: str) -> None:
        record = RECORDS[table]
        columns = (*record.key, *record.others)
        latest = ", ".join(f"{column} DESC" for column in record.key)
        (first, *_) = engine.as_owner(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {latest}")
        self.engine = engine
        self.table = table
        row = dict(zip(columns, first, strict=True))
        self.event = TargetRow(table, record.key, row, change=record.change, fresh=record.fresh)
        self._picture = query_state([self.event], engine.dialect)

    def attacks(self, *preconditions: Precondition) -> list[Attack]:
        found = (*row_attacks(self.event, self.engine.dialect), *guard_attacks(self.engine, [self.table]))
        return [attack for attack in found if attack.needs in preconditions]

    def find_forged_by_app(self, attacks: Sequence[Attack]) -> list[str]:
        """Return the app's attacks that are not refused or leave a change behind."""
        before = self.engine.as_owner(self._picture)
        through = []
        with self.engine.transaction(ADA) as run:  # an effect of an attack would be committed
            for attack in attacks:
                with suppress(*self.engine.refusals):
                    run_and_undo(run, *attack.statements)
                    through.append(attack.name)
        return through if self.engine.as_owner(self._picture) == before else [*through, "something is left behind"]

    def find_forged_by_owner(self, attacks: Sequence[Attack]) -> list[str]:
        """Return the owner's attacks that change something; all are rolled back."""
        before = self.engine.as_owner(self._picture)
        forged = []
        with self.engine.owner_transaction() as run:
            for attack in attacks:
                with suppress(*self.engine.refusals):
                    if self._after(attack, run) != before:
                        forged.append(attack.name)
        return forged

    def _after(self, attack: Attack, run: Run) -> Rows:
        if self.engine.dialect is Dialect.SQLITE:  # a PRAGMA survives a rollback there, and connecting is cheap
            return self.engine.as_owner(*attack.statements, self._picture, keep=False)
        return run_and_undo(run, *attack.statements, self._picture)


def _make_history(engine: Engine) -> None:
    """Create a project with deleted things, a changelog entry and observations: a row for each table."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    task = ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Walk"}]).created[0].id
    atom = {"entityType": "atom", "projectId": "atlas", "createdByTaskId": task, "paths": ["coast/**"]}
    kept, gone = (ada.call("knowledge.create", **atom, name=name).atom.id for name in ("kept", "gone"))
    ada.call("knowledge.append_changelog", parentType="atom", parentId=kept, taskId=task, summary="Walked")
    ada.call("knowledge.delete", entityType="atom", id=gone, version=1)
    done = ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Row"}]).created[0].id
    ada.call("container.delete", containerType="task", id=done, version=1)
    ada.call("work.update", updates=[{"node_id": task, "summary": "Run"}])
    ada.call("briefing.undo", project="atlas")
    ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Swim"}])
    ada.call("briefing.undo", project="atlas")
    engine.as_owner(
        "INSERT INTO pciv_deleted_runs (tenant_id, run_id, project_id, deleted_at, deleted_by, deleter_kind) "
        "SELECT tenant_id, 'gone', id, created_at, 'ada', 'user' FROM projects",
        *(
            f"INSERT INTO {table} (tenant_id, project_id, rev, n, recorded_at, recorded_by, {', '.join(observed)}) "
            f"SELECT tenant_id, id, rev, 0, created_at, 'ada', {', '.join(map(repr, observed.values()))} FROM projects"
            for table, observed in OBSERVATIONS.items()
        ),
    )


@pytest.fixture
def histories(engine: Engine) -> list[History]:
    fill_once(engine, _make_history)
    return [History(engine, table) for table in HISTORIES]


def test_these_are_the_histories() -> None:
    assert set(HISTORIES) == RECORDS.keys()


def test_the_app_cannot_forge_an_event_in_any_way(histories: list[History], subtests: pytest.Subtests) -> None:
    for history in histories:
        with subtests.test(str(history.table)):
            attacks = history.attacks(*Precondition)

            assert attacks
            assert history.find_forged_by_app(attacks) == []


def test_the_guards_stop_whoever_has_the_right_to_change_rows(
    histories: list[History], subtests: pytest.Subtests
) -> None:
    for history in histories:
        with subtests.test(str(history.table)):
            preconditions = (
                (Precondition.EDIT, Precondition.BULK)
                if history.engine.dialect is Dialect.POSTGRES
                else (Precondition.EDIT,)
            )
            attacks = [attack for attack in history.attacks(*preconditions) if "replace" not in attack.name.lower()]

            assert attacks
            assert history.find_forged_by_owner(attacks) == []


def test_without_the_guards_the_same_attacks_forge_events(histories: list[History], subtests: pytest.Subtests) -> None:
    for history in histories:
        with subtests.test(str(history.table)):
            attacks = history.attacks(Precondition.EDIT, Precondition.BULK)
            drop_guards(history.engine, [history.table])

            assert history.find_forged_by_owner(attacks) == [attack.name for attack in attacks]


def test_only_the_owner_can_take_the_guards_down(histories: list[History], subtests: pytest.Subtests) -> None:
    for history in histories:
        with subtests.test(str(history.table)):
            attacks = history.attacks(Precondition.TAMPER)

            assert attacks
            assert history.find_forged_by_owner(attacks) == [attack.name for attack in attacks]
            assert history.find_forged_by_app(attacks) == []


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_the_app_connection_watches_what_replace_deletes(histories: list[History], subtests: pytest.Subtests) -> None:
    for history in histories:
        with subtests.test(str(history.table)):
            quiet = [attack for attack in history.attacks(Precondition.BULK) if attack.name.endswith("quietly")]

            assert len(quiet) == 1
            assert history.find_forged_by_owner(quiet) == [quiet[0].name]
            assert history.find_forged_by_app(quiet) == []


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_the_app_role_has_no_right_to_change_events_even_without_the_guards(
    histories: list[History], subtests: pytest.Subtests
) -> None:
    for history in histories:
        with subtests.test(str(history.table)):
            drop_guards(history.engine, [history.table])

            assert history.find_forged_by_app(history.attacks(Precondition.EDIT, Precondition.BULK)) == []


def test_a_caller_of_the_store_is_told_that_an_event_is_final(engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    forge = Query("forge", "UPDATE events SET subject = 'forged'")

    # On PostgreSQL the grants refuse the app role before the guard does.
    with pytest.raises(Frozen if engine.dialect is Dialect.SQLITE else Forbidden):
        engine.store.write(ADA, "atlas", lambda tx: tx.run(forge))


def test_events_can_still_be_added(engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    before = engine.as_owner("SELECT count(*) FROM events")[0][0]

    engine.store.write(ADA, "atlas", lambda tx: tx.record("test.happened", "x"))

    assert engine.as_owner("SELECT count(*) FROM events")[0][0] == before + 1
