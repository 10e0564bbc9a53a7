"""One atom or molecule in the inspector, and the files that patterns match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from groundplan.kernel.errors import GroundplanError
from groundplan.surfaces.web.areas.area import Visit
from groundplan.surfaces.web.areas.knowledge.notes import MOLECULES
from groundplan.surfaces.web.areas.throughline.line import read_throughline
from groundplan.surfaces.web.event_words import describe_events

ENTRIES = 20
EVENTS = 10
TASKS = 50
RELATED_CHOICES = 200
PATTERNS_FIELD = "paths|list"


class Matches(NamedTuple):
    """The files of the last check that patterns match, or why they cannot be matched."""

    found: Any = None
    problem: str = ""


def read_note(visit: Visit, note_id: str) -> Mapping[str, Any] | None:
    """Return an atom or a molecule with everything about it; None if the project has none with this id."""
    for kind in ("atom", "molecule"):
        details = _get(visit, kind, note_id)
        if details is not None:
            return _describe(visit, kind, details)
    return None


def _get(visit: Visit, kind: str, note_id: str) -> Any:
    try:
        return visit.session.call(
            "knowledge.get", entityType=kind, id=note_id, projectId=visit.project.name, includeChangelog=False
        )
    except GroundplanError as error:
        if error.status >= 500:
            raise
        return None  # it is no id, there is no such note, or it belongs to another project


def _describe(visit: Visit, kind: str, details: Any) -> Mapping[str, Any]:
    one = getattr(details, kind)
    log = visit.session.call(
        "knowledge.search_changelog",
        parentType=kind,
        parentId=one.id,
        limit=ENTRIES,
        offset=_read_offset(visit.query.get("log")),
    )
    tasks = {entry.task_id for entry in log.entries} | {one.created_by_task_id, one.last_task_id}
    titled = visit.call("briefing.titles", refs=sorted(tasks)).found
    events = visit.call("event.list", subject=one.id, limit=EVENTS).events
    related = one.related_atoms if kind == "atom" else one.related_molecules
    return {
        "kind": kind,
        "one": one,
        "atoms": details.atoms or [],
        "log": log,
        "tasks": {title.ref: title.title for title in titled},
        "events": describe_events(visit, events),
        "matches": match_patterns(visit, one.paths) if kind == "atom" else None,
        "related": related or [],
        "line": read_throughline(visit, one.id),
        "related_field": "relatedAtoms" if kind == "atom" else "relatedMolecules",
        "related_id": f"{kind}Id",
        "id_of": lambda other: getattr(other, f"{kind}_id"),
        "others": _list_others(visit, kind, one.id) if visit.is_writer else [],
    }


def _read_offset(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else 0


def _list_others(visit: Visit, kind: str, note_id: str) -> list[Any]:
    """Return atoms or molecules that it could be related to."""
    project = {"projectId": visit.project.name}
    if kind == "atom":
        found = visit.session.call("knowledge.list", **project, limit=RELATED_CHOICES).atoms
    else:
        search = {"entityType": kind, "includeChangelog": False, "limit": MOLECULES}
        found = visit.session.call("knowledge.search", **project, **search).items
    return [one for one in found if one.id != note_id]


def list_tasks(visit: Visit) -> list[tuple[str, str]]:
    """Return the tasks that changed last, as choices: knowledge is written for a task."""
    found = visit.call("work.query", sort="recent", limit=TASKS, lean=True).nodes
    return [(node.id, node.summary) for node in found if node.id != visit.project.id]


def read_typed_patterns(visit: Visit) -> str:
    """Return the patterns that a person is typing: of a refused form, or in the address."""
    refused = visit.refusal.fields.get(PATTERNS_FIELD) if visit.refusal else None
    return refused if refused is not None else visit.query.get("patterns", "")


def match_patterns(visit: Visit, patterns: list[str]) -> Matches:
    """Return which files of the last check match some patterns."""
    if not patterns:
        return Matches()
    try:
        return Matches(visit.session.call("knowledge.match", projectId=visit.project.name, paths=patterns))
    except GroundplanError as error:
        if error.status >= 500:
            raise
        return Matches(problem=error.message)
