"""Principals: the people, agents and services of an organization, found by name and added."""

from __future__ import annotations

from groundplan.kernel.actors import ActorKind
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def add_to_organization(tx: Transaction, user_id: str, *, kind: ActorKind) -> bool:
    """Add a principal to the organization. Return False if it was there already."""
    tx.run(sql.add_principal, id=user_id, kind=kind)
    return bool(tx.run(sql.add_to_organization, user_id=user_id))


def find_principal(tx: Transaction, ref: str) -> str | None:
    """Return the id of the principal with this id or name; an id takes precedence."""
    ids = tx.scalars(sql.principals_by_ref, ref=ref)
    return ref if ref in ids else next(iter(ids), None)


def find_kind(tx: Transaction, id_: str) -> ActorKind | None:
    """Return the kind of a principal; None if it does not exist."""
    kind = tx.scalar(sql.kind_of_principal, id=id_)
    return None if kind is None else ActorKind(kind)
