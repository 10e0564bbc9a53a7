"""The view of the events of a project or of the organization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from groundplan.kernel.events import EventRecord
from groundplan.surfaces.cli.drawing import Rows, View
from groundplan.surfaces.cli.work.history import format_change


def _join_changes(event: EventRecord) -> str:
    more = [f"{event.left_out['changes']} more"] if event.left_out else []
    return "; ".join([*map(format_change, event.changes or ()), *more])


def _describe_actor(event: EventRecord) -> str:
    return f"{event.actor} ({event.actor_kind})" if event.actor_kind else event.actor


_EVENTS = View(
    Rows(
        "events",
        "id, at",
        ("who", _describe_actor),
        "what: op, subject",
        ("changes", _join_changes),
        "why: decision",
        empty="No events found.",
        whole=("id",),
    ),
)
RENDERERS: dict[str, Callable[[Any], None]] = {"event.list": _EVENTS, "organization.events": _EVENTS}
