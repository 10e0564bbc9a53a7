"""List the events of a project, of every slice: newest first, or oldest first after a position or a time.

An actor or an op has no index, because every write would pay for it. So a page with such a filter looks at a bounded
number of events; it may have few events or none, and still a cursor that goes on.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NamedTuple, cast

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change
from groundplan.kernel.budget import CutLists, LeftOut, Trimming, take_page
from groundplan.kernel.cursors.cursor import InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.events.follow import EventPosition
from groundplan.kernel.events.moments import BEFORE_ALL_EVENTS, find_end, find_start
from groundplan.kernel.events.read import AFTER_ALL_EVENTS
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.members.member import find_principal
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction

NAME = "event.list"
LIMIT_MAX = 200
LOOKED_AT_MAX = 10_000  # events that one page looks at for an actor or an op; a few milliseconds

sql = load_queries(__file__)

_changes = msgspec.json.Decoder(list[Change])


class ListEvents(Struct, forbid_unknown_fields=True):
    """The project, which of its events, and the page. Filters combine."""

    project: Name
    since: str | None = None
    until: str | None = None
    actor: Name | None = None
    subject: Name | None = None
    op: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 50
    cursor: str | None = None


class EventRecord(Struct, kw_only=True):
    """One event. Its id is its position, `rev.n`, as in the stream of live events."""

    id: str
    at: str
    actor: str
    op: str
    subject: str
    changes: list[Change] | UnsetType = UNSET
    decision: str | UnsetType = UNSET
    left_out: LeftOut = UNSET


class EventList(Struct):
    """A page of events."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("events[].changes",)))

    events: list[EventRecord]
    next_cursor: str | UnsetType = UNSET


class RecordRow(Struct):
    """A stored event."""

    rev: int
    n: int
    at: str
    actor: str
    op: str
    subject: str
    changes: str
    decision: str | None

    @property
    def position(self) -> EventPosition:
        """Where it stands in its history."""
        return EventPosition(self.rev, self.n)


class _Direction(NamedTuple):
    """The queries of one direction of reading."""

    matching: Query
    about: Query
    skip: Query


_OLDEST_FIRST = _Direction(sql.matching_events_after, sql.matching_events_about_after, sql.position_after)
_NEWEST_FIRST = _Direction(sql.matching_events_before, sql.matching_events_about_before, sql.position_before)


class _Part(NamedTuple):
    """The part of the history that a request is about, from the position after which it begins to its last one."""

    direction: _Direction
    begin: EventPosition
    end: EventPosition


def list_events(tx: Transaction, request: ListEvents) -> EventList:
    """Return the events of the project that match all filters, or one page of them.

    Raises:
        InvalidCursor: the cursor belongs to another list.
        Invalid: `since` or `until` is neither a position nor a time.
    """
    part = _locate(tx, request)
    if request.cursor is not None:
        part = part._replace(begin=_decode_position(tx, request))
    window = _limit_to_window(tx, request, part)
    rows = _read_rows(tx, request, window)
    has_more = len(rows) > request.limit
    page = take_page(
        tx.budget.reserve(EventList([])),
        [(row, to_record(row)) for row in rows[: request.limit]],
        cursor_after=lambda pair: _encode_position(tx, request, pair[0].position),
        item=lambda pair: pair[1],
        has_more=has_more,
    )
    next_cursor = page.next_cursor
    if next_cursor is UNSET and window.end != part.end:  # there are more events that were not looked at
        next_cursor = _encode_position(tx, request, window.end)
    return EventList([record for _, record in page.rows], next_cursor)


def _locate(tx: Transaction, request: ListEvents) -> _Part:
    end = EventPosition(*AFTER_ALL_EVENTS) if request.until is None else find_end(tx, request.until)
    if request.since is not None:
        return _Part(_OLDEST_FIRST, find_start(tx, request.since), end)
    # The position after the last one: what counts is before it.
    return _Part(_NEWEST_FIRST, EventPosition(end.rev, end.n + 1), BEFORE_ALL_EVENTS)


def _limit_to_window(tx: Transaction, request: ListEvents, part: _Part) -> _Part:
    """Return the part up to the last event that one page may look at."""
    if request.subject is not None or (request.actor is None and request.op is None):
        return part  # an index finds what matches
    row = tx.one_or_none(
        part.direction.skip,
        project_id=tx.project.id,
        rev=part.begin.rev,
        n=part.begin.n,
        skipped=LOOKED_AT_MAX - 1,
    )
    if row is None:
        return part
    last = EventPosition(*row)
    is_inside = last < part.end if part.direction is _OLDEST_FIRST else last > part.end
    return part._replace(end=last) if is_inside else part


def _read_rows(tx: Transaction, request: ListEvents, part: _Part) -> list[RecordRow]:
    """Return the matching events of a part, one more than the limit if there are more."""
    actor = request.actor and (find_principal(tx, request.actor) or request.actor)
    about: dict[str, Any] = {} if request.subject is None else {"subject": request.subject}
    return tx.all(
        part.direction.about if about else part.direction.matching,
        RecordRow,
        project_id=tx.project.id,
        rev=part.begin.rev,
        n=part.begin.n,
        end_rev=part.end.rev,
        end_n=part.end.n,
        actor=actor or "",
        op=request.op or "",
        first_op=f"{request.op}.",
        behind_ops=f"{request.op}/",  # the character after the dot
        at_most=request.limit + 1,
        **about,
    )


def to_record(row: RecordRow) -> EventRecord:
    """Return an event as answers show it."""
    return EventRecord(
        id=str(row.position),
        at=row.at,
        actor=row.actor,
        op=row.op,
        subject=row.subject,
        changes=_changes.decode(row.changes) or UNSET,
        decision=UNSET if row.decision is None else row.decision,
    )


def _get_query(request: ListEvents) -> list[str | None]:
    return [request.since, request.until, request.actor, request.subject, request.op]


def _encode_position(tx: Transaction, request: ListEvents, position: EventPosition) -> str:
    return encode_cursor(tx, NAME, _get_query(request), position.rev, position.n)


def _decode_position(tx: Transaction, request: ListEvents) -> EventPosition:
    match decode_cursor(tx, NAME, _get_query(request), cast("str", request.cursor)):
        case [int(rev), int(n)]:
            return EventPosition(rev, n)
    raise InvalidCursor


OPERATION = declare(
    list_events,
    name=NAME,
    summary="What happened in a project, newest first.",
    permission=Permission.PROJECT_READ,
    effect=Effect.READ,
    tool=Tool("events", Group.BRIEFING),
    command=Command(("events",)),
    http=Route("GET", "/projects/{project}/history"),
)
