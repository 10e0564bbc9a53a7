"""Counters for values that are never reused: stable keys by kind and project, and the revisions of drafts."""

from __future__ import annotations

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def reserve_keys(tx: Transaction, prefix: str, count: int) -> list[str]:
    """Reserve the next keys with a prefix."""
    if not count:
        return []
    last = tx.scalar(sql.reserve_keys, project_id=tx.project.id, prefix=prefix, count=count)
    return [f"{prefix}{number}" for number in range(last - count + 1, last + 1)]


def reserve_up_to(tx: Transaction, prefix: str, number: int) -> None:
    """Reserve key numbers up to `number`, so that imported keys are not assigned again."""
    missing = number - _read_last_number(tx, prefix)
    if missing > 0:
        tx.one(sql.reserve_keys, project_id=tx.project.id, prefix=prefix, count=missing)


_REV_PREFIX = "REV"  # counter for the highest revision of a discarded draft


def get_last_discarded_rev(tx: Transaction) -> int:
    """Return the highest revision of a discarded draft."""
    return _read_last_number(tx, _REV_PREFIX)


def store_discarded_rev(tx: Transaction, rev: int) -> None:
    """Store the revision of a discarded draft, so that it is not reused."""
    tx.one(sql.reserve_keys, project_id=tx.project.id, prefix=_REV_PREFIX, count=rev - get_last_discarded_rev(tx))


def _read_last_number(tx: Transaction, prefix: str) -> int:
    return tx.scalar(sql.last_number, project_id=tx.project.id, prefix=prefix) or 0
