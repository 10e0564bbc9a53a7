"""Add a member to a project, or change the role of a member."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.access import Permission, Role
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.identities.invitation import InvitationView, find_expected_person, invite_person
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.members.member import GROUP, TOOL, MemberView, join
from groundplan.kernel.operations.registry import Command, Effect, Route, Tool, declare
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class AddMember(Struct, rename="camel", forbid_unknown_fields=True):
    """The user, the role and the project."""

    scope_id: Name
    user_id: Name
    role: Role
    kind: ActorKind = ActorKind.PERSON
    op_id: OpId = field(name="op_id", default=None)


class OneMember(Struct):
    """The member after the change, and the invitation if an address was invited."""

    member: MemberView
    invitation: InvitationView | UnsetType = UNSET


def add(tx: Transaction, request: AddMember) -> OneMember:
    """Add a member, or change the role of a member. An e-mail address without an account is invited.

    Raises:
        LastOwner: the change would leave the project without an owner.
        Invalid: the address is malformed.
    """
    project_id = tx.project.id
    person = find_expected_person(tx, request.user_id, kind=request.kind)
    user_id = person.id
    member = tx.one_or_none(sql.member, MemberView, project_id=project_id, user_id=user_id)
    if member is None:
        join(tx, project_id, user_id, role=request.role, kind=request.kind)
    invitation = invite_person(tx, person)
    if member is not None and member.role is not request.role:
        tx.record(KernelOp.MEMBER_CHANGED, user_id, changed("role", member.role, request.role))
        tx.write_events()  # now: the actor may lose the right to write with this change
        tx.run(sql.change_role, project_id=project_id, user_id=user_id, role=request.role)
    return OneMember(tx.one(sql.member, MemberView, project_id=project_id, user_id=user_id), invitation)


OPERATION = declare(
    add,
    name="member.add",
    summary="Add a member to a project, or change a member's role.",
    permission=Permission.MEMBER_MANAGE,
    effect=Effect.WRITE,
    idempotent=True,
    tool=Tool(TOOL, GROUP, "upsert"),
    command=Command(("member", "add"), arguments=("user_id",), names={"user_id": "name", "scope_id": "project"}),
    http=Route("PUT", "/projects/{project}/members/{userId}"),
)
