"""Migrations from an empty database to the current schema: each is applied whole or not at all, to our own files."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from groundplan.catalog import build_schema
from groundplan.kernel.actors import local_actor
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.migrations import (
    MIGRATIONS_FOLDER,
    ChangedMigration,
    Dialect,
    Migration,
    NewerSchema,
    OlderSchema,
    load_migrations,
)
from groundplan.kernel.store.postgres.setup import set_up
from groundplan.kernel.store.postgres.store import OutdatedSchema
from groundplan.kernel.store.sqlite.connection import connect
from groundplan.kernel.store.sqlite.file import migrate
from groundplan.migrations import get_latest_version
from groundplan.session import Session
from tests.engines import Engine, PostgresEngine, Rows, SqliteEngine
from tests.kernel.store.before_the_baseline import CHECKSUMS, NAMES

STAMP = "2026-01-01T00:00:00.000Z"
TAKEN = "SELECT number, name, checksum, applied_at FROM schema_migrations ORDER BY number"
SECOND = [
    "CREATE TABLE test_pets (tenant_id text NOT NULL, id text NOT NULL, PRIMARY KEY (tenant_id, id));",
    "INSERT INTO test_pets (tenant_id, id) VALUES ('local', 'rex');",
    "ALTER TABLE test_pets ADD COLUMN name text;",
    "CREATE INDEX test_pets_by_name ON test_pets (tenant_id, name);",
    "UPDATE test_pets SET name = id;",
]
BROKEN = "INSERT INTO no_such_table VALUES (1);"


def steps_with(folder: Path, dialect: Dialect, *second: str) -> Sequence[Migration]:
    """Return the real migrations and one of the test."""
    folder.mkdir()
    for path in Path(MIGRATIONS_FOLDER).glob("*.sql"):
        shutil.copy(path, folder)
    (folder / f"{get_latest_version() + 1:04}_pets.sql").write_text("\n".join(second))
    return load_migrations(dialect, str(folder))


def names(dialect: Dialect) -> list[str]:
    """Return the names of the real migrations."""
    return [step.name for step in load_migrations(dialect)]


def migrate_database(engine: Engine, steps: Sequence[Migration] | None = None) -> None:
    """Migrate the database as the product does."""
    if isinstance(engine, PostgresEngine):
        engine.mark_altered()
        set_up(engine.owner_url, build_schema(), steps=steps)
    elif isinstance(engine, SqliteEngine):
        with closing(connect(engine.path)) as connection:
            migrate(connection, build_schema(), steps)


def shape(engine: Engine) -> Rows:
    """Return the names of everything in the schema, and the applied migrations."""
    if engine.dialect is Dialect.SQLITE:
        things = "SELECT type || ' ' || name FROM sqlite_schema ORDER BY 1"
    else:
        things = (
            "SELECT relname::text FROM pg_class WHERE relnamespace = 'groundplan'::regnamespace "
            "UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = 'groundplan'::regnamespace "
            "UNION ALL SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal "
            "UNION ALL SELECT policyname || roles::text FROM pg_policies ORDER BY 1"
        )
    return engine.as_owner(things) + engine.as_owner(TAKEN)


def test_a_fresh_database_takes_every_step(engine: Engine) -> None:
    taken = [(number, name, checksum) for number, name, checksum, _ in engine.as_owner(TAKEN)]

    assert taken == [(step.number, step.name, step.checksum) for step in load_migrations(engine.dialect)]


def test_running_again_takes_no_step_and_changes_nothing(engine: Engine) -> None:
    before = shape(engine)

    migrate_database(engine)

    assert shape(engine) == before


def test_a_step_that_fails_anywhere_leaves_the_version_before_it_and_can_be_run_again(
    engine: Engine, tmp_path: Path
) -> None:
    before = shape(engine)
    for place in range(len(SECOND) + 1):  # each runs what failed before again, and gets further
        broken = steps_with(tmp_path / f"broken-{place}", engine.dialect, *SECOND[:place], BROKEN, *SECOND[place:])

        with pytest.raises(engine.refusals):
            migrate_database(engine, broken)
        assert shape(engine) == before, place

    migrate_database(engine, steps_with(tmp_path / "mended", engine.dialect, *SECOND))
    assert [name for _, name, *_ in engine.as_owner(TAKEN)] == [*names(engine.dialect), "pets"]
    assert engine.as_owner("SELECT tenant_id, id, name FROM test_pets") == [("local", "rex", "rex")]


def set_recorded(engine: Engine, *steps: tuple[int, str, str]) -> None:
    """Replace what a database has recorded about its steps."""
    if isinstance(engine, PostgresEngine):
        engine.mark_altered()
    else:
        engine.as_owner(f"PRAGMA user_version = {steps[-1][0]}")
    engine.as_owner(
        "DELETE FROM schema_migrations",
        *(
            f"INSERT INTO schema_migrations VALUES ({number}, '{name}', '{checksum}', '{STAMP}')"
            for number, name, checksum in steps
        ),
    )


def record_steps_before_the_baseline(engine: Engine) -> list[tuple[int, str, str]]:
    """Make the database one that was created before there was a baseline."""
    steps = list(zip(range(1, len(NAMES) + 1), NAMES, CHECKSUMS[engine.dialect], strict=True))
    later = [(step.number, step.name, step.checksum) for step in load_migrations(engine.dialect)[1:]]
    set_recorded(engine, *steps, *later)
    return steps


def test_a_database_from_before_the_baseline_works_and_takes_later_steps(engine: Engine, tmp_path: Path) -> None:
    record_steps_before_the_baseline(engine)

    with closing(engine.another_store()) as store:
        Session(store, local_actor("ada")).call("project.create", name="atlas")
    migrate_database(engine, steps_with(tmp_path / "steps", engine.dialect, *SECOND))

    assert [name for _, name, *_ in engine.as_owner(TAKEN)] == [*NAMES, *names(engine.dialect)[1:], "pets"]
    assert engine.as_owner("SELECT name FROM test_pets") == [("rex",)]


def test_one_step_before_the_baseline_that_reads_differently_is_refused(engine: Engine, tmp_path: Path) -> None:
    steps = record_steps_before_the_baseline(engine)
    later = steps_with(tmp_path / "steps", engine.dialect, *SECOND)
    for place, (number, name, _) in enumerate(steps):
        set_recorded(engine, *steps[:place], (number, name, "another"), *steps[place + 1 :])
        before = shape(engine)

        with pytest.raises(ChangedMigration):
            migrate_database(engine, later)
        assert shape(engine) == before


def test_a_database_of_an_older_schema_is_refused_and_left_alone(engine: Engine) -> None:
    steps = record_steps_before_the_baseline(engine)
    baseline = load_migrations(engine.dialect)[0].number
    for last in (1, baseline - 1):
        set_recorded(engine, *steps[:last])
        before = shape(engine)

        with pytest.raises(OlderSchema) as refused:
            migrate_database(engine)

        assert (refused.value.code, refused.value.details) == ("store_older", {"found": last, "oldest": baseline})
        with pytest.raises(OlderSchema if engine.dialect is Dialect.SQLITE else OutdatedSchema):
            engine.another_store()
        assert shape(engine) == before


def test_a_step_that_reads_differently_than_the_one_taken_is_refused(engine: Engine, tmp_path: Path) -> None:
    migrate_database(engine, steps_with(tmp_path / "then", engine.dialect, *SECOND))
    before = shape(engine)

    with pytest.raises(ChangedMigration) as refused:
        migrate_database(engine, steps_with(tmp_path / "now", engine.dialect, *SECOND, "-- a remark"))

    assert (refused.value.code, refused.value.details) == (
        "store_migration_changed",
        {"number": get_latest_version() + 1, "name": "pets"},
    )
    assert shape(engine) == before


def test_a_database_that_a_newer_groundplan_made_is_refused_and_left_alone(engine: Engine, tmp_path: Path) -> None:
    migrate_database(engine, steps_with(tmp_path / "newer", engine.dialect, *SECOND))
    before = shape(engine)

    for attempt in (engine.another_store, lambda: migrate_database(engine)):
        with pytest.raises(NewerSchema) as refused:
            attempt()
        known = get_latest_version()
        assert (refused.value.code, refused.value.details) == ("store_newer", {"found": known + 1, "known": known})

    assert shape(engine) == before


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_newer_file_is_not_touched_by_a_byte(engine: SqliteEngine, tmp_path: Path) -> None:
    migrate_database(engine, steps_with(tmp_path / "newer", engine.dialect, *SECOND))
    engine.close()
    before = engine.path.read_bytes()

    with pytest.raises(NewerSchema):
        engine.another_store()

    assert engine.path.read_bytes() == before


@pytest.mark.parametrize("numbers", [(1, 3), (1, 1, 2)])
def test_steps_that_are_not_numbered_one_by_one_are_a_mistake(tmp_path: Path, numbers: Sequence[int]) -> None:
    for place, number in enumerate(numbers):
        (tmp_path / f"{number:04}_{place}.sql").write_text("SELECT 1;")

    with pytest.raises(ValueError, match="not numbered"):
        load_migrations(Dialect.SQLITE, tmp_path)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_set_up_whose_connection_is_killed_can_be_run_again(engine: PostgresEngine, tmp_path: Path) -> None:
    before = shape(engine)
    suicide = "SELECT pg_terminate_backend(pg_backend_pid());"

    with pytest.raises(Unavailable) as refused:
        migrate_database(engine, steps_with(tmp_path / "killed", engine.dialect, *SECOND[:3], suicide, *SECOND[3:]))
    assert refused.value.code == "store_down"
    assert shape(engine) == before

    migrate_database(engine, steps_with(tmp_path / "whole", engine.dialect, *SECOND))
    assert engine.as_owner("SELECT name FROM test_pets") == [("rex",)]


def test_guards_are_put_up_anew_with_a_step(engine: Engine, tmp_path: Path) -> None:
    guard = "guard_events_append_only_" + ("update" if engine.dialect is Dialect.SQLITE else "row_update ON events")
    before = shape(engine)
    engine.as_owner(f"DROP TRIGGER {guard}")

    migrate_database(engine, steps_with(tmp_path / "steps", engine.dialect, *SECOND))

    assert {row for row in before if len(row) == 1} <= set(shape(engine))
