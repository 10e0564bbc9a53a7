"""A briefing of a very large project is bounded: it reads and walks no more than it can show."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.purpose.graph.graph import build_graph
from groundplan.purpose.graph.paths import find_ways_to_goals
from groundplan.purpose.in_force import CACHED_VERSIONS_MAX, ChainsCache
from tests.briefing.client import BriefingClient, count_tokens
from tests.purpose.client import add_edge, add_node, op

CHAIN_LENGTH = 10_000
BATCH = 500


def test_a_chain_of_ten_thousand_edges_is_walked_once_and_followed_to_its_goal() -> None:
    keys = [f"OC{number}" for number in range(1, CHAIN_LENGTH + 1)]
    graph = build_graph([*keys, "G1"], list(zip(keys, [*keys[1:], "G1"], strict=True)))

    ways = find_ways_to_goals(graph, [3] * CHAIN_LENGTH, [graph.numbers["G1"]])

    assert ways.lengths[graph.numbers["OC1"]] == CHAIN_LENGTH


def test_a_cycle_leads_to_the_goal_or_nowhere_and_never_around() -> None:
    graph = build_graph(["OC1", "OC2", "OC3", "G1"], [("OC1", "OC2"), ("OC2", "OC1"), ("OC2", "G1"), ("OC3", "OC3")])

    ways = find_ways_to_goals(graph, [3, 3, 0, 3], [graph.numbers["G1"]])

    assert [ways.lengths[graph.numbers[key]] for key in ("OC1", "OC2")] == [2, 1]
    assert ways.strengths[graph.numbers["OC3"]] == -1


def test_a_strong_detour_is_preferred_to_a_weak_short_cut() -> None:
    graph = build_graph(["OP1", "OC1", "G1"], [("OP1", "G1"), ("OP1", "OC1"), ("OC1", "G1")])

    ways = find_ways_to_goals(graph, [1, 3, 2], [graph.numbers["G1"]])

    start = graph.numbers["OP1"]
    assert (ways.edges[start], ways.strengths[start], ways.lengths[start]) == (1, 2, 2)


def test_a_long_chain_is_cut_to_the_budget_and_counted_exactly(plan: BriefingClient) -> None:
    length, batch = 600, 200
    for first in range(0, length, batch):
        titles = [add_node("OUTCOME", f"result {first + number}", ref=f"r{number}") for number in range(batch)]
        edges = [add_edge(f"r{number}", f"r{number + 1}") for number in range(batch - 1)]
        last = "OC1" if first == 0 else f"OC{first - batch + 2}"
        plan.purpose.edit(*titles, *edges, add_edge(f"r{batch - 1}", last))
    plan.plan("far")
    plan.serve("far", f"OC{length - batch + 2}")

    answer = plan.context("far", budget=1_500)

    shown = len(answer.briefing.why)
    assert shown + answer.briefing.left_out["why"] == length + 2
    assert 1_350 <= count_tokens(answer) <= 1_500


def test_a_node_that_serves_500_outcomes_gets_the_strongest_path_and_room_for_the_rest(plan: BriefingClient) -> None:
    nodes = [add_node("OUTCOME", f"outcome {number}", ref=f"r{number}") for number in range(BATCH)]
    plan.purpose.edit(*nodes, *(add_edge(f"r{number}", "G1", confidence="low") for number in range(BATCH)))
    plan.serve("task", *(f"OC{number + 2}" for number in range(BATCH)))

    answer = plan.context("task", budget=1_500)

    assert [step.key for step in answer.briefing.why][:3] == ["OC2", "G1", "OC3"]
    assert len(answer.briefing.why) + answer.briefing.left_out["why"] == BATCH + 3
    assert answer.briefing.missing == ["/colour"]
    assert answer.briefing.constraints[0].key == "paper"


def test_of_very_many_atoms_only_those_are_read_that_could_be_shown(plan: BriefingClient) -> None:
    for number in range(300):
        plan.know(f"Atom {number:04}", "src/**", "text " * 5)

    answer = plan.context("task", budget=600)

    excerpts = sum(1 for one in answer.briefing.knowledge if one.excerpt)
    assert len(answer.briefing.knowledge) - excerpts + answer.briefing.left_out["knowledge"] == 302
    assert 540 <= count_tokens(answer) <= 600


def test_only_a_few_versions_are_kept_in_memory(plan: BriefingClient, monkeypatch: pytest.MonkeyPatch) -> None:
    caches: list[ChainsCache] = []
    keep = ChainsCache.put

    def note(self: ChainsCache, *given: Any) -> None:
        caches.append(self)
        keep(self, *given)

    monkeypatch.setattr(ChainsCache, "put", note)
    for number in range(CACHED_VERSIONS_MAX + 4):
        plan.purpose.edit(op("update_node", node="OP1", title=f"map {number}"))
        assert plan.brief().why[0].title == f"map {number}"
        plan.brief()

    assert len(caches) == CACHED_VERSIONS_MAX + 4  # the second briefing of each reads nothing
    assert len(caches[-1]) == CACHED_VERSIONS_MAX
