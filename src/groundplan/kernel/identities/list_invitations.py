"""List invitations."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.budget import CutLists, LeftOut, Trimming
from groundplan.kernel.identities.invitation import InvitationRow, InvitationState, InvitationView, view_invitation
from groundplan.kernel.operations.registry import Command, Effect, Operation, Route
from groundplan.kernel.store.authorize import administers
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class ListInvitations(Struct, forbid_unknown_fields=True):
    """The filter of the list."""

    ended: bool = False


class Invitations(Struct):
    """Invitations, newest first."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("invitations",)))

    invitations: list[InvitationView]
    left_out: LeftOut = UNSET


def list_invitations(tx: Transaction, request: ListInvitations) -> Invitations:
    """Return the invitations that the caller made, or all for an administrator; those that ended only on request."""
    rows = tx.all(sql.invitations if administers(tx) else sql.own_invitations, InvitationRow)
    ended = (InvitationState.ACCEPTED, InvitationState.REVOKED)
    views = [view_invitation(row, tx.now) for row in rows]
    shown = [view for view in views if request.ended or view.state not in ended]
    return Invitations(sorted(shown, key=lambda view: (view.created_at, view.id), reverse=True))


OPERATION = Operation(
    name="invitation.list",
    summary="List invitations that were not used yet; used and revoked ones too when asked.",
    permission=Permission.INVITATION_LIST,
    effect=Effect.READ,
    input=ListInvitations,
    output=Invitations,
    handler=list_invitations,
    command=Command(
        ("org", "invitation", "list"), columns=("id", "email", "name", "state", "created_by", "expires_at")
    ),
    http=Route("GET", "/organization/invitations"),
)
