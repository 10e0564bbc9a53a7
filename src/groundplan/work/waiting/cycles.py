"""Cycle detection: a plan that could never be finished is refused, with the loop in the error.

Each open node has two moments, its start and its finish, which wait for others as `moments.py` says: below a feature
also for the start of the feature, and under the policy `inherit_dependencies` for the start of the parent. A loop among
the moments can never be finished. Resolved nodes wait for nothing, and nothing waits for them.

A loop through a node consists of moments that wait for the node, and of moments that the node waits for. So a walk in
one of the two directions finds every loop, and the smaller one is taken. One statement fetches each moment of a walk
once; the loop is then searched in memory. Most writes need no walk: keys prove that there is no loop
(`order.py`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.nodes import list_open_nodes
from groundplan.work.waiting.moments import (
    MomentGraph,
    find_cycle,
    find_path,
    get_finish_moment,
    get_start_moment,
    iter_waits,
)
from groundplan.work.waiting.order import ProjectOrder

sql = load_queries(__file__)

PATH_SHOWN_MAX = 50
WALK_LIMITS = (256, 4_096, 65_536)  # moments of a walk before the walk in the other direction is tried
NO_LIMIT = 2**31 - 1
CHAIN_STEPS_MAX = 1_000  # steps of one look from a node along what it waits for
DEPENDENCIES_SHOWN_MAX = 10
DEPENDENCY_STEP = b"\0\1"  # a start waits for a finish only because of a dependency
INHERITED_STEP = b"\0\0"
HIDDEN_ID = "…"  # of a node in the middle of a loop that is too long to show


class Loop(NamedTuple):
    """A loop of nodes, each of which would wait for the next one. The first id is repeated at the end."""

    path: Sequence[str]
    dependencies: Sequence[tuple[str, str]] = ()  # the steps that are dependencies; the others follow from the tree
    has_inherited_step: bool = False  # whether a node waits because an ancestor waits
    dependencies_hidden: int = 0  # how many more steps are dependencies

    def rename(self, names: Mapping[str, str]) -> Loop:
        """Return the loop with new names for some of its nodes."""
        renamed = [(names.get(source, source), names.get(target, target)) for source, target in self.dependencies]
        return self._replace(path=[names.get(node_id, node_id) for node_id in self.path], dependencies=renamed)

    @property
    def uses_tree(self) -> bool:
        """True if a step of the loop follows from the tree and not from a dependency."""
        return len(self.dependencies) + self.dependencies_hidden < len(self.path) - 1


class CycleDetected(RuleViolated):
    """A node would wait for itself."""

    code = "cycle_detected"
    contract_code = "CIRCULAR_DEPENDENCY"

    def __init__(self, loop: Loop, *, hint: str | None = None, **details: Any) -> None:
        self.loop = loop
        shortened = shorten_path(loop.path)
        if loop.uses_tree and loop.dependencies:
            details["depends_on"] = [list(pair) for pair in loop.dependencies]
        explanation = _explain_loop(loop) if hint is None else hint
        super().__init__(f"cycle: {' -> '.join(shortened)}{explanation}", path=shortened, **details)


def _explain_loop(loop: Loop) -> str:
    """Return an explanation of a loop through the tree, with the dependencies to remove."""
    if not (loop.uses_tree and loop.dependencies):
        return ""
    source, target = loop.dependencies[0]
    if len(loop.dependencies) == 1:
        if loop.has_inherited_step:
            return f"; {target} is below {source} and starts after the dependencies of {source} are finished"
        return f"; {target} is an ancestor of {source} and is finished after it"
    return f"; a parent is finished after its children. Remove one of these dependencies: {_list_dependencies(loop)}"


def _list_dependencies(loop: Loop) -> str:
    shown = [f"{source} on {target}" for source, target in loop.dependencies]
    return ", ".join(shown) + (", …" if loop.dependencies_hidden else "")


def describe_stored_loop(loop: Loop) -> str:
    """Return a phrase about a loop in a stored project, with a remedy."""
    return (
        f"{' -> '.join(shorten_path(loop.path))} wait for each other; remove a dependency: {_list_dependencies(loop)}"
    )


def shorten_path(path: Sequence[str]) -> list[str]:
    """Return a path. In a very long path, a number replaces the middle."""
    if len(path) <= PATH_SHOWN_MAX:
        return list(path)
    half = PATH_SHOWN_MAX // 2
    return [*path[:half], f"… {len(path) - 2 * half} more …", *path[-half:]]


class WaitingMoments:
    """The loop check for the new dependencies of one call.

    It keeps what it has loaded and found, so that a thousand new dependencies do not walk the same way again. The
    caller must report each dependency between open nodes that it adds or removes.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._order = ProjectOrder(tx)
        self._waiters = MomentGraph()  # from each loaded moment to all moments that wait for it
        self._waits = MomentGraph()  # from each loaded moment to all moments that it waits for

    def add(self, source: int, target: int) -> None:
        """Record that `source` now depends on `target`."""
        self._order.add_step(source, target)
        start, finish = get_start_moment(source), get_finish_moment(target)
        if finish in self._waiters:
            self._waiters.add(finish, start)
        if start in self._waits:
            self._waits.add(start, finish)

    def remove(self, source: int, target: int) -> None:
        """Record that `source` no longer depends on `target`."""
        start, finish = get_start_moment(source), get_finish_moment(target)
        self._waiters.remove(finish, start)
        self._waits.remove(start, finish)

    def closes_loop(self, source: int, target: int) -> bool:
        """Return True if a dependency of `source` on `target` would close a loop."""
        if source == target:
            return True
        start, finish = get_start_moment(source), get_finish_moment(target)
        if not self._load(source, target):
            return False
        return self._waiters.has_path(start, finish) if start in self._waiters else self._waits.has_path(finish, start)

    def find_loop_closed_by(self, source: int, target: int) -> Sequence[int] | None:
        """Return the shortest loop that a dependency of `source` on `target` would close, as moments, or None.

        Each moment of the loop waits for the next one, and the last one is the first one again.
        """
        start, finish = get_start_moment(source), get_finish_moment(target)
        if source == target:
            return [start, finish, start]
        if not self._load(source, target):
            return None
        if start in self._waiters:
            path = self._waiters.find_path(start, finish)
            return None if path is None else [start, *reversed(path)]
        path = self._waits.find_path(finish, start)
        return None if path is None else [start, *path]

    def _load(self, source: int, target: int) -> bool:
        """Load a graph with every path from `target` to `source`. Return False if there certainly is none."""
        if len(list_open_nodes(self._tx, (source, target))) < 2:
            return False  # a resolved node waits for nothing, and nothing waits for it
        start, finish = get_start_moment(source), get_finish_moment(target)
        if start not in self._waiters and finish not in self._waits:
            if not self._order.may_wait(target, source):
                return False
            waiters, waits = _load_smaller(self._tx, above=[start], below=[finish])
            self._waiters.load(waiters)
            self._waits.load(waits)
        return True

    def describe(self, moments: Sequence[int]) -> Loop:
        """Return a loop of moments as a loop of ids."""
        return _to_loop(self._tx, moments)


