"""Put new nodes into the store: their rows, and their summaries where there is an index of text."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.row import WorkNodeRow

TEXT_KEY_BITS = 32  # of a node's number, below the project's

sql = load_queries(__file__)


def insert_nodes(tx: Transaction, project_id: str, rows: Sequence[WorkNodeRow]) -> None:
    """Put nodes of one project in, each behind its parent, with their texts: one without is not found."""
    number = tx.scalar(sql.project_number, project_id=project_id)
    now = {"project_id": project_id, "created_at": tx.now, "updated_at": tx.now}
    tx.many(sql.add_nodes, [msgspec.structs.asdict(row) | now for row in rows])
    tx.many(sql.index_summaries, [{"key": (number << TEXT_KEY_BITS) + row.n, "summary": row.summary} for row in rows])
