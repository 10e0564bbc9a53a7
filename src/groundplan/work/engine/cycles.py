"""Cycle detection: a plan that could never be finished is refused, and the error shows the loop.

Each open node has two moments, its start (twice its number) and its finish (one more). A finish waits for the start of
the node and for the finishes of its children. A start waits for the finishes of the dependencies; below a feature also
for the start of the feature, and under the policy `inherit_dependencies` for the start of the parent. A loop among the
moments can never be finished. Resolved nodes wait for nothing, and nothing waits for them.

A loop through a node consists of moments that wait for the node, and of moments that the node waits for. So a walk in
one of the two directions finds every loop, and the smaller one is taken. One statement fetches each moment of a walk
once; the loop is then searched in memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies

sql = load_queries(__file__)

PATH_SHOWN_MAX = 50
WALK_LIMITS = (256, 4_096, 65_536)  # moments of a walk before the walk in the other direction is tried
NO_LIMIT = 2**31 - 1
CHAIN_STEPS_MAX = 1_000  # steps of one look from a node along what it waits for
DEPENDENCIES_SHOWN_MAX = 10

MomentGraph = Mapping[int, Sequence[int]]


class Loop(NamedTuple):
    """Nodes that would wait for each other, each for the next one; the last id is the first one again."""

    path: Sequence[str]
    dependencies: Sequence[tuple[str, str]] = ()  # the steps that are dependencies; the others follow from the tree
    has_inherited_step: bool = False  # whether a node waits because an ancestor waits

    def rename(self, names: Mapping[str, str]) -> Loop:
        """Return the loop with other names for some of its nodes."""
        renamed = [(names.get(source, source), names.get(target, target)) for source, target in self.dependencies]
        return self._replace(path=[names.get(node_id, node_id) for node_id in self.path], dependencies=renamed)

    @property
    def uses_tree(self) -> bool:
        """Whether a step of the loop follows from the tree and not from a dependency."""
        return len(self.dependencies) < len(self.path) - 1


class CycleDetected(RuleViolated):
    """A node would have to wait for itself."""

    code = "cycle_detected"
    contract_code = "CIRCULAR_DEPENDENCY"

    def __init__(self, loop: Loop, *, hint: str | None = None, **details: Any) -> None:
        self.loop = loop
        shortened = shorten_path(loop.path)
        if loop.uses_tree and loop.dependencies:
            details["depends_on"] = [list(pair) for pair in loop.dependencies[:DEPENDENCIES_SHOWN_MAX]]
        explanation = _explain(loop) if hint is None else hint
        super().__init__(f"cycle: {' -> '.join(shortened)}{explanation}", path=shortened, **details)


def _explain(loop: Loop) -> str:
    """Return why a loop through the tree is one, and which dependencies to remove."""
    if not (loop.uses_tree and loop.dependencies):
        return ""
    source, target = loop.dependencies[0]
    if len(loop.dependencies) == 1:
        if loop.has_inherited_step:
            return f"; {target} is below {source} and starts after the dependencies of {source} are finished"
        return f"; {target} is an ancestor of {source} and is finished after it"
    return f"; a parent is finished after its children. Remove one of these dependencies: {_list_dependencies(loop)}"


def _list_dependencies(loop: Loop) -> str:
    shown = [f"{source} on {target}" for source, target in loop.dependencies[:DEPENDENCIES_SHOWN_MAX]]
    return ", ".join(shown) + (", …" if len(loop.dependencies) > len(shown) else "")


def describe_stored_loop(loop: Loop) -> str:
    """Return a loop that the project holds, with what to do about it, as one phrase."""
    return (
        f"{' -> '.join(shorten_path(loop.path))} wait for each other; remove a dependency: {_list_dependencies(loop)}"
    )


def shorten_path(path: Sequence[str]) -> list[str]:
    """Return a path, with the middle of a very long one replaced by a count."""
    if len(path) <= PATH_SHOWN_MAX:
        return list(path)
    half = PATH_SHOWN_MAX // 2
    return [*path[:half], f"… {len(path) - 2 * half} more …", *path[-half:]]


def start_moment(n: int) -> int:
    """Return the moment at which a node may start."""
    return n * 2


def finish_moment(n: int) -> int:
    """Return the moment at which a node is finished."""
    return n * 2 + 1


class WaitingMoments:
    """The loop check for the new dependencies of one call.

    It keeps what it has loaded, so that a thousand new dependencies do not load the same moments again. The caller must
    report each dependency between open nodes that it adds or removes.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._waiters: dict[int, list[int]] = {}  # of each loaded moment: all moments that wait for it
        self._waits: dict[int, list[int]] = {}  # of each loaded moment: all moments that it waits for

    def add(self, source: int, target: int) -> None:
        """Record that `source` now depends on `target`."""
        start, finish = start_moment(source), finish_moment(target)
        for graph, moment, other in ((self._waiters, finish, start), (self._waits, start, finish)):
            if moment in graph:
                if other not in graph:
                    graph.clear()  # it would have to be loaded with everything behind it
                elif other not in graph[moment]:
                    graph[moment].append(other)

    def remove(self, source: int, target: int) -> None:
        """Record that `source` no longer depends on `target`."""
        start, finish = start_moment(source), finish_moment(target)
        for graph, moment, other in ((self._waiters, finish, start), (self._waits, start, finish)):
            if other in graph.get(moment, ()):
                graph[moment].remove(other)

    def find_loop_closed_by(self, source: int, target: int) -> Sequence[int] | None:
        """Return the shortest loop that `source` depending on `target` would close, as moments, or None.

        Each moment of the loop waits for the next one, and the last one is the first one again.
        """
        start, finish = start_moment(source), finish_moment(target)
        if source == target:
            return [start, finish, start]
        ends = to_json_array([source, target])
        if len(self._tx.scalars(sql.open_nodes_among, project_id=self._tx.project.id, ns=ends)) < 2:
            return None  # a resolved node waits for nothing, and nothing waits for it
        if start not in self._waiters and finish not in self._waits:
            waiters, waits = _load_smaller(self._tx, above=[start], below=[finish])
            self._waiters.update(waiters)
            self._waits.update(waits)
        if start in self._waiters:
            path = find_path(self._waiters, start, finish)
            return None if path is None else [start, *reversed(path)]
        path = find_path(self._waits, finish, start)
        return None if path is None else [start, *path]

    def describe(self, moments: Sequence[int]) -> Loop:
        """Return a loop of moments as a loop of ids."""
        return _to_loop(self._tx, moments)


