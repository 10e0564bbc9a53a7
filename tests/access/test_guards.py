"""The matrix notices every guard of `switches.py` that is switched off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.access.permissions import RULES
from tests.access.switches import EVENTS, FILTERS, NAMES, PERMISSIONS, POLICIES
from tests.access.test_hidden_things import find_words, only_leaks, populate_with_words
from tests.access.test_matrix import (
    STRANGERS,
    find_differing_answers,
    find_wrong_statuses,
    list_answers,
    populate,
    populate_with_purpose,
)
from tests.access.test_recorded_events import find_wrong_events
from tests.access.test_rows import find_foreign_rows, find_reach
from tests.engines import Engine, PostgresEngine, SqliteEngine, fill_once


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[Engine]:
    """SQLite alone, where no policy of the database hides what Python forgets."""
    for fill in (populate, populate_with_purpose, populate_with_words):  # before a guard is switched off
        with closing(SqliteEngine(tmp_path / f"{fill.__name__}.db")) as filled:
            fill_once(filled, fill)
    with closing(SqliteEngine(tmp_path / "plan.db")) as made:
        yield made


def test_every_guard_is_there_to_be_switched_off(team: PostgresEngine) -> None:
    for switch_off, row in [*PERMISSIONS.values(), *FILTERS.values(), *EVENTS.values(), *NAMES.values()]:
        assert row in RULES
        with switch_off():
            pass
    policies = {name for (name,) in team.as_owner("SELECT policyname FROM pg_policies")}
    assert {f"{table}_{command}" for table, command in POLICIES} <= policies


def is_noticed(find: Callable[[], object]) -> bool:
    """Return whether something is found, or the request fails because something that was let through has no place."""
    try:
        return bool(find())
    except (KeyError, TypeError):
        return True


@pytest.mark.teeth
@pytest.mark.parametrize("guard", PERMISSIONS)
def test_statuses_notice_a_missing_permission(lite: Engine, guard: str) -> None:
    switch_off, row = PERMISSIONS[guard]
    fill_once(lite, populate_with_purpose)
    with switch_off():
        assert find_wrong_statuses(list_answers(lite, {row}))


@pytest.mark.teeth
@pytest.mark.parametrize("guard", FILTERS)
def test_words_notice_a_missing_filter(lite: Engine, guard: str) -> None:
    switch_off, row = FILTERS[guard]
    fill_once(lite, populate_with_words)
    with switch_off():
        assert is_noticed(lambda: only_leaks(find_words(lite, [row])))


@pytest.mark.teeth
@pytest.mark.parametrize("guard", EVENTS)
def test_events_notice_one_that_is_not_recorded(lite: Engine, tmp_path: Path, guard: str) -> None:
    switch_off, row = EVENTS[guard]
    with switch_off():
        assert find_wrong_events(lite, tmp_path, [row])


@pytest.mark.teeth
@pytest.mark.parametrize("guard", NAMES)
def test_answers_notice_a_name_that_is_not_hidden(lite: Engine, guard: str) -> None:
    switch_off, row = NAMES[guard]
    fill_once(lite, populate_with_purpose)
    with switch_off():
        assert is_noticed(lambda: any(find_differing_answers(lite, who, [row]) for who in STRANGERS))


@pytest.mark.teeth
@pytest.mark.parametrize(("table", "command"), POLICIES)
def test_rows_notice_an_open_policy(team: PostgresEngine, table: str, command: str) -> None:
    fill_once(team, populate_with_words)
    with team.owner_transaction() as run:
        check = "WITH CHECK (true)" if command == "update" else ""
        run(f"ALTER POLICY {table}_{command} ON {table} USING (true) {check}")
        assert find_foreign_rows(find_reach(team, run, [table]))
