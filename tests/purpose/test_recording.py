"""Observations are added by key, never changed, and can be read as of any day."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.errors import GroundplanError, Invalid, NotFound
from groundplan.purpose.observing.record import NotWaivable
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock
from tests.purpose.client import PurposeClient, add_node, failing, op
from tests.purpose.conftest import ADA, draw_well

WAIVER = {"code": "GA_ORPHANS", "refs": [], "reason": "r", "owner": "ada", "due": "2027-01-01"}


def draw_assumptions(engine: Engine) -> None:
    """Create a theory with an assumption on a node, one on an edge, and an indicator."""
    draw_well(engine)
    PurposeClient(Session(engine.store_with_clock(ManualClock()), ADA)).edit(
        op("add_assumption", node="OC1", assumption_text="It rains"),
        op("add_assumption", source="AC1", target="OP1", assumption_text="The soil is soft"),
        op("add_indicator", node="OC1", name="litres"),
    )


@pytest.fixture
def client(engine: Engine, clock: ManualClock) -> PurposeClient:
    """Ada at this theory. The clock stands still until the test moves it."""
    fill_once(engine, draw_assumptions)
    return PurposeClient(Session(engine.store_with_clock(clock), ADA))


def open_observations(client: PurposeClient, **given: Any) -> Any:
    return client.call("purpose.open", detail="observations", **given)


def test_observations_are_kept_with_who_and_when_in_their_order(client: PurposeClient, clock: ManualClock) -> None:
    client.record(
        measurements=[{"indicator": "IN1", "value": 3, "as_of": "2026-02-01", "source": "meter", "note": "dry"}],
        reviews=[{"assumption": "AS1", "status": "holding", "reason": "it rained", "evidence": "photo"}],
        decisions=[{"text": "dig on", "rationale": "it works", "about": ["AC1", "AC1->OP1"], "outcome": "dug"}],
        waivers=[WAIVER],
    )
    clock.move(days=1)
    recorded = client.by("ben").record(
        measurements=[{"indicator": "IN1", "value": 4.5, "as_of": "2026-03-02T08:00:00Z"}]
    )

    found = open_observations(client)

    assert (recorded.recorded, recorded.rev) == (1, client.open().rev)
    assert [(m.value, m.as_of, m.at[:10], m.by) for m in found.measurements] == [
        (3, "2026-02-01", "2026-03-01", "ada"),
        (4.5, "2026-03-02T08:00:00.000Z", "2026-03-02", "ben"),
    ]
    assert [(r.assumption, r.status, r.reason, r.evidence) for r in found.reviews] == [
        ("AS1", "holding", "it rained", "photo")
    ]
    assert [(d.text, d.about, d.outcome) for d in found.decisions] == [("dig on", ["AC1", "AC1->OP1"], "dug")]
    assert [(w.code, w.refs, w.due) for w in found.waivers] == [("GA_ORPHANS", [], "2027-01-01")]


def test_the_status_of_an_assumption_and_the_latest_measurement_come_from_observations(client: PurposeClient) -> None:
    client.record(
        measurements=[
            {"indicator": "IN1", "value": 9, "as_of": "2026-02-20"},
            {"indicator": "IN1", "value": 5, "as_of": "2026-01-20"},
        ],
        reviews=[
            {"assumption": "AS2", "status": "at_risk", "reason": "r"},
            {"assumption": "AS2", "status": "refuted", "reason": "r"},
        ],
    )

    assert (client.assumptions()["AS1"].status, client.assumptions()["AS2"].status) == ("untested", "refuted")
    latest = client.indicators()["IN1"].latest
    assert (latest.value, latest.as_of) == (9, "2026-02-20")


def test_everything_can_be_read_as_it_was_known_on_a_day(client: PurposeClient, clock: ManualClock) -> None:
    for day, status in enumerate(("holding", "at_risk", "refuted")):
        client.record(
            reviews=[{"assumption": "AS1", "status": status, "reason": "r"}],
            measurements=[{"indicator": "IN1", "value": day, "as_of": "2026-02-01"}],
            decisions=[{"text": str(day), "rationale": "r"}],
            waivers=[WAIVER],
        )
        clock.move(days=1)

    for as_of, statuses in (
        ("2026-02-28", ["untested"]),
        ("2026-03-01", ["holding"]),
        ("2026-03-02", ["at_risk"]),
        ("2026-03-02T08:59:59.999Z", ["holding"]),
        ("2026-03-02T10:00:00+01:00", ["at_risk"]),
        ("2030-01-01", ["refuted"]),
    ):
        assert [client.assumptions(as_of=as_of)["AS1"].status] == statuses
        known = open_observations(client, as_of=as_of)
        count = 0 if statuses == ["untested"] else ["holding", "at_risk", "refuted"].index(statuses[0]) + 1
        assert [len(part) for part in (known.measurements, known.reviews, known.waivers, known.decisions)] == [
            count
        ] * 4


def test_what_no_version_has_is_not_found_and_nothing_is_recorded(client: PurposeClient) -> None:
    good = {"indicator": "IN1", "value": 1, "as_of": "2026-02-01"}
    for given in (
        {"measurements": [good, {**good, "indicator": "IN9"}]},
        {"measurements": [good, {**good, "indicator": "AS1"}]},
        {"measurements": [good], "reviews": [{"assumption": "AS9", "status": "holding", "reason": "r"}]},
        {"measurements": [good], "decisions": [{"text": "t", "rationale": "r", "about": ["OC9"]}]},
        {"measurements": [good], "decisions": [{"text": "t", "rationale": "r", "about": ["AC1->OC9"]}]},
        {"measurements": [good], "waivers": [{**WAIVER, "refs": ["OC9"]}]},
    ):
        with pytest.raises(NotFound):
            client.record(**given)
    assert open_observations(client).measurements == []


def test_what_a_published_version_has_can_be_observed_when_the_draft_has_it_no_more(client: PurposeClient) -> None:
    client.publish()
    client.draft()
    client.edit(op("remove_node", node="OC1"))

    recorded = client.record(
        measurements=[{"indicator": "IN1", "value": 1, "as_of": "2026-02-01"}],
        reviews=[{"assumption": "AS1", "status": "refuted", "reason": "r"}],
    )

    assert [(one.assumption, one.nodes) for one in recorded.affected] == [("AS1", ["G1", "OC1"])]


def test_a_refuted_assumption_says_what_it_touches(client: PurposeClient) -> None:
    recorded = client.record(
        reviews=[
            {"assumption": "AS2", "status": "refuted", "reason": "rock"},
            {"assumption": "AS1", "status": "holding", "reason": "rain"},
        ]
    )

    (affected,) = recorded.affected
    assert affected.assumption == "AS2"
    assert affected.edges == ["OC1->G1", "OP1->OC1", "AC1->OP1"]
    assert (affected.nodes, affected.work) == (["G1", "OC1", "OP1"], [])


def test_a_refuted_assumption_keeps_the_gate_shut_until_a_decision_is_recorded(client: PurposeClient) -> None:
    client.record(reviews=[{"assumption": "AS1", "status": "refuted", "reason": "r"}])
    assert failing(client.check())["GA_REFUTED"] == ["AS1"]

    client.record(decisions=[{"text": "go on", "rationale": "r", "about": ["AS1"]}])

    assert "GA_REFUTED" not in failing(client.check())


MALFORMED: list[tuple[Any, str]] = [
    ({}, "invalid_argument"),
    ({"measurements": []}, "invalid_argument"),
    ({"measurements": [{"indicator": "IN1", "value": 1, "as_of": "2026-03-03"}]}, "invalid_argument"),
    ({"measurements": [{"indicator": "IN1", "value": 1, "as_of": "yesterday"}]}, "invalid_date"),
    ({"measurements": [{"indicator": "IN1", "value": 1, "as_of": "2026-02-01T10:00:00"}]}, "invalid_date"),
    ({"measurements": [{"indicator": "IN1", "value": "much", "as_of": "2026-02-01"}]}, "invalid_argument"),
    ({"measurements": [{"indicator": "IN1", "as_of": "2026-02-01"}]}, "missing_argument"),
    ({"reviews": [{"assumption": "AS1", "status": "fine", "reason": "r"}]}, "invalid_argument"),
    ({"reviews": [{"assumption": "AS1", "status": "holding"}]}, "missing_argument"),
    ({"waivers": [{**WAIVER, "code": "GA_NOTHING"}]}, "invalid_argument"),
    ({"waivers": [{**WAIVER, "due": "2027-02-30"}]}, "invalid_date"),
    ({"decisions": [{"text": "t"}]}, "missing_argument"),
]


def test_malformed_observations_are_refused(client: PurposeClient, subtests: pytest.Subtests) -> None:
    for given, code in MALFORMED:
        with subtests.test(f"{given}"):
            with pytest.raises(Invalid) as error:
                client.record(**given)

            assert error.value.code == code


def test_what_the_database_refuses_nobody_can_waive(client: PurposeClient, subtests: pytest.Subtests) -> None:
    for code in ("GA_RLS", "GA_DUP_EDGE", "GA_SELF_EDGE", "GA_CROSS_VERSION"):
        with subtests.test(str(code)), pytest.raises(NotWaivable):
            client.record(waivers=[{**WAIVER, "code": code}])


def test_today_may_already_be_tomorrow_elsewhere(client: PurposeClient) -> None:
    client.record(measurements=[{"indicator": "IN1", "value": 1, "as_of": "2026-03-02"}])

    assert client.indicators()["IN1"].latest.as_of == "2026-03-02"


def test_facts_are_waived_by_their_pointers(client: PurposeClient) -> None:
    client.record(waivers=[{**WAIVER, "code": "GB_FACTS", "refs": ["/site/size"]}])

    assert open_observations(client).waivers[0].refs == ["/site/size"]
    with pytest.raises(GroundplanError):
        client.record(waivers=[{**WAIVER, "refs": ["/site/size"]}])


def test_the_same_observation_sent_twice_is_recorded_once(client: PurposeClient) -> None:
    for _ in range(2):
        client.record(measurements=[{"indicator": "IN1", "value": 1, "as_of": "2026-02-01"}], op_id="once")

    assert len(open_observations(client).measurements) == 1


def test_recording_leaves_the_draft_as_it_was(client: PurposeClient) -> None:
    rev = client.open().rev

    client.record(measurements=[{"indicator": "IN1", "value": 1, "as_of": "2026-02-01"}])

    client.edit(add_node("GOAL", "x"), expected_rev=rev)
