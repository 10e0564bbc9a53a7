"""Remove a member from a project. The events of the member stay in the history."""

from __future__ import annotations

from msgspec import Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.errors import NotFound
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.members.member import GROUP, TOOL, MemberView, find_principal
from groundplan.kernel.operations.registry import Command, Effect, Route, Tool, declare
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class RemoveMember(Struct, rename="camel", forbid_unknown_fields=True):
    """The member to remove, and the project."""

    scope_id: Name
    user_id: Name
    op_id: OpId = field(name="op_id", default=None)


class RemovedMember(Struct):
    """The id of the removed member."""

    removed: str


def remove(tx: Transaction, request: RemoveMember) -> RemovedMember:
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


OPERATION = declare(
    remove,
    name="member.remove",
    summary="Remove a member from a project.",
    permission=Permission.MEMBER_MANAGE,
    effect=Effect.DESTROY,
    tool=Tool(TOOL, GROUP, "remove"),
    command=Command(("member", "remove"), arguments=("user_id",), names={"user_id": "name", "scope_id": "project"}),
    http=Route("DELETE", "/projects/{project}/members/{userId}"),
)
