"""The waiting relation between moments, with its cycles and paths, for repeated questions about one graph.

A node has two moments: it may start, and it is finished. `iter_waits` is the only place that says which moment waits
for which.

A thousand new dependencies ask a thousand times whether a path exists. Two things spare most of these walks. Moments
have ranks that grow along every step, so a goal of a lower rank is out of reach. And a path that was found once answers
every question about two of its moments.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

PATHS_KEPT_MAX = 16

Steps = Mapping[int, Sequence[int]]


def get_start_moment(n: int) -> int:
    """Return the moment at which a node may start, which is twice its number."""
    return n * 2


def get_finish_moment(n: int) -> int:
    """Return the moment at which a node is finished."""
    return n * 2 + 1


def iter_waits(
    nodes: Iterable[tuple[int, int | None, int | None]], dependencies: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of a moment and a moment that it waits for directly.

    `nodes` has the number of each node, of its parent, and of the ancestor whose waiting it inherits. A node is
    finished after its start and after its children. It may start after its dependencies are finished, and after that
    ancestor may start.
    """
    for n, parent, inherited in nodes:
        yield get_finish_moment(n), get_start_moment(n)
        if parent is not None:
            yield get_finish_moment(parent), get_finish_moment(n)
        if inherited is not None:
            yield get_start_moment(n), get_start_moment(inherited)
    for source, target in dependencies:
        yield get_start_moment(source), get_finish_moment(target)


