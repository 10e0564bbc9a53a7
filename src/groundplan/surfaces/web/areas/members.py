"""Members: people and agents, and their roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.surfaces.web.areas.area import Area, Visit


def read_members(visit: Visit) -> Mapping[str, Any]:
    """Return what the area shows."""
    return {"members": visit.session.call("member.list", scopeId=visit.project.name).members}


AREA = Area("members", "Members", "m", "members.html", read_members)
