"""The order of nodes by depth."""

from __future__ import annotations

from collections.abc import Iterable

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def sort_from_below(tx: Transaction, ids: Iterable[str]) -> list[str]:
    """Return the ids of nodes of the current project, every node before those above it."""
    return tx.scalars(sql.ids_from_below, project_id=tx.project.id, ids=to_json_array(ids))
