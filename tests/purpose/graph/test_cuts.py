"""The heaviest cut is the edge whose removal separates most nodes from the goal, with or without cycles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.graph import cuts as cutting
from groundplan.purpose.graph.cuts import EdgeCut, find_dominators, find_heaviest_cuts
from groundplan.purpose.graph.graph import build_graph
from tests.proof import scaled
from tests.purpose.graph.small_graphs import KEYS, Pair, grows_linearly, is_reachable, make_graph, pairs


def find_cut_slowly(some: list[Pair], goal: str, counted: set[str]) -> tuple[Pair, list[str]] | None:
    """Remove each edge in turn and return which one separates most nodes from the goal."""
    best: tuple[Pair, list[str]] | None = None
    reaching = [key for key in KEYS if key in counted and is_reachable(some, key, goal)]
    for place in sorted(range(len(some)), key=lambda one: [KEYS.index(key) for key in some[one]]):
        left = [*some[:place], *some[place + 1 :]]
        lost = [key for key in reaching if not is_reachable(left, key, goal)]
        if len(lost) > len(best[1] if best else []):
            best = some[place], lost
    return best


@given(pairs, st.sets(st.sampled_from(KEYS)))
def test_no_edge_cuts_off_more_and_none_as_heavy_stands_before_it(some: list[Pair], counted: set[str]) -> None:
    graph = make_graph(some)
    found = find_heaviest_cuts(graph, [0, 1], [graph.numbers[key] for key in counted])
    for goal in (0, 1):
        cut = found.of[goal]
        shown = None if cut is None else (some[cut.edge], [KEYS[node] for node in cut.lost])
        assert shown == find_cut_slowly(some, KEYS[goal], counted)


@given(pairs)
def test_the_next_node_that_cannot_be_done_without_is_what_leaving_nodes_out_says(some: list[Pair]) -> None:
    tree = find_dominators(make_graph(some), 0)
    assert {KEYS[node] for node in tree.nodes} == {key for key in KEYS if is_reachable(some, key, KEYS[0])}
    for place in range(1, len(tree.nodes)):
        key = KEYS[tree.nodes[place]]
        needed = {other for other in KEYS if other != key and not can_avoid(some, key, other)}
        chain = [place]
        while chain[-1]:
            chain.append(tree.nearest[chain[-1]])
        assert {KEYS[tree.nodes[one]] for one in chain[1:]} == needed


def can_avoid(some: list[Pair], start: str, other: str) -> bool:
    """Return whether a path leads from a node to the goal without another node."""
    return other != KEYS[0] and is_reachable([pair for pair in some if other not in pair], start, KEYS[0])


def test_parallel_edges_do_not_cut() -> None:
    graph = build_graph(["AC1", "G1"], [("AC1", "G1"), ("AC1", "G1")])
    assert find_heaviest_cuts(graph, [0], [1]).of == {0: None}


def test_of_very_many_goals_some_are_left_out_and_named() -> None:
    graph = build_graph(["G1", "G2", "AC1"], [("AC1", "G1"), ("AC1", "G2")])
    most, cutting.CUT_STEPS_MAX = cutting.CUT_STEPS_MAX, 1
    try:
        found = find_heaviest_cuts(graph, [0, 1], [2])
    finally:
        cutting.CUT_STEPS_MAX = most
    assert (found.of, found.left_out) == ({0: EdgeCut(0, [2])}, [1])


@pytest.mark.proof
def test_a_long_chain_met_by_many_shortcuts_takes_nearly_linear_time() -> None:
    def run(size: int) -> None:
        # The case in which a stepwise search for common dominators is quadratic.
        chain = [f"OC{n}" for n in range(size // 3)]
        early = [f"AC{n}" for n in range(size // 3)]
        some = [(b, a) for a, b in zip(["G1", *chain], chain, strict=False)]
        some += [(key, chain[-1]) for key in early] + [(key, "G1") for key in early]
        graph = build_graph(["G1", *chain, *early], some)
        assert find_heaviest_cuts(graph, [0], range(1, len(graph.keys))).of[0] is not None

    assert grows_linearly(run, small=scaled(2_500, 10_000))
