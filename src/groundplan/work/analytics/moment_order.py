"""The starts and finishes of open nodes in an order in which each comes after what it waits for.

The relation is that of the cycle check (`engine/cycles.py`). Moments are numbered by the position of their node: its
start is twice the position, its finish one more. Everything is done in loops, so that a chain of a hundred thousand
nodes needs no recursion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from heapq import nlargest

from groundplan.work.analytics.open_graph import OpenGraph, OpenNode

SAMPLE_MAX = 4_096  # nodes that are counted to find those that most wait for
SPREAD = 2_654_435_761  # a prime near 2**32 divided by the golden ratio: multiples of it are spread evenly


class MomentOrder:
    """The moments of a plan, what waits for each of them, and their order; a loop has none."""

    def __init__(self, graph: OpenGraph) -> None:
        self.nodes: Sequence[OpenNode] = list(graph.nodes.values())
        position = {node.n: index for index, node in enumerate(self.nodes)}
        self.waiters: list[list[int]] = [[index + 1] if index % 2 == 0 else [] for index in range(2 * len(self.nodes))]
        self._awaited = [index % 2 for index in range(2 * len(self.nodes))]  # the number of moments that each waits for
        for index, node in enumerate(self.nodes):
            if node.parent_n is None:
                continue
            self._add(2 * index + 1, 2 * position[node.parent_n] + 1)
            above = node.parent_n if graph.inherits else node.feature_n
            if above is not None:
                self._add(2 * position[above], 2 * index)
        for source, target in graph.dependencies:
            self._add(2 * position[target] + 1, 2 * position[source])
        self.order = self._sort()

    def _add(self, moment: int, waiter: int) -> None:
        self.waiters[moment].append(waiter)
        self._awaited[waiter] += 1

    def _sort(self) -> list[int]:
        left = self._awaited.copy()
        order = [moment for moment, count in enumerate(left) if not count]
        for moment in order:  # the list grows during the loop
            for waiter in self.waiters[moment]:
                left[waiter] -= 1
                if not left[waiter]:
                    order.append(waiter)
        return order

    @property
    def stuck(self) -> int:
        """The number of nodes that can never be finished, because they wait for a loop."""
        return len(self.nodes) - sum(moment % 2 for moment in self.order)

    def find_longest_path(self, estimates: Sequence[float]) -> list[tuple[OpenNode, float]]:
        """Return the nodes of the path that takes longest, first ones first, each with the time at which it is done."""
        done = [0.0] * len(self.waiters)
        before = [-1] * len(self.waiters)
        last = -1
        for moment in self.order:
            if moment % 2:
                done[moment] += estimates[moment // 2]
            if last < 0 or done[moment] > done[last]:
                last = moment
            for waiter in self.waiters[moment]:
                if before[waiter] < 0 or done[moment] > done[waiter]:
                    done[waiter], before[waiter] = done[moment], moment
        path = []
        while last >= 0:
            if last % 2 and self.nodes[last // 2].is_work:
                path.append((self.nodes[last // 2], done[last]))
            last = before[last]
        return path[::-1]

    def find_most_awaited(self, at_most: int) -> list[tuple[int, int]]:
        """Return the nodes that most others wait for, directly or not, each with their exact number.

        Up to SAMPLE_MAX nodes all are compared exactly. Among more, a fixed sample decides which ones are counted: to
        count all pairs would take a minute and gigabytes.
        """
        work = [index for index, node in enumerate(self.nodes) if node.is_work]
        sample = work if len(work) <= SAMPLE_MAX else sorted(work, key=_spread)[:SAMPLE_MAX]
        waiting = self._count_waiters_among(sample)
        candidates = nlargest(2 * at_most, work, key=lambda index: (waiting[index], -index))
        counts = self.count_waiters([self.nodes[index].n for index in candidates if waiting[index]])
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:at_most]

    def _count_waiters_among(self, sample: Collection[int]) -> list[int]:
        """Return for each position how many nodes of a sample wait for it. A row of bits is kept until it is used."""
        bits = {2 * index + 1: 1 << bit for bit, index in enumerate(sample)}
        rows = [0] * len(self.waiters)
        unused = self._awaited.copy()
        counts = [0] * len(self.nodes)
        for moment in reversed(self.order):
            row = 0
            for waiter in self.waiters[moment]:
                row |= rows[waiter]
                unused[waiter] -= 1
                if not unused[waiter]:
                    rows[waiter] = 0
            if moment % 2:
                counts[moment // 2] = row.bit_count()
                row |= bits.get(moment, 0)
            if unused[moment]:
                rows[moment] = row
        return counts

    def count_waiters(self, ns: Sequence[int]) -> dict[int, int]:
        """Return for each of a few nodes how many others wait for it, directly or not."""
        asked = {n: 1 << bit for bit, n in enumerate(ns)}
        bits = {2 * index + 1: asked[node.n] for index, node in enumerate(self.nodes) if node.n in asked}
        rows = [0] * len(self.waiters)
        behind = Counter[int]()
        for moment in self.order:
            row = rows[moment]
            if moment % 2 and row and self.nodes[moment // 2].is_work:
                behind[row] += 1
            row |= bits.get(moment, 0)
            if row:
                for waiter in self.waiters[moment]:
                    rows[waiter] |= row
        return {n: sum(count for row, count in behind.items() if row & bit) for n, bit in asked.items()}


def _spread(index: int) -> int:
    return (index + 1) * SPREAD % 2**32
