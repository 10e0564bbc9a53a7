"""Nothing may wait for itself: the dependencies of a project have no loop, and every refusal shows the way round.

By default a node waits for what it depends on, and a dependency on an own ancestor is refused as well, since the
ancestor is finished last. Below features a node also waits for what the feature waits for, and under the policy
`inherit_dependencies` for what any ancestor waits for, so loops can run through the tree. There, each node is two
moments: its start (twice its number) and its finish (one more). A finish waits for the start and for the finishes of
the children; a start waits for the finishes of the dependencies and for the start of the feature, or of the parent.

One statement fetches what can be reached, each node once; the way round is found in what came back.
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
        shown = shorten_path(path)
        super().__init__(f"cycle: {' -> '.join(shown)}{hint}", path=shown, **details)


def depends_on_ancestor(node: str, ancestor: str) -> CycleDetected:
    """The refusal of a dependency that could never be met."""
    return CycleDetected([node, ancestor, node], hint=f"; {ancestor} lies above {node} and is finished after it")


def shorten_path(path: Sequence[str]) -> list[str]:
    """A way round, its middle left out where it is very long."""
    if len(path) <= PATH_SHOWN_MAX:
        return list(path)
    half = PATH_SHOWN_MAX // 2
    return [*path[:half], f"… {len(path) - 2 * half} more …", *path[-half:]]


def start_moment(n: int) -> int:
    """The moment at which a node may begin."""
    return n * 2


def finish_moment(n: int) -> int:
    """The moment at which a node is done."""
    return n * 2 + 1


class DependencyCache:
    """The dependencies that one call has walked along, so that a thousand new ones do not walk the same way each.

    Whoever adds or removes a dependency says so here. Where nodes wait through the tree nothing is remembered: there a
    new one changes the ways of a whole subtree.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._has_inherited = has_inherited_dependencies(tx)
        self._waits: dict[int, list[int]] = {}  # of each node that was come to, all that it waits for

    def added(self, source: int, target: int) -> None:
        """`source` depends on `target` from now on."""
        if source in self._waits:
            self._waits[source].append(target)
            self._load_from(target)

    def removed(self, source: int, target: int) -> None:
        """`source` depends on `target` no more."""
        if target in self._waits.get(source, ()):
            self._waits[source].remove(target)

    def find_cycle_closed_by(self, source: int, target: int) -> list[str] | None:
        """The loop that `source` depending on `target` would close, as ids from source back to source."""
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
    """Whether nodes of the project entered can wait for more than they depend on."""
    return tx.project.policies.inherit_dependencies or tx.scalar(sql.count_features, project_id=tx.project.id) > 0


def is_ancestor(tx: Transaction, n: int, *, depth: int, of: int) -> bool:
    """Whether the node `n`, which lies at this depth, is the node `of` or above it."""
    return n in tx.scalars(sql.ancestors_to_depth, project_id=tx.project.id, n=of, depth=depth)


def find_cycle_through(tx: Transaction, ns: Collection[int]) -> list[str] | None:
    """A loop through one of these nodes as the rows are now, or None."""
    if has_inherited_dependencies(tx):
        moments = [moment for n in ns for moment in (finish_moment(n), start_moment(n))]
        found = find_cycle(_load_moment_graph(tx, moments))
        path = None if found is None else [moment // 2 for moment in found]
    else:
        path = find_cycle(_load_wait_graph(tx, ns))
    return None if path is None else path_to_ids(tx, path)


def path_to_ids(tx: Transaction, path: Iterable[int]) -> list[str]:
    """A way as ids, with each node once where it stands twice in a row."""
    steps = [n for n, _ in groupby(path)]
    named: dict[int, str] = dict(tx.all(sql.node_ids, project_id=tx.project.id, ns=to_json_array(set(steps))))
    return [named[n] for n in steps]


def find_cycle(waits: WaitGraph) -> list[int] | None:
    """Any loop in who waits for whom, the first node again at the end; each edge is looked at once."""
    done: set[int] = set()
    for first in waits:
        on_way: dict[int, None] = {}  # in the order of the way
        todo: list[tuple[int, bool]] = [(first, False)]
        while todo:
            node, is_left = todo.pop()
            if is_left:
                del on_way[node]
                done.add(node)
            elif node in on_way:
                way = list(on_way)
                return [*way[way.index(node) :], node]
            elif node not in done:
                on_way[node] = None
                todo.append((node, True))
                todo += [(after, False) for after in waits.get(node, ())]
    return None


def _find_path(waits: WaitGraph, sources: Collection[int], goal: int) -> list[int] | None:
    """The shortest way from one of the sources to the goal."""
    came_from: dict[int, int | None] = dict.fromkeys(sources)
    ahead = deque(sources)
    while ahead:
        node = ahead.popleft()
        if node == goal:
            way = [node]
            while (before := came_from[way[-1]]) is not None:
                way.append(before)
            return way[::-1]
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
