"""Read the events of one write, and what came after them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple, cast

import msgspec
from msgspec import Struct

from groundplan.kernel.audit import Change
from groundplan.kernel.events.follow import EventPosition
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

LOOKED_AT_MAX = 1_000  # newest writes of a project among which one of an actor is sought

sql = load_queries(__file__)

_changes = msgspec.json.Decoder(list[Change])


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
    revs = to_json_array(range(newest, max(newest - LOOKED_AT_MAX, 0), -1))
    rev: int | None = tx.scalar(sql.last_write_of_actor, project_id=tx.project.id, actor=actor_id, revs=revs)
    return rev


def load_write(tx: Transaction, rev: int, *, at_most: int) -> list[PastChange]:
    """Return the first events of a write to the project, in their order."""
    rows = tx.all(sql.events_of_write, PastChange, project_id=tx.project.id, rev=rev, at_most=at_most)
    for row in rows:
        row.changes = _changes.decode(cast("str", row.changes))
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
