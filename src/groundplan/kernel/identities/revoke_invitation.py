"""Revoke an invitation: the address is not let in any more. The member that it was for stays until they are removed."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import NotFound
from groundplan.kernel.identities.invitation import (
    InvitationIsFinal,
    InvitationRow,
    InvitationView,
    revoke_row,
    view_invitation,
)
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Operation, Route
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.authorize import administers
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


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
    row = tx.one_or_none(sql.invitation, InvitationRow, id=request.id)
    if row is None or not (row.created_by == tx.actor.id or administers(tx)):
        raise NotFound("invitation", request.id)
    if row.accepted_at is not None:
        raise InvitationIsFinal(f"{row.email} has used this invitation; remove the member {row.principal_id!r} instead")
    if row.revoked_at is None:
        revoke_row(tx, row)
    return OneInvitation(view_invitation(tx.one(sql.invitation, InvitationRow, id=row.id), tx.now))


OPERATION = Operation(
    name="invitation.revoke",
    summary="Revoke an invitation, so that nobody can use it any more.",
    permission=Permission.INVITATION_REVOKE,
    effect=Effect.DESTROY,
    input=RevokeInvitation,
    output=OneInvitation,
    handler=revoke,
    idempotent=True,
    command=Command(("org", "invitation", "revoke"), arguments=("id",)),
    http=Route("DELETE", "/organization/invitations/{id}"),
)
