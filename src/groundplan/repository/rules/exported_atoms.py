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
    molecules = {molecule.id: molecule for molecule in load_molecules(session, project)}
    return [to_exported_atom(atom, molecules.get(atom.molecule_id)) for atom in _load_all(session, project, "atom")]


def load_molecules(session: Session, project: str) -> list[Any]:
    """Return all molecules of a project, sorted by name.

    Raises:
        NotFound: the project does not exist.
        KnowledgeMoving: the knowledge changed during every attempt.
    """
    return _load_all(session, project, "molecule")


def load_molecule_of(session: Session, atom: Any) -> Any:
    """Return the molecule of a loaded atom, or None."""
    if atom.molecule_id is None:
        return None
    return session.call("knowledge.get", entityType="molecule", id=atom.molecule_id, includeChangelog=False).molecule


def to_exported_atom(atom: Any, molecule: Any) -> ExportedAtom:
    """Convert an atom, given its molecule or None."""
    return ExportedAtom(
        atom_id=atom.id,
        project_id=atom.project_id,
        version=atom.version,
        name=atom.name,
        patterns=tuple(atom.paths),
        knowledge=atom.knowledge,
        part_of=None if molecule is None else molecule.name,
        molecule_knowledge="" if molecule is None else molecule.knowledge,
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


def _load_all(session: Session, project: str, entity: str) -> list[Any]:
    """Return all entities of a kind, sorted by name. It must be complete: an export treats missing ones as deleted."""
    for _ in range(ATTEMPTS):
        found, count = _load_pages(session, project, entity)
        if len(found) == count:
            return list(found.values())
    raise KnowledgeMoving


def _load_pages(session: Session, project: str, entity: str) -> tuple[dict[str, Any], int]:
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
