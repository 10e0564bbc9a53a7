"""Whom a name or an e-mail address stands for, and the invitation of somebody who has no account yet."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import UNSET, UnsetType

from groundplan.kernel.actors import ActorKind
from groundplan.kernel.identities.email_address import is_email, normalize_email
from groundplan.kernel.identities.invitation import (
    AddressInUse,
    InvitationView,
    find_person_of_email,
    invite,
    view_invitation,
)
from groundplan.kernel.members.member import find_principal
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class ExpectedPerson(NamedTuple):
    """A principal, which may not exist yet, and the address to invite; None if that is not needed."""

    id: str
    email: str | None = None


def find_expected_person(tx: Transaction, name: str, *, kind: ActorKind, email: str | None = None) -> ExpectedPerson:
    """Return whom a name stands for. A person's name may be their address; `email` is the address of another name.

    Raises:
        AddressInUse: `email` stands for another person already.
        Invalid: the address is malformed.
    """
    if email is None and (kind is not ActorKind.PERSON or not is_email(name)):
        return ExpectedPerson(find_principal(tx, name) or name)
    address = normalize_email(name if email is None else email, ("name",) if email is None else ("email",))
    known_as = find_person_of_email(tx, address)
    if email is None:
        named = find_principal(tx, name)
        if known_as is None and named not in (None, address):
            return ExpectedPerson(str(named))  # it was added as a name, before addresses were invited
        user_id = known_as or address
        row = tx.one_or_none(sql.person, id=user_id)
        if row is not None and row[0] != ActorKind.PERSON:
            return ExpectedPerson(user_id)  # an agent or a service never logs in
    else:
        user_id = find_principal(tx, name) or name
        if known_as not in (None, user_id):
            raise AddressInUse(address)
    return ExpectedPerson(user_id, address if known_as is None else None)


def invite_person(tx: Transaction, person: ExpectedPerson) -> InvitationView | UnsetType:
    """Invite somebody who has joined the organization, if they have an address without an account."""
    row = None if person.email is None else invite(tx, person.email, principal_id=person.id)
    return UNSET if row is None else view_invitation(row, tx.now)