def find_loop_through(tx: Transaction, ns: Collection[int]) -> Loop | None:
    """Return a loop through one of these nodes as stored now, or None. Resolved nodes are ignored."""
    open_ns = tx.scalars(sql.open_nodes_among, project_id=tx.project.id, ns=to_json_array(ns))
    if not open_ns:
        return None
    starts, finishes = map(start_moment, open_ns), map(finish_moment, open_ns)
    waiters, waits = _load_smaller(tx, above=list(starts), below=list(finishes))
    graph = waiters or waits
    if find_cycle(graph) is None:
        return None
    # A project may hold a loop from before loops were refused, and this one need not run through the given nodes.
    for moment in (moment for n in open_ns for moment in (start_moment(n), finish_moment(n))):
        for after in graph[moment]:
            if (path := find_path(graph, after, moment)) is not None:
                return _to_loop(tx, [*reversed(path), moment] if waiters else [moment, *path])
    return None


def find_loop_in_project(tx: Transaction) -> Loop | None:
    """Return a loop among all open nodes of the current project, or None."""
    moments = find_cycle(_load_waits(tx, [finish_moment(n) for n in _open_nodes(tx)]))
    return None if moments is None else _to_loop(tx, moments)


def find_stored_loop(tx: Transaction, n: int) -> Loop | None:
    """Return the loop in which a node is stuck, or None.

    Writes refuse loops, but data from before they did so may hold one. This follows one wait of each node, so it takes
    the same time at any size. If no node of the project is ready, claimed or on hold, it finds a loop, unless the path
    to it is longer than CHAIN_STEPS_MAX.
    """
    steps = {
        waiting: (dependency, child)
        for waiting, dependency, child in tx.all(
            sql.chain_of_waits, project_id=tx.project.id, n=n, at_most=CHAIN_STEPS_MAX
        )
    }
    passed: dict[int, int] = {}  # where each node is in `moments`
    moments: list[int] = []
    while n in steps and n not in passed:
        passed[n] = len(moments)
        dependency, child = steps[n]
        moments += [finish_moment(n)] if dependency is None else [finish_moment(n), start_moment(n)]
        n = child if dependency is None else dependency
    return _to_loop(tx, [*moments[passed[n] :], finish_moment(n)]) if n in passed else None


def _open_nodes(tx: Transaction) -> list[int]:
    return tx.scalars(sql.open_nodes, project_id=tx.project.id)


