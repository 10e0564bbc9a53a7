"""All pathways are returned, or the answer says that there are more."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.graph.graph import build_graph
from groundplan.purpose.graph.paths import find_pathways
from tests.purpose.graph.small_graphs import KEYS, Pair, make_graph, pairs, simple_paths


@given(pairs, st.sampled_from(KEYS), st.integers(min_value=0, max_value=9))
def test_pathways_are_the_simple_ways_to_goals_in_the_order_of_lists(some: list[Pair], start: str, limit: int) -> None:
    graph = make_graph(some)
    every = [way for way in simple_paths(some, start) if way[-1] in KEYS[:2] and way[-1] != start]

    found = find_pathways(graph, graph.numbers[start], [0, 1], limit=limit)

    assert [[KEYS[node] for node in way] for way in found.ways] == every[:limit]
    assert found.is_cut == (len(every) > limit)


def test_a_search_that_would_come_to_nothing_for_ages_is_given_up_and_says_so() -> None:
    # A complete graph with the goal behind the start: each path runs into itself.
    keys = [f"OC{n}" for n in range(30)]
    some = [(a, b) for a in keys for b in keys if a != b] + [("OC0", "AC1"), ("AC1", "G1")]
    graph = build_graph([*keys, "AC1", "G1"], some)
    found = find_pathways(graph, graph.numbers["OC0"], [0], limit=10)
    assert (found.ways, found.is_cut) == ([], True)


LONG = 10_000  # far beyond Python's recursion limit


def test_a_very_long_chain_is_one_pathway() -> None:
    keys = ["G1", *(f"OC{n}" for n in range(LONG))]
    graph = build_graph(keys, [(b, a) for a, b in pairwise(keys)])
    found = find_pathways(graph, LONG, [0], limit=2)
    assert ([len(way) for way in found.ways], found.is_cut) == ([LONG + 1], False)
