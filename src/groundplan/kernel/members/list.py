"""List the members of a project."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.cursors.name_pages import read_name_page
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.members.member import GROUP, TOOL, MemberView
from groundplan.kernel.operations.registry import Command, Effect, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

NAME = "member.list"

sql = load_queries(__file__)


class ListMembers(Struct, rename="camel", forbid_unknown_fields=True):
    """The project whose members to list."""

    scope_id: Name
    limit: Annotated[int, Meta(ge=1, le=1000)] | None = None
    cursor: str | None = None
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
        NAME,
        request.cursor,
        lambda after, at_most: tx.all(sql.members, MemberView, project_id=tx.project.id, after=after, at_most=at_most),
        lambda member: member.user_id,
        limit=request.limit,
    )
    return Members(page, next_cursor)


OPERATION = declare(
    list_members,
    name=NAME,
    summary="List the members of a project.",
    permission=Permission.MEMBER_READ,
    effect=Effect.READ,
    tool=Tool(TOOL, GROUP, "list"),
    command=Command(("member", "list"), names={"scope_id": "project"}),
    http=Route("GET", "/projects/{project}/members"),
)
