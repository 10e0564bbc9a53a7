"""Knowledge: a tree of atoms and molecules with filters, and one of them in the inspector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.knowledge.freshness import FreshnessState
from groundplan.surfaces.web.areas.coverage import read_coverage
from groundplan.surfaces.web.areas.throughline import read_throughline
from groundplan.surfaces.web.visit import REFUSALS, Area, Visit
from groundplan.surfaces.web.words import describe_events

VIEWS = {"notes": "Notes", "coverage": "Coverage"}
ROWS = 200  # atoms on one page
LISTED = 1_000  # atoms of a path, of which those with some words are shown
MOLECULES = 100  # of one request
MOLECULE_PAGES_MAX = 5
KINDS = {"atom": "Atoms", "molecule": "Molecules"}
FRESHNESS = {
    FreshnessState.FRESH.value: "Fresh",
    FreshnessState.CHANGED.value: "Changed",
    FreshnessState.ORPHANED.value: "Without files",
    FreshnessState.UNANCHORED.value: "Never confirmed",
    FreshnessState.NOT_CHECKED.value: "Not checked",
}
ENTRIES = 20
EVENTS = 10
TASKS = 50
RELATED_CHOICES = 200
PATTERNS_FIELD = "paths|list"


def read_knowledge(visit: Visit) -> Mapping[str, Any]:
    """Return the data of the view in the address."""
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
        "list_choices": lambda molecules: [("", "none"), *((molecule.id, molecule.name) for molecule in molecules)],
    }
    if view == "coverage":
        return {**shown, "molecules": list_molecules(visit) if may_write else [], **read_coverage(visit)}
    return {**shown, **read_notes(visit)}


class MoleculeGroup(NamedTuple):
    """A molecule with its atoms that match the filters. The molecule is None for atoms without one."""

    molecule: Any
    atoms: Sequence[Any]


def read_notes(visit: Visit) -> Mapping[str, Any]:
    """Return the tree of atoms and molecules that match the filters in the address."""
    text, path = (visit.query.get(name, "").strip() for name in ("text", "path"))
    kind = visit.query.get("kind") if visit.query.get("kind") in KINDS else ""
    states = [name for name in visit.query.get("fresh", "").split(",") if name in FRESHNESS]
    shown: dict[str, Any] = {
        "text": text,
        "path": path,
        "kind": kind,
        "states": states,
        "kinds": KINDS,
        "freshness": FRESHNESS,
        "next_cursor": None,
        "groups": [],
        "problem": "",
        "molecules": list_molecules(visit),
    }
    atoms: list[Any] = []
    molecules: list[Any] = [] if path or states or kind == "atom" else shown["molecules"]
    try:
        if kind != "molecule":
            atoms, shown["next_cursor"] = _list_atoms(visit, text, path, states)
        if text and molecules:
            molecules = _search(visit, "molecule", text)
    except REFUSALS as error:
        return {**shown, "problem": error.message}
    return {**shown, "groups": _group(atoms, shown["molecules"], molecules)}


def get_state(atom: Any) -> str:
    """Return the freshness of an atom from the last check."""
    return str(atom.freshness.state) if atom.freshness else FreshnessState.NOT_CHECKED.value


def list_molecules(visit: Visit) -> list[Any]:
    """Return the first molecules of the project, sorted by name."""
    molecules: list[Any] = []
    for _ in range(MOLECULE_PAGES_MAX):
        page = _search_page(visit, "molecule", offset=len(molecules))
        molecules += page.items
        if not page.next_offset:
            break
    return molecules


def _search_page(visit: Visit, entity_type: str, **given: Any) -> Any:
    place = {"entityType": entity_type, "projectId": visit.project.name}
    return visit.session.call("knowledge.search", **place, includeChangelog=False, limit=MOLECULES, **given)


def _search(visit: Visit, entity_type: str, text: str) -> list[Any]:
    return list(_search_page(visit, entity_type, query=text).items)


def _list_atoms(visit: Visit, text: str, path: str, states: Sequence[str]) -> tuple[list[Any], str | None]:
    """Return a page of the atoms that match the filters, and the cursor of the next page."""
    filters: dict[str, Any] = {"freshness": states}
    if path:
        filters["paths"] = path
    if text:
        atoms = _search(visit, "atom", text)
        if not path:
            return [atom for atom in atoms if not states or get_state(atom) in states], None
        listed = visit.session.call("knowledge.list", projectId=visit.project.name, limit=LISTED, **filters).atoms
        ids = {atom.id for atom in listed}
        return [atom for atom in atoms if atom.id in ids], None
    if cursor := visit.query.get("cursor"):
        filters["cursor"] = cursor
    page = visit.session.call("knowledge.list", projectId=visit.project.name, limit=ROWS, **filters)
    return list(page.atoms), page.next_cursor or None


def _group(atoms: Sequence[Any], molecules: Sequence[Any], shown: Sequence[Any]) -> list[MoleculeGroup]:
    """Return each molecule that is listed or has atoms, and then the atoms without a molecule."""
    by_molecule: dict[str | None, list[Any]] = {}
    ids = {molecule.id for molecule in molecules}
    for atom in atoms:
        by_molecule.setdefault(atom.molecule_id if atom.molecule_id in ids else None, []).append(atom)
    shown_ids = {molecule.id for molecule in shown} | by_molecule.keys()
    groups = [
        MoleculeGroup(molecule, by_molecule.get(molecule.id, ())) for molecule in molecules if molecule.id in shown_ids
    ]
    return [*groups, MoleculeGroup(None, by_molecule[None])] if None in by_molecule else groups


class Matches(NamedTuple):
    """The files of the last check that patterns match, or the reason why the patterns are invalid."""

    found: Any = None
    problem: str = ""


def read_note(visit: Visit, note_id: str) -> Mapping[str, Any] | None:
    """Return the details of an atom or a molecule; None if the project does not have it."""
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
    except REFUSALS:
        return None  # it is no id, there is no such note, or it belongs to another project


def _describe(visit: Visit, kind: str, details: Any) -> Mapping[str, Any]:
    entity = getattr(details, kind)
    log = visit.session.call(
        "knowledge.search_changelog",
        parentType=kind,
        parentId=entity.id,
        limit=ENTRIES,
        offset=_read_offset(visit.query.get("log")),
    )
    tasks = {entry.task_id for entry in log.entries} | {entity.created_by_task_id, entity.last_task_id}
    titled = visit.call("briefing.titles", refs=sorted(tasks)).found
    events = visit.call("event.list", subject=entity.id, limit=EVENTS).events
    related = entity.related_atoms if kind == "atom" else entity.related_molecules
    return {
        "kind": kind,
        "one": entity,
        "atoms": details.atoms or [],
        "log": log,
        "tasks": {title.ref: title.title for title in titled},
        "events": describe_events(visit, events),
        "matches": match_patterns(visit, entity.paths) if kind == "atom" else None,
        "related": related or [],
        "line": read_throughline(visit, entity.id),
        "related_field": "relatedAtoms" if kind == "atom" else "relatedMolecules",
        "related_id": f"{kind}Id",
        "id_of": lambda other: getattr(other, f"{kind}_id"),
        "others": _list_others(visit, kind, entity.id) if visit.is_writer else [],
    }


def _read_offset(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else 0


def _list_others(visit: Visit, kind: str, note_id: str) -> list[Any]:
    """Return the atoms or molecules that the given one can be related to."""
    project = {"projectId": visit.project.name}
    if kind == "atom":
        others = visit.session.call("knowledge.list", **project, limit=RELATED_CHOICES).atoms
    else:
        search = {"entityType": kind, "includeChangelog": False, "limit": MOLECULES}
        others = visit.session.call("knowledge.search", **project, **search).items
    return [other for other in others if other.id != note_id]


def list_tasks(visit: Visit) -> list[tuple[str, str]]:
    """Return the tasks that changed last as choices, because knowledge belongs to a task."""
    nodes = visit.call("work.query", sort="recent", limit=TASKS, lean=True).nodes
    return [(node.id, node.summary) for node in nodes if node.id != visit.project.id]


def read_typed_patterns(visit: Visit) -> str:
    """Return the patterns that a person has typed: from a refused form, else from the address."""
    refused = visit.refusal.fields.get(PATTERNS_FIELD) if visit.refusal else None
    return refused if refused is not None else visit.query.get("patterns", "")


def match_patterns(visit: Visit, patterns: list[str]) -> Matches:
    """Return the files of the last check that some patterns match."""
    if not patterns:
        return Matches()
    try:
        return Matches(visit.session.call("knowledge.match", projectId=visit.project.name, paths=patterns))
    except REFUSALS as error:
        return Matches(problem=error.message)


OPERATIONS = frozenset({"knowledge.create", "knowledge.update", "knowledge.append_changelog", "knowledge.delete"})
AREA = Area("knowledge", "Knowledge", "k", "knowledge.html", read_knowledge, OPERATIONS)