def find_loop_through(tx: Transaction, ns: Collection[int]) -> Loop | None:
    """Return a loop through one of these stored nodes, or None. Resolved nodes are ignored."""
    open_ns = list_open_nodes(tx, ns)
    if not open_ns:
        return None
    starts, finishes = map(get_start_moment, open_ns), map(get_finish_moment, open_ns)
    waiters, waits = _load_smaller(tx, above=list(starts), below=list(finishes))
    graph = waiters or waits
    if find_cycle(graph) is None:
        return None
    # A project may hold a loop from before loops were refused, and this one need not run through the given nodes.
    for moment in (moment for n in open_ns for moment in (get_start_moment(n), get_finish_moment(n))):
        for after in graph[moment]:
            if (path := find_path(graph, after, moment)) is not None:
                return _to_loop(tx, [*reversed(path), moment] if waiters else [moment, *path])
    return None


def find_loop_in_project(tx: Transaction) -> Loop | None:
    """Return a loop among all open nodes of the current project, or None."""
    # Every loop has a dependency, because the tree alone has none. So it runs through the start of one of these nodes.
    waiting = tx.scalars(sql.nodes_with_open_dependencies, project_id=tx.project.id)
    moments = find_cycle(_load_waits(tx, map(get_start_moment, waiting)))
    return None if moments is None else _to_loop(tx, moments)


