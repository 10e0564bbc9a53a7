"""Work that serves nothing, and resolved work without evidence."""

from __future__ import annotations

from collections.abc import Collection

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def find_open_leaves_outside(tx: Transaction, ns: Collection[int]) -> list[str]:
    """Return the ids of open nodes without open children that are not in the subtrees of `ns`, oldest first."""
    rows = tx.all(sql.open_leaves_outside, project_id=tx.project.id, ns=to_json_array(ns))
    return [node_id for _, node_id in sorted(rows)]


def find_resolved_without_evidence(tx: Transaction) -> list[str]:
    """Return the ids of resolved nodes without children and without evidence, oldest first."""
    return tx.scalars(sql.resolved_without_evidence, project_id=tx.project.id)