def _to_loop(tx: Transaction, moments: Sequence[int]) -> Loop:
    """Return a loop of moments, each of which waits for the next, as a loop of ids."""
    ids: dict[int, str] = dict(
        tx.all(sql.node_ids, project_id=tx.project.id, ns=to_json_array({moment // 2 for moment in moments}))
    )
    return describe_loop(moments, ids)


def describe_loop(moments: Sequence[int], ids: Mapping[int, str]) -> Loop:
    """Return a loop of moments, each of which waits for the next, as a loop of ids that begins with a dependency."""
    steps = list(pairwise(moments))
    first = next((i for i, (a, b) in enumerate(steps) if _is_dependency(a, b)), 0)
    steps = steps[first:] + steps[:first]
    path = [ids[n] for n, _ in groupby([*(a // 2 for a, _ in steps), steps[0][0] // 2])]
    return Loop(
        path=path * 2 if len(path) == 1 else path,
        dependencies=[(ids[a // 2], ids[b // 2]) for a, b in steps if _is_dependency(a, b)],
        has_inherited_step=any(a % 2 == 0 and b % 2 == 0 for a, b in steps),
    )


def _is_dependency(moment: int, after: int) -> bool:
    # A start waits for a finish only because of a dependency.
    return moment % 2 == 0 and after % 2 == 1


def find_cycle(graph: MomentGraph) -> list[int] | None:
    """Return any cycle, with its first moment again at the end, or None. Each edge is visited once."""
    done: set[int] = set()
    for first in graph:
        on_path: dict[int, None] = {}  # ordered from `first` on
        todo: list[tuple[int, bool]] = [(first, False)]
        while todo:
            moment, is_left = todo.pop()
            if is_left:
                del on_path[moment]
                done.add(moment)
            elif moment in on_path:
                path = list(on_path)
                return [*path[path.index(moment) :], moment]
            elif moment not in done:
                on_path[moment] = None
                todo.append((moment, True))
                todo += [(after, False) for after in graph.get(moment, ())]
    return None


def find_path(graph: MomentGraph, source: int, goal: int) -> list[int] | None:
    """Return the shortest path from the source to the goal, or None."""
    came_from: dict[int, int | None] = {source: None}
    ahead = deque([source])
    while ahead:
        moment = ahead.popleft()
        if moment == goal:
            path = [moment]
            while (before := came_from[path[-1]]) is not None:
                path.append(before)
            return path[::-1]
        for after in graph.get(moment, ()):
            if after not in came_from:
                came_from[after] = moment
                ahead.append(after)
    return None


def _load_smaller(
    tx: Transaction, *, above: Collection[int], below: Collection[int]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Load what waits for the moments `above`, or what the moments `below` wait for, whichever is less.

    A loop through a moment lies in both, so one of them is enough. Which one is small is not known beforehand: both are
    tried with a limit that grows, so the cost is a multiple of the smaller one.
    """
    for limit in (*WALK_LIMITS, None):
        if waits := _load_waits(tx, below, limit=limit):
            return {}, waits
        if waiters := _load_waiters(tx, above, limit=limit):
            return waiters, {}
    raise AssertionError("the last walk has no limit")


def _load_waiters(tx: Transaction, moments: Iterable[int], *, limit: int | None = None) -> dict[int, list[int]]:
    """Load the moments that wait for these, directly or not: for each of them those that wait for it directly.

    Returns nothing if they are more than the limit.
    """
    waiters: dict[int, list[int]] = {}
    for moment in _walk(tx, sql.waiting_moments, moments, limit):
        waiters[moment] = [moment + 1] if moment % 2 == 0 else []
    ns = to_json_array({moment // 2 for moment in waiters})
    inherits = get_policies(tx).inherit_dependencies
    for n, parent, feature in tx.all(sql.parents_among, project_id=tx.project.id, ns=ns):
        if parent is None:
            continue
        if finish_moment(n) in waiters:
            waiters[finish_moment(n)].append(finish_moment(parent))
        above = parent if inherits else feature
        if above is not None and start_moment(n) in waiters and start_moment(above) in waiters:
            waiters[start_moment(above)].append(start_moment(n))
    for source, target in tx.all(sql.dependents_among, project_id=tx.project.id, ns=ns):
        if finish_moment(target) in waiters and start_moment(source) in waiters:
            waiters[finish_moment(target)].append(start_moment(source))
    return waiters


def _load_waits(tx: Transaction, moments: Iterable[int], *, limit: int | None = None) -> dict[int, list[int]]:
    """Load the moments that these wait for, directly or not: for each of them those that it waits for directly.

    Returns nothing if they are more than the limit.
    """
    waits: dict[int, list[int]] = {}
    for moment in _walk(tx, sql.awaited_moments, moments, limit):
        waits[moment] = [moment - 1] if moment % 2 else []
    ns = to_json_array({moment // 2 for moment in waits})
    inherits = get_policies(tx).inherit_dependencies
    for n, parent, feature in tx.all(sql.parents_among, project_id=tx.project.id, ns=ns):
        if parent is None:
            continue
        if finish_moment(n) in waits and finish_moment(parent) in waits:
            waits[finish_moment(parent)].append(finish_moment(n))
        above = parent if inherits else feature
        if above is not None and start_moment(n) in waits:
            waits[start_moment(n)].append(start_moment(above))
    for source, target in tx.all(sql.dependencies_among, project_id=tx.project.id, ns=ns):
        if start_moment(source) in waits and finish_moment(target) in waits:
            waits[start_moment(source)].append(finish_moment(target))
    return waits


def _walk(tx: Transaction, query: Query, moments: Iterable[int], limit: int | None) -> list[int]:
    found = tx.scalars(
        query,
        project_id=tx.project.id,
        moments=to_json_array(moments),
        inherits=get_policies(tx).inherit_dependencies,
        at_most=NO_LIMIT if limit is None else limit + 1,
    )
    return [] if limit is not None and len(found) > limit else found
