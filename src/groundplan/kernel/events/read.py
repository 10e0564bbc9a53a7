"""Questions about what happened in a project, for slices that show it.

Each answers with a bounded number of events, newest writes first, in the order of `rev.n`: a place in it is a cursor
that neither loses nor repeats an event, however many were recorded in one moment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, cast

import msgspec
from msgspec import Struct

from groundplan.kernel.audit import Change
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

AFTER_ALL_EVENTS = (2**62, 0)  # a place behind every event that was or will be recorded

sql = load_queries(__file__)

_changes = msgspec.json.Decoder(list[Change])


class PastEvent(Struct):
    """One event, with its place."""

    rev: int
    n: int
    at: str
    actor: str
    op: str
    changes: list[Change]
    decision: str | None


class Headline(NamedTuple):
    """What happened to whom, without what changed."""

    rev: int
    at: str
    actor: str
    op: str
    subject: str
    decision: str | None


def list_events_about(
    tx: Transaction, subject: str, *, ops: str, before: tuple[int, int] = AFTER_ALL_EVENTS, at_most: int
) -> list[PastEvent]:
    """What happened to one subject in the project entered, newest first, of the slice whose ops begin like this."""
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


def collect_recorded_values(
    tx: Transaction, subjects: Iterable[str], *, ops: str, fields: Collection[str]
) -> dict[str, set[str]]:
    """Every text that some subjects of the project entered ever had in one of some fields, by subject.

    What is gone is told as well: events outlive what they are about.
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
    tx: Transaction, *, ops: str, told: Sequence[str], writes: int, of_each: int, at_most_of_each: int, at_most: int
) -> list[Headline]:
    """The newest events of the project entered that are of one of the kinds told, or that say why.

    Looks at so many of the newest writes and at the first few events of each, so it takes the same time however much
    happened; and takes only so many of each, so that one large write does not hide the others.
    """
    newest = tx.project.rev
    rows = tx.all(
        sql.headlines,
        Headline,
        project_id=tx.project.id,
        revs=msgspec.json.encode(list(range(newest, max(newest - writes, 0), -1))).decode(),
        of_each=of_each,
        told=msgspec.json.encode(told).decode(),
        first_op=f"{ops}.",
        behind_ops=f"{ops}/",
    )
    found: dict[int, list[Headline]] = {}
    for one in rows:
        found.setdefault(one.rev, []).append(one)
    return [one for write in found.values() for one in write[:at_most_of_each]][:at_most]
