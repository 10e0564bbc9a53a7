"""Home: the project on one page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict

from groundplan.surfaces.web.areas.area import Area, Visit

READY_MAX = 6


def read_home(visit: Visit) -> Mapping[str, Any]:
    """Return what the area shows."""
    theory = visit.call("purpose.open", detail="summary")
    return {
        "counts": visit.call("work.open").summary,
        "ready": visit.call("work.outline", lane="ready", limit=READY_MAX),
        "claimed": visit.call("work.outline", lane="claimed", limit=20),
        "orientation": visit.call("work.onboard"),
        "health": _read_health(visit) if theory.versions else None,
        "theory": theory,
    }


def _read_health(visit: Visit) -> Mapping[str, Any]:
    health = visit.call("purpose.health")
    bands, metrics = asdict(health.bands), asdict(health.metrics)
    shown = [(name.replace("_", " "), metrics[name], band) for name, band in bands.items() if band]
    return {"overall": health.overall, "metrics": shown}


AREA = Area("home", "Home", "h", "home.html", read_home)
