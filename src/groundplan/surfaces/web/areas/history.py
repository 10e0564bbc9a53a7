"""History: everything that happened, by actor, item and day, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from groundplan.kernel.errors import Invalid
from groundplan.kernel.events.follow import parse_position
from groundplan.kernel.events.history import EventRecord
from groundplan.surfaces.web.areas.area import Area, Visit
from groundplan.surfaces.web.areas.history_event import find_inverse, read_event
from groundplan.surfaces.web.event_words import EventLine, describe_events

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


class UndoOffer(NamedTuple):
    """The newest change of the actor, which can be undone, and the operation that does it."""

    line: EventLine
    rev: int
    operation: str


class Day(NamedTuple):
    """What happened on one day."""

    date: str
    lines: Sequence[EventLine]


def read_history(visit: Visit) -> Mapping[str, Any]:
    """Return a page of events that pass the filters in the address, and one of them in the inspector."""
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
    undo = _offer_undo(visit, page.events, lines) if is_newest else None
    days = [Day(day, list(some)) for day, some in groupby(lines, lambda line: line.at[:10])]
    return {**shown, "days": days, "next_cursor": page.next_cursor or None, "undo": undo}


def _find_days_beside(day: str) -> tuple[str, str] | None:
    """Return the day before and the day after a day, if it is one."""
    try:
        one = date.fromisoformat(day)
        return (one - timedelta(days=1)).isoformat(), (one + timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return None


def _offer_undo(visit: Visit, events: Sequence[EventRecord], lines: Sequence[EventLine]) -> UndoOffer | None:
    """Return the last change of the actor, if it has an inverse."""
    mine = next((line for line in lines if line.actor == visit.actor), None)
    if mine is None:
        return None
    operation = find_inverse(visit, mine.id)
    position = parse_position(mine.id)
    if operation is None or position is None:
        return None
    # A write has several events: the first of them says best what was done.
    of_write = [line for event, line in zip(events, lines, strict=True) if event.id.startswith(f"{position.rev}.")]
    return UndoOffer(of_write[-1], position.rev, operation)


AREA = Area("history", "History", "y", "history.html", read_history)
