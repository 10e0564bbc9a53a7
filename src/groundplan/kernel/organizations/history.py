"""The events of the organization: changes of people, settings, invitations, tokens and templates, and new projects.

They are listed, newest first, and followed from a position on, as far as the actor may see them.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, Trimming, take_page
from groundplan.kernel.cursors import Cursor, encode_cursor
from groundplan.kernel.events import (
    AFTER_ALL_EVENTS,
    BEFORE_ALL_EVENTS,
    EVENTS_MAX,
    EventHeader,
    EventPosition,
    EventRecord,
    FollowedPart,
    FollowStart,
    decode_event_cursor,
    group_changes,
    read_events,
    to_record,
)
from groundplan.kernel.operations.registry import Effect, Route, declare
from groundplan.kernel.store.authorize import (
    administers,
    authorize_organization,
    find_visible_project_ids,
    owns_organization,
)
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

NAME = "organization.events"
LIMIT_MAX = 200

sql = load_queries(__file__)


class ListOrganizationEvents(Struct, forbid_unknown_fields=True):
    """The page of the list."""

    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 50
    cursor: Cursor = None


class OrganizationEvents(Struct):
    """A page of events, newest first."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("events[].changes",)))

    events: list[EventRecord]
    next_cursor: str | UnsetType = UNSET


def list_events(tx: Transaction, request: ListOrganizationEvents) -> OrganizationEvents:
    """Return the events of the organization that the caller may see, or one page of them.

    Raises:
        InvalidCursor: the cursor belongs to another list.
    """
    begin = AFTER_ALL_EVENTS if request.cursor is None else decode_event_cursor(tx, NAME, None, request.cursor)
    events = read_events(
        tx,
        sql.events_before,
        rev=begin.rev,
        n=begin.n,
        at_most=request.limit + 1,
        **describe_visible_events(tx),
    )
    page = take_page(
        tx.budget.reserve(OrganizationEvents([])),
        [(event.position, to_record(event)) for event in events[: request.limit]],
        cursor_after=lambda row: encode_cursor(tx, NAME, None, *row[0]),
        item=lambda row: row[1],
        has_more=len(events) > request.limit,
    )
    return OrganizationEvents([record for _, record in page.rows], page.next_cursor)


def describe_visible_events(tx: Transaction) -> dict[str, Any]:
    """Return the parameters of `is_visible`, which select the events of the organization that the actor may see."""
    visible = find_visible_project_ids(tx)
    return {
        "sees_all": visible is None,
        "projects": to_json_array(sorted(visible or ())),
        "administers": administers(tx),
        "owns": owns_organization(tx.actor),
    }


OPERATION = declare(
    list_events,
    name=NAME,
    summary="What happened in your organization, newest first.",
    permission=Permission.ORGANIZATION_READ,
    effect=Effect.READ,
    http=Route("GET", "/organization/history"),
)


# --- Follow -----------------------------------------------------------------------------------------------------------


def start_following_organization(tx: Transaction, after: EventPosition | None, *, missed_max: int) -> FollowStart:
    """Return the last event of the organization, and the number of events after a position."""
    authorize_organization(tx, Permission.ORGANIZATION_READ)
    visible = describe_visible_events(tx)
    row = tx.one_or_none(sql.last_event, **visible)
    last = EventPosition(*row) if row else BEFORE_ALL_EVENTS
    missed = 0
    if after is not None and after < last:
        missed = tx.scalar(sql.count_events_after, rev=after.rev, n=after.n, at_most=missed_max + 1, **visible)
    return FollowStart(None, False, last, missed)


def read_organization_changes(tx: Transaction, after: EventPosition) -> FollowedPart:
    """Return the changes after a position. Access is checked in the snapshot that has the events."""
    authorize_organization(tx, Permission.ORGANIZATION_READ)
    rows = tx.all(
        sql.events_after,
        EventHeader,
        rev=after.rev,
        n=after.n,
        at_most=EVENTS_MAX,
        **describe_visible_events(tx),
    )
    return FollowedPart(group_changes(rows), len(rows) < EVENTS_MAX, False)
