"""The kind and version of an atom or molecule whose kind is not known, and the atoms that belong to it."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class EntityVersion(Struct):
    """Whether it is an atom or a molecule, and its version."""

    kind: str
    version: int


def find_version(tx: Transaction, entity_id: str) -> EntityVersion | None:
    """Return the kind and version of what has this id in the current project."""
    return tx.one_or_none(sql.entity_version, EntityVersion, project_id=tx.project.id, id=entity_id)


def list_atoms_of_molecule(tx: Transaction, molecule_id: str) -> list[str]:
    """Return the ids of the atoms of a molecule of the current project."""
    return tx.scalars(sql.atom_ids_of_molecule, project_id=tx.project.id, molecule_id=molecule_id)
