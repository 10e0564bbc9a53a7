"""Cycle detection: the dependencies of a project never form a cycle, and the error shows the path of the cycle.

By default a node waits for the nodes it depends on. A dependency on an ancestor is refused as well, because an ancestor
is finished last. Below a feature a node also waits for what the feature waits for, and under the policy
`inherit_dependencies` for what any ancestor waits for, so a cycle can run through the tree. There, each node has two
moments: its start (twice its number) and its finish (one more). A finish waits for the start and for the finishes of
the children; a start waits for the finishes of the dependencies and for the start of the feature, or of the parent.

One statement fetches everything reachable, each node once; the cycle is then searched in memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)

PATH_SHOWN_MAX = 50

WaitGraph = Mapping[int, Sequence[int]]


class CycleDetected(RuleViolated):
    """A node would have to wait for itself."""

    code = "cycle_detected"
    contract_code = "CIRCULAR_DEPENDENCY"

    def __init__(self, path: Sequence[str], *, hint: str = "", **details: Any) -> None:
        shortened = shorten_path(path)
        super().__init__(f"cycle: {' -> '.join(shortened)}{hint}", path=shortened, **details)


def depends_on_ancestor(node: str, ancestor: str) -> CycleDetected:
    """Return the error for a dependency on an ancestor, which could never be met."""
    return CycleDetected([node, ancestor, node], hint=f"; {ancestor} is an ancestor of {node} and is finished after it")


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


class DependencyCache:
    """The dependencies that one call has loaded, so that a thousand new ones do not load the same paths again.

    The caller must report each dependency that it adds or removes. Where nodes wait through the tree nothing is cached,
    because a new dependency changes the paths of a whole subtree.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._has_inherited = has_inherited_dependencies(tx)
        self._waits: dict[int, list[int]] = {}  # for each node visited, all nodes it waits for

    def added(self, source: int, target: int) -> None:
        """Record that `source` now depends on `target`."""
        if source in self._waits:
            self._waits[source].append(target)
            self._load_from(target)

    def removed(self, source: int, target: int) -> None:
        """Record that `source` no longer depends on `target`."""
        if target in self._waits.get(source, ()):
            self._waits[source].remove(target)

    def find_cycle_closed_by(self, source: int, target: int) -> list[str] | None:
        """Return the cycle that `source` depending on `target` would close, as ids from source to source, or None."""
        if self._has_inherited:
            found = _find_path(
                _load_moment_graph(self._tx, [finish_moment(target)]), [finish_moment(target)], start_moment(source)
            )
            path = None if found is None else [moment // 2 for moment in found]
        else:
            self._load_from(target)
            path = _find_path(self._waits, [target], source)
        return None if path is None else path_to_ids(self._tx, [source, *path])

    def _load_from(self, n: int) -> None:
        if n not in self._waits:
            for source, targets in _load_wait_graph(self._tx, [n]).items():
                for reached in (source, *targets):
                    self._waits.setdefault(reached, [])
                self._waits[source] = list(targets)
            self._waits.setdefault(n, [])


def has_inherited_dependencies(tx: Transaction) -> bool:
    """Return whether nodes of the current project can wait for more than their own dependencies."""
    return tx.project.policies.inherit_dependencies or tx.scalar(sql.count_features, project_id=tx.project.id) > 0


def is_ancestor(tx: Transaction, n: int, *, depth: int, of: int) -> bool:
    """Return whether `n`, a node at this depth, is the node `of` or one of its ancestors."""
    return n in tx.scalars(sql.ancestors_to_depth, project_id=tx.project.id, n=of, depth=depth)


def find_cycle_through(tx: Transaction, ns: Collection[int]) -> list[str] | None:
    """Return a cycle through one of these nodes as stored now, or None."""
    if has_inherited_dependencies(tx):
        moments = [moment for n in ns for moment in (finish_moment(n), start_moment(n))]
        found = find_cycle(_load_moment_graph(tx, moments))
        path = None if found is None else [moment // 2 for moment in found]
    else:
        path = find_cycle(_load_wait_graph(tx, ns))
    return None if path is None else path_to_ids(tx, path)


def path_to_ids(tx: Transaction, path: Iterable[int]) -> list[str]:
    """Return a path as ids, with consecutive duplicates collapsed."""
    steps = [n for n, _ in groupby(path)]
    ids: dict[int, str] = dict(tx.all(sql.node_ids, project_id=tx.project.id, ns=to_json_array(set(steps))))
    return [ids[n] for n in steps]


def find_cycle(waits: WaitGraph) -> list[int] | None:
    """Return any cycle, with its first node again at the end, or None. Each edge is visited once."""
    done: set[int] = set()
    for first in waits:
        on_path: dict[int, None] = {}  # ordered from `first` on
        todo: list[tuple[int, bool]] = [(first, False)]
        while todo:
            node, is_left = todo.pop()
            if is_left:
                del on_path[node]
                done.add(node)
            elif node in on_path:
                path = list(on_path)
                return [*path[path.index(node) :], node]
            elif node not in done:
                on_path[node] = None
                todo.append((node, True))
                todo += [(after, False) for after in waits.get(node, ())]
    return None


def _find_path(waits: WaitGraph, sources: Collection[int], goal: int) -> list[int] | None:
    """Return the shortest path from one of the sources to the goal, or None."""
    came_from: dict[int, int | None] = dict.fromkeys(sources)
    ahead = deque(sources)
    while ahead:
        node = ahead.popleft()
        if node == goal:
            path = [node]
            while (before := came_from[path[-1]]) is not None:
                path.append(before)
            return path[::-1]
        for after in waits.get(node, ()):
            if after not in came_from:
                came_from[after] = node
                ahead.append(after)
    return None


def _load_wait_graph(tx: Transaction, ns: Collection[int]) -> WaitGraph:
    waits: dict[int, list[int]] = {}
    for source, target in tx.all(sql.reachable_dependencies, project_id=tx.project.id, ns=to_json_array(ns)):
        waits.setdefault(source, []).append(target)
    return waits


def _load_moment_graph(tx: Transaction, moments: Collection[int]) -> WaitGraph:
    inherits = tx.project.policies.inherit_dependencies
    reached = tx.scalars(
        sql.reachable_moments, project_id=tx.project.id, moments=to_json_array(moments), inherits=inherits
    )
    waits: dict[int, list[int]] = {moment: [] for moment in reached}
    ns = to_json_array({moment // 2 for moment in waits})
    for moment, after in waits.items():
        if moment % 2:
            after.append(moment - 1)
    for n, parent, feature in tx.all(sql.parents_among, project_id=tx.project.id, ns=ns):
        above = parent if inherits else feature
        if parent is None or above is None:
            continue
        if start_moment(n) in waits:
            waits[start_moment(n)].append(start_moment(above))
        if finish_moment(parent) in waits:
            waits[finish_moment(parent)].append(finish_moment(n))
    for source, target in tx.all(sql.dependencies_among, project_id=tx.project.id, ns=ns):
        if start_moment(source) in waits:
            waits[start_moment(source)].append(finish_moment(target))
    return waits
