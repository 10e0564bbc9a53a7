"""History: all events, by actor, item and day, in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from groundplan.briefing.undo.undo import PREVIEW, UndoPreview
from groundplan.kernel.audit import Change
from groundplan.kernel.errors import Invalid
from groundplan.kernel.events import EventPosition, EventRecord, parse_position
from groundplan.surfaces.web.visit import REFUSALS, Area, Visit, get_base
from groundplan.surfaces.web.words import EventLine, FieldChange, describe_events, write_value

ROWS = 50
LATEST_ROWS = 10  # of a page that asks only for the way back of the last change
FILTERS = ("actor", "subject", "day", "until", "op")
ACTORS_SHOWN = 8
SLICES = {  # chips of the filter: the first word of an event → the area as the rail names it
    "work": "Work",
    "purpose": "Plan",
    "context": "Facts",
    "knowledge": "Knowledge",
    "member": "Members",
    "project": "Project",
}
EVENTS_READ = 200  # of an item, to know how it was
WRITE_EVENTS_SHOWN = 20


class UndoOffer(NamedTuple):
    """A change of the actor, the event to undo so that it is taken back or done again, and the operation of that."""

    line: EventLine
    event: EventPosition
    operation: str


class Day(NamedTuple):
    """The events of one day."""

    date: str
    lines: Sequence[EventLine]


def read_history(visit: Visit) -> Mapping[str, Any]:
    """Return a page of events that match the filters in the address, and one of them for the inspector."""
    wanted = {name: visit.query.get(name, "").strip() for name in FILTERS}
    arguments = {name: wanted[name] for name in ("actor", "subject", "until", "op") if wanted[name]}
    if wanted["day"]:
        arguments |= {"since": wanted["day"], "until": wanted["day"]}
    if visit.query.get("cursor"):
        arguments["cursor"] = visit.query["cursor"]
    members = visit.session.call("member.list", scopeId=visit.project.name, limit=ACTORS_SHOWN).members
    selected = visit.query.get("event")
    shown: dict[str, Any] = {
        "wanted": wanted,
        "slices": SLICES,
        "actors": list(dict.fromkeys([*([wanted["actor"]] if wanted["actor"] else []), *(m.user_id for m in members)])),
        "days": [],
        "beside": _find_days_beside(wanted["day"]),
        "next_cursor": None,
        "undo": None,
        "redo": None,
        "problem": "",
        "selected": selected,
        "shown_event": read_event(visit, selected) if selected else None,
    }
    try:
        rows = LATEST_ROWS if visit.query.get("latest") else ROWS
        page = visit.call("event.list", limit=rows, **arguments)
    except Invalid as error:
        return {**shown, "problem": error.message}
    lines = describe_events(visit, page.events)
    is_newest = not arguments.keys() - {"actor"}
    undo, redo = [_offer(visit, redo=redo) for redo in (False, True)] if is_newest else (None, None)
    days = [Day(day, list(some)) for day, some in groupby(lines, lambda line: line.at[:10])]
    return {**shown, "days": days, "next_cursor": page.next_cursor or None, "undo": undo, "redo": redo}


def _find_days_beside(day: str) -> tuple[str, str] | None:
    """Return the day before and the day after a day; nothing if the text is no day."""
    try:
        date_shown = date.fromisoformat(day)
        return (date_shown - timedelta(days=1)).isoformat(), (date_shown + timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return None


def _offer(visit: Visit, *, redo: bool) -> UndoOffer | None:
    """Return the change that the next undo or redo of the actor is about, if there is one."""
    preview = _preview(visit, redo=redo)
    if preview is None:
        return None
    (line,) = describe_events(visit, visit.call("event.list", until=str(preview.headline), limit=1).events)
    return UndoOffer(line, preview.event, preview.operation)


class PastValue(NamedTuple):
    """A field of an item after an event."""

    field: str
    value: str


def read_event(visit: Visit, event_id: str) -> Mapping[str, Any] | None:
    """Return the details of an event; None if it does not exist."""
    if parse_position(event_id) is None:
        return None
    events = visit.call("event.list", until=event_id, limit=WRITE_EVENTS_SHOWN).events
    if not events or events[0].id != event_id:
        return None
    event, line = events[0], describe_events(visit, events[:1])[0]
    rev = event_id.partition(".")[0]
    same = [other for other in events if other.id.partition(".")[0] == rev][1:]
    past, is_whole = _read_past(visit, event)
    return {
        "event": event,
        "line": line,
        "changes": [change for change in map(_show, event.changes or ()) if change.before != change.after],
        "same": describe_events(visit, same),
        "past": past,
        "is_whole": is_whole,
        "inverse": find_inverse(visit, event_id),
        "plan_then": f"{get_base(visit.project.name)}/plan?as_of={event.at[:10]}"
        if event.op.startswith("purpose.")
        else "",
    }


def find_inverse(visit: Visit, event_id: str) -> str | None:
    """Return the operation that would undo the write of an event; None if there is none or the actor may not run it."""
    preview = _preview(visit, event=event_id)
    return None if preview is None else preview.operation


def _preview(visit: Visit, **which: Any) -> UndoPreview | None:
    if not visit.is_writer:
        return None
    try:
        previewed: UndoPreview = visit.session.run(PREVIEW, {"project": visit.project.name, **which})
        return previewed
    except REFUSALS:
        return None  # it has no inverse, something was built on it, or another actor made it


def _read_past(visit: Visit, event: EventRecord) -> tuple[list[PastValue], bool]:
    """Return the fields of an item after an event, and True if all of its earlier events were read."""
    page = visit.call("event.list", subject=event.subject, until=event.id, limit=EVENTS_READ)
    values = fold_changes(earlier.changes or () for earlier in page.events)
    shown = [PastValue(field.replace("_", " "), write_value(value)) for field, value in values.items()]
    return [past for past in shown if past.value], not page.next_cursor


def fold_changes(newest_first: Iterable[Sequence[Change]]) -> dict[str, Any]:
    """Return the last value of each field."""
    values: dict[str, Any] = {}
    for changes in newest_first:
        for change in changes:
            values.setdefault(change.field, change.after)
    return dict(sorted(values.items()))


def _show(change: Change) -> FieldChange:
    return FieldChange(change.field.replace("_", " "), write_value(change.before), write_value(change.after))


AREA = Area("history", "History", "y", "history.html", read_history)
