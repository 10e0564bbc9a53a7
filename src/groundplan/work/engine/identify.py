"""Fresh ids for nodes: random, short, and not in use anywhere in the organization."""

from __future__ import annotations

from groundplan.kernel.ids import short_ids
from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def fresh_ids(tx: Transaction, count: int, *, population: int) -> list[str]:
    """So many ids that nobody has; they get longer as the project grows."""
    found: list[str] = []
    taken: set[str] = set()
    while len(found) < count:
        proposed = list(dict.fromkeys(short_ids(count - len(found), population + count)))
        taken.update(_taken(tx, proposed), found)
        found += [one for one in proposed if one not in taken]
    return found


def is_free(tx: Transaction, node_id: str) -> bool:
    """Whether no node has this id, or had it."""
    return not _taken(tx, [node_id])


def _taken(tx: Transaction, ids: list[str]) -> list[str]:
    return tx.scalars(sql.ids_taken, ids=listed(ids))
