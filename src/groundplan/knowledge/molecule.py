"""Molecules: groups of atoms, with knowledge that applies to all of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.answers import LeftOut
from groundplan.kernel.input_gate.types import get_decoder
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.changelog import ChangelogLine
from groundplan.knowledge.entity import EntityRow
from groundplan.knowledge.refs import load_names, missing_entity
from groundplan.knowledge.requests import KnowledgeEntityType, RelatedMolecule

sql = load_queries(__file__)


class MoleculeRelation(Struct, rename="camel"):
    """A related molecule with its name and the reason of the relation."""

    molecule_id: str
    name: str | None
    reason: str
    missing: bool | UnsetType = UNSET  # the related molecule was deleted


class Molecule(Struct, rename="camel", kw_only=True, tag_field="entityType", tag="molecule"):
    """A molecule as callers see it."""

    id: str
    project_id: str
    name: str
    knowledge: str | UnsetType = UNSET
    related_molecules: list[MoleculeRelation] | UnsetType = UNSET
    created_by_task_id: str
    last_task_id: str
    version: int
    created_at: str
    created_by: str
    updated_at: str
    updated_by: str
    changelog: list[ChangelogLine] | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)


class MoleculeRow(EntityRow):
    """A molecule as it is stored."""

    related_molecules: str

    @property
    def relations(self) -> list[RelatedMolecule]:
        return get_decoder(list[RelatedMolecule]).decode(self.related_molecules)


def load_molecule(tx: Transaction, id_: str) -> MoleculeRow:
    """Return a molecule of the current project."""
    rows = load_molecules(tx, [id_])
    if not rows:
        raise missing_entity(KnowledgeEntityType.MOLECULE, id_, ("id",))
    return rows[0]


def load_molecules(tx: Transaction, ids: Collection[str]) -> list[MoleculeRow]:
    """Return molecules of the current project, sorted by name."""
    if not ids:
        return []
    rows = tx.all(sql.molecules_by_id, MoleculeRow, project_id=tx.project.id, ids=to_json_array(ids))
    return sorted(rows, key=lambda row: (row.name, row.id))


def build_molecules(tx: Transaction, rows: Sequence[MoleculeRow]) -> list[Molecule]:
    """Return molecules as callers see them, with the names of related molecules."""
    relations = {row.id: row.relations for row in rows}
    names = load_names(
        tx, KnowledgeEntityType.MOLECULE, {one.molecule_id for some in relations.values() for one in some}
    )
    return [
        Molecule(
            id=row.id,
            project_id=tx.project.id,
            name=row.name,
            knowledge=row.knowledge,
            related_molecules=[
                MoleculeRelation(
                    one.molecule_id,
                    names.get(one.molecule_id),
                    one.reason,
                    UNSET if one.molecule_id in names else True,
                )
                for one in relations[row.id]
            ],
            created_by_task_id=row.created_by_task_id,
            last_task_id=row.last_task_id,
            version=row.version,
            created_at=row.created_at,
            created_by=row.created_by,
            updated_at=row.updated_at,
            updated_by=row.updated_by,
        )
        for row in rows
    ]
