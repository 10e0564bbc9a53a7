"""Find principals by id or by name."""

from __future__ import annotations

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def find_principal(tx: Transaction, ref: str) -> str | None:
    """Return the id of the principal with this id or name; an id takes precedence."""
    found = tx.scalars(sql.principals_by_ref, ref=ref)
    return ref if ref in found else next(iter(found), None)