def group_steps(steps: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the steps by their first moment. Every moment is a key."""
    grouped: dict[int, list[int]] = {}
    for moment, after in steps:
        grouped.setdefault(moment, []).append(after)
        grouped.setdefault(after, [])
    return grouped


def find_cycle(steps: Steps) -> list[int] | None:
    """Return any cycle, with its first moment repeated at the end, or None. Each step is visited once."""
    finished: set[int] = set()
    for first in steps:
        on_path: dict[int, None] = {}  # ordered from `first` on
        todo: list[tuple[int, bool]] = [(first, False)]
        while todo:
            moment, is_left = todo.pop()
            if is_left:
                del on_path[moment]
                finished.add(moment)
            elif moment in on_path:
                path = list(on_path)
                return [*path[path.index(moment) :], moment]
            elif moment not in finished:
                on_path[moment] = None
                todo.append((moment, True))
                todo += [(after, False) for after in steps.get(moment, ())]
    return None


def sort_last_steps_first(steps: Steps) -> list[int] | None:
    """Return the moments with steps, each after all that its steps lead to; None if there is a cycle."""
    order: dict[int, None] = {}
    entered: set[int] = set()
    for first in steps:
        todo = [first]
        while todo:
            moment = todo[-1]
            if moment in order:
                todo.pop()
                continue
            entered.add(moment)
            ahead = [after for after in steps.get(moment, ()) if after not in order]
            if not ahead:
                order[todo.pop()] = None
            elif not entered.isdisjoint(ahead):
                return None
            else:
                todo += reversed(ahead)
    return list(order)


def find_path(steps: Steps, source: int, goal: int) -> list[int] | None:
    """Return the shortest path from the source to the goal, or None."""
    came_from: dict[int, int] = {}
    for moment, before in _walk(steps, source, {}, 0):
        came_from[moment] = before
        if moment == goal:
            return _trace_back(came_from, source, goal)
    return None


def _walk(steps: Steps, source: int, ranks: Mapping[int, int], rank_max: int) -> Iterator[tuple[int, int]]:
    """Yield the moments from the source up to a rank, nearest first, each with the one before it."""
    reached = {source}
    ahead = deque([source])
    yield source, source
    while ahead:
        moment = ahead.popleft()
        for after in steps.get(moment, ()):
            if after not in reached and ranks.get(after, rank_max) <= rank_max:
                reached.add(after)
                ahead.append(after)
                yield after, moment


def _trace_back(came_from: Mapping[int, int], source: int, goal: int) -> list[int]:
    path = [goal]
    while path[-1] != source:
        path.append(came_from[path[-1]])
    return path[::-1]


class MomentGraph:
    """A graph of moments. It contains every moment that its steps lead to."""

    def __init__(self) -> None:
        self._steps: dict[int, list[int]] = {}
        self._ranks: dict[int, int] = {}  # steps go from lower to higher ranks, unless the graph is cyclic
        self._unranked: list[int] = []
        self._is_cyclic = False
        self._is_asked_again = False  # one question costs less without ranks
        self._paths: list[dict[int, int]] = []  # paths that were found: the index of each moment
        self._are_paths_shortest = True

    def __contains__(self, moment: int) -> bool:
        return moment in self._steps

    def load(self, steps: Mapping[int, list[int]]) -> None:
        """Add moments with all of their steps, and with all moments that these lead to."""
        new = [moment for moment in steps if moment not in self._steps]
        self._unranked += new
        for moment in new:
            self._steps[moment] = steps[moment]

    def clear(self) -> None:
        """Remove everything."""
        for collection in (self._steps, self._ranks, self._unranked, self._paths):
            collection.clear()
        self._is_cyclic = False

    def add(self, moment: int, after: int) -> None:
        """Add a step from a moment of the graph, unless it exists."""
        if after not in self._steps:
            self.clear()  # everything behind it would have to be loaded
        elif after not in self._steps[moment]:
            self._steps[moment].append(after)
            self._are_paths_shortest = False
            if moment in self._ranks and after in self._ranks:
                self._raise_rank(after, self._ranks[moment] + 1)

    def remove(self, moment: int, after: int) -> None:
        """Remove a step, if it exists."""
        if after in self._steps.get(moment, ()):
            self._steps[moment].remove(after)
            self._paths.clear()

    def has_path(self, source: int, goal: int) -> bool:
        """Return whether a path leads from the source to another moment."""
        if self._is_out_of_reach(source, goal):
            return False
        through = [path for path in self._paths if goal in path]
        for moment, _ in self._walk_to(source, goal):
            if moment == goal or any(path.get(moment, len(path)) < path[goal] for path in through):
                return True
        return False

    def find_path(self, source: int, goal: int) -> list[int] | None:
        """Return the shortest path from the source to another moment, or None."""
        if self._is_out_of_reach(source, goal):
            return None
        if self._are_paths_shortest:
            for stored in self._paths:  # a part of a shortest path is a shortest path
                if stored.get(source, len(stored)) < stored.get(goal, -1):
                    return list(stored)[stored[source] : stored[goal] + 1]
        came_from: dict[int, int] = {}
        for moment, before in self._walk_to(source, goal):
            came_from[moment] = before
            if moment == goal:
                return self._keep(_trace_back(came_from, source, goal))
        return None

    def _keep(self, path: list[int]) -> list[int]:
        kept = self._paths[1 - PATHS_KEPT_MAX :] if self._are_paths_shortest else []
        self._paths = [*kept, {moment: index for index, moment in enumerate(path)}]
        self._are_paths_shortest = True
        return path

    def _walk_to(self, source: int, goal: int) -> Iterator[tuple[int, int]]:
        is_ranked = goal in self._ranks and not self._is_cyclic
        return _walk(self._steps, source, self._ranks if is_ranked else {}, self._ranks[goal] if is_ranked else 0)

    def _is_out_of_reach(self, source: int, goal: int) -> bool:
        if goal not in self._steps:
            return True
        if self._unranked and self._is_asked_again:
            self._rank_loaded()
        self._is_asked_again = True
        ranks = self._ranks
        return not self._is_cyclic and goal in ranks and source in ranks and ranks[goal] <= ranks[source]

    def _rank_loaded(self) -> None:
        """Rank the loaded moments below the moments that they lead to."""
        ranks = self._ranks
        on_path: set[int] = set()
        todo = [(moment, False) for moment in self._unranked]
        while todo:
            moment, is_left = todo.pop()
            if is_left:
                on_path.discard(moment)
                ranks[moment] = min((ranks.get(after, 0) for after in self._steps[moment]), default=0) - 1
            elif moment in on_path:
                self._is_cyclic = True  # a loop that was stored before loops were refused
            elif moment not in ranks:
                on_path.add(moment)
                todo.append((moment, True))
                todo += [(after, False) for after in self._steps[moment] if after not in ranks]
        self._unranked.clear()

    def _raise_rank(self, moment: int, rank: int) -> None:
        """Raise the rank of a moment, and the ranks of the moments that it leads to."""
        todo = [(moment, rank)]
        while todo and not self._is_cyclic:
            moment, rank = todo.pop()
            if self._ranks[moment] < rank:
                self._ranks[moment] = rank
                todo += [(after, rank + 1) for after in self._steps[moment]]
