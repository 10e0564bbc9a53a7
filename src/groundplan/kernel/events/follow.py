"""Follow the events of a project: what changed after a position, in the order of `rev.n`.

Consecutive events of one write in one area are one change. Its position is that of its last event, so whoever goes on
after a position neither misses nor repeats an event.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

EVENTS_MAX = 1_000  # of one read
IDS_MAX = 100  # of one change; a reader of more reads the whole area again
AREAS = {"member": "members"}  # by the first word of an op, where it is another word

_POSITION = re.compile(r"(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})")

sql = load_queries(__file__)


class EventPosition(NamedTuple):
    """The position of an event in its project, written `rev.n`."""

    rev: int
    n: int

    def __str__(self) -> str:
        return f"{self.rev}.{self.n}"


class AreaChange(NamedTuple):
    """What one write changed in one area."""

    first: EventPosition
    last: EventPosition
    area: str
    ids: list[str]  # at most `IDS_MAX`
    left_out: int  # how many more ids there are
    actor: str


class FollowedPart(NamedTuple):
    """The changes after a position."""

    changes: list[AreaChange]
    is_complete: bool  # there are no more for now
    is_archived: bool  # there will be no more unless the project is restored


class FollowStart(NamedTuple):
    """The state of a project, or of the organization, when somebody begins to follow it."""

    project_id: str | None  # None: the organization
    is_archived: bool
    last: EventPosition
    missed: int  # events after the position of the reader; at most one more than the limit


class FollowedEvent(Struct):
    """A stored event, as far as it says what changed."""

    rev: int
    n: int
    op: str
    subject: str
    actor: str


def parse_position(text: str) -> EventPosition | None:
    """Return the position that a text names; None if it is none."""
    match = _POSITION.fullmatch(text)
    return EventPosition(int(match[1]), int(match[2])) if match else None


def start_following(tx: Transaction, ref: str, after: EventPosition | None, *, missed_max: int) -> FollowStart:
    """Return the project, its last event, and how many events came after a position."""
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
    rows = tx.all(sql.events_after, FollowedEvent, project_id=project.id, rev=after.rev, n=after.n, at_most=EVENTS_MAX)
    is_complete = len(rows) < EVENTS_MAX
    return FollowedPart(group_changes(rows), is_complete, is_complete and project.archived_at is not None)


def group_changes(rows: Sequence[FollowedEvent]) -> list[AreaChange]:
    """Return what some events changed, in their order: one change for each area of each write."""
    groups: list[list[FollowedEvent]] = []
    for row in rows:
        if groups and _belongs(groups[-1][-1], row):
            groups[-1].append(row)
        else:
            groups.append([row])
    return [_summarize(group) for group in groups]


def _belongs(before: FollowedEvent, row: FollowedEvent) -> bool:
    return before.rev == row.rev and _get_area(before) == _get_area(row)


def _get_area(row: FollowedEvent) -> str:
    word = row.op.partition(".")[0]
    return AREAS.get(word, word)


def _summarize(rows: Sequence[FollowedEvent]) -> AreaChange:
    ids = list(dict.fromkeys(row.subject for row in rows))
    return AreaChange(
        EventPosition(rows[0].rev, rows[0].n),
        EventPosition(rows[-1].rev, rows[-1].n),
        _get_area(rows[0]),
        ids[:IDS_MAX],
        max(0, len(ids) - IDS_MAX),
        rows[0].actor,
    )
