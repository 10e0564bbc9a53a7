"""History can be added to and nothing else: not by the app, and not by accident as the owner either."""

from __future__ import annotations

from contextlib import suppress

import pytest

from groundplan.catalog import schema
from groundplan.kernel.errors import Forbidden
from groundplan.kernel.store.guards import Frozen
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.queries import Query
from tests.engines import Engine, person
from tests.kernel.store.attacks import Attack, Prey, Way, drop_guards, guard_attacks, picture, row_attacks

ADA = person("ada")
HISTORIES = tuple(table.name for table in schema().tables if table.append_only)
KEYS = {"events": ("tenant_id", "project_id", "rev", "n"), "organization_events": ("tenant_id", "rev", "n")}
RECORD = ("rev", "n", "v", "at", "actor_id", "op", "subject", "changes", "decision")


class History:
    """One append-only table with an event in it, and everything that could be done to that event."""

    def __init__(self, engine: Engine, table: str) -> None:
        engine.session("ada").call("project.create", name="atlas")
        columns = ("tenant_id", *(("project_id",) if "project_id" in KEYS[table] else ()), *RECORD)
        (first, *_) = engine.as_owner(f"SELECT {', '.join(columns)} FROM {table} ORDER BY rev, n")
        self.engine = engine
        self.table = table
        row = dict(zip(columns, first, strict=True))
        self.event = Prey(table, KEYS[table], row, change=("subject", "forged"), fresh={"n": 99})
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


@pytest.fixture(params=HISTORIES)
def history(engine: Engine, request: pytest.FixtureRequest) -> History:
    return History(engine, request.param)


def test_these_are_the_histories() -> None:
    assert set(HISTORIES) == KEYS.keys()


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
