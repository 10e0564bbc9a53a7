"""The inverses of the creation of a project and of a change of its policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from groundplan.briefing.undo.inverse import CannotUndo, InverseCall, Inverses, NoInverse
from groundplan.kernel.audit import KernelOp
from groundplan.kernel.errors import NextStep
from groundplan.kernel.events import StoredEvent, list_later_subjects
from groundplan.kernel.projects import SET_ASIDE
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.graph import open as open_work

EVENTS_MAX = 1_000  # events in a project whose creation can be undone

_MEMBER = NoInverse("membership is changed by name", NextStep("member.list", "lists the members"))
_ACCESS = NoInverse("it is no change of the project", NextStep("token.list", "lists the tokens"))
_ORGANIZATION = NoInverse("it is a change of the organization", NextStep("organization.view", "shows it"))
_INVITATION = NoInverse("an address may have used it", NextStep("invitation.list", "lists the invitations"))
OPS: Mapping[str, NoInverse | None] = {
    KernelOp.PROJECT_CONFIGURED: None,
    KernelOp.PROJECT_CREATED: None,
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
    """Return the call that sets a new project aside or restores the earlier policies."""
    if events[0].op == KernelOp.PROJECT_CREATED:
        return InverseCall(SET_ASIDE, {"project": tx.project.id})
    policies = {
        change.field.removeprefix("policies."): change.before for event in reversed(events) for change in event.changes
    }
    return InverseCall(open_work.OPERATION, {"project": tx.project.id, "policies": policies})


def find_dependents(tx: Transaction, events: Sequence[StoredEvent], rev: int) -> list[str]:
    """Return all that was done in a project since its creation, if that is to be undone."""
    created = next((event for event in events if event.op == KernelOp.PROJECT_CREATED), None)
    if created is None:
        return []
    subjects = list_later_subjects(tx, rev, at_most=EVENTS_MAX + 1)
    if len(subjects) > EVENTS_MAX:
        raise CannotUndo(created.subject, NoInverse("much was done in it", NextStep("project.archive", "archives it")))
    return subjects


INVERSES = Inverses(OPS, build_call, find_dependents)
