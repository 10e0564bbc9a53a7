"""The history of a project: its events as a list, about a subject, of one write, and after one.

Each list has a bounded number of events, ordered by `rev.n`. A position in this order is a cursor that neither skips
nor repeats an event, even if many have the same timestamp. Order is the revision, so a time at which a list begins or
ends is converted to a position, by halving. Time goes back with the revision only where the clock of a writer was
wrong; there it finds one of the places at which the time is reached.

An actor or an op has no index, because every write would pay for it. So a page with such a filter looks at a bounded
number of events; it may have few events or none, and still a cursor that goes on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, NamedTuple, cast

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming, take_page
from groundplan.kernel.audit import Change
from groundplan.kernel.clock import format_timestamp
from groundplan.kernel.cursors import InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.errors import Invalid
from groundplan.kernel.events.follow import EventPosition, parse_position
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Route, Tool, declare
from groundplan.kernel.principals import find_principal
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument, quote_text

START_OF_DAY = "T00:00:00.000Z"
END_OF_DAY = "T23:59:59.999Z"
BEFORE_ALL_EVENTS = EventPosition(0, 0)
BEHIND_REV = 2**62  # larger than every `n` in a write

sql = load_queries(__file__)


def find_start(tx: Transaction, text: str) -> EventPosition:
    """Return the position after which to begin: the one given, or the last before a time."""
    position = parse_position(text)
    return position or _find_position_before(tx, _parse_time(text, "since", START_OF_DAY))


def find_end(tx: Transaction, text: str) -> EventPosition:
    """Return the last position that counts: the one given, or the last that is not after a time."""
    position = parse_position(text)
    # "~" sorts after every timestamp that begins alike, so what happened at that very time counts.
    return position or _find_position_before(tx, _parse_time(text, "until", END_OF_DAY) + "~")


def _find_position_before(tx: Transaction, moment: str) -> EventPosition:
    """Return the last position of the last write before a moment, with as many lookups as a rev has bits."""
    first, behind = 1, tx.project.rev + 1  # the first write that is not before the moment is in first..behind
    while first < behind:
        middle = (first + behind) // 2
        row = tx.one_or_none(sql.first_event_from, project_id=tx.project.id, rev=middle)
        if row is None or row[1] >= moment:
            behind = middle
        else:
            first = row[0] + 1
    return EventPosition(first - 1, BEHIND_REV)


def _parse_time(text: str, name: str, time_of_day: str) -> str:
    try:
        if date.fromisoformat(text).isoformat() == text:
            return text + time_of_day
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return format_timestamp(moment)
    except (ValueError, OverflowError):
        pass
    raise _invalid_moment(text, name)


def _invalid_moment(text: str, name: str) -> Invalid:
    wanted = "the id of an event such as 42.0, a date such as 2026-11-15, or an instant such as 2026-11-15T09:30:00Z"
    return invalid_argument((name,), f"must be {wanted}, not {quote_text(text)}", code="invalid_position")


AFTER_ALL_EVENTS = (2**62, 0)  # a position after every possible event


_changes = msgspec.json.Decoder(list[Change])


class PastEvent(Struct):
    """One event, with its position."""

    rev: int
    n: int
    at: str
    actor: str
    op: str
    changes: list[Change]
    decision: str | None


class RecordedDecision(NamedTuple):
    """The reason that was given for a change, and what it changed."""

    rev: int
    n: int
    at: str
    subject: str
    decision: str


class Headline(NamedTuple):
    """An event without its changes."""

    rev: int
    at: str
    actor: str
    op: str
    subject: str
    decision: str | None


def list_events_about(
    tx: Transaction, subject: str, *, ops: str, before: tuple[int, int] = AFTER_ALL_EVENTS, at_most: int
) -> list[PastEvent]:
    """Return the events about one subject in the project, newest first, whose op starts with `ops`."""
    rows = tx.all(
        sql.events_about,
        PastEvent,
        project_id=tx.project.id,
        subject=subject,
        first_op=f"{ops}.",
        behind_ops=f"{ops}/",  # the character after the dot
        rev=before[0],
        n=before[1],
        at_most=at_most,
    )
    for row in rows:
        row.changes = _changes.decode(cast(str, row.changes))
    return rows


def list_decisions_about(tx: Transaction, subjects: Iterable[str], *, ops: str, at_most: int) -> list[RecordedDecision]:
    """Return the newest events with a decision about some subjects, newest first, whose op starts with `ops`."""
    return tx.all(
        sql.decisions_about,
        RecordedDecision,
        project_id=tx.project.id,
        subjects=to_json_array(subjects),
        first_op=f"{ops}.",
        behind_ops=f"{ops}/",
        at_most=at_most,
    )


def collect_recorded_values(
    tx: Transaction, subjects: Iterable[str], *, ops: str, fields: Collection[str]
) -> dict[str, set[str]]:
    """Return every text that the subjects ever had in one of the fields, by subject.

    Deleted subjects are included, because their events stay.
    """
    found: dict[str, set[str]] = {}
    rows = tx.all(
        sql.changes_of_subjects,
        project_id=tx.project.id,
        subjects=to_json_array(subjects),
        first_op=f"{ops}.",
        behind_ops=f"{ops}/",
    )
    for subject, changes in rows:
        for change in _changes.decode(changes):
            if change.field in fields and isinstance(change.after, str):
                found.setdefault(subject, set()).add(change.after)
    return found


def list_headlines(
    tx: Transaction,
    *,
    ops: str,
    shown_ops: Sequence[str],
    writes: int,
    events_per_write: int,
    shown_per_write_max: int,
    at_most: int,
) -> list[Headline]:
    """Return the newest events of the project whose op is in `told` or that have a decision.

    Reads the first `of_each` events of the newest `writes` writes, so the time does not depend on the length of the
    history. Returns at most `shown_per_write_max` events of a write, so that one large write does not hide the others.
    """
    newest = tx.project.rev
    rows = tx.all(
        sql.headlines,
        Headline,
        project_id=tx.project.id,
        revs=msgspec.json.encode(list(range(newest, max(newest - writes, 0), -1))).decode(),
        of_each=events_per_write,
        told=msgspec.json.encode(shown_ops).decode(),
        first_op=f"{ops}.",
        behind_ops=f"{ops}/",
    )
    found: dict[int, list[Headline]] = {}
    for headline in rows:
        found.setdefault(headline.rev, []).append(headline)
    return [headline for write in found.values() for headline in write[:shown_per_write_max]][:at_most]


WRITES_LOOKED_AT_MAX = 1_000  # newest writes of a project among which one of an actor is sought


class PastChange(Struct):
    """One event of a write."""

    n: int
    actor: str
    op: str
    subject: str
    changes: list[Change]


class LaterEvent(NamedTuple):
    """An event about a subject, after a write."""

    rev: int
    n: int
    subject: str
    actor: str

    @property
    def position(self) -> EventPosition:
        return EventPosition(self.rev, self.n)


def find_last_write(tx: Transaction, actor_id: str) -> int | None:
    """Return the revision of an actor's last write to the project, if it is among the newest writes."""
    newest = max(tx.project.rev, tx.rev)
    revs = to_json_array(range(newest, max(newest - WRITES_LOOKED_AT_MAX, 0), -1))
    rev: int | None = tx.scalar(sql.last_write_of_actor, project_id=tx.project.id, actor=actor_id, revs=revs)
    return rev


