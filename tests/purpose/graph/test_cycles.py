"""A cycle is found in linear time, by name, and always the same one."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.graph import cycles as searching
from groundplan.purpose.graph.cycles import (
    find_closed_cycle,
    find_components,
    find_cyclic_components,
    find_shortest_cycle,
)
from groundplan.purpose.graph.graph import Graph, build_graph
from tests.proof import scaled
from tests.purpose.graph.small_graphs import (
    KEYS,
    Pair,
    acyclic_pairs,
    find_cycles,
    grows_linearly,
    is_reachable,
    make_graph,
    pairs,
)

# A ring of four hundred nodes, with a bypass of each step.
RING = [
    pair
    for n in range(400)
    for pair in ((f"OC{n}", f"OC{(n + 1) % 400}"), (f"OC{n}", f"AC{n}"), (f"AC{n}", f"OC{(n + 1) % 400}"))
]


def find_named_cycle(graph: Graph) -> list[str] | None:
    return find_shortest_cycle(graph, find_cyclic_components(graph))


@given(pairs)
def test_nodes_share_a_component_exactly_when_they_reach_each_other(some: list[Pair]) -> None:
    found = dict(zip(KEYS, find_components(make_graph(some)), strict=True))
    for one in KEYS:
        for other in KEYS:
            assert (found[one] == found[other]) == (is_reachable(some, one, other) and is_reachable(some, other, one))


@given(pairs)
def test_the_cycle_that_is_named_is_the_first_of_the_shortest(some: list[Pair]) -> None:
    assert find_named_cycle(make_graph(some)) == next(iter(find_cycles(some)), None)


@given(pairs, st.sets(st.sampled_from(KEYS)))
def test_a_cycle_is_looked_for_only_through_nodes_that_count(some: list[Pair], counting: set[str]) -> None:
    graph = make_graph(some)
    through = [graph.numbers[key] for key in counting]
    expected = next((way for way in find_cycles(some) if way[0] in counting), None)
    assert find_shortest_cycle(graph, find_cyclic_components(graph), through=through) == expected


@given(acyclic_pairs)
def test_where_there_is_no_cycle_none_is_named(some: list[Pair]) -> None:
    assert (find_cyclic_components(make_graph(some)), find_named_cycle(make_graph(some))) == ([], None)


@given(pairs, st.randoms(use_true_random=False))
def test_the_order_in_which_edges_are_given_names_no_other_cycle(some: list[Pair], random: Random) -> None:
    shuffled = list(some)
    random.shuffle(shuffled)
    assert find_named_cycle(make_graph(shuffled)) == find_named_cycle(make_graph(some))


@given(pairs, pairs)
def test_a_closed_cycle_begins_with_an_added_edge_and_is_a_shortest_through_it(
    some: list[Pair], added: list[Pair]
) -> None:
    every = [*some, *added]
    through = {tuple(way[:2]): len(way) for way in reversed(find_cycles(every)) if tuple(way[:2]) in added}

    found = find_closed_cycle(every, added)

    if found is None:
        assert not through
    else:
        first = min(through, key=lambda pair: [KEYS.index(key) for key in pair])
        assert (tuple(found[:2]), len(found), found[0]) == (first, through[first], found[-1])
        assert set(pairwise(found)) <= set(every)


def test_what_was_added_and_is_not_there_any_more_closes_nothing() -> None:
    assert find_closed_cycle([("AC1", "OP1")], [("OP1", "AC1")]) is None
    assert find_closed_cycle([], []) is None


def test_a_cycle_that_was_there_before_is_not_held_against_a_new_edge() -> None:
    old = [("OC1", "OC2"), ("OC2", "OC1")]
    assert find_closed_cycle([*old, ("AC1", "OC1")], [("AC1", "OC1")]) is None


def test_a_short_cycle_is_named_among_many_long_ones() -> None:
    every = [*RING, ("AC399", "AC900"), ("AC900", "AC901"), ("AC901", "AC399")]
    graph = build_graph({end for pair in every for end in pair}, every)
    assert find_named_cycle(graph) == ["AC399", "AC900", "AC901", "AC399"]


def test_past_the_bound_on_steps_some_cycle_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SEARCH_STEPS_MIN", 0)
    monkeypatch.setattr(searching, "SEARCH_STEPS_PER_EDGE", 1)
    found = find_named_cycle(build_graph({end for pair in RING for end in pair}, RING))
    assert found is not None
    assert (found[0], len(found)) == (found[-1], 401)
    assert set(pairwise(found)) <= set(RING)


def test_many_paths_are_no_matter() -> None:  # P-8
    # Twelve layers, each connected to the next by 144 edges: too many paths to walk.
    layers = [[f"OC{layer * 12 + place}" for place in range(12)] for layer in range(12)]
    pairs = [(a, b) for one, other in pairwise(layers) for a in one for b in other]
    graph = build_graph([key for layer in layers for key in layer], pairs)
    assert find_named_cycle(graph) is None
    assert find_closed_cycle([*pairs, (layers[-1][0], layers[0][0])], [(layers[-1][0], layers[0][0])]) is not None


@pytest.mark.slow
@pytest.mark.proof
def test_very_many_edges_are_looked_at_in_linear_time_and_without_recursion() -> None:  # P-8
    def run(size: int) -> None:
        keys = [f"OC{n}" for n in range(size)]
        ring = [*pairwise(keys), (keys[-1], keys[0])]
        assert find_closed_cycle(ring, ring[-1:]) == [keys[-1], *keys]
        assert len(find_named_cycle(build_graph(keys, ring)) or []) == size + 1

    assert grows_linearly(run, small=scaled(2_500, 10_000))


@pytest.mark.proof
def test_searching_for_the_shortest_among_very_many_cycles_stays_linear() -> None:
    def run(size: int) -> None:
        random = Random(7)  # noqa: S311 - the same graph every time
        keys = [f"OC{n}" for n in range(size // 4)]
        some = [(random.choice(keys), random.choice(keys)) for _ in range(size)]
        assert find_named_cycle(build_graph(keys, [pair for pair in some if pair[0] != pair[1]]))

    assert grows_linearly(run, small=scaled(2_500, 10_000))
