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
    found: list[str] = []
    taken: set[str] = set()
    while len(found) < count:
        proposed = list(dict.fromkeys(new_short_ids(count - len(found), population + count)))
        taken.update(_find_used_ids(tx, proposed), found)
        found += [node_id for node_id in proposed if node_id not in taken]
    return found


def is_id_free(tx: Transaction, node_id: str) -> bool:
    """Return whether no node has or had this id."""
    return not _find_used_ids(tx, [node_id])


def _find_used_ids(tx: Transaction, ids: list[str]) -> list[str]:
    return tx.scalars(sql.find_used_ids, ids=to_json_array(ids))
