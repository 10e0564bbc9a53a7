"""List the members of the organization."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.cursors import read_name_page
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.kernel.organizations.organization import PersonView
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

NAME = "organization.members"
LIMIT = 200
LIMIT_MAX = 1000

sql = load_queries(__file__)


class ListPeople(Struct, forbid_unknown_fields=True):
    """The page of the list."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT
    cursor: str | None = None


class People(Struct):
    """Members of the organization ordered by name, and the cursor of the next page if there are more."""

    members: list[PersonView]
    next_cursor: str | UnsetType = UNSET


def list_people(tx: Transaction, request: ListPeople) -> People:
    """Return one page of the members of the organization.

    Raises:
        InvalidCursor: the cursor belongs to another list.
    """
    return People(
        *read_name_page(
            tx,
            NAME,
            request.cursor,
            lambda after, at_most: tx.all(sql.people, PersonView, after=after, at_most=at_most),
            lambda person: person.name,
            limit=request.limit,
        )
    )


LIST = declare(
    list_people,
    name=NAME,
    summary="List the members of your organization.",
    permission=Permission.ORGANIZATION_READ,
    effect=Effect.READ,
    command=Command(("org", "member", "list"), columns=("name", "kind", "role", "created_at")),
    http=Route("GET", "/organization/members"),
)
