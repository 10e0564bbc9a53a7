"""The subtree of a node, level by level, the oldest nodes first, with a bounded number of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.answers import Budget
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.nodes import WorkNode

CHILDREN_MAX = 50  # per node in one answer
TREE_NODES_MAX = 200  # in one answer

sql = load_queries(__file__)


class ChildRow(Struct):
    """A child of a node."""

    parent_n: int
    n: int
    id: str
    summary: str
    resolved: bool
    state: str | None


class NodeTree(Struct, kw_only=True):
    """A node with its subtree. `child_count` is the number of all its children, set only if some are not listed."""

    id: str
    summary: str
    resolved: bool
    state: Any = UNSET
    children: list[NodeTree] | UnsetType = UNSET
    child_count: int | UnsetType = UNSET


class Branch(Struct):
    """A node in the tree, with its parent and the number of its children."""

    n: int
    tree: NodeTree
    parent: Branch | None = None
    child_count: int = 0
    is_last_level: bool = False  # the request asks for nothing below

    def set_children(self, children: Sequence[NodeTree], *, lean: bool) -> None:
        """Add the first children of the node to it."""
        self.tree.child_count = self.child_count if len(children) < self.child_count else UNSET
        # A leaf gets neither field: leaves are the most frequent nodes, and each field costs tokens.
        is_bare_top = self.parent is None and not (self.child_count or lean or self.is_last_level)
        self.tree.children = list(children) if children or is_bare_top else UNSET


def load_branches(tx: Transaction, node: WorkNode, n: int, *, depth: int) -> list[Branch]:
    """Return the branches of the tree below a node, itself first, then level by level in order of creation."""
    top = Branch(n, NodeTree(id=node.id, summary=node.summary, resolved=node.resolved, state=node.state))
    branches, level = [top], [top]
    for height in range(depth, -1, -1):
        _count_children(tx, level)
        for branch in level:
            branch.is_last_level = height == 0
        if height > 0:
            level = _load_next_level(tx, level, room=TREE_NODES_MAX - len(branches))
            branches += level
        if not level:
            break
    return branches


def join_branches(branches: Sequence[Branch], *, lean: bool) -> NodeTree | UnsetType:
    """Return the tree of these branches, which are all branches or the leading ones."""
    children: dict[int, list[NodeTree]] = {}
    for branch in branches[1:]:
        if branch.parent is not None:
            children.setdefault(branch.parent.n, []).append(branch.tree)
    for branch in branches:
        branch.set_children(children.get(branch.n, ()), lean=lean)
    return branches[0].tree if branches[0].child_count or not lean else UNSET


def count_left_out(branches: Sequence[Branch]) -> int:
    """Return how many children of these branches are missing, other than those below the last level."""
    asked_for = sum(branch.child_count for branch in branches if not branch.is_last_level)
    return asked_for - (len(branches) - 1)


def fit_branches(branches: list[Branch], budget: Budget) -> list[Branch]:
    """Return the leading branches that fit the budget; the top always stays."""
    for branch in branches:
        branch.tree.children, branch.tree.child_count = [], branch.child_count  # the most that joining can add
    return branches[: len(budget.take_rows([branch.tree for branch in branches], at_least=1))]


def _count_children(tx: Transaction, level: Sequence[Branch]) -> None:
    counts: dict[int, int] = dict(tx.all(sql.child_counts, project_id=tx.project.id, ns=_encode_numbers(level)))
    for branch in level:
        branch.child_count = counts[branch.n]


def _load_next_level(tx: Transaction, level: Sequence[Branch], *, room: int) -> list[Branch]:
    wanted: list[Branch] = []
    for branch in level:
        if room > 0 and branch.child_count:
            wanted.append(branch)
            room -= min(branch.child_count, CHILDREN_MAX)
    if not wanted:
        return []
    found: dict[int, list[Branch]] = {branch.n: [] for branch in wanted}
    above = {branch.n: branch for branch in wanted}
    rows = tx.all(
        sql.first_children, ChildRow, project_id=tx.project.id, ns=_encode_numbers(wanted), of_each=CHILDREN_MAX
    )
    for row in rows:
        tree = NodeTree(id=row.id, summary=row.summary, resolved=row.resolved)
        if row.state is not None:
            tree.state = msgspec.json.decode(row.state)
        found[row.parent_n].append(Branch(row.n, tree, above[row.parent_n]))
    below = [branch for siblings in found.values() for branch in siblings]
    return below[: len(below) + min(room, 0)]


def _encode_numbers(branches: Sequence[Branch]) -> str:
    return to_json_array(branch.n for branch in branches)
