"""Insert new nodes: unused ids, their rows, and their summaries into the text index where the engine has one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from groundplan.kernel.ids import new_short_ids
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.row import WorkNodeRow

TEXT_KEY_BITS = 32  # the low bits are the node's number, the high bits the project's

sql = load_queries(__file__)


def insert_nodes(tx: Transaction, project_id: str, rows: Sequence[WorkNodeRow]) -> None:
    """Insert nodes of one project, parents first, and index their summaries for search."""
    number = tx.scalar(sql.project_number, project_id=project_id)
    # A project that this write creates starts at revision 1.
    changed_rev = tx.rev if tx.has_project else 1
    now = {"project_id": project_id, "created_at": tx.now, "updated_at": tx.now, "changed_rev": changed_rev}
    tx.run_many(sql.add_nodes, [msgspec.structs.asdict(row) | now for row in rows])
    tx.run_many(
        sql.index_summaries, [{"key": (number << TEXT_KEY_BITS) + row.n, "summary": row.summary} for row in rows]
    )


def generate_ids(tx: Transaction, count: int, *, population: int) -> list[str]:
    """Return `count` unused ids; they get longer as the project grows."""
    found: dict[str, None] = {}
    while len(found) < count:
        proposed = to_json_array(new_short_ids(count - len(found), population + count))
        found |= dict.fromkeys(tx.scalars(sql.find_unused_ids, ids=proposed))
    return list(found)


def generate_project_id(tx: Transaction, _: None) -> str:
    """Return an id for a project that its root can have, too."""
    return generate_ids(tx, 1, population=0)[0]
