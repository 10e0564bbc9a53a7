"""The order of a project: keys of its nodes that prove, without a search, that nothing waits for itself.

While a project is ordered, every open node has a greater key than its open children and its open dependencies. A loop
would need a step from a lower key to a higher one. A write that adds such a step moves a few nodes in the order; if
these would be many, it marks the project as not ordered, and loops are searched for from then on.

Inherited waiting (below features, or by the policy `inherit_dependencies`) is not part of the order, so a project with
either uses the search.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct, field

from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.kinds import ROOT_N
from groundplan.work.moment_graph import sort_last_steps_first
from groundplan.work.order.order_keys import ROOT_KEY, make_key_below, make_keys_between, make_numbered_key

NODES_MOVED_MAX = (32, 512)  # in one direction, before the other one is tried
LEVELS_MAX = 64  # queries of one walk
NODES_CHECKED_MAX = 10_000
ROWS_MAX = 5_000  # of one statement

sql = load_queries(__file__)


class OrderedNode(Struct):
    """The key of a node."""

    n: int
    order_key: str | None
    resolved: bool


class WaitingStep(NamedTuple):
    """A node that waits directly for another one, and the key of that one of the two at which a walk arrives."""

    waiting: int
    awaited: int
    key: str | None


class Region(Struct):
    """The nodes that must move in the order, and the keys between which they go."""

    ns: set[int]
    low: str
    high: str
    is_raised: bool  # whether they move up, next to the lower key
    waits: dict[int, list[int]] = field(default_factory=dict)  # the waits among them

    def assign_keys(self) -> dict[int, str] | None:
        """Return a new key for each node, or None if they wait for each other or a key would be too long."""
        in_order = sort_last_steps_first({n: self.waits.get(n, ()) for n in sorted(self.ns)})
        keys = make_keys_between(self.low, self.high, len(self.ns), near_low=self.is_raised)
        return None if in_order is None or not keys else dict(zip(in_order, keys, strict=True))


class ProjectOrder:
    """The order of the current project during one write."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._place = {"project_id": tx.project.id}

    @cached_property
    def is_ordered(self) -> bool:
        """Whether all nodes have keys that grow along every wait."""
        return bool(self._tx.scalar(sql.is_ordered, **self._place))

    @cached_property
    def is_complete(self) -> bool:
        """Whether nodes wait for their children and dependencies only, so that an order excludes every loop."""
        return not get_policies(self._tx).inherit_dependencies and not self._tx.scalar(sql.feature_count, **self._place)

    @property
    def excludes_loops(self) -> bool:
        """Whether the keys prove that nothing waits for itself."""
        return self.is_ordered and self.is_complete

    def may_wait(self, waiting: int, awaited: int) -> bool:
        """Return False if the keys prove that an open node does not wait for another one, directly or not."""
        if not self.excludes_loops:
            return True
        keys = self._load_keys([waiting, awaited])
        if len(keys) < 2:
            return True
        if keys[waiting] <= keys[awaited]:
            return False
        region = self._find_region(awaited, waiting, keys)
        return region is None or {waiting, awaited} <= region.ns

    def add_step(self, waiting: int, awaited: int) -> None:
        """Keep the order after a node was made to wait for another one, or give it up."""
        if self.is_ordered and not (self.is_complete and self._move(waiting, awaited)):
            self.give_up()

    def add_nodes(self, ns: Collection[int]) -> bool:
        """Keep the order after nodes were opened, moved or connected, and return whether it excludes loops.

        If it does not, the caller searches for loops.
        """
        if not self.is_ordered:
            return False
        is_kept = self.is_complete and len(ns) <= NODES_CHECKED_MAX
        if not (is_kept and all(self._move(*step) for step in self._list_unordered_steps(ns))):
            self.give_up()
        return self.is_ordered

    def give_up(self) -> None:
        """Mark the project as not ordered."""
        if self.is_ordered:
            self._mark(is_ordered=False)

    def sort(self) -> None:
        """Give every node a key by a sort of the whole project; one with a loop stays without an order."""
        in_order = self._sort_open_nodes() if self.is_complete else None
        if in_order is None:
            self.give_up()
            return
        # A resolved node waits for nothing. If it is reopened, it moves to where it belongs.
        keys = dict.fromkeys(self._tx.scalars(sql.resolved_nodes, **self._place), make_numbered_key(0))
        keys |= {n: make_numbered_key(index) for index, n in enumerate(in_order, 1)}
        self._write_keys(keys | {ROOT_N: ROOT_KEY})
        self._mark(is_ordered=True)

    def _sort_open_nodes(self) -> list[int] | None:
        parents: dict[int, int | None] = dict(self._tx.all(sql.parents_of_open_nodes, **self._place))
        waits: dict[int, list[int]] = {n: [] for n in parents}
        for n, parent in parents.items():
            if parent is not None:
                waits[parent].append(n)
        for waiting, awaited in self._tx.all(sql.dependencies, **self._place):
            if waiting in waits and awaited in waits:
                waits[waiting].append(awaited)
        return sort_last_steps_first(waits)

    def _mark(self, *, is_ordered: bool) -> None:
        self._tx.run(sql.set_ordered, **self._place, is_ordered=is_ordered)
        self.is_ordered = is_ordered

    # --- Moves in the order ---

    def _move(self, waiting: int, awaited: int) -> bool:
        """Move nodes so that the awaited one comes before the waiting one, and return whether that was possible."""
        keys = self._load_keys([waiting, awaited])
        if len(keys) < 2:  # a resolved node waits for nothing
            return self.is_ordered
        if keys[awaited] < keys[waiting]:
            return True
        region = self._find_region(waiting, awaited, keys)
        if region is None or {waiting, awaited} <= region.ns or (moved := region.assign_keys()) is None:
            return False
        self._write_keys(moved)
        return True

    def _find_region(self, waiting: int, awaited: int, keys: Mapping[int, str]) -> Region | None:
        """Return the smaller of two sets of nodes, one of which must move, or None if both are large.

        They are what the awaited node waits for and is not before the waiting one, or what waits for the waiting one
        and is not behind the awaited one. A set with both nodes has a path between them.
        """
        low, high = keys[waiting], keys[awaited]
        for at_most in NODES_MOVED_MAX:
            lowered = Region({awaited}, low="", high=low, is_raised=False)
            if self._collect(lowered, sql.awaited_steps, at_most):
                return lowered
            raised = Region({waiting}, low=high, high=ROOT_KEY, is_raised=True)
            if self._collect(raised, sql.waiting_steps, at_most):
                return raised
        return None

    def _collect(self, region: Region, query: Query, at_most: int) -> bool:
        """Add what the nodes of a region lead to, and return whether that is complete."""
        bound = region.low if region.is_raised else region.high
        ahead: Iterable[int] = list(region.ns)
        for _ in range(LEVELS_MAX):
            steps = self._tx.all(query, WaitingStep, **self._place, ns=to_json_array(ahead), at_most=at_most + 1)
            if len(steps) > at_most:
                return False
            found: dict[int, None] = {}
            for waiting, awaited, key in steps:
                if key is None:
                    return False
                reached = waiting if region.is_raised else awaited
                if (key <= bound) if region.is_raised else (key >= bound):
                    region.waits.setdefault(waiting, []).append(awaited)
                    if reached not in region.ns:
                        found[reached] = None
                elif region.is_raised:
                    region.high = min(region.high, key)
                else:
                    region.low = max(region.low, key)
            region.ns |= found.keys()
            if len(region.ns) > at_most:
                return False
            if not found:
                return True
            ahead = found
        return False

    # --- Rows ---

    def _list_unordered_steps(self, ns: Collection[int]) -> list[tuple[int, int]]:
        """Return the waits of these nodes, and for them, that are against the order."""
        steps = self._tx.all(sql.waits_of_nodes, **self._place, ns=to_json_array(ns))
        keys = self._load_keys({n for step in steps for n in step if n is not None})  # the root has no parent
        return [step for step in dict.fromkeys(steps) if keys.keys() >= set(step) and keys[step[1]] >= keys[step[0]]]

    def _load_keys(self, ns: Collection[int]) -> dict[int, str]:
        """Return the keys of the open nodes among these. If one has none, the project is not ordered."""
        rows = self._tx.all(sql.order_keys, OrderedNode, **self._place, ns=to_json_array(ns))
        keys = {row.n: row.order_key for row in rows if not row.resolved and row.order_key is not None}
        if len(keys) < sum(not row.resolved for row in rows):
            self.give_up()
        return keys

    def _write_keys(self, keys: Mapping[int, str]) -> None:
        rows = [{**self._place, "n": n, "order_key": key} for n, key in keys.items()]
        for first in range(0, len(rows), ROWS_MAX):
            self._tx.run_many(sql.set_order_keys, rows[first : first + ROWS_MAX])


def make_child_key(tx: Transaction, parent_n: int, n: int) -> str | None:
    """Return a key for a new child of a node, or None if the node has none itself."""
    (parent,) = tx.all(sql.order_keys, OrderedNode, project_id=tx.project.id, ns=to_json_array([parent_n]))
    return None if parent.order_key is None else make_key_below(parent.order_key, n)
