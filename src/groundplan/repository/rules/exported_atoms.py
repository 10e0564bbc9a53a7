"""Load the atoms of a project for an export."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from groundplan.kernel.errors import Conflict, NotFound
from groundplan.repository.rules.rule import ExportedAtom, normalize_name
from groundplan.session import Session

PAGE_SIZE = 100
ATTEMPTS = 3


class KnowledgeMoving(Conflict):
    """The knowledge of the project kept changing while it was read."""

    code = "knowledge_moving"

    def __init__(self) -> None:
        super().__init__("the knowledge of this project changed while it was read; try again")


def load_exported_atoms(session: Session, project: str) -> list[ExportedAtom]:
    """Return all atoms of a project, sorted by name.

    Raises:
        NotFound: the project does not exist.
        KnowledgeMoving: the knowledge changed during every attempt.
    """
    molecules = {molecule.id: molecule.name for molecule in _all(session, project, "molecule")}
    return [to_exported_atom(atom, molecules.get(atom.molecule_id)) for atom in _all(session, project, "atom")]


def load_exported_atom(session: Session, atom: Any) -> ExportedAtom:
    """Return a loaded atom for an export, with the name of its molecule."""
    if atom.molecule_id is None:
        return to_exported_atom(atom, None)
    answer = session.call("knowledge.get", entityType="molecule", id=atom.molecule_id, includeChangelog=False)
    return to_exported_atom(atom, answer.molecule.name)


def to_exported_atom(atom: Any, molecule: str | None) -> ExportedAtom:
    """Convert an atom, given the name of its molecule."""
    return ExportedAtom(
        atom_id=atom.id,
        project_id=atom.project_id,
        version=atom.version,
        name=atom.name,
        patterns=tuple(atom.paths),
        knowledge=atom.knowledge,
        part_of=molecule,
        related=tuple((one.name, one.reason) for one in atom.related_atoms if one.name is not None),
    )


def resolve_project_id(session: Session, project: str) -> str:
    """Return the id of a project given by id or name.

    Raises:
        NotFound: the project does not exist.
    """
    for one in session.call("project.list", archived=True).projects:
        if normalize_name(project) in (one.id, one.name):
            return str(one.id)
    raise NotFound("project", project)


def _all(session: Session, project: str, entity: str) -> list[Any]:
    """Return all entities of a kind, sorted by name. It must be complete: an export treats missing ones as deleted."""
    for _ in range(ATTEMPTS):
        found, count = _pages(session, project, entity)
        if len(found) == count:
            return list(found.values())
    raise KnowledgeMoving


def _pages(session: Session, project: str, entity: str) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    offset: Any = 0
    while True:
        page = session.call(
            "knowledge.search",
            entityType=entity,
            projectId=project,
            includeChangelog=False,
            limit=PAGE_SIZE,
            offset=offset,
        )
        found.update((one.id, one) for one in page.items)
        offset = page.next_offset
        if offset is UNSET:
            return found, page.count
