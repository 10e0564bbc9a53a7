"""What PostgreSQL needs to plan statements well: functions and statements that keep their plans, and statistics."""

from __future__ import annotations

import pytest

from groundplan.catalog import build_schema
from groundplan.kernel.actors import local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.checkup import CheckStatus
from groundplan.kernel.store.postgres.checkup import run_checks
from groundplan.kernel.store.postgres.store import ANALYZE_ROWS_MIN
from groundplan.session import Session
from tests.engines import PostgresEngine, person

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)

NEVER_ANALYZED = -1


def plan(session: Session, count: int) -> None:
    nodes = [{"ref": f"n{number}", "summary": f"Task {number}"} for number in range(count)]
    session.call("work.plan", project="atlas", nodes=nodes)


def count_analyzed_nodes(engine: PostgresEngine) -> int:
    [(count,)] = engine.as_owner("SELECT reltuples::bigint FROM pg_class WHERE oid = 'work_nodes'::regclass")
    return int(count)


def find_statistics_status(engine: PostgresEngine) -> CheckStatus:
    [status] = [found.status for found in run_checks(engine.app_url, build_schema()) if found.name == "statistics"]
    return status


def test_no_function_that_reads_with_the_rights_of_the_owner_is_planned_by_every_statement(
    engine: PostgresEngine,
) -> None:
    planned_anew = engine.as_owner(
        "SELECT p.proname FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang "
        "WHERE p.pronamespace = 'groundplan'::regnamespace AND l.lanname = 'sql' AND p.prosecdef "
        "AND p.provolatile <> 'v' AND p.proargmodes IS NULL"
    )

    assert planned_anew == []


def test_a_refused_call_forgets_no_prepared_statement(engine: PostgresEngine) -> None:
    engine.session("ada").call("work.open", project="atlas", goal="Ship")
    store = engine.another_store()
    session = Session(store, local_actor("ada"))
    node = session.call("work.plan", project="atlas", nodes=[{"ref": "a", "summary": "A"}]).created[0].id

    def count_statements() -> int:
        with store._pool.connection() as connection:  # the only one, which the calls used
            [(count,)] = connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchall()
        return int(count)

    for _ in range(2):
        session.call("work.next", project="atlas")
    before = count_statements()
    with pytest.raises(GroundplanError):
        session.call("work.update", updates=[{"node_id": node, "resolved": True, "claim": 12}])

    assert count_statements() >= before > 3


def test_after_a_write_of_many_rows_the_tables_that_grew_have_statistics(engine: PostgresEngine) -> None:
    session = engine.session("ada")
    session.call("work.open", project="atlas", goal="Ship")
    plan(session, 1)
    assert count_analyzed_nodes(engine) == NEVER_ANALYZED

    plan(session, ANALYZE_ROWS_MIN)

    assert count_analyzed_nodes(engine) > ANALYZE_ROWS_MIN
    assert find_statistics_status(engine) is CheckStatus.OK


def test_a_write_of_few_rows_reads_no_table_for_statistics(engine: PostgresEngine) -> None:
    session = engine.session("ada")
    session.call("work.open", project="atlas", goal="Ship")
    engine.as_owner(
        "INSERT INTO work_evidence (tenant_id, project_id, node_n, k, type, ref, agent, at) "
        "SELECT 'local', project_id, n, g, 'note', repeat('x', 500), 'ada', '2026-01-01T00:00:00.000Z' "
        "FROM work_nodes, generate_series(1, 5000) AS g"
    )

    plan(session, 1)

    [(count,)] = engine.as_owner("SELECT reltuples::bigint FROM pg_class WHERE oid = 'work_evidence'::regclass")
    assert count == NEVER_ANALYZED
    assert find_statistics_status(engine) is CheckStatus.WARN
    assert [count for (count,) in engine.as_app(person("ada"), "SELECT gp_analyze_grown_tables()")] == [1]
    assert find_statistics_status(engine) is CheckStatus.OK


def test_a_write_succeeds_where_its_tables_cannot_be_analyzed(
    engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = engine.session("ada")
    session.call("work.open", project="atlas", goal="Ship")
    monkeypatch.setattr("groundplan.kernel.store.postgres.store.ANALYZE_S_MAX", 0.05)
    with engine.owner_transaction() as run:
        run("LOCK TABLE work_nodes IN SHARE UPDATE EXCLUSIVE MODE")  # as another ANALYZE would

        plan(session, ANALYZE_ROWS_MIN)

    assert len(session.call("work.query", project="atlas", limit=10).nodes) == 10
