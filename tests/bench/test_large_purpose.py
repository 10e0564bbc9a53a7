"""Generated theories for benchmarks: of the requested size, valid, and equal for equal seeds."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.large_purpose import BATCH, fill_large, large_theory
from tests.engines import Engine


def count_parts(nodes: int, edges: int, indicators: int) -> Counter[str]:
    return Counter(one["op"] for batch in large_theory(nodes, edges, indicators, seed=3) for one in batch)


@pytest.mark.parametrize(
    ("nodes", "edges", "indicators"), [(4, 3, 0), (30, 45, 18), (300, 450, 180), (2_000, 9_000, 9)]
)
def test_a_theory_has_as_much_of_everything_as_was_asked_for(nodes: int, edges: int, indicators: int) -> None:
    found = count_parts(nodes, edges, indicators)

    assert (found["add_node"], found["add_edge"], found["add_indicator"]) == (nodes, edges, indicators)
    assert all(len(batch) <= BATCH for batch in large_theory(nodes, edges, indicators, seed=3))


def test_the_same_seed_gives_the_same_theory_and_another_one_another() -> None:
    assert large_theory(30, 45, 18, seed=1) == large_theory(30, 45, 18, seed=1)
    assert large_theory(30, 45, 18, seed=1) != large_theory(30, 45, 18, seed=2)


@pytest.mark.parametrize(("nodes", "edges"), [(3, 3), (30, 28), (30, 500)])
def test_a_size_that_no_theory_has_is_refused(nodes: int, edges: int) -> None:
    with pytest.raises(ValueError, match="nodes"):
        large_theory(nodes, edges, 0, seed=1)


def test_batches_that_speak_of_each_others_nodes_fill_a_draft_that_can_be_published(engine: Engine) -> None:
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    batches = large_theory(300, 450, 180, seed=5)

    fill_large(ada, "atlas", batches)

    counts = ada.call("purpose.open", project="atlas", detail="summary").counts
    assert len(batches) == 2
    assert (counts.goal + counts.outcome + counts.output + counts.activity) == 300
    assert (counts.edges, counts.indicators) == (450, 180)
    assert ada.call("purpose.publish", project="atlas").version.number == 1
