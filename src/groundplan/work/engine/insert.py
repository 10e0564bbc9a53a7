"""Insert new nodes: their rows, and their summaries into the text index where the engine has one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.row import WorkNodeRow

TEXT_KEY_BITS = 32  # the low bits are the node's number, the high bits the project's

sql = load_queries(__file__)


def insert_nodes(tx: Transaction, project_id: str, rows: Sequence[WorkNodeRow]) -> None:
    """Insert nodes of one project, parents first, and index their summaries for search."""
    number = tx.scalar(sql.project_number, project_id=project_id)
    now = {"project_id": project_id, "created_at": tx.now, "updated_at": tx.now}
    tx.many(sql.add_nodes, [msgspec.structs.asdict(row) | now for row in rows])
    tx.many(sql.index_summaries, [{"key": (number << TEXT_KEY_BITS) + row.n, "summary": row.summary} for row in rows])
