"""Small random graphs, and slow reference algorithms for them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from time import process_time

from hypothesis import strategies as st

from groundplan.purpose.graph.graph import Graph, build_graph

KEYS = ("G1", "G2", "OC1", "OP2", "OP10", "AC1", "AC2")  # in key order
Pair = tuple[str, str]

pairs = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(KEYS)), max_size=16)
acyclic_pairs = pairs.map(lambda some: [(a, b) for a, b in some if KEYS.index(a) > KEYS.index(b)])


def make_graph(some: Sequence[Pair]) -> Graph:
    return build_graph(KEYS, some)


def simple_paths(some: Sequence[Pair], start: str) -> Iterator[list[str]]:
    """Yield every path of at least one edge without repeated nodes; only its end may be its start."""

    def extend(way: list[str]) -> Iterator[list[str]]:
        for after in sorted({b for a, b in some if a == way[-1]}, key=KEYS.index):
            if after == start or after not in way:
                yield [*way, after]
            if after not in way:
                yield from extend([*way, after])

    return extend([start])


def find_cycles(some: Sequence[Pair]) -> list[list[str]]:
    """Return every cycle, from each of its nodes; shortest first, then in key order."""
    found = [way for key in KEYS for way in simple_paths(some, key) if way[-1] == key]
    return sorted(found, key=lambda way: (len(way), [KEYS.index(key) for key in way]))


def is_reachable(some: Sequence[Pair], start: str, goal: str) -> bool:
    return start == goal or any(way[-1] == goal for way in simple_paths(some, start))


# How much longer a tenfold input may take. A quadratic algorithm takes a hundred times as long.
TIMES_MAX = 40


def grows_linearly(run: Callable[[int], object], *, small: int) -> bool:
    """Return whether ten times the input takes at most TIMES_MAX times as long in this process."""

    def measure_s(size: int) -> float:
        gc.disable()  # otherwise garbage of other tests is collected in the measured time
        try:
            begun = process_time()
            run(size)
            return process_time() - begun
        finally:
            gc.enable()

    once = max(measure_s(small), 1e-4)
    return measure_s(10 * small) <= TIMES_MAX * once
