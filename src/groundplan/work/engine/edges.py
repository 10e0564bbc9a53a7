"""Edges between nodes: make one, take one away, and say that a node changed by it."""

from __future__ import annotations

from collections.abc import Collection

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

DEPENDS_ON = "depends_on"
RELATES_TO = "relates_to"

sql = load_queries(__file__)


def add_edge(tx: Transaction, from_n: int, type_: str, to_n: int) -> bool:
    """Connect two nodes; False where they are connected like this already."""
    return tx.run(sql.add_edge, project_id=tx.project.id, from_n=from_n, type=type_, to_n=to_n) > 0


def remove_edge(tx: Transaction, from_n: int, type_: str, to_n: int) -> bool:
    """Take a connection away; False where there is none."""
    return tx.run(sql.remove_edge, project_id=tx.project.id, from_n=from_n, type=type_, to_n=to_n) > 0


def touch(tx: Transaction, n: int) -> None:
    """Give a node its next revision for a change beside its row."""
    tx.run(sql.touch_node, project_id=tx.project.id, n=n)


def dependents(tx: Transaction, ns: Collection[int]) -> list[int]:
    """Who waits for some nodes, as often as they do."""
    return tx.scalars(sql.dependents, project_id=tx.project.id, ns=to_json_array(ns))
