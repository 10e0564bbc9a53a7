"""Remove somebody from the organization, or leave it: all projects, tokens, logins and invitations with it.

What they did stays in the history. Live streams notice it with the revision of the organization.
"""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import EVENT_FORMAT, KernelOp, changed
from groundplan.kernel.clock import JUMP_MIN, subtract_time
from groundplan.kernel.errors import NotFound
from groundplan.kernel.identities.invitation import revoke_invitations_of
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, OpId, Route, declare
from groundplan.kernel.organizations.organization import PersonView
from groundplan.kernel.principals import find_principal
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.tokens.revoke import revoke_tokens_of

sql = load_queries(__file__)


class RemovePerson(Struct, forbid_unknown_fields=True):
    """The member to remove."""

    name: Name
    op_id: OpId = None


class LeaveOrganization(Struct, forbid_unknown_fields=True):
    """There is nothing to say: the caller leaves."""

    op_id: OpId = None


class RemovedPerson(Struct):
    """The member who is out, and how many tokens and logins ended."""

    removed: str
    tokens_revoked: int


def remove(tx: Transaction, request: RemovePerson) -> RemovedPerson:
    """Remove a member from the organization and from all its projects.

    Raises:
        NotFound: there is no such member.
        LastOwner: a project would be left without an owner.
    """
    return _remove(tx, find_principal(tx, request.name) or request.name)


def leave(tx: Transaction, request: LeaveOrganization) -> RemovedPerson:
    """Leave the organization and all its projects.

    Raises:
        NotFound: the caller has no stored membership, as in open access.
        LastOwner: a project would be left without an owner.
    """
    return _remove(tx, tx.actor.id)


def _remove(tx: Transaction, user_id: str) -> RemovedPerson:
    person = tx.one_or_none(sql.person, PersonView, user_id=user_id)
    if person is None:
        raise NotFound("member of the organization", user_id)
    revoked = revoke_tokens_of(tx, user_id)
    revoke_invitations_of(tx, user_id)
    tx.record(KernelOp.PERSON_LEFT, user_id, changed("role", person.role, None))
    tx.write_events()  # now: the actor may lose the right to write by leaving
    latest = subtract_time(tx.now, -JUMP_MIN)
    tx.run(sql.increase_revisions, user_id=user_id, latest=latest)
    tx.run(sql.record_leaving, user_id=user_id, v=EVENT_FORMAT)
    tx.run(sql.leave_projects, user_id=user_id)
    tx.run(sql.remove_person, user_id=user_id, clock=tx.clock)
    return RemovedPerson(user_id, len(revoked))


REMOVE = declare(
    remove,
    name="organization.remove_member",
    summary="Remove somebody from your organization and its projects, and end their tokens and logins.",
    permission=Permission.ORGANIZATION_MANAGE,
    effect=Effect.DESTROY,
    command=Command(("org", "member", "remove"), arguments=("name",)),
    http=Route("DELETE", "/organization/members/{name}"),
)
LEAVE = declare(
    leave,
    name="organization.leave",
    summary="Leave your organization and its projects; your tokens and logins end.",
    permission=Permission.ORGANIZATION_LEAVE,
    effect=Effect.DESTROY,
    command=Command(("org", "leave")),
    http=Route("POST", "/organization/leave"),
)
