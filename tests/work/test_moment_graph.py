"""Searches in a graph of moments give the same answers as plain ones, and do not repeat a walk."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from groundplan.work.waiting.moments import MomentGraph, find_cycle, find_path

LENGTH = 2_000
QUESTIONS = 200

Pair = tuple[int, int]
PAIRS = st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda pair: pair[0] != pair[1])


class CountedSteps(list[int]):
    """Steps from a moment that count how often they are walked."""

    walked = 0

    def __iter__(self) -> Iterator[int]:
        type(self).walked += 1
        return super().__iter__()


def load_chain() -> MomentGraph:
    """Return a graph in which each moment leads to the next, and start to count."""
    graph = MomentGraph()
    graph.load({n: CountedSteps([n + 1] if n < LENGTH else []) for n in range(LENGTH + 1)})
    CountedSteps.walked = 0
    return graph


@given(st.lists(PAIRS, max_size=20), st.lists(st.tuples(PAIRS, st.sampled_from(["add", "remove", "ask"])), max_size=25))
def test_paths_are_the_shortest_whatever_was_added_removed_and_asked_before(
    first: list[Pair], changes: list[tuple[Pair, str]]
) -> None:
    plain: dict[int, list[int]] = {n: [] for n in range(12)}
    for source, target in dict.fromkeys(first):
        plain[source].append(target)
    graph = MomentGraph()
    graph.load({moment: list(after) for moment, after in plain.items()})
    for (source, target), verb in changes:
        expected = find_path(plain, source, target)
        found = graph.find_path(source, target)
        assert graph.has_path(source, target) == (expected is not None)
        assert (found and len(found)) == (expected and len(expected))
        if verb == "add" and find_path(plain, target, source) is None and target not in plain[source]:
            plain[source].append(target)
            graph.add(source, target)
        elif verb == "remove" and target in plain[source]:
            plain[source].remove(target)
            graph.remove(source, target)


@given(st.lists(PAIRS, max_size=20))
def test_moments_that_are_loaded_later_are_found(pairs: list[Pair]) -> None:
    plain: dict[int, list[int]] = {n: [] for n in range(12)}
    for source, target in dict.fromkeys(pairs):
        plain[source].append(target)
    graph = MomentGraph()
    for source in plain:
        ahead = {moment for moment in plain if find_path(plain, source, moment) is not None}
        graph.load({moment: list(plain[moment]) for moment in ahead})
        for goal in plain:
            if goal != source:
                assert graph.has_path(source, goal) == (goal in ahead)


def test_many_refused_questions_about_a_chain_cost_about_one_walk() -> None:
    graph = load_chain()

    for n in range(QUESTIONS):
        assert graph.has_path(n, LENGTH - n) if n >= 20 else graph.find_path(n, LENGTH - n)

    assert CountedSteps.walked < 5 * LENGTH


def test_many_accepted_questions_about_a_chain_cost_about_one_walk() -> None:
    graph = load_chain()

    for n in range(QUESTIONS):
        assert graph.find_path(LENGTH - n, n) is None
        graph.add(n, LENGTH - n)

    assert CountedSteps.walked < 5 * LENGTH
    assert graph.find_path(0, LENGTH) == [0, LENGTH]


def test_a_stored_loop_does_not_hide_a_path() -> None:
    graph = MomentGraph()
    graph.load({1: [2], 2: [3, 1], 3: [4], 4: [5], 5: []})

    assert [graph.has_path(source, 5) for source in (1, 2, 3, 4)] == [True] * 4
    assert [graph.has_path(5, goal) for goal in (1, 2, 3, 4)] == [False] * 4
    assert find_cycle({1: [2], 2: [3, 1], 3: [], 4: []}) in ([1, 2, 1], [2, 1, 2])
