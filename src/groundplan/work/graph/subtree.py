"""The nodes below a node, level by level, read from any position on.

Within a level, the nodes are in the order of the paths of numbers that lead to them. So a position is such a path: that
of the last node that was shown. A level may have many nodes without children before one that has some; a page looks
through a limited number of them, and the next one goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.answers import Budget, ListPart, ListRow, Position
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.graph.node_lists import AFTER_ALL
from groundplan.work.kinds import Outcome, get_outcome
from groundplan.work.nodes import WorkNode

NODE_CHARS_MIN = 40  # `{"id":"","summary":"a","resolved":true},`
PARENTS_MAX = 1_000  # whose children one page looks for
PARENTS_READ = 200  # at once

sql = load_queries(__file__)


class ChildRow(Struct):
    """A child of a node."""

    parent_n: int
    n: int
    id: str
    summary: str
    resolved: bool
    outcome: str | None
    state: str | None


class NodeTree(Struct, kw_only=True):
    """A node with its subtree. `child_count` is the number of all children, set only if some are not listed."""

    id: str
    summary: str
    resolved: bool
    outcome: Outcome | UnsetType = UNSET  # of a resolved node
    state: Any = UNSET
    children: list[NodeTree] | UnsetType = UNSET
    child_count: int | UnsetType = UNSET


class Branch(Struct):
    """A node of the subtree, with its parent and the number of its children once that was counted."""

    n: int
    tree: NodeTree
    parent: Branch | None = None
    child_count: int | None = None

    @property
    def path(self) -> list[int]:
        """The numbers that lead from the top to the node, without that of the top."""
        return [] if self.parent is None else [*self.parent.path, self.n]

    def list_above(self) -> Iterator[Branch]:
        """Yield what is above the node, the nearest first."""
        if self.parent is not None:
            yield self.parent
            yield from self.parent.list_above()


class Subtree:
    """A part of the nodes below a node, and the tree that an answer shows of them."""

    def __init__(self, tx: Transaction, node: WorkNode, n: int, *, depth: int) -> None:
        self._tx = tx
        self._depth = depth
        tree = NodeTree(id=node.id, summary=node.summary, resolved=node.resolved, outcome=node.outcome)
        tree.state = node.state
        self._top = Branch(n, tree)
        self._rows: list[Branch] = []
        self._levels: dict[int, list[Branch]] = {}  # those that were read as a whole
        self._parents_left = PARENTS_MAX
        self._first_unshown = 0  # the children of the parent of the first row that no earlier page has shown

    @property
    def top(self) -> NodeTree:
        """The node itself, with the most that `show` adds to it."""
        tree = self._top.tree
        tree.children, tree.child_count = [], self._top.child_count or UNSET
        return tree

    def read(self, position: Position | None, room: Budget) -> ListPart[list[NodeTree]]:
        """Return the part from a position on."""
        if position is None:
            return ListPart("children", [], (), 0)
        asked = room.count_rows(NODE_CHARS_MIN)
        stop: list[int] | None = None
        at = list(position)
        while len(at) <= self._depth and len(self._rows) < asked and stop is None:
            found, stop = self._read_level(at, asked - len(self._rows))
            if not any(at) and stop is None and len(self._rows) + len(found) < asked:
                self._levels[len(at)] = found
            self._rows += found
            at = [0] * (len(at) + 1)
            if self._levels.get(len(at) - 1) == []:
                break
        rows = self._rows
        self._count_children([self._top, *rows, *(above for row in rows for above in row.list_above())])
        if rows:
            self._first_unshown = self._count_unshown(rows[0], position)
        listed = list(self._list_rows())
        if stop is not None and listed:
            listed[-1] = ListRow(listed[-1].forms, stop)
        is_end = len(rows) < asked and stop is None
        start = stop if stop is not None and not listed else position
        return ListPart("children", listed, start, len(rows) if is_end else len(rows) + 1)

    def show(self, part: ListPart[list[NodeTree]], *, lean: bool) -> NodeTree | UnsetType:
        """Return the tree of what is shown, and count in the part what is left out."""
        kept = self._rows[: len(part.shown)]
        for branch, trees in zip(kept, part.shown, strict=True):
            branch.tree = trees[-1]
        listed = {branch.n: branch for row in kept for branch in (*reversed([*row.list_above()]), row)}
        listed[self._top.n] = self._top
        children: dict[int, list[NodeTree]] = {}
        for branch in listed.values():
            if branch.parent is not None:
                children.setdefault(branch.parent.n, []).append(branch.tree)
        for branch in listed.values():
            self._set_children(branch, children.get(branch.n, []), lean=lean)
        if part.rest is not None:
            part.total = len(kept) + max(self._count_left_out(kept), 1)
        is_shown = not lean or self._top.child_count
        return self._top.tree if is_shown else UNSET

    def _set_children(self, branch: Branch, children: list[NodeTree], *, lean: bool) -> None:
        count = branch.child_count or 0
        branch.tree.child_count = count if len(children) < count else UNSET
        # A leaf gets neither field: leaves are the most frequent nodes, and each field costs tokens.
        is_bare_top = branch is self._top and not (count or lean or not self._depth)
        branch.tree.children = children if children or is_bare_top else UNSET

    def _count_left_out(self, kept: Sequence[Branch]) -> int:
        """Return the number of children of the listed nodes that no page has shown, without those below the last level.

        There may be more below nodes of earlier pages.
        """
        unshown = {row.n: row.child_count or 0 for row in kept if len(row.path) < self._depth}
        for row in kept[:1] or self._rows[:1]:
            if row.parent is not None:
                unshown[row.parent.n] = self._first_unshown
        for row in kept:
            if row.parent is not None:
                unshown.setdefault(row.parent.n, row.parent.child_count or 0)
                unshown[row.parent.n] -= 1
        return sum(unshown.values())

    def _count_unshown(self, row: Branch, position: Position) -> int:
        *head, after = position
        if row.parent is None or row.parent.path != head or not after:
            return 0 if row.parent is None else row.parent.child_count or 0
        parameters = {"project_id": self._tx.project.id, "n": row.parent.n, "after": after}
        unshown: int = self._tx.scalar(sql.count_children_after, **parameters)
        return unshown

    def _list_rows(self) -> Iterator[ListRow[list[NodeTree]]]:
        """Yield the nodes, each after what is above it that is not on the page before it."""
        listed = {self._top.n}
        for row in self._rows:
            above = [branch for branch in row.list_above() if branch.n not in listed][::-1]
            listed |= {row.n, *(branch.n for branch in above)}
            for branch in (*above, row):  # the most that `show` can add
                branch.tree.children = [] if branch.child_count else UNSET
                branch.tree.child_count = branch.child_count or UNSET
            for branch in above:
                branch.tree.state = UNSET
            trees = [branch.tree for branch in above]
            forms = [[*trees, row.tree]]
            if row.tree.state is not UNSET:
                forms.append([*trees, msgspec.structs.replace(row.tree, state=UNSET)])
            yield ListRow(forms, row.path)

    # --- Reading ---

    def _read_level(self, at: Sequence[int], at_most: int) -> tuple[list[Branch], list[int] | None]:
        """Return the first nodes of a level after a position, and where to go on if too many parents were looked at."""
        *head, after = at
        if not head:
            return self._read_children(self._top, after, at_most), None
        rows = []
        if head[-1] and (parent := self._find(head)) is not None:
            rows = self._read_children(parent, after, at_most)
        while len(rows) < at_most:
            if self._parents_left <= 0:
                return rows, [*head, AFTER_ALL]
            parents, stop = self._read_parents(head, min(PARENTS_READ, self._parents_left))
            self._parents_left -= len(parents)
            self._count_children(parents)
            rows += self._read_first_children(parents, at_most - len(rows))
            if stop is not None:
                return rows, [*stop, AFTER_ALL]
            if not parents:
                return rows, None
            head = parents[-1].path
        return rows, None

    def _read_parents(self, head: Sequence[int], at_most: int) -> tuple[list[Branch], list[int] | None]:
        whole = self._levels.get(len(head))
        if whole is None:
            return self._read_level(head, at_most)
        return [branch for branch in whole if branch.path > list(head)][:at_most], None

    def _find(self, path: Sequence[int]) -> Branch | None:
        """Return the node that a path leads to; None if it or a node on the path is gone or was moved."""
        parameters = {"project_id": self._tx.project.id, "ns": to_json_array(path)}
        rows = {row.n: row for row in self._tx.all(sql.children_by_number, ChildRow, **parameters)}
        branch = self._top
        for n in path:
            row = rows.get(n)
            if row is None or row.parent_n != branch.n:
                return None
            branch = _to_branch(row, branch)
        return branch

    def _read_children(self, parent: Branch, after: int, at_most: int) -> list[Branch]:
        parameters = {"project_id": self._tx.project.id, "n": parent.n, "after": after, "at_most": at_most}
        return [_to_branch(row, parent) for row in self._tx.all(sql.children_after, ChildRow, **parameters)]

    def _read_first_children(self, parents: Sequence[Branch], at_most: int) -> list[Branch]:
        """Return the children of the first of these nodes, in order."""
        chosen: dict[int, Branch] = {}
        wanted = at_most
        for parent in parents:
            if parent.child_count and wanted > 0:
                chosen[parent.n] = parent
                wanted -= parent.child_count
        if not chosen:
            return []
        parameters = {"project_id": self._tx.project.id, "ns": to_json_array(chosen), "of_each": at_most}
        below: dict[int, list[Branch]] = {n: [] for n in chosen}
        for row in self._tx.all(sql.first_children, ChildRow, **parameters):
            below[row.parent_n].append(_to_branch(row, chosen[row.parent_n]))
        return [branch for siblings in below.values() for branch in siblings][:at_most]

    def _count_children(self, branches: Sequence[Branch]) -> None:
        uncounted = {branch.n: branch for branch in branches if branch.child_count is None}
        if not uncounted:
            return
        for n, count in self._tx.all(sql.child_counts, project_id=self._tx.project.id, ns=to_json_array(uncounted)):
            uncounted[n].child_count = count


def _to_branch(row: ChildRow, parent: Branch) -> Branch:
    tree = NodeTree(id=row.id, summary=row.summary, resolved=row.resolved, outcome=get_outcome(row))
    if row.state is not None:
        tree.state = msgspec.json.decode(row.state)
    return Branch(row.n, tree, parent)
