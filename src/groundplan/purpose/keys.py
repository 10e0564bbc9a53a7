"""What is given out once: stable keys, counted for each sort and project, and the revisions of drafts."""

from __future__ import annotations

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def fresh_keys(tx: Transaction, prefix: str, count: int) -> list[str]:
    """The next keys of a sort."""
    if not count:
        return []
    last = tx.scalar(sql.reserve_keys, project_id=tx.project.id, prefix=prefix, count=count)
    return [f"{prefix}{number}" for number in range(last - count + 1, last + 1)]


def reach(tx: Transaction, prefix: str, number: int) -> None:
    """Count on at least from a number, which came from elsewhere, so that nobody is given its key."""
    missing = number - _read_last_number(tx, prefix)
    if missing > 0:
        tx.one(sql.reserve_keys, project_id=tx.project.id, prefix=prefix, count=missing)


_REV_PREFIX = "REV"  # under which the highest revision of a draft that is gone is kept


def last_discarded_rev(tx: Transaction) -> int:
    """The highest revision that a draft had which was discarded."""
    return _read_last_number(tx, _REV_PREFIX)


def remember_discarded_rev(tx: Transaction, rev: int) -> None:
    """A draft is gone, and its revision must not come again."""
    tx.one(sql.reserve_keys, project_id=tx.project.id, prefix=_REV_PREFIX, count=rev - last_discarded_rev(tx))


def _read_last_number(tx: Transaction, prefix: str) -> int:
    return tx.scalar(sql.last_number, project_id=tx.project.id, prefix=prefix) or 0
