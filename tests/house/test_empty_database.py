"""A PostgreSQL database is empty for the next test and for the planner."""

from __future__ import annotations

from tests.engines import DELETED_BYTES_MAX, PostgresEngine

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
