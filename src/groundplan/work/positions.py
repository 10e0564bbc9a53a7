"""Positions of nodes, which follow from their ancestors: depth, nearest feature and number of blocking ancestors.

They are stored with every node, so moving a node, or making it wait, changes them for everything below it. A write
marks such nodes as stale, and updates the stored positions once, when it settles: a subtree that is moved a hundred
times is updated once. Until then the position of a single node is computed from its ancestors.

The search for outdated positions starts at the stale nodes and goes on below a node only if its own position was
outdated. Below all others the stored positions are right, because each one follows from the position of the parent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from msgspec import Struct

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.work.kinds import FEATURE
from groundplan.work.nodes import WorkNodeRow

ABOVE_ROOT = -1  # a depth that no walk reaches, because stored depths may be outdated

sql = load_queries(__file__)


def blocks_descendants(tx: Transaction, kind: str | None) -> bool:
    """Return True if a waiting node of this kind blocks all of its descendants."""
    return kind == FEATURE or get_policies(tx).inherit_dependencies


class Position(NamedTuple):
    """The values of a node that follow from its ancestors."""

    depth: int
    feature_n: int | None
    blocked_above: int


class PositionRow(Struct):
    """A node on the path to the root, with its stored position."""

    n: int
    parent_n: int | None
    kind: str | None
    is_waiting: bool
    depth: int
    feature_n: int | None
    blocked_above: int

    @property
    def stored(self) -> Position:
        return Position(self.depth, self.feature_n, self.blocked_above)


class PositionShift(NamedTuple):
    """The correction of an outdated position. Equal corrections are written together."""

    depth_by: int
    blocked_by: int
    feature_n: int | None
    leaves_feature: bool  # whether the feature differs from the stored one

    @classmethod
    def between(cls, before: Position, after: Position) -> PositionShift:
        return cls(
            after.depth - before.depth,
            after.blocked_above - before.blocked_above,
            after.feature_n,
            after.feature_n != before.feature_n,
        )

    @property
    def affects_counts(self) -> bool:
        """True if it can change readiness, or the counts of a feature."""
        return self.leaves_feature or self.blocked_by != 0


class ShiftRow(Struct):
    """A node below a stale one, with the correction of its position."""

    n: int
    depth_by: int
    blocked_by: int
    feature_n: int | None
    leaves_feature: bool


class Positions:
    """The positions of nodes during one write."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._stale: set[int] = set()

    @property
    def are_stale(self) -> bool:
        """True if a stored position may be outdated."""
        return bool(self._stale)

    def mark_stale(self, ns: Iterable[int]) -> None:
        """Record that the positions of these nodes and of all of their descendants may be outdated."""
        self._stale.update(ns)

    def get(self, node: WorkNodeRow) -> Position:
        """Return the current position of a node."""
        if not self._stale:
            return Position(node.depth, node.feature_n, node.blocked_above)
        return self.compute([node.n])[node.n]

    def compute(self, ns: Collection[int]) -> dict[int, Position]:
        """Return the current positions of nodes, computed from all of their ancestors."""
        return self._compute_from(self._load_upwards(ns))

    def is_above(self, node: WorkNodeRow, lower: WorkNodeRow) -> bool:
        """Return True if a node equals another one or is one of its ancestors."""
        if not self._stale and lower.depth < node.depth:
            return False
        depth = ABOVE_ROOT if self._stale else node.depth
        return node.n in self._tx.scalars(
            sql.ancestors_to_depth, project_id=self._tx.project.id, n=lower.n, depth=depth
        )

    def settle(self, snapshot: Callable[[Collection[int]], None]) -> None:
        """Update every outdated position. `snapshot` is called with nodes whose readiness or feature may change."""
        if not self._stale:
            return
        rows = self._load_upwards(self._stale)
        positions = self._compute_from(rows)
        stale = [n for n in self._stale if n in rows]  # the others were merged away or deleted
        shifts = {n: PositionShift.between(rows[n].stored, positions[n]) for n in stale}
        self._write({n: shift for n, shift in shifts.items() if any(shift[:2]) or shift.leaves_feature}, snapshot)
        below = self._tx.all(
            sql.outdated_positions,
            ShiftRow,
            project_id=self._tx.project.id,
            ns=to_json_array(stale),
            inherits=get_policies(self._tx).inherit_dependencies,
        )
        self._write(
            {row.n: PositionShift(row.depth_by, row.blocked_by, row.feature_n, row.leaves_feature) for row in below},
            snapshot,
        )
        self._stale.clear()

    def _write(self, shifts: dict[int, PositionShift], snapshot: Callable[[Collection[int]], None]) -> None:
        by_shift: dict[PositionShift, list[int]] = {}
        for n, shift in shifts.items():
            by_shift.setdefault(shift if shift.leaves_feature else shift._replace(feature_n=None), []).append(n)
        snapshot([n for shift, ns in by_shift.items() if shift.affects_counts for n in ns])
        for shift, ns in by_shift.items():
            # SQLite updates every index of a column that is set, so a statement sets no more than it must.
            query = sql.shift_positions
            if not shift.affects_counts:
                query = sql.shift_depth
            elif not shift.leaves_feature and not shift.depth_by:
                query = sql.shift_blocked_above
            self._tx.run(query, project_id=self._tx.project.id, ns=to_json_array(ns), **shift._asdict())

    def _load_upwards(self, ns: Collection[int]) -> dict[int, PositionRow]:
        """Load nodes and all of their ancestors, each once."""
        rows = self._tx.all(sql.nodes_and_ancestors, PositionRow, project_id=self._tx.project.id, ns=to_json_array(ns))
        return {row.n: row for row in rows}

    def _compute_from(self, rows: dict[int, PositionRow]) -> dict[int, Position]:
        positions: dict[int, Position] = {}
        for row in rows.values():
            pending = [row]
            while pending[-1].n not in positions:  # upwards to a node whose position is known, or to the root
                top = pending[-1]
                if top.parent_n is None:
                    positions[top.n] = Position(0, None, 0)
                else:
                    # Else a tree with a loop, which nothing should let through, would fill the memory.
                    assert len(pending) < len(rows), f"node {top.n} is above itself"  # noqa: S101 - no walk is longer
                    pending.append(rows[top.parent_n])
            while len(pending) > 1:
                parent = pending.pop()
                positions[pending[-1].n] = self._place_below(parent, positions[parent.n])
        return positions

    def _place_below(self, parent: PositionRow, position: Position) -> Position:
        """Return the position of the children of a node."""
        blocks = parent.is_waiting and blocks_descendants(self._tx, parent.kind)
        return Position(
            position.depth + 1,
            parent.n if parent.kind == FEATURE else position.feature_n,
            position.blocked_above + blocks,
        )


def recompute_blocked_above(tx: Transaction) -> None:
    """Recount the blocking ancestors of every node of the project, after a change of the policies."""
    inherits = get_policies(tx).inherit_dependencies
    by_change: dict[int, list[int]] = {}
    for n, change in tx.all(sql.changes_of_blocked_above, project_id=tx.project.id, inherits=inherits):
        by_change.setdefault(change, []).append(n)
    for change, ns in by_change.items():
        tx.run(sql.shift_blocked_above, project_id=tx.project.id, ns=to_json_array(ns), blocked_by=change)


def sort_from_below(tx: Transaction, ids: Iterable[str]) -> list[str]:
    """Return the ids of nodes of the current project in an order in which each comes before its ancestors."""
    return tx.scalars(sql.ids_from_below, project_id=tx.project.id, ids=to_json_array(ids))
