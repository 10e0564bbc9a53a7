"""The order of a project: keys of its nodes that prove, without a search, that no node waits for itself.

While a project is ordered, every open node has a greater key than its open children and its open dependencies. A loop
would need a step from a lower key to a higher one. A write that adds such a step moves a few nodes in the order; if
these would be many, it marks the project as not ordered, and loops are searched for from then on. Inherited waiting
(below features, or by the policy `inherit_dependencies`) is not part of the order, so a project with either uses the
search.

A key is a text: digits in base 62 and a mark that is greater than every digit, with room for a new key between any two.
So no key begins with another one, and the keys that begin with the digits of a key are less than it. No key ends in the
greatest digit: behind `1z`, nothing would be left below `1`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct, field

from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.kinds import ROOT_N
from groundplan.work.waiting.moments import sort_last_steps_first

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
BASE = len(DIGITS)
END = "~"
ROOT_KEY = END  # greater than all others
KEY_CHARS_MAX = 120
DIGITS_ADDED = 3  # after the first different digit: room for 62² further keys in a row

NODES_MOVED_MAX = (32, 512)  # in one direction, before the other one is tried
LEVELS_MAX = 64  # queries of one walk
NODES_CHECKED_MAX = 10_000
ROWS_MAX = 5_000  # of one statement

_VALUES = {digit: value for value, digit in enumerate(DIGITS)}

sql = load_queries(__file__)


def make_numbered_key(number: int) -> str:
    """Return a key below the key of the root. Such keys compare by their numbers."""
    return _encode(number) + END


def make_key_below(above: str, number: int) -> str | None:
    """Return a key below that of a parent. The keys of its children compare by their numbers.

    Deep in a tree, where such keys would be long, it is the next lower one instead, or None if that is long, too.
    """
    key = above[:-1] + make_numbered_key(number)
    if len(key) <= KEY_CHARS_MAX:
        return key
    keys = make_keys_between("", above)
    return keys[0] if keys else None


def make_keys_between(low: str, high: str, count: int = 1, *, near_low: bool = False) -> Sequence[str]:
    """Return `count` growing keys between two, near the higher or the lower one. The lower one may be empty.

    Keys near each other leave room for more on the same side, where the next ones are likely to go. Returns nothing if
    the keys would be too long.
    """
    same = next(index for index, digit in enumerate(high) if low[index : index + 1] != digit)
    for length in range(same + DIGITS_ADDED, KEY_CHARS_MAX, DIGITS_ADDED):
        # Less by one: a key must not begin with the digits of the higher one.
        first, last = _get_first_behind(low, length), _get_first_behind(high, length) - 2
        aside = min(BASE, (last - first) // 2)  # most of the room is left on the far side
        value = first + aside if near_low else last - aside
        if value % BASE == BASE - 1:
            value += 1 if near_low else -1
        if first <= value <= last:
            digits = _write_digits(value, BASE).rjust(length, DIGITS[0])
            keys = [digits + END] if count == 1 else [digits + make_numbered_key(index) for index in range(count)]
            return keys if len(keys[-1]) <= KEY_CHARS_MAX else []
    return []


def _get_first_behind(key: str, length: int) -> int:
    """Return the least number of `length` digits such that every key that begins with it is greater than `key`."""
    value = 0
    for index in range(length):
        digit = key[index : index + 1]
        if digit == END:
            return (value + 1) * int(BASE ** (length - index))
        value = value * BASE + _VALUES.get(digit, 0)
    return value + 1 if key else 0


def _encode(number: int) -> str:
    """Return a number as digits that compare like numbers: their count comes first. The highest digit is unused."""
    digits = _write_digits(number, BASE - 1)
    return DIGITS[len(digits)] + digits


def _write_digits(number: int, base: int) -> str:
    written = ""
    while number:
        number, value = divmod(number, base)
        written = DIGITS[value] + written
    return written


class OrderedNode(Struct):
    """The key of a node."""

    n: int
    order_key: str | None
    resolved: bool


class WaitingStep(NamedTuple):
    """A direct wait of one node for another, with the key of the end at which a walk arrives."""

    waiting: int
    awaited: int
    key: str | None


class AffectedRegion(Struct):
    """The nodes that must move in the order, and the keys around their new places."""

    ns: set[int]
    low: str
    high: str
    is_raised: bool  # whether they move up, next to the lower key
    waits: dict[int, list[int]] = field(default_factory=dict)  # the waits among them

    def assign_keys(self) -> dict[int, str] | None:
        """Return a new key for each node; None if they wait for each other or a key would be too long."""
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
        """True if all nodes have keys that grow along every wait."""
        return bool(self._tx.scalar(sql.is_ordered, **self._place))

    @cached_property
    def is_complete(self) -> bool:
        """True if nodes wait only for their children and dependencies, so that an order excludes every loop."""
        return not get_policies(self._tx).inherit_dependencies and not self._tx.scalar(sql.feature_count, **self._place)

    @property
    def excludes_loops(self) -> bool:
        """True if the keys prove that no node waits for itself."""
        return self.is_ordered and self.is_complete

    def may_wait(self, waiting: int, awaited: int) -> bool:
        """Return False if the keys prove that an open node does not wait for another one, directly or indirectly."""
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
        """Update the order after a node begins to wait for another one, or give the order up."""
        if self.is_ordered and not (self.is_complete and self._move(waiting, awaited)):
            self.give_up()

    def add_nodes(self, ns: Collection[int]) -> bool:
        """Update the order after nodes were opened, moved or connected. Return True if it excludes loops.

        If it does not, the caller searches for loops.
        """
        if not self.is_ordered:
            return False
        is_kept = self.is_complete and len(ns) <= NODES_CHECKED_MAX
        if not (is_kept and all(self._move(*step) for step in self._list_unordered_steps(ns))):
            self.give_up()
        return self.is_ordered

    def give_up(self) -> None:
        """Mark the project as having no order."""
        if self.is_ordered:
            self._mark(is_ordered=False)

    def sort(self) -> None:
        """Sort the whole project, and give every node a key. A project with a loop remains without an order."""
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
        """Move nodes so that the awaited node comes before the waiting one. Return False if that is impossible."""
        keys = self._load_keys([waiting, awaited])
        if len(keys) < 2:  # a resolved node waits for nothing
            return self.is_ordered
        if keys[awaited] < keys[waiting]:
            return True
        region = self._find_region(waiting, awaited, keys)
        if region is None or {waiting, awaited} <= region.ns or (new_keys := region.assign_keys()) is None:
            return False
        self._write_keys(new_keys)
        return True

    def _find_region(self, waiting: int, awaited: int, keys: Mapping[int, str]) -> AffectedRegion | None:
        """Return the smaller of the two sets of nodes that could be moved; None if both are large.

        They are what the awaited node waits for and is not before the waiting one, or what waits for the waiting one
        and is not behind the awaited one. A set with both nodes has a path between them.
        """
        low, high = keys[waiting], keys[awaited]
        for at_most in NODES_MOVED_MAX:
            lowered = AffectedRegion({awaited}, low="", high=low, is_raised=False)
            if self._collect(lowered, sql.awaited_steps, at_most):
                return lowered
            raised = AffectedRegion({waiting}, low=high, high=ROOT_KEY, is_raised=True)
            if self._collect(raised, sql.waiting_steps, at_most):
                return raised
        return None

    def _collect(self, region: AffectedRegion, query: Query, at_most: int) -> bool:
        """Add all nodes that a region leads to. Return False at the limit."""
        bound = region.low if region.is_raised else region.high
        ahead: Iterable[int] = list(region.ns)
        for _ in range(LEVELS_MAX):
            steps = self._tx.all(query, WaitingStep, **self._place, ns=to_json_array(ahead), at_most=at_most + 1)
            if len(steps) > at_most:
                return False
            new_ns: dict[int, None] = {}
            for waiting, awaited, key in steps:
                if key is None:
                    return False
                reached = waiting if region.is_raised else awaited
                if (key <= bound) if region.is_raised else (key >= bound):
                    region.waits.setdefault(waiting, []).append(awaited)
                    if reached not in region.ns:
                        new_ns[reached] = None
                elif region.is_raised:
                    region.high = min(region.high, key)
                else:
                    region.low = max(region.low, key)
            region.ns |= new_ns.keys()
            if len(region.ns) > at_most:
                return False
            if not new_ns:
                return True
            ahead = new_ns
        return False

    # --- Rows ---

    def _list_unordered_steps(self, ns: Collection[int]) -> list[tuple[int, int]]:
        """Return the waits of these nodes, and for these nodes, that violate the order."""
        steps = self._tx.all(sql.waits_of_nodes, **self._place, ns=to_json_array(ns))
        keys = self._load_keys({n for step in steps for n in step if n is not None})  # the root has no parent
        return [step for step in dict.fromkeys(steps) if keys.keys() >= set(step) and keys[step[1]] >= keys[step[0]]]

    def _load_keys(self, ns: Collection[int]) -> dict[int, str]:
        """Return the keys of the open nodes among the given ones. Give up the order if a node has no key."""
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
    """Return a key for a new child of a node; None if the node has no key."""
    (parent,) = tx.all(sql.order_keys, OrderedNode, project_id=tx.project.id, ns=to_json_array([parent_n]))
    return None if parent.order_key is None else make_key_below(parent.order_key, n)
