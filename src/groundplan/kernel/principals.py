"""Principals: the people, agents and services of an organization, found by name and added."""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.kernel.actors import ActorKind, NameOfOtherKind
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def add_to_organization(tx: Transaction, user_id: str, *, kind: ActorKind) -> bool:
    """Add a principal to the organization. Return False if it was there already."""
    tx.run(sql.add_principal, id=user_id, kind=kind)
    return bool(tx.run(sql.add_to_organization, user_id=user_id))


def store_kind(tx: Transaction) -> None:
    """Store the kind of an actor that acts for the first time.

    Raises:
        NameOfOtherKind: this request, or one that was committed meanwhile, stores the name with another kind.
    """
    tx.run(sql.add_principal, id=tx.actor.id, kind=tx.actor.kind)
    stored = find_kind(tx, tx.actor.id) or tx.actor.kind
    if stored is not tx.actor.kind:
        raise NameOfOtherKind(tx.actor.id, stored, tx.actor.kind)


def find_principal(tx: Transaction, ref: str) -> str | None:
    """Return the id of the principal with this id or name; an id takes precedence."""
    ids = tx.scalars(sql.principals_by_ref, ref=ref)
    return ref if ref in ids else next(iter(ids), None)


def find_kind(tx: Transaction, id_: str) -> ActorKind | None:
    """Return the kind of a principal; None if it does not exist."""
    kind = tx.scalar(sql.kind_of_principal, id=id_)
    return None if kind is None else ActorKind(kind)


def read_other_kinds(tx: Transaction) -> Mapping[str, ActorKind]:
    """Return the kinds of the names that are no persons' in the organization."""
    if tx.other_kinds is None:
        tx.other_kinds = {name: ActorKind(kind) for name, kind in tx.all(sql.other_kinds)}
    return tx.other_kinds


def describe_actor(tx: Transaction, name: str) -> str:
    """Return a name with its kind, unless it is a person's."""
    kind = read_other_kinds(tx).get(name)
    return name if kind is None else f"{name} ({kind})"
