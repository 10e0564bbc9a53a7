"""Which facts changed since a revision of the project.

A fact changed if its value in the run in force differs from its value in the run that was in force at that revision.
The revisions of commits and deletions tell which run that was, so a clock that was set does not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from groundplan.context.events import Op
from groundplan.kernel.events.revisions import EventRevision, list_event_revisions
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class ChangedFact(NamedTuple):
    """A fact that changed: the revision and time since when its value is another one, and whether it is gone."""

    rev: int
    at: str
    is_removed: bool


class FactSince(NamedTuple):
    """The pointer of a fact, and the revision since when to look."""

    pointer: str
    rev: int


class _Period(NamedTuple):
    """A run that is in force from a revision on, until the next period. None if there is no run."""

    rev: int
    at: str
    run_id: str | None


class _ValueInRun(NamedTuple):
    """The value of a fact in a run."""

    run_id: str
    pointer: str
    value_kind: str
    value_string: str | None
    value_number: float | None
    value_boolean: bool | None
    value_enum: str | None
    value_json: str | None


def find_changed_facts(tx: Transaction, facts: Collection[FactSince]) -> dict[FactSince, ChangedFact]:
    """Return those of some facts that changed since their revision. A fact without a value there has not changed."""
    periods = _load_periods(tx) if facts else []
    if len(periods) < 2:  # no run was ever replaced
        return {}
    values = _load_values(tx, {fact.pointer for fact in facts}, [one.run_id for one in periods if one.run_id])
    found: dict[FactSince, ChangedFact] = {}
    for fact in facts:
        before = [one for one in periods if one.rev <= fact.rev][-1:]
        value = values.get((before[0].run_id, fact.pointer)) if before else None
        if value is None:
            continue
        since = None
        for period in periods:
            if period.rev > fact.rev:
                current = values.get((period.run_id, fact.pointer))
                if current == value:
                    since = None
                elif since is None:
                    since = period
        if since is not None:
            is_removed = values.get((periods[-1].run_id, fact.pointer)) is None
            found[fact] = ChangedFact(since.rev, since.at, is_removed)
    return found


def _load_periods(tx: Transaction) -> list[_Period]:
    """Return which run was in force since when, by the revisions of the project."""
    # Of several runs the first in this order is in force, as in `latest_committed`.
    order: list[str] = tx.scalars(sql.ever_committed, project_id=tx.project.id)
    if not order:
        return []
    events: Iterable[EventRevision] = list_event_revisions(tx, order, [Op.COMMITTED, Op.DELETED])
    in_view: set[str] = set()
    periods: list[_Period] = []
    for event in events:
        if event.op == Op.COMMITTED:
            in_view.add(event.subject)
        else:
            in_view.discard(event.subject)
        in_force = next((run_id for run_id in order if run_id in in_view), None)
        if not periods or periods[-1].run_id != in_force:
            periods.append(_Period(event.rev, event.at, in_force))
    return periods


def _load_values(tx: Transaction, pointers: Iterable[str], run_ids: Iterable[str]) -> dict[tuple[Any, str], Any]:
    rows = tx.all(
        sql.values_in_runs,
        _ValueInRun,
        project_id=tx.project.id,
        pointers=to_json_array(sorted(pointers)),
        run_ids=to_json_array(dict.fromkeys(run_ids)),
    )
    return {(row.run_id, row.pointer): row[2:] for row in rows}
