"""Health: the metrics, their levels, and how each goal is reached."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from msgspec import UNSET

from groundplan.purpose.health import (
    Band,
    Health,
    WeakestEdge,
    classify_metrics,
    compute_health,
    compute_metrics,
    find_overall_band,
    find_places,
)
from groundplan.purpose.model import Content, EdgeType, build_content
from groundplan.purpose.observing.records import Observations
from tests.purpose.theories import NOTHING_OBSERVED, NOW, join_observations, make_observations, theory, whole_theory

CHAIN = "AC1 -> OP1 -> OC1 -> G1"
PERCENTAGES = (
    "toc_completeness",
    "indicator_coverage",
    "assumptions_documented",
    "mechanism_coverage",
    "work_alignment",
)


def health(
    content: Content,
    observations: Observations = NOTHING_OBSERVED,
    *,
    now: str = NOW,
    unset: int | None = None,
    work: tuple[int, int] | None = None,
) -> Health:
    return compute_health(content, observations, now=now, required_facts_unset=unset, work=work)


def test_every_number_has_its_name_and_the_worst_band_decides() -> None:
    observations = make_observations(measured={"IN1": "2026-11-01"}, reviewed={"AS1": "holding"})
    found = health(whole_theory(), observations, unset=0, work=(4, 4))
    assert msgspec.to_builtins(found.metrics) == {
        "toc_completeness": 100.0,
        "indicator_coverage": 100.0,
        "data_freshness_days": 14,
        "assumptions_documented": 25.0,
        "mechanism_coverage": 100.0,
        "open_high_risk": 0,
        "stale_assumptions": 0,
        "required_facts_unset": 0,
        "work_alignment": 100.0,
    }
    bands = msgspec.to_builtins(found.bands)
    assert (bands.pop("assumptions_documented"), set(bands.values())) == ("red", {"green"})
    assert found.overall == "red"


def test_a_percentage_of_nothing_is_null_and_so_is_its_band() -> None:
    found = health(theory())
    metrics, bands = msgspec.to_builtins(found.metrics), msgspec.to_builtins(found.bands)
    for name in (*PERCENTAGES, "data_freshness_days", "required_facts_unset"):
        assert (metrics[name], bands[name]) == (None, None)
    assert health(theory(), work=(0, 0)).metrics.work_alignment is None


def test_a_node_is_complete_with_its_texts_and_an_effect_with_an_indicator_too() -> None:
    texts = {"description": "what", "owner": "ada"}
    content = theory(
        CHAIN,
        nodes={"AC1": texts, "OP1": {"description": "what"}, "OC1": texts, "G1": texts},
        indicators={"IN1": "G1"},
    )
    assert health(content).metrics.toc_completeness == 50.0


def test_percentages_have_one_decimal() -> None:
    content = theory("OC1 -> G1", "OC2 -> G1", "OC3 -> G1", indicators={"IN1": "OC1"})
    assert health(content, work=(3, 2)).metrics.indicator_coverage == 33.3
    assert health(content, work=(3, 2)).metrics.work_alignment == 66.7


def test_an_assumption_documents_its_node_and_the_target_of_its_edge() -> None:
    content = theory(CHAIN, assumptions={"AS1": "AC1", "AS2": "AC1->OP1", "AS3": "AC1"})
    assert health(content).metrics.assumptions_documented == 50.0


def test_feedback_needs_no_mechanism() -> None:
    content = theory(CHAIN, "G1->AC1/FEEDBACK", edges={"AC1->OP1": {"mechanism": "so"}, "OP1->OC1": {"mechanism": " "}})
    assert health(content).metrics.mechanism_coverage == 33.3


@pytest.mark.parametrize(("status", "count"), [("holding", 0), ("untested", 1), ("at_risk", 1), ("refuted", 1)])
def test_a_high_risk_is_open_until_it_was_found_holding(status: str, count: int) -> None:
    content = theory(CHAIN, assumptions={"AS1": {"on": "OC1", "risk_level": "HIGH"}, "AS2": "OC1"})
    assert health(content, make_observations(reviewed={"AS1": status})).metrics.open_high_risk == count
    assert health(content).metrics.open_high_risk == 1


def test_an_assumption_is_stale_past_the_day_by_which_it_was_to_be_reviewed() -> None:
    content = theory(CHAIN, assumptions={"AS1": {"on": "OC1", "review_by": "2026-11-14"}, "AS2": "OC1"})

    assert health(content, NOTHING_OBSERVED, now="2026-11-14T23:59:59.999Z").metrics.stale_assumptions == 0
    assert health(content, NOTHING_OBSERVED).metrics.stale_assumptions == 1
    assert health(content, make_observations(reviewed={"AS1": "holding"}, at=NOW)).metrics.stale_assumptions == 1


def test_freshness_is_whole_days_since_the_newest_measurement_of_what_is_in_the_theory() -> None:
    content = theory(CHAIN, indicators={"IN1": "OC1", "IN2": "OC1"})
    observations = join_observations(
        make_observations(measured={"IN1": "2026-11-10T23:00:00.000Z", "IN2": "2026-01-01"}),
        make_observations(measured={"IN9": "2026-11-14"}),
    )
    assert health(content, observations).metrics.data_freshness_days == 5
    assert health(content, make_observations(measured={"IN9": "2026-11-14"})).metrics.data_freshness_days is None
    assert health(content, make_observations(measured={"IN1": "2026-11-16"})).metrics.data_freshness_days == 0


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        *((name, {80.0: "green", 79.9: "amber", 50.0: "amber", 49.9: "red"}) for name in PERCENTAGES),
        ("data_freshness_days", {90: "green", 91: "amber", 180: "amber", 181: "red"}),
        *(
            (name, {0: "green", 1: "amber", 3: "amber", 4: "red"})
            for name in ("open_high_risk", "stale_assumptions", "required_facts_unset")
        ),
    ],
)
def test_a_number_has_the_band_it_lies_in(name: str, bounds: dict[float, Band]) -> None:
    places = find_places(theory(), NOTHING_OBSERVED, NOW[:10])
    metrics = compute_metrics(theory(), NOTHING_OBSERVED, places, now=NOW, required_facts_unset=None, work=None)
    for number, band in bounds.items():
        bands = classify_metrics(msgspec.structs.replace(metrics, **{name: number}))
        assert getattr(bands, name) == band
        assert find_overall_band(theory("G1"), bands) == band  # all others are green or null


def test_health_names_what_lowers_each_metric() -> None:
    content = theory(
        CHAIN,
        edges={"AC1->OP1": {"mechanism": "so"}, "OP1->OC1": {"mechanism": "so"}},
        nodes={"AC1": {"description": "what", "owner": "ada"}},
        assumptions={
            "AS1": {"on": "OC1", "risk_level": "HIGH"},
            "AS2": {"on": "AC1", "risk_level": "HIGH", "review_by": "2026-11-14"},
        },
        indicators={"IN1": "G1"},
    )

    assert msgspec.to_builtins(health(content, make_observations(reviewed={"AS1": "holding"})).places) == {
        "toc_completeness": ["G1", "OC1", "OP1"],
        "indicator_coverage": ["OC1"],
        "assumptions_documented": ["G1", "OP1"],
        "mechanism_coverage": ["OC1->G1"],
        "open_high_risk": ["AS2"],
        "stale_assumptions": ["AS2"],
    }


def test_overall_is_null_where_every_band_is() -> None:
    bands = health(theory()).bands
    unknown = msgspec.structs.replace(bands, open_high_risk=None, stale_assumptions=None)
    assert find_overall_band(theory("G1"), unknown) is None


def test_a_theory_without_nodes_has_no_overall_band() -> None:
    assert (health(theory()).overall, health(theory()).bands.open_high_risk) == (None, "green")
    assert health(theory("G1")).overall == "red"


def test_a_goal_has_its_strongest_path_and_the_edge_that_most_depends_on() -> None:
    content = theory(
        CHAIN,
        "AC2 -> OP1",
        "AC3 -> OP2 -> OC1",
        "G2",
        edges={
            "AC1->OP1": {"confidence": "high"},
            "AC2->OP1": {"confidence": "high"},
            "AC3->OP2": {"confidence": "medium"},
            "OP2->OC1": {"confidence": "high"},
            "OP1->OC1": {"confidence": "low"},
            "OC1->G1": {"confidence": "high"},
        },
    )
    first, second = health(content).goals
    assert (first.key, first.strongest_path, first.confidence) == ("G1", ["AC3", "OP2", "OC1", "G1"], "medium")
    assert first.weakest_edge == WeakestEdge("OC1", "G1", EdgeType.CONTRIBUTES_TO, cuts=3)
    assert (second.strongest_path, second.confidence, second.weakest_edge) == ([], None, UNSET)


def test_of_edges_that_cut_as_much_the_first_in_the_order_of_lists_is_named() -> None:
    (goal,) = health(theory(CHAIN)).goals
    assert goal.weakest_edge == WeakestEdge("OC1", "G1", EdgeType.CONTRIBUTES_TO, cuts=1)
    assert goal.confidence is None


def test_the_same_theory_gives_the_same_bytes_whatever_order_it_came_in() -> None:
    content = theory(
        CHAIN, "AC2 -> OP2 -> OC1", "AC1->OP2/CAUSES", "OC1 -> G2", edges={"AC1->OP1": {"confidence": "low"}}
    )
    before = msgspec.json.encode(health(content))
    random = Random(1)  # noqa: S311 - the same orders every time
    for _ in range(20):
        nodes, edges = list(content.nodes.values()), list(content.edges)
        random.shuffle(nodes)
        random.shuffle(edges)
        assert msgspec.json.encode(health(build_content(nodes, edges, [], []))) == before
        assert msgspec.json.encode(health(Content({node.key: node for node in nodes}, edges, {}, {}))) == before
