"""List the members of a project."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.cursors.cursor import decode_cursor, encode_cursor
from groundplan.kernel.cursors.text_positions import (
    BEFORE_ALL,
    NO_LIMIT,
    TextPosition,
    locate_text,
    parse_text_position,
    read_after,
)
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.members.member import GROUP, TOOL, MemberView
from groundplan.kernel.operations.registry import Command, Effect, Operation, Route, Tool
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
    after = BEFORE_ALL
    if request.cursor is not None:
        after = parse_text_position(decode_cursor(tx, NAME, None, request.cursor))
    rows = read_after(
        after,
        lambda at_most: tx.all(
            sql.members, MemberView, project_id=tx.project.id, after=after.lower_bound, at_most=at_most
        ),
        _locate,
        # One row more than the limit shows whether there is another page.
        at_most=request.limit + 1 if request.limit else NO_LIMIT,
    )
    page = rows[: request.limit]
    return Members(page, encode_cursor(tx, NAME, None, *_locate(page[-1])) if len(rows) > len(page) else UNSET)


def _locate(member: MemberView) -> TextPosition:
    position = locate_text(member.user_id, "")
    if not position.is_cut:
        return position
    from hashlib import sha256  # here, because ids are rarely that long

    return position._replace(tie_breaker=sha256(member.user_id.encode()).hexdigest())


OPERATION = Operation(
    name=NAME,
    summary="List the members of a project.",
    permission=Permission.MEMBER_READ,
    effect=Effect.READ,
    input=ListMembers,
    output=Members,
    handler=list_members,
    project=lambda _tx, request: request.scope_id,
    tool=Tool(TOOL, GROUP, "list"),
    command=Command(("member", "list"), names={"scope_id": "project"}),
    http=Route("GET", "/projects/{project}/members"),
)
