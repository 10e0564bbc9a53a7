"""Who is meant: a principal is addressed by id or by name."""

from __future__ import annotations

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def find_principal(tx: Transaction, ref: str) -> str | None:
    """The id of whoever is meant. An id goes before a name."""
    found = tx.scalars(sql.principals_by_ref, ref=ref)
    return ref if ref in found else next(iter(found), None)
