"""The aliases of nodes that are removed, and of the items that they were imported from."""

from __future__ import annotations

from collections.abc import Iterable

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def move_aliases(tx: Transaction, from_n: int, to_n: int) -> None:
    """Give the aliases of a node that is merged into another to the other one."""
    tx.run(sql.move_aliases, project_id=tx.project.id, n=from_n, to_n=to_n)
    _detach_imports(tx, [from_n])


def remove_aliases(tx: Transaction, ns: Iterable[int]) -> None:
    """Remove the aliases of nodes that are deleted."""
    tx.run(sql.remove_aliases, project_id=tx.project.id, ns=to_json_array(ns))
    _detach_imports(tx, ns)


def _detach_imports(tx: Transaction, ns: Iterable[int]) -> None:
    """Keep that the items of these nodes were imported, so that the next import does not make them again."""
    tx.run(sql.detach_imports, project_id=tx.project.id, ns=to_json_array(ns))
