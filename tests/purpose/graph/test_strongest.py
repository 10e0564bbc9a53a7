"""The strongest path has the highest minimum confidence of its edges."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.graph.graph import build_graph
from groundplan.purpose.graph.paths import find_strongest_paths
from tests.proof import scaled
from tests.purpose.graph.small_graphs import KEYS, Pair, grows_linearly, simple_paths

strengths = st.dictionaries(
    st.tuples(st.sampled_from(KEYS), st.sampled_from(KEYS)), st.integers(min_value=0, max_value=3), max_size=16
)


@given(strengths)
def test_no_path_to_a_goal_is_stronger_and_none_as_strong_is_shorter_or_stands_before_it(sure: dict[Pair, int]) -> None:
    some = list(sure)
    graph = build_graph(KEYS, some)
    beginnings = [key for key in KEYS if not any(b == key for _, b in some)]
    found = find_strongest_paths(graph, [sure[pair] for pair in some], range(2))

    for goal in range(2):
        ways = [way for key in beginnings for way in simple_paths(some, key) if way[-1] == KEYS[goal]]
        best = min(
            ways,
            key=lambda way: (
                -min(sure[pair] for pair in pairwise(way)),
                len(way),
                [KEYS.index(key) for key in way],
            ),
            default=None,
        )
        path = [some[edge] for edge in found[goal]]
        assert path == ([] if best is None else list(pairwise(best)))


def test_a_goal_to_which_nothing_leads_has_no_path() -> None:
    graph = build_graph(["G1", "G2", "OC1", "OC2"], [("OC1", "OC2"), ("OC2", "OC1"), ("OC2", "G2")])
    assert find_strongest_paths(graph, [3, 3, 3], [0, 1]) == {0: [], 1: []}


@pytest.mark.proof
def test_very_many_edges_and_goals_take_linear_time() -> None:
    def run(size: int) -> None:
        keys = [f"OC{n}" for n in range(size // 2)]
        goals = [f"G{n}" for n in range(size // 2)]
        some = [*pairwise(keys), *zip(keys, goals, strict=True)]
        graph = build_graph([*keys, *goals], some)
        found = find_strongest_paths(graph, [edge % 4 for edge in range(len(some))], [graph.numbers[goals[-1]], 1])
        assert len(found[graph.numbers[goals[-1]]]) == size // 2

    assert grows_linearly(run, small=scaled(2_500, 10_000))
