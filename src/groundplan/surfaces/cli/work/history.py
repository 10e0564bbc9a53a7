"""The view of the history of a node."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET

from groundplan.kernel.audit import Change
from groundplan.surfaces.cli.drawing import Rows, View
from groundplan.surfaces.cli.terminal import format_value, to_one_line
from groundplan.work.graph.history import HistoryChange, HistoryEvent


def _join_changes(event: HistoryEvent) -> str:
    more = [f"{event.left_out['changes']} more"] if event.left_out else []
    return "; ".join([*map(format_change, event.changes or ()), *more])


def format_change(change: HistoryChange | Change) -> str:
    """Return what an event changed in one field, on one line."""
    if change.field == "evidence" and isinstance(change.after, list):
        return "evidence: " + ", ".join(f"{one['type']}: {to_one_line(one['ref'])}" for one in change.after)
    before, after = ("" if value in (None, UNSET) else format_value(value) for value in (change.before, change.after))
    return f"{change.field}: {before} -> {after or 'none'}" if before else f"{change.field}: {after}"


RENDERERS: Mapping[str, View] = {
    "work.history": View(
        Rows(
            "events",
            "at: timestamp, who: agent, what: action",
            ("changes", _join_changes),
            "why: decision",
            empty="No events recorded.",
        ),
    ),
}
