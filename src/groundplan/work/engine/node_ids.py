"""New ids for nodes: random, short, and unused in the whole organization."""

from __future__ import annotations

from groundplan.kernel.ids import new_short_ids
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


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
