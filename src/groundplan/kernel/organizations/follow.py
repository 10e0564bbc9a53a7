"""Follow the events of the organization: what changed after a position, as far as the actor may see it."""

from __future__ import annotations

from groundplan.kernel.access import Permission
from groundplan.kernel.events.follow import (
    EVENTS_MAX,
    EventPosition,
    FollowedEvent,
    FollowedPart,
    FollowStart,
    group_changes,
)
from groundplan.kernel.organizations.list_events import describe_visible_events
from groundplan.kernel.store.authorize import authorize_organization
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

BEFORE_ALL_EVENTS = EventPosition(0, 0)

sql = load_queries(__file__)


def start_following_organization(tx: Transaction, after: EventPosition | None, *, missed_max: int) -> FollowStart:
    """Return the last event of the organization, and how many events came after a position.

    Raises:
        NotFound: the actor is not in the organization.
    """
    authorize_organization(tx, Permission.ORGANIZATION_READ)
    visible = describe_visible_events(tx)
    row = tx.one_or_none(sql.last_event, **visible)
    last = EventPosition(*row) if row else BEFORE_ALL_EVENTS
    missed = 0
    if after is not None and after < last:
        missed = tx.scalar(sql.count_events_after, rev=after.rev, n=after.n, at_most=missed_max + 1, **visible)
    return FollowStart(None, False, last, missed)


def read_organization_changes(tx: Transaction, after: EventPosition) -> FollowedPart:
    """Return the changes after a position. Access is checked in the snapshot that has the events.

    Raises:
        NotFound: the actor is not in the organization any more.
    """
    authorize_organization(tx, Permission.ORGANIZATION_READ)
    rows = tx.all(
        sql.events_after,
        FollowedEvent,
        rev=after.rev,
        n=after.n,
        at_most=EVENTS_MAX,
        **describe_visible_events(tx),
    )
    return FollowedPart(group_changes(rows), len(rows) < EVENTS_MAX, False)
