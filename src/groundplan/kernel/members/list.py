"""List who is in a project."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.members.view import GROUP, TOOL, MemberView, from_row
from groundplan.kernel.operations.registry import Command, Effect, Operation, Tool
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class ListMembers(Struct, rename="camel", forbid_unknown_fields=True):
    """Whose members to list."""

    scope_id: Name


class Members(Struct):
    """Members by id."""

    members: list[MemberView]


def list_members(tx: Transaction, request: ListMembers) -> Members:
    """Everybody in the project."""
    return Members([from_row(row) for row in tx.all(sql.members, project_id=tx.project.id)])


OPERATION = Operation(
    name="member.list",
    summary="List who is in a project.",
    permission=Permission.MEMBER_READ,
    effect=Effect.READ,
    input=ListMembers,
    output=Members,
    handler=list_members,
    project=lambda _tx, request: request.scope_id,
    tool=Tool(TOOL, GROUP, "list"),
    command=Command(("member", "list"), names={"scope_id": "project"}),
)
