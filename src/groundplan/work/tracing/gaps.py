"""Work that serves nothing, and resolved work without evidence."""

from __future__ import annotations

from collections.abc import Collection

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def find_open_leaves_outside(tx: Transaction, ns: Collection[int]) -> list[str]:
    """Return the ids of open nodes without open children that are not in the subtrees of `ns`, oldest first."""
    nodes = tx.all(sql.open_nodes, project_id=tx.project.id)
    parents: dict[int, int | None] = {n: parent_n for n, parent_n, _ in nodes}  # the parent of an open node is open
    is_inside: dict[int | None, bool] = {None: False, **dict.fromkeys(ns, True)}
    found = []
    for leaf_n, parent_n, leaf_id in nodes:
        if leaf_id is None or parent_n is None:
            continue
        n: int | None = leaf_n if leaf_n in is_inside else parent_n
        way = []
        while n not in is_inside:
            way.append(n)
            n = None if n is None else parents.get(n)
        if way:
            is_inside.update(dict.fromkeys(way, is_inside[n]))
        if not is_inside[n]:
            found.append(leaf_id)
    return found


def find_resolved_without_evidence(tx: Transaction) -> list[str]:
    """Return the ids of resolved nodes without children and without evidence, oldest first."""
    return tx.scalars(sql.resolved_without_evidence, project_id=tx.project.id)
