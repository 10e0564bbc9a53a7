"""Read the events of a project, for slices that show them.

Each list has a bounded number of events, newest writes first, ordered by `rev.n`. A position in this order is a cursor
that neither skips nor repeats an event, even if many have the same timestamp.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, cast

import msgspec
from msgspec import Struct

from groundplan.kernel.audit import Change
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

AFTER_ALL_EVENTS = (2**62, 0)  # a position after every possible event

sql = load_queries(__file__)

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
        row.changes = _changes.decode(cast("str", row.changes))
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
