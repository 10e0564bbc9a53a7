"""Checks by request: of a version, in a profile, as of a day; unused arguments are refused."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Invalid, NotFound
from groundplan.session import Session
from tests.context.client import ContextClient
from tests.engines import Engine, fill_once
from tests.linking import link
from tests.manual_clock import ManualClock
from tests.purpose.client import PurposeClient, add_edge, add_node, failing, op
from tests.purpose.conftest import ADA, draw_well


def draw_passing(engine: Engine) -> None:
    """Create a theory that passes gate A."""
    draw_well(engine)
    PurposeClient(Session(engine.store_with_clock(ManualClock()), ADA)).edit(
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
def client(engine: Engine, clock: ManualClock) -> PurposeClient:
    """Ada at this theory. The clock stands still until the test moves it."""
    fill_once(engine, draw_passing)
    return PurposeClient(Session(engine.store_with_clock(clock), ADA))


def test_an_operation_alone_asks_for_its_compliance(client: PurposeClient) -> None:
    proposed = {"operation": {"op": "publish"}, "detail": "short"}

    assert encode(client.call("purpose.check", **proposed)) == encode(client.check("compliance", **proposed))


def test_a_gate_is_run_in_the_profile_of_the_version_or_in_another(client: PurposeClient) -> None:
    assert (client.check().profile, client.check().passed) == ("standard", True)
    strict = client.check(profile="strict")
    assert (strict.profile, strict.passed) == ("strict", False)
    assert "GA_MECHANISM" in failing(strict)
    light = client.check(profile="light")
    assert {check.code for check in light.checks} < {check.code for check in strict.checks}


def test_the_same_content_gives_the_same_result_to_the_byte(client: PurposeClient) -> None:
    for gate in ("A", "B", "health", "analysis"):
        assert encode(client.check(gate)) == encode(client.check(gate))


def test_a_clone_has_the_hash_and_the_result_of_its_original(client: PurposeClient) -> None:
    (published,) = client.publish(detail="full").gates
    client.draft()

    assert client.check() == published


@pytest.mark.parametrize("gate", ["A", "B"])
def test_a_short_result_of_a_gate_has_only_what_failed_or_is_waived(client: PurposeClient, gate: str) -> None:
    whole = client.check(gate)
    short = client.check(gate, detail="short")

    assert [check for check in whole.checks if check.result in ("failed", "waived")] == short.checks
    assert (short.passed, short.counts) == (whole.passed, whole.counts)


def test_facts_count_once_they_are_committed(client: PurposeClient, clock: ManualClock) -> None:
    assert failing(client.check())["GA_CONTEXT"] == []
    facts = ContextClient(client.session, client.project)
    facts.draft()
    facts.write("/size", required=True, valueKind="number")
    facts.commit(allowPartial=True)

    assert failing(client.check())["GA_CONTEXT"] == []
    assert failing(client.check("B"))["GB_FACTS"] == ["/size"]
    assert client.check("health").metrics.required_facts_unset == 1

    clock.move(seconds=1)
    facts.draft(copyFrom="latest")
    facts.write("/size", 5)
    facts.commit()
    assert "GA_CONTEXT" not in failing(client.check())
    assert "GB_FACTS" not in failing(client.check("B"))
    assert client.check("health").metrics.required_facts_unset == 0


def test_row_level_security_is_checked_where_the_database_has_it(client: PurposeClient, engine: Any) -> None:
    results = {check.code: check.result for check in client.check().checks}

    assert results["GA_RLS"] == ("not_applicable" if engine.dialect.value == "sqlite" else "passed")


def test_health_is_as_of_a_day(client: PurposeClient, clock: ManualClock) -> None:
    client.record(measurements=[{"indicator": "IN1", "value": 1, "as_of": "2026-03-01"}])
    clock.move(days=100)

    now = client.check("health")
    assert (now.metrics.data_freshness_days, now.bands.data_freshness_days) == (100, "amber")
    assert (now.metrics.stale_assumptions, now.metrics.open_high_risk) == (1, 1)
    then = client.check("health", as_of="2026-03-02")
    assert (then.metrics.data_freshness_days, then.metrics.stale_assumptions) == (1, 0)
    assert client.check("health", as_of="2026-02-01").metrics.data_freshness_days is None


def test_open_work_is_aligned_when_it_or_an_ancestor_serves_what_leads_to_a_published_goal(
    client: PurposeClient,
) -> None:
    nodes = [
        {"ref": "a", "summary": "Dig the wells"},
        {"ref": "b", "summary": "Dig the first well", "parent_ref": "a"},
        {"ref": "c", "summary": "Paint the office", "parent_ref": "a"},
        {"ref": "d", "summary": "Buy chairs"},
    ]
    a, _, c, d = (one.id for one in client.call("work.plan", nodes=nodes).created)
    client.edit(add_node("ACTIVITY", "leads nowhere"))

    def alignment() -> float | None:
        found: float | None = client.check("health").metrics.work_alignment
        return found

    assert alignment() is None  # nothing is published
    client.record(waivers=[{"code": "GA_ORPHANS", "refs": [], "reason": "r", "owner": "ada", "due": "2027-01-01"}])
    client.publish()
    assert alignment() == 0.0
    link(client.session, a, "serves", "OP1")
    assert alignment() == 75.0
    link(client.session, c, "serves", "AC2")  # its own links replace those it would inherit
    assert alignment() == 50.0
    client.session.call("work.update", updates=[{"node_id": d, "resolved": True}])
    assert alignment() == 66.7


def test_an_analysis_shows_pathways_and_what_an_assumption_touches(client: PurposeClient) -> None:
    client.edit(
        add_node("OUTPUT", "pipe", ref="p"), add_edge("AC1", "p"), add_edge("p", "OC1"), add_node("OUTPUT", "x")
    )

    found = client.check("analysis", node="AC1", assumption="AS1")

    assert found.pathways == [["AC1", "OP1", "OC1", "G1"], ["AC1", "OP2", "OC1", "G1"]]
    assert (found.pathways_cut, found.orphans) == (False, ["OP3"])
    assert found.touched.nodes == ["G1", "OC1"]
    assert client.check("analysis", node="AC1", limit=1).pathways_cut


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


def test_what_is_for_another_check_is_refused(client: PurposeClient, subtests: pytest.Subtests) -> None:
    for given, field in MISPLACED:
        with subtests.test(f"{given}"):
            with pytest.raises(Invalid) as error:
                client.check(**given)

            assert error.value.details["field"] == field


def test_what_is_not_in_the_version_is_not_found(client: PurposeClient, subtests: pytest.Subtests) -> None:
    absent: list[Any] = [{"node": "OC9"}, {"assumption": "AS9"}, {"node": "AS1"}, {"version": 9}]
    for given in absent:
        with subtests.test(f"{given}"), pytest.raises(NotFound):
            client.check("analysis", **given)


def test_there_is_nothing_to_check_without_a_version(client: PurposeClient) -> None:
    client.discard()

    for gate in ("A", "B", "health", "analysis"):
        with pytest.raises(NotFound):
            client.check(gate)


def test_each_check_can_be_called_by_its_own_name(client: PurposeClient) -> None:
    assert client.call("purpose.check") == client.check("A")
    assert client.call("purpose.health") == client.check("health")
    assert client.call("purpose.analysis") == client.check("analysis")
    with pytest.raises(Invalid):
        client.call("purpose.health", gate="A")


def test_a_proposed_operation_is_looked_at_in_the_version_that_is_named(client: PurposeClient) -> None:
    client.publish()
    client.draft()
    edit = {"kind": "delete_node", "node": "OC1"}

    assert client.check("compliance", version=1, operation=edit).status == "BLOCKED"
    assert client.check("compliance", operation={**edit, "version": 1}).status == "BLOCKED"
    assert client.check("compliance", version=2, operation=edit).status == "APPROVED"
    assert client.check("compliance", operation=edit).status == "APPROVED"
