"""Atoms: areas of the code base, given by path patterns, with the knowledge needed to work there."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.answers import LeftOut
from groundplan.kernel.input_gate.types import get_decoder
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.changelog import ChangelogLine
from groundplan.knowledge.entity import EntityRow
from groundplan.knowledge.freshness import Freshness, load_freshness
from groundplan.knowledge.refs import load_names, missing_entity
from groundplan.knowledge.requests import KnowledgeEntityType, RelatedAtom

sql = load_queries(__file__)


class AtomRelation(Struct, rename="camel"):
    """A related atom with its name and the reason of the relation."""

    atom_id: str
    name: str | None
    reason: str
    missing: bool | UnsetType = UNSET  # the related atom was deleted


class Atom(Struct, rename="camel", kw_only=True, tag_field="entityType", tag="atom"):
    """An atom as callers see it."""

    id: str
    project_id: str
    molecule_id: str | None
    name: str
    paths: list[str] | UnsetType = UNSET
    knowledge: str | UnsetType = UNSET
    related_atoms: list[AtomRelation] | UnsetType = UNSET
    created_by_task_id: str
    last_task_id: str
    version: int
    created_at: str
    created_by: str
    updated_at: str
    updated_by: str
    confirmed: str | UnsetType = UNSET  # the commit at which the atom was last confirmed
    freshness: Freshness | UnsetType = UNSET
    changelog: list[ChangelogLine] | UnsetType = UNSET
    left_out: LeftOut = field(name="left_out", default=UNSET)


class AtomRow(EntityRow):
    """An atom as it is stored."""

    molecule_id: str | None
    patterns: int  # number of patterns after brace expansion
    patterns_rev: int
    paths: str
    related_atoms: str
    confirmed_commit: str | None = None
    confirmed_at: str | None = None

    @property
    def path_list(self) -> list[str]:
        return msgspec.json.decode(self.paths, type=list[str])

    @property
    def relations(self) -> list[RelatedAtom]:
        return get_decoder(list[RelatedAtom]).decode(self.related_atoms)


def load_atom(tx: Transaction, id_: str) -> AtomRow:
    """Return an atom of the current project."""
    rows = load_atoms(tx, [id_])
    if not rows:
        raise missing_entity(KnowledgeEntityType.ATOM, id_, ("id",))
    return rows[0]


def load_atoms(tx: Transaction, ids: Collection[str]) -> list[AtomRow]:
    """Return atoms of the current project, sorted by name."""
    if not ids:
        return []
    rows = tx.all(sql.atoms_by_id, AtomRow, project_id=tx.project.id, ids=to_json_array(ids))
    return sorted(rows, key=lambda row: (row.name, row.id))


def build_atoms(tx: Transaction, rows: Sequence[AtomRow]) -> list[Atom]:
    """Return atoms as callers see them, with the names of related atoms and the freshness."""
    relations = {row.id: row.relations for row in rows}
    related = {one.atom_id for some in relations.values() for one in some}
    names = load_names(tx, KnowledgeEntityType.ATOM, related)
    freshness = load_freshness(tx, [row.id for row in rows])
    return [
        Atom(
            id=row.id,
            project_id=tx.project.id,
            molecule_id=row.molecule_id,
            name=row.name,
            paths=row.path_list,
            knowledge=row.knowledge,
            related_atoms=[
                AtomRelation(one.atom_id, names.get(one.atom_id), one.reason, UNSET if one.atom_id in names else True)
                for one in relations[row.id]
            ],
            created_by_task_id=row.created_by_task_id,
            last_task_id=row.last_task_id,
            version=row.version,
            created_at=row.created_at,
            created_by=row.created_by,
            updated_at=row.updated_at,
            updated_by=row.updated_by,
            confirmed=row.confirmed_commit or UNSET,
            freshness=freshness.get(row.id, UNSET),
        )
        for row in rows
    ]