def find_stored_loop(tx: Transaction, n: int) -> Loop | None:
    """Return the loop that a node waits for, or None.

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
        moments += [get_finish_moment(n)] if dependency is None else [get_finish_moment(n), get_start_moment(n)]
        n = child if dependency is None else dependency
    return _to_loop(tx, [*moments[passed[n] :], get_finish_moment(n)]) if n in passed else None


def _to_loop(tx: Transaction, moments: Sequence[int]) -> Loop:
    """Return a loop of moments, each of which waits for the next, as a loop of ids. Hidden nodes have no id."""
    moments = _begin_with_dependency(moments)
    # Two moments in a row can belong to one node, so these are at least the nodes that an error shows.
    ends = moments[: 2 * PATH_SHOWN_MAX], moments[-2 * PATH_SHOWN_MAX :]
    ns = {moment // 2 for some in (*ends, *_list_dependency_steps(moments)) for moment in some}
    return describe_loop(moments, dict(tx.all(sql.node_ids, project_id=tx.project.id, ns=to_json_array(ns))))


def describe_loop(moments: Sequence[int], ids: Mapping[int, str]) -> Loop:
    """Return a loop of moments, each of which waits for the next, as a loop of ids beginning with a dependency."""
    moments = _begin_with_dependency(moments)
    kinds = _get_kinds(moments)
    path = [ids.get(n, HIDDEN_ID) for n, _ in groupby([moment // 2 for moment in moments])]
    dependencies = [(ids[a // 2], ids[b // 2]) for a, b in _list_dependency_steps(moments)]
    return Loop(
        path=path * 2 if len(path) == 1 else path,
        dependencies=dependencies,
        has_inherited_step=INHERITED_STEP in kinds,
        dependencies_hidden=kinds.count(DEPENDENCY_STEP) - len(dependencies),
    )


def _begin_with_dependency(moments: Sequence[int]) -> Sequence[int]:
    """Return a loop rotated so that its first step is a dependency, if it has one."""
    first = max(_get_kinds(moments).find(DEPENDENCY_STEP), 0)
    return [*moments[first:-1], *moments[: first + 1]]


def _list_dependency_steps(moments: Sequence[int]) -> list[Sequence[int]]:
    """Return the first dependencies in a loop, as many as an error shows."""
    kinds = _get_kinds(moments)
    matches = islice(re.finditer(DEPENDENCY_STEP, kinds), DEPENDENCIES_SHOWN_MAX)
    return [moments[match.start() : match.end()] for match in matches]


def _get_kinds(moments: Sequence[int]) -> bytes:
    """Return a byte for each moment (0 for a start, 1 for a finish), because a loop can be very long."""
    return bytes([moment % 2 for moment in moments])


def _load_smaller(
    tx: Transaction, *, above: Collection[int], below: Collection[int]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Load the moments that wait for `above` or the moments that `below` wait for, whichever are fewer.

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
    """Load the moments that wait for the given ones, with their direct waiters.

    Returns nothing if they are more than the limit.
    """
    reached = _walk(tx, sql.waiting_moments, moments, limit)
    waiters: dict[int, list[int]] = {moment: [] for moment in reached}
    for moment, awaited in _list_waits_among(tx, reached, sql.dependents_among):
        if moment in waiters and awaited in waiters:
            waiters[awaited].append(moment)
    return waiters


def _load_waits(tx: Transaction, moments: Iterable[int], *, limit: int | None = None) -> dict[int, list[int]]:
    """Load the moments that the given ones wait for, with the moments that each waits for directly.

    Returns nothing if they are more than the limit.
    """
    reached = _walk(tx, sql.awaited_moments, moments, limit)
    waits: dict[int, list[int]] = {moment: [] for moment in reached}
    for moment, awaited in _list_waits_among(tx, reached, sql.dependencies_among):
        if moment in waits and awaited in waits:
            waits[moment].append(awaited)
    return waits


def _list_waits_among(tx: Transaction, moments: Sequence[int], dependencies: Query) -> Iterator[tuple[int, int]]:
    """Yield the waits of the nodes with these moments. The query finds their dependencies."""
    among = {"project_id": tx.project.id, "ns": to_json_array({moment // 2 for moment in moments})}
    inherits = get_policies(tx).inherit_dependencies
    nodes = [(n, parent, parent if inherits else feature) for n, parent, feature in tx.all(sql.parents_among, **among)]
    return iter_waits(nodes, tx.all(dependencies, **among))


def _walk(tx: Transaction, query: Query, moments: Iterable[int], limit: int | None) -> list[int]:
    reached = tx.scalars(
        query,
        project_id=tx.project.id,
        moments=to_json_array(moments),
        inherits=get_policies(tx).inherit_dependencies,
        at_most=NO_LIMIT if limit is None else limit + 1,
    )
    return [] if limit is not None and len(reached) > limit else reached
