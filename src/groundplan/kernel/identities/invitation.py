"""Invitations: an e-mail address under which a person may log in for the first time.

Also whom a name or an address stands for, and the operations that list and revoke invitations.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import ClassVar, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.errors import Conflict, NotFound
from groundplan.kernel.identities.email_address import is_email, normalize_email
from groundplan.kernel.ids import make_random_letters
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, OpId, Route, declare
from groundplan.kernel.principals import find_principal
from groundplan.kernel.store.authorize import administers
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.schema import ADMINISTERS, IN_ORGANIZATION, Frozen, Table, make_error_factory
from groundplan.kernel.store.transaction import Transaction

LIFETIME = timedelta(days=14)
ID_CHARS = 10

sql = load_queries(__file__)


class InvitationState(StrEnum):
    """The state of an invitation, which tells if it can still be used."""

    OPEN = "open"
    EXPIRED = "expired"
    ACCEPTED = "accepted"
    REVOKED = "revoked"


class InvitationView(Struct):
    """An invitation in answers. `name` is the invited member."""

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
    """The address already belongs to another member."""

    code = "address_in_use"

    def __init__(self, email: str) -> None:
        super().__init__(f"{email} stands for another member already; remove or unlink them first", email=email)


class InvitationIsFinal(Frozen):
    """The change concerns an invitation that was accepted or revoked, or the terms of any invitation."""

    code = "invitation_is_final"


class IdentityIsFinal(Frozen):
    """The change would give an account to another person."""

    code = "identity_is_final"


REFUSALS = {
    "invitation_is_final": make_error_factory(
        InvitationIsFinal, "this invitation was used or revoked; invite the address again"
    ),
    "identity_is_final": make_error_factory(IdentityIsFinal, "an account cannot be given to somebody else; unlink it"),
    "identity_kind": make_error_factory(IdentityIsFinal, "only a person has an account of an identity provider"),
}


def find_person_of_email(tx: Transaction, email: str) -> str | None:
    """Return the person of an address, by an account or else by an open invitation."""
    rows = tx.all(sql.person_of_email, email=email)
    return str(max(rows, key=lambda row: bool(row[1]))[0]) if rows else None


def invite(tx: Transaction, email: str, *, principal_id: str) -> InvitationView | None:
    """Invite a member of the organization under an address. Returns None if the address has an open invitation."""
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
    return tx.one(sql.invitation, InvitationView, id=invitation_id)


def revoke_open(tx: Transaction, invitation: InvitationView) -> None:
    """Revoke an open invitation."""
    tx.run(sql.revoke_invitation, id=invitation.id)
    tx.record(KernelOp.INVITATION_REVOKED, invitation.id, changed("revoked_at", None, tx.now))


def revoke_invitations_of(tx: Transaction, principal_id: str) -> None:
    """Revoke the open invitations of a member."""
    for row in tx.all(sql.open_invitations_of, InvitationView, principal_id=principal_id):
        revoke_open(tx, row)


def unbind_accounts(tx: Transaction, principal_id: str) -> int:
    """Remove the accounts of a person, and return how many there were."""
    rows = tx.all(sql.identities_of, principal_id=principal_id)
    for issuer, email in rows:
        tx.record(
            KernelOp.IDENTITY_UNBOUND, principal_id, changed("issuer", issuer, None), changed("email", email, None)
        )
    if rows:
        tx.run(sql.remove_identities, principal_id=principal_id)
    return len(rows)


class ExpectedPerson(NamedTuple):
    """A principal, which may not exist yet, and the address to invite; None if no invitation is needed."""

    id: str
    email: str | None = None


def find_expected_person(tx: Transaction, name: str, *, kind: ActorKind, email: str | None = None) -> ExpectedPerson:
    """Return the person of a name, which may be an e-mail address. `email` is the address if the name is not one."""
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
    """Invite a person who has joined the organization if their address has no account."""
    return UNSET if person.email is None else invite(tx, person.email, principal_id=person.id) or UNSET


class ListInvitations(Struct, forbid_unknown_fields=True):
    """The filter of the list of invitations."""

    ended: bool = False


class Invitations(Struct):
    """Invitations, newest first."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("invitations",)))

    invitations: list[InvitationView]
    left_out: LeftOut = UNSET


def list_invitations(tx: Transaction, request: ListInvitations) -> Invitations:
    """Return the caller's invitations, or all for an administrator. Ended ones are listed only on request."""
    invitations = tx.all(sql.invitations if administers(tx) else sql.own_invitations, InvitationView)
    ended = (InvitationState.ACCEPTED, InvitationState.REVOKED)
    shown = [invitation for invitation in invitations if request.ended or invitation.state not in ended]
    return Invitations(sorted(shown, key=lambda invitation: (invitation.created_at, invitation.id), reverse=True))


LIST = declare(
    list_invitations,
    name="invitation.list",
    summary="List invitations that were not used yet; used and revoked ones too when asked.",
    permission=Permission.INVITATION_LIST,
    effect=Effect.READ,
    http=Route("GET", "/organization/invitations"),
)


class RevokeInvitation(Struct, forbid_unknown_fields=True):
    """The invitation to revoke."""

    id: Name
    op_id: OpId = None


class OneInvitation(Struct):
    """The invitation after the change."""

    invitation: InvitationView


def revoke(tx: Transaction, request: RevokeInvitation) -> OneInvitation:
    """Revoke an invitation. Revoking it again changes nothing.

    Raises:
        NotFound: there is no such invitation, or somebody else made it.
        InvitationIsFinal: it was used; remove the member instead.
    """
    invitation = tx.one_or_none(sql.invitation, InvitationView, id=request.id)
    if invitation is None or not (invitation.created_by == tx.actor.id or administers(tx)):
        raise NotFound("invitation", request.id)
    if invitation.accepted_at is not None:
        raise InvitationIsFinal(
            f"{invitation.email} has used this invitation; remove the member {invitation.name!r} instead"
        )
    if invitation.revoked_at is None:
        revoke_open(tx, invitation)
    return OneInvitation(tx.one(sql.invitation, InvitationView, id=invitation.id))


REVOKE = declare(
    revoke,
    name="invitation.revoke",
    summary="Revoke an invitation, so that nobody can use it any more.",
    permission=Permission.INVITATION_REVOKE,
    effect=Effect.DESTROY,
    idempotent=True,
    http=Route("DELETE", "/organization/invitations/{id}"),
)


# --- The tables of invitations and identities -------------------------------------------------------------------------

_OWN_INVITATIONS = f"{IN_ORGANIZATION} AND (created_by = (SELECT gp_actor()) OR {ADMINISTERS})"
# An owner invites an address under its own name; only an administrator gives it to somebody who has another.
_OWNS_A_PROJECT = "cardinality((SELECT gp_projects_as(ARRAY['owner']))) > 0"

INVITATIONS = Table(
    "invitations",
    select=_OWN_INVITATIONS,
    insert=f"{IN_ORGANIZATION} AND (SELECT gp_may_write()) AND created_by = (SELECT gp_actor())"
    f" AND ({ADMINISTERS} OR (principal_id = email AND {_OWNS_A_PROJECT}))",
    update=_OWN_INVITATIONS,
    update_columns=("accepted_at", "revoked_at", "revoked_by"),
)
IDENTITIES = Table(
    "identities",
    select=f"{IN_ORGANIZATION} AND (principal_id = (SELECT gp_actor()) OR {ADMINISTERS})",
    # Only a login adds one, for the person themselves, and it acts with open access.
    insert=f"{IN_ORGANIZATION} AND (SELECT gp_owns_organization()) AND principal_id = (SELECT gp_actor())",
)
