"""The decisions that bind a task: reasons of changes to it and its ancestors, and decisions about its purpose."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from msgspec import UNSET

from groundplan.briefing.briefing import DecisionNote
from groundplan.kernel.events.history import list_decisions_about
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.observing.read import read_newest_decisions
from groundplan.purpose.observing.records import Decision

RECORDED_MAX = 200  # decisions about the purpose that are looked through
EVENT_PREFIX = "work"  # the events of work nodes


class _Dated(NamedTuple):
    is_replaced: bool
    position: tuple[int, int]  # rev and n
    note: DecisionNote


def collect_decisions(
    tx: Transaction, node_ids: Sequence[str], refs: Collection[str], *, at_most: int
) -> list[DecisionNote]:
    """Return the decisions about work nodes and parts of the purpose, newest first, then those that were replaced.

    A decision that is about nothing in particular binds every task.
    """
    about = {*node_ids, *refs}
    recorded = read_newest_decisions(tx, at_most=RECORDED_MAX)
    replaced_by = {_get_superseded(one): one for one in recorded}
    found = [
        _build_dated(one, replaced_by.get((one.rev, one.n)))
        for one in recorded
        if not one.about or not about.isdisjoint(one.about)
    ]
    given = list_decisions_about(tx, node_ids, ops=EVENT_PREFIX, at_most=at_most)
    found += [_Dated(False, (one.rev, one.n), DecisionNote(text=one.decision, at=one.at)) for one in given]
    found.sort(key=lambda one: (not one.is_replaced, one.position), reverse=True)
    unique: dict[tuple[object, ...], DecisionNote] = {}
    for one in found:  # one call gives the same reason to all its events
        unique.setdefault((one.note.text, one.note.at, one.is_replaced), one.note)
    return list(unique.values())


def _get_superseded(one: Decision) -> tuple[int, int] | None:
    """Return the position of the decision that this one replaces."""
    rev, n = one.supersedes_rev, one.supersedes_n
    return None if rev is None or n is None else (rev, n)


def _build_dated(one: Decision, newer: Decision | None) -> _Dated:
    note = DecisionNote(text=one.text, at=one.recorded_at, replaced_by=UNSET if newer is None else newer.text)
    return _Dated(newer is not None, (one.rev, one.n), note)
