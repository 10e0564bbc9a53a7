"""Knowledge: the tree of atoms and molecules or what they cover, and one of them in the inspector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.surfaces.web.areas.area import Area, Visit
from groundplan.surfaces.web.areas.knowledge.coverage import read_coverage
from groundplan.surfaces.web.areas.knowledge.note import list_tasks, match_patterns, read_note, read_typed_patterns
from groundplan.surfaces.web.areas.knowledge.notes import get_state, list_molecules, read_notes

VIEWS = {"notes": "Notes", "coverage": "Coverage"}


def read_knowledge(visit: Visit) -> Mapping[str, Any]:
    """Return what the view in the address shows."""
    view = visit.query.get("view") if visit.query.get("view") in VIEWS else "notes"
    typed = read_typed_patterns(visit)
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    selected = visit.query.get("note")
    may_write = visit.may("knowledge:write")
    shown: dict[str, Any] = {
        "view": view,
        "views": VIEWS,
        "may_write": may_write,
        "typed_patterns": typed,
        "typed_matches": match_patterns(visit, lines),
        "tasks": list_tasks(visit) if may_write else [],
        "selected": selected,
        "note": read_note(visit, selected) if selected else None,
        "freshness_of": get_state,
        "list_choices": lambda molecules: [("", "none"), *((one.id, one.name) for one in molecules)],
    }
    if view == "coverage":
        return {**shown, "molecules": list_molecules(visit) if may_write else [], **read_coverage(visit)}
    return {**shown, **read_notes(visit)}


OPERATIONS = frozenset({"knowledge.create", "knowledge.update", "knowledge.append_changelog", "knowledge.delete"})
AREA = Area("knowledge", "Knowledge", "k", "knowledge.html", read_knowledge, OPERATIONS)
