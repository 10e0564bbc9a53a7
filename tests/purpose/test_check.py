"""Checks as they are asked for: of which version, in which profile, as of when; nothing that is said goes unheard."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan import providers
from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.output_gate import encode
from groundplan.kernel.ports import Provider
from groundplan.kernel.store.transaction import Transaction
from groundplan.session import Session
from tests.context.desk import Facts
from tests.engines import Engine, filled_once
from tests.purpose.conftest import ADA, draw_well
from tests.purpose.desk import Purpose, add_edge, add_node, failing, op
from tests.work.desk import ManualClock


def draw_passing(engine: Engine) -> None:
    """Draw a theory that passes gate A."""
    draw_well(engine)
    Purpose(Session(engine.store_with_clock(ManualClock()), ADA)).edit(
        op(
            "add_assumption",
            node="OC1",
            assumption_text="It rains",
            risk_level="HIGH",
            owner="b",
            review_by="2026-06-01",
        ),
        op("add_indicator", node="OC1", name="litres", baseline=1),
    )


@pytest.fixture
def desk(engine: Engine, clock: ManualClock) -> Purpose:
    """Ada at this theory; the clock stands until the test moves it."""
    filled_once(engine, draw_passing)
    return Purpose(Session(engine.store_with_clock(clock), ADA))


def test_a_gate_is_run_in_the_profile_of_the_version_or_in_another(desk: Purpose) -> None:
    assert (desk.check().profile, desk.check().passed) == ("standard", True)
    strict = desk.check(profile="strict")
    assert (strict.profile, strict.passed) == ("strict", False)
    assert "GA_MECHANISM" in failing(strict)
    light = desk.check(profile="light")
    assert {check.code for check in light.checks} < {check.code for check in strict.checks}


def test_the_same_content_gives_the_same_result_to_the_byte(desk: Purpose) -> None:
    for gate in ("A", "B", "health", "analysis"):
        assert encode(desk.check(gate)) == encode(desk.check(gate))


def test_a_clone_has_the_hash_and_the_result_of_its_original(desk: Purpose) -> None:
    (published,) = desk.publish(detail="full").gates
    desk.draft()

    assert desk.check() == published


def test_facts_count_once_they_are_committed(desk: Purpose, clock: ManualClock) -> None:
    assert failing(desk.check())["GA_CONTEXT"] == []
    facts = Facts(desk.session, desk.project)
    facts.draft()
    facts.write("/size", required=True, valueKind="number")
    facts.commit(allowPartial=True)

    assert failing(desk.check())["GA_CONTEXT"] == []
    assert failing(desk.check("B"))["GB_FACTS"] == ["/size"]
    assert desk.check("health").metrics.required_facts_unset == 1

    clock.move(seconds=1)
    facts.draft(copyFrom="latest")
    facts.write("/size", 5)
    facts.commit()
    assert "GA_CONTEXT" not in failing(desk.check())
    assert "GB_FACTS" not in failing(desk.check("B"))
    assert desk.check("health").metrics.required_facts_unset == 0


def test_row_level_security_is_checked_where_the_database_has_it(desk: Purpose, engine: Any) -> None:
    results = {check.code: check.result for check in desk.check().checks}

    assert results["GA_RLS"] == ("not_applicable" if engine.dialect.value == "sqlite" else "passed")


def test_health_is_as_of_a_day(desk: Purpose, clock: ManualClock) -> None:
    desk.record(measurements=[{"indicator": "IN1", "value": 1, "as_of": "2026-03-01"}])
    clock.move(days=100)

    now = desk.check("health")
    assert (now.metrics.data_freshness_days, now.bands.data_freshness_days) == (100, "amber")
    assert (now.metrics.stale_assumptions, now.metrics.open_high_risk) == (1, 1)
    then = desk.check("health", as_of="2026-03-02")
    assert (then.metrics.data_freshness_days, then.metrics.stale_assumptions) == (1, 0)
    assert desk.check("health", as_of="2026-02-01").metrics.data_freshness_days is None


def test_work_that_traces_to_a_goal_is_asked_for_where_somebody_knows(
    desk: Purpose, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert desk.check("health").metrics.work_alignment is None
    asked: list[list[str]] = []

    def told(_tx: Transaction, goals: list[str]) -> providers.AlignedWorkCounts:
        asked.append(goals)
        return providers.AlignedWorkCounts(8, 6)

    aligned: Provider[list[str], providers.AlignedWorkCounts] = Provider()
    aligned.connect(told)
    monkeypatch.setattr(providers, "count_aligned_work", aligned)
    assert desk.check("health").metrics.work_alignment is None

    desk.publish()

    assert desk.check("health").metrics.work_alignment == 75.0
    assert asked == [["G1"]]


def test_an_analysis_shows_pathways_and_what_an_assumption_touches(desk: Purpose) -> None:
    desk.edit(add_node("OUTPUT", "pipe", ref="p"), add_edge("AC1", "p"), add_edge("p", "OC1"), add_node("OUTPUT", "x"))

    found = desk.check("analysis", node="AC1", assumption="AS1")

    assert found.pathways == [["AC1", "OP1", "OC1", "G1"], ["AC1", "OP2", "OC1", "G1"]]
    assert (found.pathways_cut, found.orphans) == (False, ["OP3"])
    assert found.touched.nodes == ["G1", "OC1"]
    assert desk.check("analysis", node="AC1", limit=1).pathways_cut


MISPLACED: list[tuple[Any, str]] = [
    ({"gate": "A", "node": "G1"}, "node"),
    ({"gate": "health", "profile": "strict"}, "profile"),
    ({"gate": "B", "operation": {"kind": "publish"}}, "operation"),
    ({"gate": "analysis", "operation": {"kind": "publish"}}, "operation"),
    ({"gate": "compliance"}, "operation"),
    ({"gate": "compliance", "operation": {"kind": "read", "version": 1}, "version": 2}, "operation.version"),
    ({"gate": "compliance", "operation": {"kind": "read"}, "as_of": "2026-01-01"}, "as_of"),
    ({"gate": "C"}, "gate"),
    ({"gate": "analysis", "limit": 0}, "limit"),
    ({"gate": "A", "limit": 5}, "limit"),
]


def test_what_is_for_another_check_is_refused(desk: Purpose, subtests: pytest.Subtests) -> None:
    for given, field in MISPLACED:
        with subtests.test(f"{given}"):
            with pytest.raises(Invalid) as error:
                desk.check(**given)

            assert error.value.details["field"] == field


def test_what_is_not_in_the_version_is_not_found(desk: Purpose, subtests: pytest.Subtests) -> None:
    absent: list[Any] = [{"node": "OC9"}, {"assumption": "AS9"}, {"node": "AS1"}, {"version": 9}]
    for given in absent:
        with subtests.test(f"{given}"), pytest.raises(NotFound):
            desk.check("analysis", **given)


def test_there_is_nothing_to_check_without_a_version(desk: Purpose) -> None:
    desk.discard()

    for gate in ("A", "B", "health", "analysis"):
        with pytest.raises(NotFound):
            desk.check(gate)


def test_each_check_can_be_called_by_its_own_name(desk: Purpose) -> None:
    assert desk.call("purpose.check") == desk.check("A")
    assert desk.call("purpose.health") == desk.check("health")
    assert desk.call("purpose.analysis") == desk.check("analysis")
    with pytest.raises(Invalid):
        desk.call("purpose.health", gate="A")


def test_a_proposed_operation_is_looked_at_in_the_version_that_is_named(desk: Purpose) -> None:
    desk.publish()
    desk.draft()
    edit = {"kind": "delete_node", "node": "OC1"}

    assert desk.check("compliance", version=1, operation=edit).status == "BLOCKED"
    assert desk.check("compliance", operation={**edit, "version": 1}).status == "BLOCKED"
    assert desk.check("compliance", version=2, operation=edit).status == "APPROVED"
    assert desk.check("compliance", operation=edit).status == "APPROVED"
