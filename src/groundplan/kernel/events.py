"""The history of a project: its events as a list, for a subject, for one write, and after a position.

Each list has a bounded number of events, ordered by `rev.n`. A position in this order is a cursor that neither skips
nor repeats an event, even if many have the same timestamp. Order is the revision, so a time at which a list begins or
ends is converted to a position, by halving. Time goes back with the revision only where the clock of a writer was
wrong; there it finds one of the places at which the time is reached.

An actor or an op has no index, because every write would pay for it. So a page with such a filter looks at a bounded
number of events; it may have few events or none, and still a cursor that goes on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, NamedTuple, cast

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import CutLists, LeftOut, Trimming, take_page
from groundplan.kernel.audit import Change
from groundplan.kernel.clock import format_timestamp
from groundplan.kernel.cursors import Cursor, InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.principals import find_principal
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument, quote_text

START_OF_DAY = "T00:00:00.000Z"
END_OF_DAY = "T23:59:59.999Z"
BEHIND_REV = 2**62  # larger than every `n` in a write

_POSITION = re.compile(r"(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})")

sql = load_queries(__file__)


class EventPosition(NamedTuple):
    """The position of an event in its project, written `rev.n`."""

    rev: int
    n: int

    def __str__(self) -> str:
        return f"{self.rev}.{self.n}"


BEFORE_ALL_EVENTS = EventPosition(0, 0)
AFTER_ALL_EVENTS = EventPosition(2**62, 0)


class EventHeader(Struct):
    """The position of an event, its actor, operation and subject, and its time."""

    rev: int
    n: int
    at: str
    actor: str
    op: str
    subject: str
    actor_kind: ActorKind | None  # None: a person

    @property
    def position(self) -> EventPosition:
        return EventPosition(self.rev, self.n)


class StoredEvent(EventHeader):
    """An event with its changes and its decision."""

    changes: list[Change]
    decision: str | None


def parse_position(text: str) -> EventPosition | None:
    """Return the position that a text contains; None if it contains none."""
    match = _POSITION.fullmatch(text)
    return EventPosition(int(match[1]), int(match[2])) if match else None


def require_position(text: str, path: tuple[str | int, ...]) -> EventPosition:
    """Return the position in an argument; raise Invalid if it has none."""
    position = parse_position(text)
    if position is None:
        raise invalid_argument(path, f"must be the position of an event, such as 12.0, not {quote_text(text)}")
    return position


_changes = msgspec.json.Decoder(list[Change])


def read_events(tx: Transaction, query: Query, **parameters: Any) -> list[StoredEvent]:
    """Return the events that a statement selects."""
    events = tx.all(query, StoredEvent, **parameters)
    for event in events:
        event.changes = _changes.decode(cast(str, event.changes))  # stored as JSON
    return events


def decode_event_cursor(tx: Transaction, operation: str, query: Any, cursor: str) -> EventPosition:
    """Return the position in a cursor of a list of events."""
    match decode_cursor(tx, operation, query, cursor):
        case [int(rev), int(n)]:
            return EventPosition(rev, n)
    raise InvalidCursor


class _Direction(NamedTuple):
    """The queries of one direction of reading."""

    matching: Query
    about: Query
    skip: Query


_OLDEST_FIRST = _Direction(sql.matching_events_after, sql.matching_events_about_after, sql.position_after)
_NEWEST_FIRST = _Direction(sql.matching_events_before, sql.matching_events_about_before, sql.position_before)


class _Part(NamedTuple):
    """A range of the history: the position before its first event, and its last position."""

    direction: _Direction
    begin: EventPosition
    end: EventPosition


def _read_part(
    tx: Transaction,
    part: _Part,
    *,
    at_most: int,
    actor: str | None = None,
    subject: str | None = None,
    op: str | None = None,
) -> list[StoredEvent]:
    """Return the first events of a range that match all filters. `op` may be the first word of several operations."""
    about = {} if subject is None else {"subject": subject}
    return read_events(
        tx,
        part.direction.about if about else part.direction.matching,
        project_id=tx.project.id,
        rev=part.begin.rev,
        n=part.begin.n,
        end_rev=part.end.rev,
        end_n=part.end.n,
        actor=actor or "",
        op=op or "",
        at_most=at_most,
        **_limit_ops(op),
        **about,
    )


def _limit_ops(first_word: str | None) -> dict[str, str]:
    return {"first_op": f"{first_word}.", "behind_ops": f"{first_word}/"}  # the character after the dot


# --- List -------------------------------------------------------------------------------------------------------------

NAME = "event.list"
LIMIT_MAX = 200
EVENTS_LOOKED_AT_MAX = 10_000  # events that one page looks at for an actor or an op; a few milliseconds


class ListEvents(Struct, forbid_unknown_fields=True):
    """The project, filters of its events, and the page. All filters must match."""

    project: Name
    since: str | None = None
    until: str | None = None
    actor: Name | None = None
    subject: Name | None = None
    op: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 50
    cursor: Cursor = None


class EventRecord(Struct, kw_only=True):
    """One event. Its id is its position, `rev.n`, as in the stream of live events."""

    id: str
    at: str
    actor: str
    actor_kind: ActorKind | UnsetType = UNSET  # as answers say it of members: not of persons
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


def list_events(tx: Transaction, request: ListEvents) -> EventList:
    """Return the events of the project that match all filters, or one page of them.

    Raises:
        InvalidCursor: the cursor belongs to another list.
        Invalid: `since` or `until` is neither a position nor a time.
    """
    part = _locate(tx, request)
    if request.cursor is not None:
        part = part._replace(begin=decode_event_cursor(tx, NAME, _get_query(request), request.cursor))
    window = _limit_to_window(tx, request, part)
    actor = request.actor and (find_principal(tx, request.actor) or request.actor)
    # One more than the limit shows whether there are more.
    events = _read_part(tx, window, actor=actor, subject=request.subject, op=request.op, at_most=request.limit + 1)
    page = take_page(
        tx.budget.reserve(EventList([])),
        [(event.position, to_record(event)) for event in events[: request.limit]],
        cursor_after=lambda row: _encode_position(tx, request, row[0]),
        item=lambda row: row[1],
        has_more=len(events) > request.limit,
    )
    next_cursor = page.next_cursor
    if next_cursor is UNSET and window.end != part.end:  # there are more events that were not looked at
        next_cursor = _encode_position(tx, request, window.end)
    return EventList([record for _, record in page.rows], next_cursor)


def _locate(tx: Transaction, request: ListEvents) -> _Part:
    end = AFTER_ALL_EVENTS if request.until is None else _find_end(tx, request.until)
    if request.since is not None:
        return _Part(_OLDEST_FIRST, _find_start(tx, request.since), end)
    # The position after the last one: what counts is before it.
    return _Part(_NEWEST_FIRST, EventPosition(end.rev, end.n + 1), BEFORE_ALL_EVENTS)


def _find_start(tx: Transaction, text: str) -> EventPosition:
    """Return the position before the first event: the given one, or the last position before a time."""
    position = parse_position(text)
    return position or _find_position_before(tx, _parse_time(text, "since", START_OF_DAY))


def _find_end(tx: Transaction, text: str) -> EventPosition:
    """Return the position of the last event: the given one, or the last position that is not after a time."""
    position = parse_position(text)
    # "~" sorts after every timestamp that begins alike, so what happened at that very time counts.
    return position or _find_position_before(tx, _parse_time(text, "until", END_OF_DAY) + "~")


def _find_position_before(tx: Transaction, moment: str) -> EventPosition:
    """Return the last position of the last write before a time, by a binary search over revisions."""
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


def _limit_to_window(tx: Transaction, request: ListEvents, part: _Part) -> _Part:
    """Return the range up to the last event that one page may read."""
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


def to_record(event: StoredEvent) -> EventRecord:
    """Return an event as answers show it."""
    return EventRecord(
        id=str(event.position),
        at=event.at,
        actor=event.actor,
        actor_kind=event.actor_kind or UNSET,
        op=event.op,
        subject=event.subject,
        changes=event.changes or UNSET,
        decision=UNSET if event.decision is None else event.decision,
    )


def _get_query(request: ListEvents) -> list[str | None]:
    return [request.since, request.until, request.actor, request.subject, request.op]


def _encode_position(tx: Transaction, request: ListEvents, position: EventPosition) -> str:
    return encode_cursor(tx, NAME, _get_query(request), *position)


LIST = declare(
    list_events,
    name=NAME,
    summary="What happened in a project, newest first.",
    permission=Permission.PROJECT_READ,
    effect=Effect.READ,
    tool=Tool("events", Group.BRIEFING),
    http=Route("GET", "/projects/{project}/history"),
)


# --- What the events say about subjects -------------------------------------------------------------------------------


def list_events_about(
    tx: Transaction, subject: str, *, ops: str, before: EventPosition = AFTER_ALL_EVENTS, at_most: int
) -> list[StoredEvent]:
    """Return the events about one subject in the project, newest first, with an op that begins with one of `ops`."""
    return _read_part(tx, _Part(_NEWEST_FIRST, before, BEFORE_ALL_EVENTS), subject=subject, op=ops, at_most=at_most)


def list_decisions_about(tx: Transaction, subjects: Iterable[str], *, ops: str, at_most: int) -> list[StoredEvent]:
    """Return the newest events with a decision about some subjects, newest first, with an op that begins with `ops`."""
    return read_events(
        tx,
        sql.decisions_about,
        project_id=tx.project.id,
        subjects=to_json_array(subjects),
        at_most=at_most,
        **_limit_ops(ops),
    )


def collect_recorded_values(
    tx: Transaction, subjects: Iterable[str], *, ops: str, fields: Collection[str]
) -> dict[str, set[str]]:
    """Return all texts that the given fields of the subjects ever had, by subject.

    Deleted subjects are included, because their events stay.
    """
    values: dict[str, set[str]] = {}
    events = read_events(
        tx, sql.events_of_subjects, project_id=tx.project.id, subjects=to_json_array(subjects), **_limit_ops(ops)
    )
    for event in events:
        for change in event.changes:
            if change.field in fields and isinstance(change.after, str):
                values.setdefault(event.subject, set()).add(change.after)
    return values


def list_headlines(
    tx: Transaction,
    *,
    ops: str,
    shown_ops: Sequence[str],
    writes: int,
    events_per_write: int,
    shown_per_write_max: int,
    at_most: int,
) -> list[StoredEvent]:
    """Return the newest events of the project with an op in `shown_ops` or with a decision.

    Reads the first events of the newest writes only, so the time does not depend on the length of the history. Returns
    at most `shown_per_write_max` events of a write, so that one large write does not hide the others.
    """
    events = read_events(
        tx,
        sql.headlines,
        project_id=tx.project.id,
        revs=_encode_newest_revs(tx.project.rev, writes),
        events_per_write=events_per_write,
        shown_ops=to_json_array(shown_ops),
        **_limit_ops(ops),
    )
    by_write: dict[int, list[StoredEvent]] = {}
    for event in events:
        by_write.setdefault(event.rev, []).append(event)
    return [event for write in by_write.values() for event in write[:shown_per_write_max]][:at_most]


def list_event_headers(tx: Transaction, subjects: Iterable[str], ops: Iterable[str]) -> list[EventHeader]:
    """Return the events of some kinds about some subjects of the project, in order."""
    return tx.all(
        sql.event_headers,
        EventHeader,
        project_id=tx.project.id,
        subjects=to_json_array(subjects),
        ops=to_json_array(ops),
    )


def _encode_newest_revs(newest: int, writes: int) -> str:
    return to_json_array(range(newest, max(newest - writes, 0), -1))


# --- Of one write, and after it ---------------------------------------------------------------------------------------

WRITES_LOOKED_AT_MAX = 1_000  # newest writes of a project among which one of an actor is sought


class WriteUndo(Struct):
    """An undo of a write, or a redo of that. `origin_rev` is the write that somebody made by themselves."""

    rev: int
    undone_rev: int
    origin_rev: int
    is_redo: bool


def find_last_write(
    tx: Transaction, actor_id: str, *, ignored_ops: Collection[str], before_rev: int | None = None
) -> int | None:
    """Return an actor's last write that is in effect, and no undo or redo, if it is among the newest writes.

    Writes that begin with an event of `ignored_ops` do not count, nor do those from `before_rev` on.
    """
    return _find_newest(tx, sql.last_write_of_actor, actor_id, ignored_ops, before_rev)


def find_last_undo(tx: Transaction, actor_id: str, *, ignored_ops: Collection[str]) -> int | None:
    """Return an actor's last undo that can be done again, if it is among the newest writes.

    A redo ends it, and so does another change of the actor that does not begin with an event of `ignored_ops`.
    """
    return _find_newest(tx, sql.last_undo_of_actor, actor_id, ignored_ops)


def _find_newest(
    tx: Transaction, query: Query, actor_id: str, ignored_ops: Collection[str], before_rev: int | None = None
) -> int | None:
    newest = max(tx.project.rev, tx.rev) if before_rev is None else before_rev - 1
    revs = _encode_newest_revs(newest, WRITES_LOOKED_AT_MAX)
    ignored = to_json_array(sorted(ignored_ops))
    rev: int | None = tx.scalar(query, project_id=tx.project.id, actor=actor_id, revs=revs, ignored_ops=ignored)
    return rev


def find_undo(tx: Transaction, rev: int) -> WriteUndo | None:
    """Return the undo or redo that a write is, or None."""
    return tx.one_or_none(sql.undo_of_write, WriteUndo, project_id=tx.project.id, rev=rev)


def find_undo_of(tx: Transaction, origin_rev: int) -> WriteUndo | None:
    """Return the last undo or redo of a write, or None."""
    return tx.one_or_none(sql.last_undo_of_origin, WriteUndo, project_id=tx.project.id, origin_rev=origin_rev)


def find_undone_writes(tx: Transaction, revs: Iterable[int | None]) -> set[int | None]:
    """Return those of some writes of the current project that were undone, and not done again since."""
    known = [rev for rev in revs if rev is not None]
    return set(tx.scalars(sql.undone_writes, project_id=tx.project.id, revs=to_json_array(known))) if known else set()


def record_undo(tx: Transaction, *, undone_rev: int, origin_rev: int, is_redo: bool) -> None:
    """Record that the current write takes back another one."""
    tx.run(sql.add_undo, project_id=tx.project.id, undone_rev=undone_rev, origin_rev=origin_rev, is_redo=is_redo)


def load_write(tx: Transaction, rev: int, *, at_most: int) -> list[StoredEvent]:
    """Return the first events of a write to the project, in order."""
    part = _Part(_OLDEST_FIRST, EventPosition(rev, -1), EventPosition(rev, BEHIND_REV))
    return _read_part(tx, part, at_most=at_most)


def list_later_subjects(tx: Transaction, rev: int, *, at_most: int) -> list[str]:
    """Return the subjects of the first events of the project after a write, one for each event."""
    return tx.scalars(sql.subjects_after_write, project_id=tx.project.id, rev=rev, at_most=at_most)


def find_later_event(
    tx: Transaction, subjects: Iterable[str], rev: int, *, ignored_ops: Collection[str]
) -> EventHeader | None:
    """Return the first event about one of the subjects after a write, without those of some kinds.

    What was made and taken back since does not count, nor what was taken back and done again.
    """
    return tx.one_or_none(
        sql.first_event_after_write,
        EventHeader,
        project_id=tx.project.id,
        subjects=to_json_array(subjects),
        rev=rev,
        ignored=to_json_array(ignored_ops),
    )


# --- Follow: what changed after a position ----------------------------------------------------------------------------

# Consecutive events of one write in one area are one change. Its position is that of its last event, so whoever goes on
# after a position neither misses nor repeats an event.

EVENTS_MAX = 1_000  # of one read
IDS_MAX = 100  # of one change; a reader of more reads the whole area again
AREAS = {"member": "members"}  # by the first word of an op, where it is another word


class AreaChange(NamedTuple):
    """The changes of one write in one area."""

    first: EventPosition
    last: EventPosition
    area: str
    ids: list[str]  # at most `IDS_MAX`
    left_out: int  # how many more ids there are
    actor: str
    actor_kind: ActorKind | None  # None: a person


class FollowedPart(NamedTuple):
    """The changes after a position."""

    changes: list[AreaChange]
    is_complete: bool  # there are no more for now
    is_archived: bool  # there will be no more unless the project is restored


class FollowStart(NamedTuple):
    """The state of a project, or of the organization, at the start of a stream."""

    project_id: str | None  # None: the organization
    is_archived: bool
    last: EventPosition
    missed: int  # events after the position of the reader; at most one more than the limit


def start_following(tx: Transaction, ref: str, after: EventPosition | None, *, missed_max: int) -> FollowStart:
    """Return the project, its last event, and the number of events after a position."""
    project = authorize_project(tx, ref, Permission.PROJECT_READ)
    row = tx.one_or_none(sql.last_event, project_id=project.id, rev=project.rev)
    last = EventPosition(*row) if row else EventPosition(project.rev, 0)
    missed = 0
    if after is not None and after < last:
        missed = tx.scalar(
            sql.count_events_after, project_id=project.id, rev=after.rev, n=after.n, at_most=missed_max + 1
        )
    return FollowStart(project.id, project.archived_at is not None, last, missed)


def read_changes(tx: Transaction, project_id: str, after: EventPosition) -> FollowedPart:
    """Return the changes after a position. Access is checked in the snapshot that has the events."""
    project = authorize_project(tx, project_id, Permission.PROJECT_READ, by_id=True)
    rows = tx.all(sql.events_after, EventHeader, project_id=project.id, rev=after.rev, n=after.n, at_most=EVENTS_MAX)
    is_complete = len(rows) < EVENTS_MAX
    return FollowedPart(group_changes(rows), is_complete, is_complete and project.archived_at is not None)


def group_changes(rows: Sequence[EventHeader]) -> list[AreaChange]:
    """Return the changes of some events, in order, one for each area of each write."""
    groups: list[list[EventHeader]] = []
    for row in rows:
        if groups and _belongs(groups[-1][-1], row):
            groups[-1].append(row)
        else:
            groups.append([row])
    return [_summarize(group) for group in groups]


def _belongs(before: EventHeader, row: EventHeader) -> bool:
    return before.rev == row.rev and _get_area(before) == _get_area(row)


def _get_area(row: EventHeader) -> str:
    word = row.op.partition(".")[0]
    return AREAS.get(word, word)


def _summarize(rows: Sequence[EventHeader]) -> AreaChange:
    ids = list(dict.fromkeys(row.subject for row in rows))
    return AreaChange(
        rows[0].position,
        rows[-1].position,
        _get_area(rows[0]),
        ids[:IDS_MAX],
        max(0, len(ids) - IDS_MAX),
        rows[0].actor,
        rows[0].actor_kind,
    )