def load_write(tx: Transaction, rev: int, *, at_most: int) -> list[PastChange]:
    """Return the first events of a write to the project, in their order."""
    rows = tx.all(sql.events_of_write, PastChange, project_id=tx.project.id, rev=rev, at_most=at_most)
    for row in rows:
        row.changes = _changes.decode(cast(str, row.changes))
    return rows


def find_later_event(
    tx: Transaction, subjects: Iterable[str], rev: int, *, ignored_ops: Collection[str]
) -> LaterEvent | None:
    """Return the first event about one of the subjects after a write, without those of some kinds."""
    return tx.one_or_none(
        sql.first_event_after_write,
        LaterEvent,
        project_id=tx.project.id,
        subjects=to_json_array(subjects),
        rev=rev,
        ignored=to_json_array(ignored_ops),
    )


NAME = "event.list"
LIMIT_MAX = 200
EVENTS_LOOKED_AT_MAX = 10_000  # events that one page looks at for an actor or an op; a few milliseconds


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
        skipped=EVENTS_LOOKED_AT_MAX - 1,
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
    match decode_cursor(tx, NAME, _get_query(request), cast(str, request.cursor)):
        case [int(rev), int(n)]:
            return EventPosition(rev, n)
    raise InvalidCursor


LIST = declare(
    list_events,
    name=NAME,
    summary="What happened in a project, newest first.",
    permission=Permission.PROJECT_READ,
    effect=Effect.READ,
    tool=Tool("events", Group.BRIEFING),
    command=Command(("events",)),
    http=Route("GET", "/projects/{project}/history"),
)


class EventRevision(NamedTuple):
    """A kind of event, its subject, and when it was recorded."""

    rev: int
    op: str
    subject: str
    at: str


def list_event_revisions(tx: Transaction, subjects: Iterable[str], ops: Iterable[str]) -> list[EventRevision]:
    """Return the events of some kinds about some subjects of the project, in order."""
    rows = tx.all(
        sql.event_revisions,
        EventRevision,
        project_id=tx.project.id,
        subjects=to_json_array(subjects),
        ops=to_json_array(ops),
    )
    return sorted(rows)
