"""Analysis: pathways to goals, unconnected nodes, and what an assumption affects."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from groundplan.purpose.analysis import Analysis, AssumptionImpact, CutEdge, WeakestLink, analyse, trace_impacts
from groundplan.purpose.model import Confidence, Content, EdgeType, PurposeEdge, PurposeNode, build_content
from groundplan.purpose.observing.records import Observations
from tests.purpose.theories import NOTHING_OBSERVED, make_observations, theory

BRANCHED = theory(
    "AC1 -> OP1 -> OC1 -> G1",
    "AC2 -> OP1 -> OC2 -> G1",
    "OC2 -> G2",
    "AC3 -> OP3",
    "G1->AC1/FEEDBACK",
    edges={
        "AC1->OP1": {"confidence": "high"},
        "OP1->OC1": {"confidence": "high"},
        "OC1->G1": {"confidence": "medium"},
    },
    assumptions={"AS1": "OP1", "AS2": "OP1->OC2", "AS3": "AC3", "AS4": "G1->AC1/FEEDBACK"},
)


def analysis(
    content: Content = BRANCHED,
    observations: Observations = NOTHING_OBSERVED,
    *,
    node: str | None = None,
    assumption: str | None = None,
    limit: int = 10,
) -> Analysis:
    return analyse(content, observations, node=node, assumption=assumption, limit=limit)


def only(key: str) -> AssumptionImpact:
    (found,) = trace_impacts(BRANCHED, [key])
    return found


def test_pathways_are_all_ways_from_a_node_to_goals() -> None:
    found = analysis(node="AC1")
    assert found.pathways == [
        ["AC1", "OP1", "OC1", "G1"],
        ["AC1", "OP1", "OC2", "G1"],
        ["AC1", "OP1", "OC2", "G2"],
    ]
    assert (found.pathways_cut, analysis(node="AC3").pathways) == (False, [])


def test_where_there_are_more_pathways_than_asked_for_it_is_said() -> None:
    found = analysis(node="AC1", limit=2)
    assert (len(found.pathways or []), found.pathways_cut) == (2, True)


def test_what_was_not_asked_for_is_not_there() -> None:
    assert set(msgspec.to_builtins(analysis())) == {"orphans", "dead_ends", "goals", "refuted"}


def test_orphans_reach_no_goal_and_dead_ends_reach_nothing() -> None:
    found = analysis()
    assert (found.orphans, found.dead_ends) == (["OP3", "AC3"], ["OP3"])


def test_a_goal_has_its_strongest_path_its_weakest_link_and_the_edge_that_most_depends_on() -> None:
    first, second = analysis().goals
    assert (first.strongest_path, first.confidence) == (["AC1", "OP1", "OC1", "G1"], "medium")
    assert first.weakest_link == WeakestLink("OC1", "G1", EdgeType.CONTRIBUTES_TO, Confidence.MEDIUM)
    assert first.cut_edge == CutEdge("AC1", "OP1", EdgeType.CONTRIBUTES_TO, ["AC1"])  # two paths lead on from OP1
    assert (second.strongest_path, second.confidence) == (["AC1", "OP1", "OC2", "G2"], None)
    assert second.weakest_link == WeakestLink("OP1", "OC2", EdgeType.CONTRIBUTES_TO, None)
    assert second.cut_edge == CutEdge("OC2", "G2", EdgeType.CONTRIBUTES_TO, ["AC1", "AC2"])
    (bare,) = analysis(theory("G1")).goals
    assert (bare.strongest_path, bare.weakest_link, bare.cut_edge) == ([], UNSET, UNSET)


def test_of_parallel_edges_a_path_takes_the_surest() -> None:
    edges = {"AC1->G1": {"confidence": "low"}, "AC1->G1/DEPENDS_ON": {"confidence": "high"}}
    (goal,) = analysis(theory("AC1->G1/CAUSES", "AC1 -> G1", "AC1->G1/DEPENDS_ON", edges=edges)).goals
    assert goal.weakest_link == WeakestLink("AC1", "G1", EdgeType.DEPENDS_ON, Confidence.HIGH)
    assert goal.cut_edge is UNSET


def test_an_assumption_on_a_node_touches_all_that_follows_from_it() -> None:
    assert only("AS1") == AssumptionImpact(
        "AS1",
        edges=["OC1->G1", "OC2->G1", "OC2->G2", "OP1->OC1", "OP1->OC2"],
        nodes=["G1", "G2", "OC1", "OC2", "OP1"],
        goals=["G1", "G2"],
        activities=["AC1", "AC2"],
    )


def test_an_assumption_on_an_edge_touches_it_and_all_that_follows_from_its_target() -> None:
    assert only("AS2") == AssumptionImpact(
        "AS2",
        edges=["OC2->G1", "OC2->G2", "OP1->OC2"],
        nodes=["G1", "G2", "OC2"],
        goals=["G1", "G2"],
        activities=["AC1", "AC2"],
    )


def test_an_activity_leads_to_what_is_assumed_of_itself() -> None:
    found = only("AS3")
    assert (found.nodes, found.goals, found.activities) == (["OP3", "AC3"], [], ["AC3"])


def test_what_is_assumed_of_feedback_touches_nothing_but_its_edge() -> None:
    assert only("AS4") == AssumptionImpact("AS4", edges=["G1->AC1/FEEDBACK"], nodes=[], goals=[], activities=[])


def test_each_refuted_assumption_says_what_it_touches() -> None:
    observations = make_observations(reviewed={"AS2": "refuted", "AS1": "at_risk", "AS3": "refuted", "AS9": "refuted"})
    found = analysis(observations=observations, assumption="AS1")
    assert found.refuted == [only("AS2"), only("AS3")]
    assert (found.touched, found.left_out) == (only("AS1"), UNSET)
    bounded = analysis(observations=observations, limit=1)
    assert ([one.assumption for one in bounded.refuted], bounded.left_out) == (["AS2"], {"refuted": 1})


def test_a_key_that_is_not_there_is_the_callers_to_check() -> None:
    for ask in (
        lambda: analysis(node="AC9"),
        lambda: analysis(assumption="AS9"),
        lambda: only("AS9"),
    ):
        with pytest.raises(KeyError):
            ask()


@given(st.permutations(list(BRANCHED.nodes.values())), st.permutations(BRANCHED.edges))
def test_the_same_theory_gives_the_same_bytes_whatever_order_it_came_in(
    nodes: list[PurposeNode], edges: list[PurposeEdge]
) -> None:
    again = build_content(nodes, edges, BRANCHED.assumptions.values(), [])
    unordered = Content({node.key: node for node in nodes}, edges, BRANCHED.assumptions, {})
    before = msgspec.json.encode(analysis(node="AC1", assumption="AS1"))
    assert msgspec.json.encode(analysis(again, node="AC1", assumption="AS1")) == before
    assert msgspec.json.encode(analysis(unordered, node="AC1", assumption="AS1")) == before
