"""Home: the project on one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import asdict

from groundplan.briefing.inbox import InboxKind
from groundplan.kernel.clock import read_timestamp, system_clock
from groundplan.surfaces.web.areas.inbox import SETTLING, build_entries, build_entry
from groundplan.surfaces.web.areas.plan.health import BANDS, FIGURES
from groundplan.surfaces.web.visit import Area, Visit
from groundplan.surfaces.web.words import ActorChanges, describe_events, group_events

READY_MAX = 6
CLAIMED_MAX = 8
WAITING_MAX = 5
IN_DOUBT_MAX = 5
EVENTS_READ = 200  # the newest; what one person reads of a day is less
GROUPS_MAX = 7
DATE_CHARS = 10


class ChangesOfDay(NamedTuple):
    """The changes of the last day that has any."""

    day: str
    is_today: bool
    groups: Sequence[ActorChanges]
    more: bool


def read_home(visit: Visit) -> Mapping[str, Any]:
    """Return the data of the area."""
    waiting = visit.waiting.items
    in_doubt = [item for item in waiting if item.kind is InboxKind.AT_RISK]
    return {
        "counts": visit.call("work.open").summary,
        "ready": visit.call("work.outline", lane="ready", limit=READY_MAX),
        "claimed": visit.call("work.outline", lane="claimed", limit=CLAIMED_MAX),
        "entries": build_entries(visit, waiting)[:WAITING_MAX],
        "in_doubt": [build_entry(visit, item) for item in in_doubt[:IN_DOUBT_MAX]],
        "in_doubt_more": max(len(in_doubt) - IN_DOUBT_MAX, 0),
        "changes": _read_changes(visit),
        "health": _read_health(visit),
    }


def _read_changes(visit: Visit) -> ChangesOfDay | None:
    events = visit.call("event.list", limit=EVENTS_READ).events
    if not events:
        return None
    day = events[0].at[:DATE_CHARS]
    of_day = [event for event in events if event.at[:DATE_CHARS] == day]
    groups = group_events(describe_events(visit, of_day))
    is_today = day == read_timestamp(system_clock)[:DATE_CHARS]
    return ChangesOfDay(day, is_today, groups[:GROUPS_MAX], len(groups) > GROUPS_MAX or len(of_day) == EVENTS_READ)


def _read_health(visit: Visit) -> Mapping[str, Any] | None:
    if not visit.call("purpose.versions").versions:
        return None
    health = visit.call("purpose.health")
    bands, metrics = asdict(health.bands), asdict(health.metrics)
    shown = [
        (FIGURES[name].title, f"{metrics[name]:g}{FIGURES[name].unit}", band) for name, band in bands.items() if band
    ]
    return {"overall": health.overall, "metrics": shown, "bands": BANDS}


AREA = Area("home", "Home", "h", "home.html", read_home, SETTLING)
