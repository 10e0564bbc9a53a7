"""The revisions in which something happened to some subjects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


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
