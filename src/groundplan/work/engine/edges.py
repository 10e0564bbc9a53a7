"""Add, remove and look up edges between nodes."""

from __future__ import annotations

from collections.abc import Collection

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

DEPENDS_ON = "depends_on"
RELATES_TO = "relates_to"

sql = load_queries(__file__)


def add_edge(tx: Transaction, from_n: int, type_: str, to_n: int) -> bool:
    """Add an edge between two nodes, and return False if it exists already."""
    return tx.run(sql.add_edge, project_id=tx.project.id, from_n=from_n, type=type_, to_n=to_n) > 0


def remove_edge(tx: Transaction, from_n: int, type_: str, to_n: int) -> bool:
    """Remove an edge between two nodes, and return False if there is none."""
    return tx.run(sql.remove_edge, project_id=tx.project.id, from_n=from_n, type=type_, to_n=to_n) > 0


def touch(tx: Transaction, n: int) -> None:
    """Increment the revision of a node for a change outside its row, such as a new edge."""
    tx.run(sql.touch_node, project_id=tx.project.id, n=n)


def load_dependents(tx: Transaction, ns: Collection[int]) -> list[int]:
    """Return the nodes that depend on these nodes, once for each dependency."""
    return tx.scalars(sql.dependents, project_id=tx.project.id, ns=to_json_array(ns))
