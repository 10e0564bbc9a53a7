"""Plan: the theory of change as a picture, and the same as a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.surfaces.web.areas.area import Area, Visit


def read_plan(visit: Visit) -> Mapping[str, Any]:
    """Return what the area shows."""
    summary = visit.call("purpose.open", detail="summary")
    return {"summary": summary, "theory": visit.call("purpose.open") if summary.versions else None}


AREA = Area("plan", "Plan", "p", "plan.html", read_plan)
