"""Members of a project: add, remove and list them.

The wire names are those of the context contract, where a project is a scope.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission, Role
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.cursors import Cursor, read_name_page
from groundplan.kernel.errors import NotFound
from groundplan.kernel.identities.invitation import InvitationView, find_expected_person, invite_person
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.principals import add_to_organization, find_principal
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

TOOL = "members"
GROUP = Group.CONTEXT
LIST_NAME = "member.list"

sql = load_queries(__file__)


class MemberView(Struct, rename="camel", omit_defaults=True):
    """A member of a project, with their role."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"created_at", "created_by", "kind"})

    user_id: str
    role: Role
    created_at: str
    created_by: str
    kind: ActorKind = ActorKind.PERSON  # the contract has no field for it, so answers say it only of others


def join(tx: Transaction, project_id: str, user_id: str, *, role: Role, kind: ActorKind) -> None:
    """Add a member to a project, and to the organization if needed."""
    is_new = add_to_organization(tx, user_id, kind=kind)
    tx.run(sql.add_member, project_id=project_id, user_id=user_id, role=role)
    changes = [changed("role", None, role)]
    if is_new:
        changes.append(changed("in_organization", False, True))
    tx.record(KernelOp.MEMBER_ADDED, user_id, *changes, project_id=project_id)


class AddMember(Struct, rename="camel", forbid_unknown_fields=True):
    """The user, the role and the project."""

    scope_id: Name
    user_id: Name
    role: Role
    kind: ActorKind = ActorKind.PERSON
    op_id: OpId = field(name="op_id", default=None)


class OneMember(Struct):
    """The member after the change, and the invitation if one was made."""

    member: MemberView
    invitation: InvitationView | UnsetType = UNSET


def add_member(tx: Transaction, request: AddMember) -> OneMember:
    """Add a member, or change the role of a member. An e-mail address without an account gets an invitation.

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


ADD = declare(
    add_member,
    name="member.add",
    summary="Add a member to a project, or change a member's role.",
    permission=Permission.MEMBER_MANAGE,
    effect=Effect.WRITE,
    idempotent=True,
    tool=Tool(TOOL, GROUP, "upsert"),
    http=Route("PUT", "/projects/{project}/members/{userId}"),
)


class RemoveMember(Struct, rename="camel", forbid_unknown_fields=True):
    """The member to remove, and the project."""

    scope_id: Name
    user_id: Name
    op_id: OpId = field(name="op_id", default=None)


class RemovedMember(Struct):
    """The id of the removed member."""

    removed: str


def remove_member(tx: Transaction, request: RemoveMember) -> RemovedMember:
    """Remove a member.

    Raises:
        NotFound: the user is not a member.
        LastOwner: the change would leave the project without an owner.
    """
    project_id = tx.project.id
    user_id = find_principal(tx, request.user_id)
    member = tx.one_or_none(sql.member, MemberView, project_id=project_id, user_id=user_id) if user_id else None
    if member is None:
        raise NotFound("member", request.user_id)
    tx.record(KernelOp.MEMBER_REMOVED, member.user_id, changed("role", member.role, None))
    tx.write_events()  # now: the actor may lose the right to write by leaving
    tx.run(sql.remove_member, project_id=project_id, user_id=member.user_id)
    return RemovedMember(member.user_id)


REMOVE = declare(
    remove_member,
    name="member.remove",
    summary="Remove a member from a project.",
    permission=Permission.MEMBER_MANAGE,
    effect=Effect.DESTROY,
    tool=Tool(TOOL, GROUP, "remove"),
    http=Route("DELETE", "/projects/{project}/members/{userId}"),
)


class ListMembers(Struct, rename="camel", forbid_unknown_fields=True):
    """The project whose members to list."""

    scope_id: Name
    limit: Annotated[int, Meta(ge=1, le=1000)] | None = None
    cursor: Cursor = None
    lean: bool | None = None


class Members(Struct, rename="camel"):
    """Members ordered by id, and the cursor of the next page if there are more."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()

    members: list[MemberView]
    next_cursor: str | UnsetType = field(name="next_cursor", default=UNSET)


def list_members(tx: Transaction, request: ListMembers) -> Members:
    """Return the members of the project, or one page of them.

    Raises:
        InvalidCursor: the cursor belongs to another list.
    """
    page, next_cursor = read_name_page(
        tx,
        LIST_NAME,
        request.cursor,
        lambda after, at_most: tx.all(sql.members, MemberView, project_id=tx.project.id, after=after, at_most=at_most),
        lambda member: member.user_id,
        limit=request.limit,
    )
    return Members(page, next_cursor)


LIST = declare(
    list_members,
    name=LIST_NAME,
    summary="List the members of a project.",
    permission=Permission.MEMBER_READ,
    effect=Effect.READ,
    tool=Tool(TOOL, GROUP, "list"),
    http=Route("GET", "/projects/{project}/members"),
)
