"""The SQLite file: private from its first moment, never another program's, and a clear error if it cannot be opened."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from groundplan.catalog import build_schema
from groundplan.kernel.actors import local_actor
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.sqlite.connection import APPLICATION_ID
from groundplan.kernel.store.sqlite.store import SqliteStore
from groundplan.session import Session

BESIDE = ("", "-wal", "-shm", "-gate", "-lock")


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return tmp_path / "plan.db"


def error_of(path: Path) -> str:
    """Return the code with which a file is refused."""
    with pytest.raises(Unavailable) as refused:
        SqliteStore(path, build_schema)
    return refused.value.code


def test_a_new_file_and_all_beside_it_are_for_their_owner_only(plan: Path, no_umask: None) -> None:
    with closing(SqliteStore(plan, build_schema)) as store:
        Session(store, local_actor("ada")).call("project.create", name="atlas")

        modes = {suffix: stat.S_IMODE((plan.parent / (plan.name + suffix)).stat().st_mode) for suffix in BESIDE}

    assert modes == dict.fromkeys(BESIDE, 0o600)


def test_nothing_else_is_left_in_the_folder(plan: Path) -> None:
    SqliteStore(plan, build_schema).close()

    assert {path.name for path in plan.parent.iterdir()} <= {plan.name + suffix for suffix in BESIDE}


def test_a_file_says_that_it_is_a_groundplan(plan: Path) -> None:
    SqliteStore(plan, build_schema).close()

    header = plan.read_bytes()[:100]
    assert int.from_bytes(header[68:72], "big") == APPLICATION_ID


def test_an_empty_file_becomes_a_plan(plan: Path) -> None:
    plan.touch(0o600)

    with closing(SqliteStore(plan, build_schema)) as store:
        Session(store, local_actor("ada")).call("project.create", name="atlas")


@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_the_database_of_another_program_is_refused_and_left_as_it_was(plan: Path, journal_mode: str) -> None:
    with closing(sqlite3.connect(plan)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal_mode}")
        connection.execute("CREATE TABLE accounts (id)")
        connection.execute("INSERT INTO accounts VALUES (1)")
        connection.commit()
    before = plan.read_bytes()

    assert error_of(plan) == "store_not_groundplan"
    assert plan.read_bytes() == before
    assert [path.name for path in plan.parent.iterdir()] == [plan.name]


def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(plan: Path) -> None:
    text = "Dear diary,\n" * 1000
    plan.write_text(text)

    assert error_of(plan) == "store_not_groundplan"
    assert plan.read_text() == text
    assert [path.name for path in plan.parent.iterdir()] == [plan.name]


@pytest.mark.parametrize("where", [".", "no/such/folder/plan.db", "a\0b", "x" * 300, "text/plan.db"])
def test_a_place_where_no_file_can_be_is_refused(plan: Path, where: str) -> None:
    (plan.parent / "text").write_text("not a folder")

    assert error_of(plan.parent / where) == "store_cannot_open"


def test_a_damaged_file_is_refused_by_name(plan: Path) -> None:
    SqliteStore(plan, build_schema).close()
    whole = plan.read_bytes()
    plan.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))

    assert error_of(plan) == "store_damaged"


def test_opening_a_file_that_is_up_to_date_changes_none_of_its_bytes(plan: Path) -> None:
    SqliteStore(plan, build_schema).close()
    before = plan.read_bytes()

    SqliteStore(plan, build_schema).close()

    assert plan.read_bytes() == before
