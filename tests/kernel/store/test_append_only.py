"""History can be added to and nothing else: not by the app, and not by accident as the owner either."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from groundplan.catalog import schema
from groundplan.kernel.errors import Forbidden
from groundplan.kernel.store.guards import Frozen
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.queries import Query
from tests.engines import Engine, filled_once, person
from tests.kernel.store.attacks import Attack, Prey, Way, drop_guards, guard_attacks, picture, row_attacks

ADA = person("ada")
HISTORIES = tuple(table.name for table in schema().tables if table.append_only)
RECORD = ("v", "at", "actor_id", "op", "subject", "changes", "decision")
OBSERVED = ("tenant_id", "project_id", "rev", "n")
ENTRY = ("project_id", "parent_type", "parent_id", "rev", "task_id", "created_at", "created_by", "summary")


class Record(NamedTuple):
    """A row of history: its key and other columns, what a forger would change, and what makes a copy another row."""

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
        ("deleted_at", "deleted_by"),
        {"deleted_by": "forged"},
        {"run_id": "another"},
    ),
    "work_deleted": Record(("tenant_id", "id"), ("project_id", "thing"), {"thing": "section"}, {"id": "another"}),
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
}


class History:
    """One append-only table with an event in it, and everything that could be done to that event."""

    def __init__(self, engine: Engine, table: str) -> None:
        filled_once(engine, _make_history)
        record = RECORDS[table]
        columns = (*record.key, *record.others)
        latest = ", ".join(f"{column} DESC" for column in record.key)
        (first, *_) = engine.as_owner(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {latest}")
        self.engine = engine
        self.table = table
        row = dict(zip(columns, first, strict=True))
        self.event = Prey(table, record.key, row, change=record.change, fresh=record.fresh)
        self._picture = picture([self.event], engine.dialect)

    def attacks(self, *ways: Way) -> list[Attack]:
        found = (*row_attacks(self.event, self.engine.dialect), *guard_attacks(self.engine, [self.table]))
        return [attack for attack in found if attack.way in ways]

    def is_forged_by_app(self, attack: Attack) -> bool:
        before = self.engine.as_owner(self._picture)
        try:
            self.engine.as_app(ADA, *attack.statements)
        except self.engine.refusals:
            return self.engine.as_owner(self._picture) != before
        return True  # whatever came of it, it was not refused

    def is_forged_by_owner(self, attack: Attack) -> bool:
        before = self.engine.as_owner(self._picture)
        with suppress(*self.engine.refusals):
            return self.engine.as_owner(*attack.statements, self._picture, keep=False) != before
        return False


def _make_history(engine: Engine) -> None:
    """A project, an entry in the changelog of an atom, an atom, a task and a run that were deleted, and whatever is
    observed of a purpose."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    task = ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Walk"}]).created[0].id
    atom = {"entityType": "atom", "projectId": "atlas", "createdByTaskId": task, "paths": ["coast/**"]}
    kept, gone = (ada.call("knowledge.create", **atom, name=name).atom.id for name in ("kept", "gone"))
    ada.call("knowledge.append_changelog", parentType="atom", parentId=kept, taskId=task, summary="Walked")
    ada.call("knowledge.delete", entityType="atom", id=gone, version=1)
    done = ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Row"}]).created[0].id
    ada.call("container.delete", containerType="task", id=done, version=1)
    engine.as_owner(
        "INSERT INTO pciv_deleted_runs (tenant_id, run_id, project_id, deleted_at, deleted_by) "
        "SELECT tenant_id, 'gone', id, created_at, 'ada' FROM projects",
        *(
            f"INSERT INTO {table} (tenant_id, project_id, rev, n, recorded_at, recorded_by, {', '.join(observed)}) "
            f"SELECT tenant_id, id, rev, 0, created_at, 'ada', {', '.join(map(repr, observed.values()))} FROM projects"
            for table, observed in OBSERVATIONS.items()
        ),
    )


@pytest.fixture(params=HISTORIES)
def history(engine: Engine, request: pytest.FixtureRequest) -> History:
    return History(engine, request.param)


def test_these_are_the_histories() -> None:
    assert set(HISTORIES) == RECORDS.keys()


def test_the_app_cannot_forge_an_event_in_any_way(history: History) -> None:
    attacks = history.attacks(*Way)

    assert attacks
    assert [attack.name for attack in attacks if history.is_forged_by_app(attack)] == []


def test_the_guards_stop_whoever_has_the_right_to_change_rows(history: History) -> None:
    ways = (Way.EDIT, Way.BULK) if history.engine.dialect is Dialect.POSTGRES else (Way.EDIT,)
    attacks = [attack for attack in history.attacks(*ways) if "replace" not in attack.name.lower()]

    assert [attack.name for attack in attacks if history.is_forged_by_owner(attack)] == []


def test_without_the_guards_the_same_attacks_forge_events(history: History) -> None:
    attacks = history.attacks(Way.EDIT, Way.BULK)
    drop_guards(history.engine, [history.table])

    assert [attack.name for attack in attacks if not history.is_forged_by_owner(attack)] == []


def test_only_the_owner_can_take_the_guards_down(history: History) -> None:
    attacks = history.attacks(Way.TAMPER)

    assert attacks
    assert [attack.name for attack in attacks if not history.is_forged_by_owner(attack)] == []
    assert [attack.name for attack in attacks if history.is_forged_by_app(attack)] == []


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_the_app_connection_watches_what_replace_deletes(history: History) -> None:
    (quiet,) = (attack for attack in history.attacks(Way.BULK) if attack.name.endswith("quietly"))

    assert history.is_forged_by_owner(quiet)
    assert not history.is_forged_by_app(quiet)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_the_app_role_has_no_right_to_change_events_even_without_the_guards(history: History) -> None:
    drop_guards(history.engine, [history.table])

    for attack in history.attacks(Way.EDIT, Way.BULK):
        assert not history.is_forged_by_app(attack), attack.name


def test_a_caller_of_the_store_is_told_that_an_event_is_final(engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    forge = Query("forge", "UPDATE events SET subject = 'forged'")

    # On PostgreSQL the app role is refused before the guard has anything to say.
    with pytest.raises(Frozen if engine.dialect is Dialect.SQLITE else Forbidden):
        engine.store.write(ADA, "atlas", lambda tx: tx.run(forge))


def test_events_can_still_be_added(engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    before = engine.as_owner("SELECT count(*) FROM events")[0][0]

    engine.store.write(ADA, "atlas", lambda tx: tx.record("test.happened", "x"))

    assert engine.as_owner("SELECT count(*) FROM events")[0][0] == before + 1
