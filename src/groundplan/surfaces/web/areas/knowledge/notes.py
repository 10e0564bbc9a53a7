"""The atoms and molecules of a project as a tree, with a search and filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.kernel.errors import GroundplanError
from groundplan.knowledge.freshness import FreshnessState
from groundplan.surfaces.web.areas.area import Visit

ROWS = 200  # atoms on one page
SCANNED = 1_000  # atoms of one request, where a filter leaves out some
SCANS_MAX = 10
MOLECULES = 100  # of one request
MOLECULE_PAGES_MAX = 5
KINDS = {"atom": "Atoms", "molecule": "Molecules"}
NOT_CHECKED = "unchecked"
FRESHNESS = {
    FreshnessState.FRESH.value: "Fresh",
    FreshnessState.CHANGED.value: "Changed",
    FreshnessState.ORPHANED.value: "Without files",
    FreshnessState.UNANCHORED.value: "Never confirmed",
    NOT_CHECKED: "Not checked",
}


class MoleculeGroup(NamedTuple):
    """A molecule with those of its atoms that pass the filters; no molecule for loose atoms."""

    molecule: Any
    atoms: Sequence[Any]


def read_notes(visit: Visit) -> Mapping[str, Any]:
    """Return the tree of what passes the filters in the address."""
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
    wanted = shown["molecules"]
    try:
        if path:
            atoms: list[Any] = _find_by_path(visit, path)
            if text:
                found = {one.id for one in _search(visit, "atom", text)}
                atoms = [one for one in atoms if one.id in found]
            wanted = []
        elif text:
            atoms, wanted = _search(visit, "atom", text), _search(visit, "molecule", text)
        else:
            atoms, shown["next_cursor"] = _list_atoms(visit, states)
    except GroundplanError as error:
        if error.status >= 500:
            raise
        return {**shown, "problem": error.message}
    if states:
        atoms = [one for one in atoms if get_state(one) in states]
        wanted = []
    if kind == "molecule":
        atoms = []
    return {**shown, "groups": _group(atoms, shown["molecules"], [] if kind == "atom" else wanted)}


def get_state(atom: Any) -> str:
    """Return the freshness of an atom at the last check."""
    return str(atom.freshness.state) if atom.freshness else NOT_CHECKED


def list_molecules(visit: Visit) -> list[Any]:
    """Return the molecules of the project, sorted by name; of very many only the first."""
    found: list[Any] = []
    for _ in range(MOLECULE_PAGES_MAX):
        page = _search_page(visit, "molecule", offset=len(found))
        found += page.items
        if not page.next_offset:
            break
    return found


def _search_page(visit: Visit, entity_type: str, **given: Any) -> Any:
    place = {"entityType": entity_type, "projectId": visit.project.name}
    return visit.session.call("knowledge.search", **place, includeChangelog=False, limit=MOLECULES, **given)


def _search(visit: Visit, entity_type: str, text: str) -> list[Any]:
    return list(_search_page(visit, entity_type, query=text).items)


def _find_by_path(visit: Visit, path: str) -> list[Any]:
    known = visit.session.call("knowledge.context", projectId=visit.project.name, paths=path, includeChangelog=False)
    found = [atom for one in known.molecules for atom in one.atoms] + list(known.orphan_atoms)
    listed = {one.id: one for one in _search_by_ids(visit, {one.id for one in found})}
    return [listed[one.id] for one in found if one.id in listed]


def _search_by_ids(visit: Visit, ids: set[str]) -> Iterable[Any]:
    """Return atoms as the list has them, with their patterns and molecules."""
    return (
        visit.session.call("knowledge.get", entityType="atom", id=id_, includeChangelog=False).atom
        for id_ in sorted(ids)[:ROWS]
    )


def _list_atoms(visit: Visit, states: Sequence[str]) -> tuple[list[Any], str | None]:
    """Return a page of atoms and the cursor of the next one. With a filter, more atoms are looked at."""
    cursor = visit.query.get("cursor") or None
    found: list[Any] = []
    for _ in range(SCANS_MAX if states else 1):
        more = {} if cursor is None else {"cursor": cursor}
        limit = SCANNED if states else ROWS
        page = visit.session.call("knowledge.list", projectId=visit.project.name, limit=limit, **more)
        found += [one for one in page.atoms if not states or get_state(one) in states]
        cursor = page.next_cursor or None
        if cursor is None or len(found) >= ROWS:
            break
    return found, cursor


def _group(atoms: Sequence[Any], molecules: Sequence[Any], shown: Sequence[Any]) -> list[MoleculeGroup]:
    """Return each molecule that is shown or has atoms, then the loose atoms."""
    by_molecule: dict[str | None, list[Any]] = {}
    known = {one.id for one in molecules}
    for atom in atoms:
        by_molecule.setdefault(atom.molecule_id if atom.molecule_id in known else None, []).append(atom)
    wanted = {one.id for one in shown} | by_molecule.keys()
    groups = [MoleculeGroup(one, by_molecule.get(one.id, ())) for one in molecules if one.id in wanted]
    return [*groups, MoleculeGroup(None, by_molecule[None])] if None in by_molecule else groups
