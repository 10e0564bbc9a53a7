"""An invitation: a person who is expected under an e-mail address, until their first login."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.errors import Conflict
from groundplan.kernel.ids import make_random_letters
from groundplan.kernel.store.guards import Frozen, make_error_factory
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

LIFETIME = timedelta(days=14)
ID_CHARS = 10

sql = load_queries(__file__)


class InvitationState(StrEnum):
    """Whether somebody can still use an invitation."""

    OPEN = "open"
    EXPIRED = "expired"
    ACCEPTED = "accepted"
    REVOKED = "revoked"


class InvitationRow(Struct):
    """A stored invitation."""

    id: str
    email: str
    principal_id: str
    created_at: str
    created_by: str
    expires_at: str
    accepted_at: str | None
    revoked_at: str | None
    revoked_by: str | None

    def get_state(self, now: str) -> InvitationState:
        """Return whether somebody can use the invitation at a time."""
        if self.accepted_at is not None:
            return InvitationState.ACCEPTED
        if self.revoked_at is not None:
            return InvitationState.REVOKED
        return InvitationState.OPEN if self.expires_at > now else InvitationState.EXPIRED


class InvitationView(Struct):
    """An invitation in answers; `name` is the member that it is for."""

    id: str
    email: str
    name: str
    state: InvitationState
    created_at: str
    created_by: str
    expires_at: str
    accepted_at: str | None
    revoked_at: str | None
    revoked_by: str | None


class AddressInUse(Conflict):
    """The address stands for somebody else already."""

    code = "address_in_use"

    def __init__(self, email: str) -> None:
        super().__init__(f"{email} stands for another member already; remove or unlink them first", email=email)


class InvitationIsFinal(Frozen):
    """The terms of an invitation cannot change, and one that is accepted or revoked is over."""

    code = "invitation_is_final"


class IdentityIsFinal(Frozen):
    """Whose an account is cannot change."""

    code = "identity_is_final"


REFUSALS = {
    "invitation_is_final": make_error_factory(
        InvitationIsFinal, "this invitation was used or revoked; invite the address again"
    ),
    "identity_is_final": make_error_factory(IdentityIsFinal, "an account cannot be given to somebody else; unlink it"),
    "identity_kind": make_error_factory(IdentityIsFinal, "only a person has an account of an identity provider"),
}


def view_invitation(row: InvitationRow, now: str) -> InvitationView:
    """Return an invitation as answers show it."""
    return InvitationView(
        row.id,
        row.email,
        row.principal_id,
        row.get_state(now),
        row.created_at,
        row.created_by,
        row.expires_at,
        row.accepted_at,
        row.revoked_at,
        row.revoked_by,
    )


def find_person_of_email(tx: Transaction, email: str) -> str | None:
    """Return the person whom an address stands for, by an account or else by an open invitation."""
    rows = tx.all(sql.person_of_email, email=email)
    return str(max(rows, key=lambda row: bool(row[1]))[0]) if rows else None


def invite(tx: Transaction, email: str, *, principal_id: str) -> InvitationRow | None:
    """Expect a member of the organization under an address. Returns None if the address has an open invitation."""
    tx.run(sql.end_expired_invitation, email=email)
    invitation_id = make_random_letters(ID_CHARS)
    expires_at = subtract_time(tx.now, -LIFETIME)
    if not tx.run(sql.add_invitation, id=invitation_id, email=email, principal_id=principal_id, expires_at=expires_at):
        return None
    tx.record(
        KernelOp.INVITATION_CREATED,
        invitation_id,
        changed("email", None, email),
        changed("name", None, principal_id),
        changed("expires_at", None, expires_at),
    )
    return tx.one(sql.invitation, InvitationRow, id=invitation_id)


def revoke_row(tx: Transaction, row: InvitationRow) -> None:
    """Revoke an open invitation."""
    tx.run(sql.revoke_invitation, id=row.id)
    tx.record(KernelOp.INVITATION_REVOKED, row.id, changed("revoked_at", None, tx.now))


def revoke_invitations_of(tx: Transaction, principal_id: str) -> None:
    """Revoke the open invitations for somebody."""
    for row in tx.all(sql.open_invitations_of, InvitationRow, principal_id=principal_id):
        revoke_row(tx, row)


def unbind_accounts(tx: Transaction, principal_id: str) -> int:
    """Unlink the accounts of a person, and return how many there were."""
    rows = tx.all(sql.identities_of, principal_id=principal_id)
    for issuer, email in rows:
        tx.record(
            KernelOp.IDENTITY_UNBOUND, principal_id, changed("issuer", issuer, None), changed("email", email, None)
        )
    if rows:
        tx.run(sql.remove_identities, principal_id=principal_id)
    return len(rows)
