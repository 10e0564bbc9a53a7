"""Reachability equals the result of a walk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.graph.graph import build_graph, find_leading_to, find_reachable_from
from tests.purpose.graph.small_graphs import KEYS, Pair, is_reachable, make_graph, pairs


@given(pairs, st.sampled_from(KEYS))
def test_what_is_reached_and_what_leads_there_is_what_every_way_says(some: list[Pair], key: str) -> None:
    graph = make_graph(some)
    number = graph.numbers[key]
    assert find_reachable_from(graph, [number]) == {
        graph.numbers[other] for other in KEYS if is_reachable(some, key, other)
    }
    assert find_leading_to(graph, [number]) == {
        graph.numbers[other] for other in KEYS if is_reachable(some, other, key)
    }


def test_an_edge_to_a_node_that_is_not_there_is_no_edge_of_a_graph() -> None:
    with pytest.raises(KeyError):
        build_graph(["AC1"], [("AC1", "OP1")])
