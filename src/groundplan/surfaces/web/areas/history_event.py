"""One event in the inspector: everything that it changed, the item as it was then, and whether it can be undone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.briefing.undo.undo import PREVIEW
from groundplan.kernel.audit import Change
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.events.follow import parse_position
from groundplan.kernel.events.history import EventRecord
from groundplan.surfaces.web.areas.area import Visit
from groundplan.surfaces.web.event_words import FieldChange, describe_events
from groundplan.surfaces.web.places import get_base

EVENTS_READ = 200  # of an item, to know how it was
WRITE_EVENTS_SHOWN = 20
VALUE_CHARS_MAX = 4_000


class PastValue(NamedTuple):
    """A field of an item as it was after an event."""

    field: str
    value: str


def read_event(visit: Visit, event_id: str) -> Mapping[str, Any] | None:
    """Return everything about one event; None if there is no such event."""
    if parse_position(event_id) is None:
        return None
    found = visit.call("event.list", until=event_id, limit=WRITE_EVENTS_SHOWN).events
    if not found or found[0].id != event_id:
        return None
    event, line = found[0], describe_events(visit, found[:1])[0]
    rev = event_id.partition(".")[0]
    same = [one for one in found if one.id.partition(".")[0] == rev][1:]
    past, is_whole = _read_past(visit, event)
    return {
        "event": event,
        "line": line,
        "changes": [one for one in map(_show, event.changes or ()) if one.before != one.after],
        "same": describe_events(visit, same),
        "past": past,
        "is_whole": is_whole,
        "inverse": find_inverse(visit, event_id),
        "plan_then": f"{get_base(visit.project.name)}/plan?as_of={event.at[:10]}"
        if event.op.startswith("purpose.")
        else "",
    }


def find_inverse(visit: Visit, event_id: str) -> Any:
    """Return the operation that would undo the write of an event; None if there is none or the actor may not."""
    if not visit.is_writer:
        return None
    try:
        return visit.session.run(PREVIEW, {"project": visit.project.name, "event": event_id}).did.operation
    except GroundplanError as error:
        if error.status >= 500:
            raise
        return None  # it has no inverse, something was built on it, or another actor made it


def _read_past(visit: Visit, event: EventRecord) -> tuple[list[PastValue], bool]:
    """Return the fields of an item after an event, and whether all of its earlier events were read."""
    page = visit.call("event.list", subject=event.subject, until=event.id, limit=EVENTS_READ)
    values = fold_changes(one.changes or () for one in page.events)
    shown = [PastValue(field.replace("_", " "), show_value(value)) for field, value in values.items()]
    return [one for one in shown if one.value], not page.next_cursor


def fold_changes(newest_first: Iterable[Sequence[Change]]) -> dict[str, Any]:
    """Return the last value of each field."""
    values: dict[str, Any] = {}
    for changes in newest_first:
        for change in changes:
            values.setdefault(change.field, change.after)
    return dict(sorted(values.items()))


def _show(change: Change) -> FieldChange:
    return FieldChange(change.field.replace("_", " "), show_value(change.before), show_value(change.after))


def show_value(value: Any) -> str:
    """Return a value as a reader sees it: text as it is, the rest as JSON."""
    if value is None or value == []:
        return ""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        value = "\n".join(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return text if len(text) <= VALUE_CHARS_MAX else f"{text[:VALUE_CHARS_MAX]}…"
