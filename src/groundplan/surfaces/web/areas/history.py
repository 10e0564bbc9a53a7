"""History: everything that happened, by actor, item and day, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.kernel.events.follow import parse_position
from groundplan.kernel.events.list import EventRecord
from groundplan.surfaces.web.areas.area import Area, Visit
from groundplan.surfaces.web.event_words import EventLine, describe_events

ROWS = 50
FILTERS = ("actor", "subject", "day", "until")


class UndoOffer(NamedTuple):
    """The newest change of the actor, which can be undone, and the operation that does it."""

    line: EventLine
    rev: int
    operation: str


def read_history(visit: Visit) -> Mapping[str, Any]:
    """Return a page of events that pass the filters in the address."""
    wanted = {name: visit.query.get(name, "").strip() for name in FILTERS}
    arguments = {name: wanted[name] for name in ("actor", "subject", "until") if wanted[name]}
    if wanted["day"]:
        arguments |= {"since": wanted["day"], "until": wanted["day"]}
    if visit.query.get("cursor"):
        arguments["cursor"] = visit.query["cursor"]
    shown: dict[str, Any] = {"wanted": wanted, "lines": [], "next_cursor": None, "undo": None, "problem": ""}
    try:
        page = visit.call("event.list", limit=ROWS, **arguments)
    except Invalid as error:
        return {**shown, "problem": error.message}
    lines = describe_events(visit, page.events)
    is_newest = not arguments.keys() - {"actor"}
    undo = _offer_undo(visit, page.events, lines) if is_newest else None
    return {**shown, "lines": lines, "next_cursor": page.next_cursor or None, "undo": undo}


def _offer_undo(visit: Visit, events: Sequence[EventRecord], lines: Sequence[EventLine]) -> UndoOffer | None:
    """Return the last change of the actor, if it has an inverse."""
    mine = next((line for line in lines if line.actor == visit.actor), None)
    if mine is None or not visit.is_writer:
        return None
    position = parse_position(mine.id)
    try:
        undone = visit.call("briefing.undo", event=mine.id, dry_run=True)
    except GroundplanError:
        return None  # it has no inverse, or something was built on it
    # A write has several events: the first of them says best what was done.
    rev = position.rev if position is not None else 0
    first = [line for event, line in zip(events, lines, strict=True) if event.id.partition(".")[0] == str(rev)][-1]
    return UndoOffer(first, rev, undone.did.operation)


AREA = Area("history", "History", "y", "history.html", read_history)
