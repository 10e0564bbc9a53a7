"""A database is empty for the next test, and as it was: a PostgreSQL database for the planner, too."""

from __future__ import annotations

import pytest

from tests.engines import DELETED_BYTES_MAX, PostgresEngine, SharedSqliteEngine

SIZES = "SELECT sum(pg_table_size(oid)) FROM pg_class WHERE relnamespace = 'groundplan'::regnamespace AND relkind = 'r'"
MANY = (
    "INSERT INTO projects (tenant_id, id, name, created_at, created_by, updated_at) "
    "SELECT 'local', n, n, created_at, 'ada', created_at FROM organizations, generate_series(1, 2000) AS n"
)


def count_rows(engine: PostgresEngine) -> dict[str, int]:
    """Return the number of rows of each table that has any."""
    tables = [name for (name,) in engine.as_owner("SELECT tablename FROM pg_tables WHERE schemaname = 'groundplan'")]
    counts = {name: int(engine.as_owner(f"SELECT count(*) FROM {name}")[0][0]) for name in tables}
    return {name: count for name, count in counts.items() if count and name != "schema_migrations"}


def test_few_rows_and_many_are_gone_and_a_schema_is_as_it_was(team: PostgresEngine) -> None:
    untouched = team.as_owner(SIZES)[0][0]

    team.session("ada").call("project.create", name="atlas")
    assert count_rows(team).keys() >= {"projects", "events", "work_nodes"}
    team.reset()
    assert count_rows(team) == {"organizations": 1}

    team.as_owner(MANY)
    assert team.as_owner(SIZES)[0][0] > untouched + DELETED_BYTES_MAX
    team.reset()
    assert count_rows(team) == {"organizations": 1}
    assert team.as_owner(SIZES)[0][0] <= untouched + DELETED_BYTES_MAX

    team.session("ada").call("project.create", name="atlas")
    team.as_owner("DROP TABLE answers CASCADE")
    team.reset()
    assert count_rows(team) == {"organizations": 1}
    assert team.session("ada").call("project.create", name="atlas", op_id="once").project.name == "atlas"


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_file_is_empty_after_a_test_and_its_guards_are_there(engine: SharedSqliteEngine) -> None:
    place = engine._file

    for _ in range(2):
        ada = engine.session("ada")
        ada.call("project.create", name="atlas", op_id="once")
        ada.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Drill a well"}])
        assert len(ada.call("briefing.search", project="atlas", text="well").hits) == 1
        with pytest.raises(engine.refusals, match="append_only"):
            engine.as_owner("DELETE FROM events")
        engine.reset()
        assert engine.dump() == {}
    assert engine._file == place


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_file_that_a_test_altered_closed_or_found_is_not_used_again(engine: SharedSqliteEngine) -> None:
    def commit_in_a_transaction() -> None:
        with engine.owner_transaction() as run:
            run("DROP TRIGGER guard_events_append_only_update")
            run("COMMIT")

    def close_the_store() -> None:
        engine.store.close()

    for change in (
        lambda: engine.as_owner("DROP TABLE answers"),
        commit_in_a_transaction,
        close_the_store,
        engine.close,
        lambda: engine.path,
    ):
        place = engine._file
        change()
        engine.reset()
        assert engine._file != place
        assert engine.session("ada").call("project.create", name="atlas", op_id="once").project.name == "atlas"
        engine.reset()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_what_was_filled_once_is_loaded_with_its_text(engine: SharedSqliteEngine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    engine.session("ada").call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "Drill a well"}])
    dump = engine.dump()
    engine.reset()

    engine.load(dump)

    assert engine.dump() == dump
    assert len(engine.session("ada").call("briefing.search", project="atlas", text="well").hits) == 1


def test_a_schema_that_was_changed_for_good_is_copied_anew(team: PostgresEngine) -> None:
    with team.owner_transaction() as run:
        run("DROP TABLE answers CASCADE")
        run("COMMIT")
    team.reset()

    assert team.session("ada").call("project.create", name="atlas", op_id="once").project.name == "atlas"
