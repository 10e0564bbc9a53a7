"""Small random graphs, and the slow and obvious answers that the quick ones are compared with."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from time import process_time

from hypothesis import strategies as st

from groundplan.purpose.graph.indexed_graph import Graph, build_graph

KEYS = ("G1", "G2", "OC1", "OP2", "OP10", "AC1", "AC2")  # in the order of lists
Pair = tuple[str, str]

pairs = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(KEYS)), max_size=16)
acyclic_pairs = pairs.map(lambda some: [(a, b) for a, b in some if KEYS.index(a) > KEYS.index(b)])


def drawn(some: Sequence[Pair]) -> Graph:
    return build_graph(KEYS, some)


def simple_ways(some: Sequence[Pair], start: str) -> Iterator[list[str]]:
    """Every way of at least one edge that passes no node twice; only its end may be its beginning."""

    def on(way: list[str]) -> Iterator[list[str]]:
        for after in sorted({b for a, b in some if a == way[-1]}, key=KEYS.index):
            if after == start or after not in way:
                yield [*way, after]
            if after not in way:
                yield from on([*way, after])

    return on([start])


def cycles(some: Sequence[Pair]) -> list[list[str]]:
    """Every cycle, from each of its nodes; the shortest and first in the order of lists first."""
    found = [way for key in KEYS for way in simple_ways(some, key) if way[-1] == key]
    return sorted(found, key=lambda way: (len(way), [KEYS.index(key) for key in way]))


def reaches(some: Sequence[Pair], start: str, goal: str) -> bool:
    return start == goal or any(way[-1] == goal for way in simple_ways(some, start))


# How much longer ten times as much may take. What is quadratic takes a hundred times as long.
TIMES_MAX = 40


def grows_linearly(run: Callable[[int], object], *, small: int) -> bool:
    """Whether ten times as much takes at most some tens of times as long, in this process, now."""

    def taken(size: int) -> float:
        gc.disable()  # else what other tests left behind is gone through as well, the oftener the more is made
        try:
            begun = process_time()
            run(size)
            return process_time() - begun
        finally:
            gc.enable()

    once = max(taken(small), 1e-4)
    return taken(10 * small) <= TIMES_MAX * once
