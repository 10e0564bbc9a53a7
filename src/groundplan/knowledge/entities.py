"""Atoms and molecules: an atom holds knowledge about the files of its path patterns, and a molecule groups atoms.

An entity in a project that the actor may not see is reported as missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.answers import DropField, LeftOut
from groundplan.kernel.errors import GroundplanError, NextStep, NotFound, RuleViolated
from groundplan.kernel.input_gate.types import get_decoder
from groundplan.kernel.store.authorize import ProjectId, find_visible_project_ids
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument
from groundplan.knowledge.freshness import Freshness, load_freshness
from groundplan.knowledge.requests import KnowledgeEntityType, RelatedAtom, RelatedMolecule, parse_id
from groundplan.providers import resolve_task

Related = TypeVar("Related", RelatedAtom, RelatedMolecule)

# The parts that an answer drops, the least needed first.
PARTS = ("changelog", "related_atoms", "related_molecules", "freshness", "knowledge", "paths", "matched_paths")

sql = load_queries(__file__)

_PROJECT_QUERIES: Mapping[KnowledgeEntityType, Query] = {
    KnowledgeEntityType.ATOM: sql.project_of_atom,
    KnowledgeEntityType.MOLECULE: sql.project_of_molecule,
}


class OtherProject(RuleViolated):
    """The referenced entity belongs to another project."""

    code = "other_project"

    def __init__(self, thing: str, id_: str, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(
            f"{field}: {thing} {id_} belongs to another project; name one of this project",
            field=field,
            id=id_,
        )


class RelatedToItself(RuleViolated):
    """The relation would lead from an atom or molecule to itself."""

    code = "related_to_itself"

    def __init__(self, entity_type: KnowledgeEntityType, field: str) -> None:
        super().__init__(f"{field} names the {entity_type} itself; name another one", field=field)


class ChangelogLine(Struct, rename="camel"):
    """A changelog entry in the answer about its atom or molecule."""

    task_id: str
    summary: str
    created_at: str


class ChangelogEntry(Struct, rename="camel"):
    """A stored entry."""

    id: str
    parent_type: KnowledgeEntityType
    parent_id: str
    task_id: str
    summary: str
    created_at: str
    created_by: str


class AtomRelation(Struct, rename="camel"):
    """A related atom with its name and the reason of the relation."""

    atom_id: str
    name: str | None
    reason: str
    missing: bool | UnsetType = UNSET  # the related atom was deleted


class MoleculeRelation(Struct, rename="camel"):
    """A related molecule with its name and the reason of the relation."""

    molecule_id: str
    name: str | None
    reason: str
    missing: bool | UnsetType = UNSET  # the related molecule was deleted


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


class EntityRow(Struct):
    """The shared columns of a stored atom or molecule."""

    id: str
    created_by_task_id: str
    created_at: str
    created_by: str
    name: str
    version: int
    last_task_id: str
    updated_at: str
    updated_by: str
    knowledge: str


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


class MoleculeRow(EntityRow):
    """A molecule as it is stored."""

    related_molecules: str

    @property
    def relations(self) -> list[RelatedMolecule]:
        return get_decoder(list[RelatedMolecule]).decode(self.related_molecules)


def drop_parts(*holders: str) -> tuple[DropField, ...]:
    """Return trimming steps that drop one part from all holders before the next part."""
    return tuple(DropField(f"{holder}.{part}") for part in PARTS for holder in holders)


def load_atom(tx: Transaction, id_: str) -> AtomRow:
    """Return an atom of the current project."""
    rows = load_atoms(tx, [id_])
    if not rows:
        raise missing_entity(KnowledgeEntityType.ATOM, id_, ("id",))
    return rows[0]


def load_molecule(tx: Transaction, id_: str) -> MoleculeRow:
    """Return a molecule of the current project."""
    rows = load_molecules(tx, [id_])
    if not rows:
        raise missing_entity(KnowledgeEntityType.MOLECULE, id_, ("id",))
    return rows[0]


def load_atoms(tx: Transaction, ids: Collection[str]) -> list[AtomRow]:
    """Return atoms of the current project, sorted by name."""
    rows = tx.all(sql.atoms_by_id, AtomRow, project_id=tx.project.id, ids=to_json_array(ids)) if ids else []
    return sorted(rows, key=lambda row: (row.name, row.id))


def load_molecules(tx: Transaction, ids: Collection[str]) -> list[MoleculeRow]:
    """Return molecules of the current project, sorted by name."""
    rows = tx.all(sql.molecules_by_id, MoleculeRow, project_id=tx.project.id, ids=to_json_array(ids)) if ids else []
    return sorted(rows, key=lambda row: (row.name, row.id))


def build_atoms(
    tx: Transaction, rows: Sequence[AtomRow], freshness: Mapping[str, Freshness] | None = None
) -> list[Atom]:
    """Return atoms as callers see them, with the names of related atoms, and the freshness: by default as stored."""
    relations = {row.id: row.relations for row in rows}
    names = _load_related_names(tx, KnowledgeEntityType.ATOM, relations)
    if freshness is None:
        freshness = load_freshness(tx, [row.id for row in rows])
    return [
        Atom(
            **_get_shared_columns(row),
            project_id=tx.project.id,
            molecule_id=row.molecule_id,
            paths=row.path_list,
            related_atoms=[AtomRelation(*_describe(relation, names)) for relation in relations[row.id]],
            confirmed=row.confirmed_commit or UNSET,
            freshness=freshness.get(row.id, UNSET),
        )
        for row in rows
    ]


def build_molecules(tx: Transaction, rows: Sequence[MoleculeRow]) -> list[Molecule]:
    """Return molecules as callers see them, with the names of related molecules."""
    relations = {row.id: row.relations for row in rows}
    names = _load_related_names(tx, KnowledgeEntityType.MOLECULE, relations)
    return [
        Molecule(
            **_get_shared_columns(row),
            project_id=tx.project.id,
            related_molecules=[MoleculeRelation(*_describe(relation, names)) for relation in relations[row.id]],
        )
        for row in rows
    ]


def _get_shared_columns(row: EntityRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in EntityRow.__struct_fields__}


def _load_related_names(
    tx: Transaction, entity_type: KnowledgeEntityType, relations: Mapping[str, Sequence[RelatedAtom | RelatedMolecule]]
) -> dict[str, str]:
    ids = {relation.target_id for related in relations.values() for relation in related}
    return load_names(tx, entity_type, ids)


def _describe(
    relation: RelatedAtom | RelatedMolecule, names: Mapping[str, str]
) -> tuple[str, str | None, str, bool | UnsetType]:
    """Return the id and name of a related entity, the reason, and True if that entity was deleted."""
    id_ = relation.target_id
    return id_, names.get(id_), relation.reason, UNSET if id_ in names else True


def load_names(tx: Transaction, entity_type: KnowledgeEntityType, ids: Collection[str]) -> dict[str, str]:
    """Return the names of atoms or molecules of the current project, by id."""
    if not ids:
        return {}
    query = sql.atom_names if entity_type is KnowledgeEntityType.ATOM else sql.molecule_names
    rows = tx.all(query, project_id=tx.project.id, ids=to_json_array(sorted(ids)))
    return {id_: name for id_, name in rows if name is not None}


def resolve_entity_project(tx: Transaction, entity_type: KnowledgeEntityType, id_: str, field: str) -> str:
    """Return the project of an atom or a molecule, even of a deleted one, so that a retry finds its stored answer."""
    canonical = parse_id(id_, (field,))
    project_id = tx.scalar(_PROJECT_QUERIES[entity_type], id=canonical)
    project_id = project_id or tx.scalar(sql.project_of_deleted, id=canonical, entity_type=entity_type.value)
    visible = find_visible_project_ids(tx)
    if project_id is None or not (visible is None or project_id in visible):
        raise missing_entity(entity_type, id_, (field,))
    return ProjectId(project_id)


def refuse_unknown_ids(tx: Transaction, entity_type: KnowledgeEntityType, ids: Mapping[str, ArgumentPath]) -> None:
    """Refuse ids that are not in the current project. `ids` maps each id to the path of its argument."""
    names = load_names(tx, entity_type, ids)
    for id_, path in ids.items():
        if id_ in names:
            continue
        project_id = tx.scalar(_PROJECT_QUERIES[entity_type], id=id_)
        visible = find_visible_project_ids(tx)
        if project_id is not None and (visible is None or project_id in visible):
            raise OtherProject(entity_type, id_, path)
        raise missing_entity(entity_type, id_, path)


def missing_entity(entity_type: KnowledgeEntityType, id_: str, path: ArgumentPath) -> NotFound:
    """Return the refusal of an id that names no atom or molecule."""
    step = NextStep("knowledge.search", "lists the existing ones", {"entityType": entity_type.value})
    return NotFound(entity_type.value, id_, next_steps=step, field=format_argument_path(path))


def refuse_other_project(
    tx: Transaction, given_project: str | None, entity_type: KnowledgeEntityType, id_: str
) -> None:
    """Refuse a project argument that is not the project of the entity."""
    if given_project is not None and given_project not in (tx.project.id, tx.project.name):
        raise OtherProject(entity_type, id_, ("id",))


def validate_molecule_id(tx: Transaction, given_id: str) -> str:
    """Return the canonical id of a molecule of this project."""
    molecule_id = parse_id(given_id, ("moleculeId",))
    refuse_unknown_ids(tx, KnowledgeEntityType.MOLECULE, {molecule_id: ("moleculeId",)})
    return molecule_id


def resolve_task_id(tx: Transaction, ref: str, field: str) -> str:
    """Return the full id of a task of the current project."""
    try:
        project_id, task_id = resolve_task(tx, ref)
    except NotFound as error:
        raise NotFound(
            "task", ref, near=error.details.get("near", ()), next_steps=error.next_steps, field=field
        ) from None
    except GroundplanError as error:
        error.details = {**error.details, "field": field}
        raise
    if project_id != tx.project.id:
        raise OtherProject("task", task_id, (field,))
    return task_id


def validate_relations(
    tx: Transaction,
    entity_type: KnowledgeEntityType,
    related: Sequence[Related],
    *,
    own_id: str,
    stored: Sequence[Related] = (),
) -> list[Related]:
    """Return the relations of an atom or a molecule with canonical ids and trimmed reasons.

    Those that are stored already may lead to what was deleted since, so that what was read can be written.
    """
    field = f"related{entity_type.capitalize()}s"
    argument_by_id: dict[str, ArgumentPath] = {}
    ids = []
    for index, relation in enumerate(related):
        path = (field, index, f"{entity_type}Id")
        ids.append(parse_id(relation.target_id, path))
        argument_by_id.setdefault(ids[-1], path)
    if own_id in argument_by_id:
        raise RelatedToItself(entity_type, field)
    known = {relation.target_id for relation in stored}
    refuse_unknown_ids(tx, entity_type, {id_: path for id_, path in argument_by_id.items() if id_ not in known})
    reasons = [relation.reason.strip() for relation in related]
    if "" in reasons:
        raise invalid_argument((field, reasons.index(""), "reason"), "must not be empty; say how the two are related")
    return [type(relation)(id_, reason) for relation, id_, reason in zip(related, ids, reasons, strict=True)]


def encode_relations(related: Sequence[RelatedAtom] | Sequence[RelatedMolecule]) -> str:
    """Return relations as the JSON that is stored."""
    return msgspec.json.encode(related).decode()


def load_entries(
    tx: Transaction, parent_type: KnowledgeEntityType, parent_id: str, *, limit: int, offset: int
) -> tuple[list[ChangelogEntry], int]:
    """Return a page of entries of an atom or a molecule, newest first, and the total count."""
    parent = {"project_id": tx.project.id, "parent_type": parent_type, "parent_id": parent_id}
    entries = tx.all(sql.entries, ChangelogEntry, **parent, limit=limit, offset=offset)
    return entries, tx.scalar(sql.count_entries, **parent)


def load_latest_entries(
    tx: Transaction, parent_type: KnowledgeEntityType, parent_ids: Collection[str], *, entries_max: int
) -> dict[str, list[ChangelogLine]]:
    """Return the latest entries of each parent, at most `entries_max`. Parents without entries have an empty list."""
    entries: dict[str, list[ChangelogLine]] = {parent_id: [] for parent_id in parent_ids}
    if entries_max and entries:
        rows = tx.all(
            sql.latest_entries,
            ChangelogEntry,
            project_id=tx.project.id,
            parent_type=parent_type.value,
            parent_ids=to_json_array(entries),
            entries_max=entries_max,
        )
        for row in rows:
            entries[row.parent_id].append(ChangelogLine(row.task_id, row.summary, row.created_at))
    return entries


class EntityVersion(Struct):
    """The kind of an entity, atom or molecule, and its version."""

    kind: str
    version: int


def find_version(tx: Transaction, entity_id: str) -> EntityVersion | None:
    """Return the kind and version of the atom or molecule with an id in the current project."""
    return tx.one_or_none(sql.entity_version, EntityVersion, project_id=tx.project.id, id=entity_id)


def list_atoms_of_molecule(tx: Transaction, molecule_id: str) -> list[str]:
    """Return the ids of the atoms of a molecule of the current project."""
    return [id_ for id_, _ in tx.all(sql.members_of_molecule, project_id=tx.project.id, molecule_id=molecule_id)]
