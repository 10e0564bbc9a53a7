"""The inverse of a change of the policies of a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from groundplan.briefing.undo.inverse import InverseCall, Inverses, NoInverse
from groundplan.kernel.audit import KernelOp
from groundplan.kernel.errors import NextStep
from groundplan.kernel.events import StoredEvent
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.graph import open as open_work

_MEMBER = NoInverse("membership is changed by name", NextStep("member.list", "lists the members"))
_ACCESS = NoInverse("it is no change of the project", NextStep("token.list", "lists the tokens"))
_ORGANIZATION = NoInverse("it is a change of the organization", NextStep("organization.view", "shows it"))
_INVITATION = NoInverse("an address may have used it", NextStep("invitation.list", "lists the invitations"))
OPS: Mapping[str, NoInverse | None] = {
    KernelOp.PROJECT_CONFIGURED: None,
    KernelOp.PROJECT_CREATED: NoInverse("a project stays", NextStep("project.archive", "archives it")),
    KernelOp.PROJECT_ARCHIVED: NoInverse(
        "an archived project is read only", NextStep("project.restore", "restores it")
    ),
    KernelOp.PROJECT_RESTORED: NoInverse("a restored project is open", NextStep("project.archive", "archives it")),
    **dict.fromkeys((KernelOp.MEMBER_ADDED, KernelOp.MEMBER_CHANGED, KernelOp.MEMBER_REMOVED), _MEMBER),
    **dict.fromkeys(
        (
            KernelOp.ORGANIZATION_CREATED,
            KernelOp.ORGANIZATION_RENAMED,
            KernelOp.ORGANIZATION_CONFIGURED,
            KernelOp.PERSON_JOINED,
            KernelOp.PERSON_CHANGED,
            KernelOp.PERSON_LEFT,
            KernelOp.IDENTITY_BOUND,
            KernelOp.IDENTITY_UNBOUND,
        ),
        _ORGANIZATION,
    ),
    **dict.fromkeys(
        (KernelOp.INVITATION_CREATED, KernelOp.INVITATION_ACCEPTED, KernelOp.INVITATION_REVOKED), _INVITATION
    ),
    **dict.fromkeys(
        (KernelOp.TOKEN_CREATED, KernelOp.TOKEN_REVOKED, KernelOp.SESSION_OPENED, KernelOp.SESSION_CLOSED), _ACCESS
    ),
}


def build_call(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall:
    """Return the call that restores the earlier policies."""
    policies = {
        change.field.removeprefix("policies."): change.before for event in reversed(events) for change in event.changes
    }
    return InverseCall(open_work.OPERATION, {"project": tx.project.id, "policies": policies})


INVERSES = Inverses(OPS, build_call)
