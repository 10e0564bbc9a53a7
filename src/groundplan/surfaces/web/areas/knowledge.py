"""Knowledge: the notes about files, as a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.surfaces.web.areas.area import Area, Visit


def read_knowledge(visit: Visit) -> Mapping[str, Any]:
    """Return what the area shows: all notes, or those that contain the words of a search."""
    text = visit.query.get("text", "").strip()
    session, project = visit.session, visit.project
    if text:
        found = session.call("knowledge.search", projectId=project.name, query=text)
        return {"text": text, "found": found, "listed": None}
    return {"text": "", "found": None, "listed": session.call("knowledge.list", projectId=project.name)}


AREA = Area("knowledge", "Knowledge", "k", "knowledge.html", read_knowledge)
