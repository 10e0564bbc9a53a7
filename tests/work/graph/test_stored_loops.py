"""A loop that a project holds from before loops were refused is named wherever somebody looks."""

from __future__ import annotations

from msgspec import UNSET

from groundplan.work.checks import check_plans
from tests.engines import Engine
from tests.work.client import WorkClient


def plan_loop(engine: Engine, work: WorkClient) -> None:
    """Plan c below p and d below q, and store, past every check, that c waits for q and d for p."""
    work.plan("p\n  c\nq\n  d")
    work.connect("c: q")
    (ends,) = engine.as_owner(
        "SELECT tenant_id, project_id, max(CASE summary WHEN 'd' THEN n END), max(CASE summary WHEN 'p' THEN n END) "
        "FROM work_nodes GROUP BY tenant_id, project_id"
    )
    tenant, project, from_n, to_n = ends
    engine.as_owner(
        "INSERT INTO work_edges (tenant_id, project_id, from_n, type, to_n) "
        f"VALUES ('{tenant}', '{project}', {from_n}, 'depends_on', {to_n})",
        f"UPDATE work_nodes SET open_deps = 1 WHERE project_id = '{project}' AND n = {from_n}",
        "UPDATE work_projects SET actionable = 0, blocked = 2, is_ordered = false",
    )


def test_next_names_the_loop_that_keeps_everything_waiting(engine: Engine, work: WorkClient) -> None:
    plan_loop(engine, work)

    answer = work.call("work.next", project="atlas")

    c, d, p, q = (work[name] for name in "cdpq")
    assert answer.nodes == []
    assert f"{c} on {q}" in answer.reason
    assert f"{d} on {p}" in answer.reason


def test_onboard_and_the_check_of_all_projects_name_the_loop(engine: Engine, work: WorkClient) -> None:
    plan_loop(engine, work)
    c, d, p, q = (work[name] for name in "cdpq")

    hint = work.call("work.onboard", project="atlas").hint
    ada = engine.session("ada")
    (finding,) = ada.store.read(ada.actor, lambda tx: list(check_plans(tx)))

    assert f"{c} on {q}" in hint
    assert f"{d} on {p}" in hint
    assert "atlas" in finding.message
    assert f"{c} on {q}" in str(finding.fix)


def test_a_change_beside_a_stored_loop_is_not_refused(engine: Engine, work: WorkClient) -> None:
    plan_loop(engine, work)
    work.plan("a\nb: a")
    work.resolve("a")

    assert work.names(work.reopen("a").newly_actionable) == ["a"]
    assert work.connect("p: b").rejected is UNSET


def test_a_removed_dependency_lets_the_plan_go_on(engine: Engine, work: WorkClient) -> None:
    plan_loop(engine, work)

    answer = work.call("work.connect", edges=[work.edge("c: q", remove=True)])

    assert work.names(answer.newly_actionable) == ["c"]
